"""Corpora in blocks: the same bytes for any number of workers, after kills, and on any engine; one sentence for what
fails, and the rest goes on."""

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from video_contrast.builders import build
from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.blocks import block_build
from video_contrast.builders.blocks.executors import ClusterOptions, Stage, run_stages
from video_contrast.builders.robustness import perturbed
from video_contrast.builders.sources import captions, captions_of_clips
from video_contrast.builders.sources.caption_table import CaptionTable
from video_contrast.builders.sources.captions_of_clips import cut, read_block, read_splits
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import held
from video_contrast.storage import SetFolder

pytest.importorskip("datatrove", reason="the extra cluster is not installed")

DOERS = ("a man", "two women", "a girl", "the boy", "a dog")
DONE = (
    "is cutting an onion",
    "is riding a horse",
    "is sitting on a couch",
    "is walking into a shop",
    "is opening a box",
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(captions_of_clips, "CLIPS", 12)


@pytest.fixture
def table(tmp_path) -> Path:
    """60 clips with one or two captions, whose rows do not stand together."""
    rows = [(f"v{n}.mp4", f"{DOERS[n % 5]} {DONE[n // 5 % 5]}") for n in range(60)]
    rows += [(f"v{n}.mp4", f"there {DOERS[n % 5]} {DONE[(n // 5 + 1) % 5]} slowly") for n in range(0, 60, 4)]
    return write_csv(tmp_path / "captions.csv", rows)


def write_csv(path, rows, header=("video", "caption")) -> Path:
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def tables(root) -> dict[str, bytes]:
    """Every file of a set."""
    root = Path(root)
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


CONFIGS = ["retrieval", "gender_mc", "verb_mc"]


def test_any_number_of_workers_writes_the_same_bytes(table, tmp_path):
    roots = [
        build("captions", CONFIGS, output=tmp_path / f"set{n}", captions=str(table), executor="local", workers=n)
        for n in (1, 2, 4)
    ]
    files = tables(roots[0])
    assert files == tables(roots[1]) == tables(roots[2])
    assert sum(name.startswith("retrieval/") for name in files) == 5 and not any(".blocks" in name for name in files)
    folder = SetFolder.built(roots[0])
    record = folder.record
    rows = folder.rows("retrieval", "test")
    assert len(rows) == 60 == len({row["id"] for row in rows}) and record["facts"]["blocks"] == 5
    assert record["facts"]["counts"]["captions"] == 75
    verbs = folder.rows("verb_mc", "test")
    counts = record["configs"]["verb_mc"]["facts"]["splits"]["test"]
    assert len(verbs) == counts["items"] == counts["counts"]["covered"] > 5 and counts["counts"]["clips"] == 60
    assert folder.validate()["verb_mc"] == {"test": len(verbs)}
    pairs = record["configs"]["verb_mc"]["facts"]["word_edits"]
    assert 1 < pairs["effective_edits"] <= len(verbs) and 0.5 < pairs["mean_probability"] < 1
    assert record["configs"]["verb_mc"]["facts"]["audit"]["items"] == len(verbs)

    import datasets

    assert len(datasets.load_dataset(str(roots[0]), "retrieval", split="test", cache_dir=str(tmp_path / "c"))) == 60


def test_blocks_hold_the_clips_that_are_read_whole(table, tmp_path):
    """The same clips, whatever the order of their rows, and of the same captions."""
    lines = table.read_text().splitlines()
    random.Random(3).shuffle(rest := lines[1:])
    mixed = tmp_path / "mixed.csv"
    mixed.write_text("\n".join([lines[0], *rest]))
    splits, counts = read_splits(CaptionTable(captions=str(table)))
    cuts = [cut(CaptionTable(captions=str(path)), tmp_path / path.stem) for path in (table, mixed)]
    assert [found.facts["counts"] for found in cuts] == [counts, counts] and len(cuts[0].blocks) == 5

    def clips_of(folder) -> dict[str, CaptionedClip]:
        return {clip.id: clip for n in range(5) for clip in read_block(folder, n)}

    assert clips_of(tmp_path / "captions") == {clip.id: clip for clip in splits["test"]}
    ids = [[clip.id for clip in read_block(tmp_path / stem, 0)] for stem in ("captions", "mixed")]
    assert ids[0] == ids[1]


def test_a_video_without_a_caption_takes_no_id(tmp_path):
    rows = [("a.mkv", ""), ("a.mp4", "a man"), ("a.mkv", " ")]
    table = CaptionTable(captions=str(write_csv(tmp_path / "t.csv", rows)))
    splits, _ = read_splits(table)
    assert [(clip.id, clip.video_path) for clip in splits["test"]] == [("a", "a.mp4")]
    cut(table, tmp_path / "w")
    assert read_block(tmp_path / "w", 0) == splits["test"]


def test_movies_stay_together_and_splits_apart(tmp_path):
    rows = [(f"{n}.mp4", f"a man sits {n}", f"m{n % 3}", "train" if n % 3 else "test") for n in range(60)]
    table = CaptionTable(
        captions=str(write_csv(tmp_path / "t.csv", rows, ("video", "caption", "movie", "split"))), movie_column="movie"
    )
    blocks = cut(table, tmp_path / "w").blocks
    assert [block.split for block in blocks] == ["train", "train", "test"]
    assert [{clip.pool for clip in read_block(tmp_path / "w", n)} for n in range(3)] in (
        [{"m1"}, {"m2"}, {"m0"}], [{"m2"}, {"m1"}, {"m0"}],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "header", "options", "message"),
    [
        ([("a.mp4", "a man"), ("a.avi", "a dog")], ("video", "caption"), {}, "would both have the id 'a'"),
        (
            [("a.mp4", "a man", "1"), ("b.mp4", "a dog", "1")], ("video", "caption", "id"), {"id_column": "id"},
            r"t.csv, line 3: id '1' stands for \('a.mp4'",
        ),
        (
            [("a.mp4", "a man", "test"), ("a.mp4", "a dog", "train")], ("video", "caption", "split"), {},
            "line 3: the clip 'a' is of 'test' too, at t.csv, line 2",
        ),
        (
            [("a.mp4", "a man", "m1"), ("a.mp4", "a dog", "m2")], ("video", "caption", "movie"),
            {"movie_column": "movie"}, "line 3: the clip 'a' is of the movie 'm1' too, at t.csv, line 2",
        ),
        ([("a.mp4", " ")], ("video", "caption"), {}, "every caption in column 'caption' is empty"),
        ([("a.mp4", "a man"), ("../b.mp4", "a dog")], ("video", "caption"), {}, "t.csv, line 3"),
        ([], ("video", "caption"), {}, "no rows"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_table_is_said_as_of_small_ones(rows, header, options, message, tmp_path):
    table = CaptionTable(captions=str(write_csv(tmp_path / "t.csv", rows, header)), **options)
    with pytest.raises(VideoContrastError, match=message):
        cut(table, tmp_path / "w")
    with pytest.raises(VideoContrastError, match=message):
        read_splits(table)


def test_large_tables_go_in_blocks_without_being_asked(table, tmp_path, monkeypatch):
    monkeypatch.setattr(captions, "WHOLE", 70)
    assert SetFolder(build("captions", "retrieval", output=tmp_path / "set", captions=str(table))).record["facts"][
        "blocks"
    ]
    monkeypatch.setattr(captions, "WHOLE", 75)
    record = SetFolder(build("captions", "retrieval", output=tmp_path / "set", captions=str(table))).record
    assert "blocks" not in record["facts"]
    assert [path.name for path in sorted((tmp_path / "set/retrieval").iterdir())] == ["test-00000-of-00001.parquet"]


def test_a_block_that_fails_is_named_and_the_same_command_goes_on(table, tmp_path, monkeypatch):
    whole = build("captions", CONFIGS, output=tmp_path / "whole", captions=str(table), executor="local")
    real, failing = captions.read_block, {1: "no space left", 2: "memory", 3: None}

    def read(folder, number):
        if (reason := failing.get(number, "")) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        if reason:
            raise MemoryError if reason == "memory" else OSError(reason)
        (tmp_path / "done").open("a").write(f"{number} ")
        return real(folder, number)

    monkeypatch.setattr(captions, "read_block", read)
    again = {"output": tmp_path / "set", "captions": str(table), "executor": "local", "workers": 2}
    with pytest.raises(VideoContrastError) as failed:
        build("captions", CONFIGS, **again)
    first, *lines = str(failed.value).splitlines()
    assert "propose: 3 of 5 failed" in first and "The same command goes on" in first
    assert "block 2 of 5 of the split test: no space left" in lines[0] and "task_00001.log" in lines[0]
    assert "block 3 of 5 of the split test: there was not enough memory" in lines[1]
    assert "block 4 of 5 of the split test: its process was killed" in lines[2] and len(lines) == 3
    assert sorted((tmp_path / "done").read_text().split()) == ["0", "4"]
    assert not (tmp_path / "set/set.json").exists()
    failing.clear()
    (tmp_path / "done").write_text("")
    build("captions", CONFIGS, **again)
    assert sorted((tmp_path / "done").read_text().split()) == sorted(
        ["1", "2", "3", "0", "1", "2", "3", "4"]
    )  # then all are written
    assert tables(tmp_path / "set") == tables(whole)


def test_another_table_or_option_begins_anew(table, tmp_path, monkeypatch):
    real = block_build._Build.finish
    monkeypatch.setattr(block_build._Build, "finish", lambda self, rank: 1 / 0)
    with pytest.raises(VideoContrastError, match=r"finish: 1 of 1 failed.*\nfinish: division by zero"):
        build("captions", "retrieval", output=tmp_path / "set", captions=str(table), executor="local")
    assert (tmp_path / "set/.blocks/plan.json").is_file()
    monkeypatch.setattr(block_build._Build, "finish", real)
    table.write_text(table.read_text() + "w.mp4,a man runs\n")
    root = build("captions", "retrieval", output=tmp_path / "set", captions=str(table), executor="local", workers=2)
    assert len(SetFolder(root).rows("retrieval", "test")) == 61


@pytest.mark.processes
def test_a_build_that_is_killed_again_and_again_ends_with_the_same_bytes(table, tmp_path):
    whole = build("captions", CONFIGS, output=tmp_path / "whole", captions=str(table), executor="local")
    code = (
        "import sys; from video_contrast.builders import build\n"
        "from video_contrast.builders.sources import captions_of_clips\n"
        f"captions_of_clips.CLIPS = 12; build('captions', {CONFIGS!r}, output=sys.argv[1], captions=sys.argv[2], "
        "executor='local', workers=2)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "set"), str(table)]
    for seconds in (6.0, 9.0):  # somewhere in the middle
        process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True)
    assert tables(tmp_path / "set") == tables(whole)


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray", reason="ray is not installed: where cores are few, its workers starve other tests")
    yield ray
    ray.shutdown()


@pytest.mark.processes
def test_ray_on_this_machine_writes_the_same(table, tmp_path, ray):
    here = build("captions", CONFIGS, output=tmp_path / "here", captions=str(table), executor="local")
    there = build("captions", CONFIGS, output=tmp_path / "there", captions=str(table), executor="ray", workers=2)
    assert ray.cluster_resources()["CPU"] == 2
    assert tables(here) == tables(there)


@pytest.mark.processes
def test_a_process_of_ray_that_is_killed_begins_anew_and_one_that_always_is_gets_named(tmp_path, ray):
    def work(rank):  # the second task is killed once, the third as often as it begins, the fourth fails
        with open(tmp_path / f"begun{rank}", "a") as begun:
            begun.write("x")
        if rank == 2 or (rank == 1 and (tmp_path / "begun1").stat().st_size == 1):
            os.kill(os.getpid(), signal.SIGKILL)
        if rank == 3:
            raise OSError("no space left")

    options = ClusterOptions(executor="ray", workers=2)
    with pytest.raises(VideoContrastError) as failed:
        run_stages([Stage("work", work, 5)], str(tmp_path / "stage"), options, describe=lambda rank: f"block {rank}")
    lines = str(failed.value).splitlines()
    assert "work: 2 of 5 failed" in lines[0] and len(lines) == 3
    assert "block 2: its process was killed" in lines[1] and "block 3: no space left" in lines[2]
    assert [(tmp_path / f"begun{rank}").stat().st_size for rank in range(5)] == [1, 2, 4, 1, 1]


SBATCH = r"""#!/bin/bash
# stands in for Slurm: runs the tasks of an array at once, no job after one that failed; the node of $KILLED is lost
script="${@: -1}" n=$(($(ls "$JOBS" | grep -c sh$) + 1))
cp "$script" "$JOBS/$n.sh"
echo "Submitted batch job $n"
before=$(echo "$*" | sed -n 's/.*afterok:\([0-9]*\).*/\1/p')
[ -n "$before" ] && [ -e "$JOBS/$before.failed" ] && touch "$JOBS/$n.failed" && exit
export RUN_OFFSET=0 SLURM_NODELIST=localhost SLURM_CPUS_PER_TASK=1 SLURM_MEM_PER_CPU=3072 SLURM_GPUS_ON_NODE=0
for task in $(seq 0 "$(sed -n 's/^#SBATCH --array=0-\([0-9]*\).*/\1/p' "$script")"); do
  [ "$n:$task" = "$KILLED" ] && touch "$JOBS/$n.failed" && continue
  SLURM_ARRAY_TASK_ID=$task bash "$script" > "$JOBS/$n-$task.log" 2>&1 || touch "$JOBS/$n.failed"
done
"""


@pytest.mark.processes
def test_slurm_runs_the_arrays_that_are_submitted_and_those_that_were_lost_again(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(captions_of_clips, "CLIPS", 30)
    here = build("captions", "retrieval", output=tmp_path / "here", captions=str(table), executor="local")
    programs, jobs = tmp_path / "bin", tmp_path / "jobs"
    programs.mkdir()
    jobs.mkdir()
    scontrol = "#!/bin/sh\necho localhost\n"
    for name, content in {"sbatch": SBATCH, "srun": '#!/bin/sh\nshift 3\nexec "$@"\n', "scontrol": scontrol}.items():
        (programs / name).write_text(content)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("JOBS", str(jobs))
    monkeypatch.setenv("KILLED", "1:1")  # the second task of the first job
    command = ["build", "captions", "retrieval", "--captions", str(table), "--output", str(tmp_path / "there")]
    command += ["--executor", "slurm", "--slurm", "partition=cpu,time=01:00:00,mem_per_cpu_gb=3"]
    assert main(command) == 0 and "submitted" in capsys.readouterr().out
    script = (jobs / "1.sh").read_text()
    assert "--mem-per-cpu=3G" in script and "--array=0-1\n" in script and (jobs / "2.failed").exists()
    assert not (tmp_path / "there/set.json").exists() and len(list((tmp_path / "there/.blocks/records").iterdir())) == 1
    assert main(command) == 0  # whole by now, since this Slurm has no queue
    assert "--array=0-0\n" in (jobs / "3.sh").read_text() and len(list(jobs.glob("*.sh"))) == 4
    assert {path.name for path in (tmp_path / "there/.blocks").iterdir()} == {"plan.json", "finish"}
    here_now = [*command[:-4], "--executor", "local"]  # whichever engine asks, what is whole is not built again
    assert main(here_now) == 0 and "retrieval test: 60 rows" in capsys.readouterr().out
    assert tables(here) == tables(tmp_path / "there")


def test_addresses_and_patterns_of_files(table, tmp_path):
    """Parquet shards at an address in, a set at an address out."""
    import fsspec
    import pyarrow as pa
    import pyarrow.parquet as pq

    header, *rows = csv.reader(table.open())
    memory = fsspec.filesystem("memory")
    for n in range(3):
        with memory.open(f"/corpus/part-{n}.parquet", "wb") as file:
            columns = zip(*rows[n::3], strict=True)
            pq.write_table(pa.table({name: list(cells) for name, cells in zip(header, columns, strict=True)}), file)
    splits, _ = read_splits(CaptionTable(captions="memory://corpus/part-*.parquet"))
    assert len(splits["test"]) == 60
    source = f"file://{table}"
    out = f"file://{tmp_path}/out"
    assert build("captions", CONFIGS, output=out, captions=source, executor="local") == out
    here = build("captions", CONFIGS, output=tmp_path / "here", captions=str(table), executor="local")
    expected = {name: content for name, content in tables(here).items() if name.endswith(".parquet")}
    assert {
        name: content for name, content in tables(tmp_path / "out").items() if name.endswith(".parquet")
    } == expected
    memory.pipe_file("/corpus/part-3.parquet", b"damaged")
    memory.pipe_file("/corpus/part-4.jsonl", b"{}")
    with pytest.raises(VideoContrastError) as failed:
        list(CaptionTable(captions="memory://corpus/part-*").rows())
    assert "part-3.parquet" in str(failed.value)


def test_a_missing_file_of_a_set_is_told_by_its_record(table, tmp_path, capsys):
    """A block without items has no file, so that numbers alone say nothing."""
    clean = build("captions", "retrieval", output=tmp_path / "clean", captions=str(table), executor="local")
    shards = SetFolder(clean).files("retrieval", "test")
    content, rows = shards[3].read_bytes(), len(SetFolder(clean).rows("retrieval", "test"))
    shards[3].unlink()
    with pytest.raises(VideoContrastError, match=r"retrieval: of the 60 rows of test there are .*00002, 00004\)"):
        SetFolder(clean).rows("retrieval", "test")
    command = ["build", "perturbed", "keyboard", "--dataset", str(clean), "--output", str(tmp_path / "p")]
    assert main([*command, "--executor", "local"]) == 1
    assert "test-*-of-00005.parquet is missing" in capsys.readouterr().err
    shards[3].write_bytes(content)
    assert main([*command, "--executor", "local"]) == 0 and rows == 60


def test_files_that_cannot_be_read_are_named_the_others_go_on_and_the_same_command_completes(table, tmp_path, capsys):
    """Of a former set in the folder nothing changes meanwhile."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    corpus, whole, out = (tmp_path / name for name in ("corpus", "whole", "out"))
    corpus.mkdir()
    rows = list(csv.DictReader(table.open()))
    for n in range(5):
        if n % 2:
            (corpus / f"{n}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[n::5]))
        else:
            pq.write_table(pa.Table.from_pylist(rows[n::5]), corpus / f"{n}.parquet")
    build("captions", CONFIGS, output=whole, captions=str(corpus / "*"), executor="local")
    build("captions", "retrieval", output=out, captions=str(table), executor="local")
    former = tables(out)
    good = {name: (corpus / name).read_bytes() for name in ("2.parquet", "3.jsonl")}
    for name, content in good.items():
        (corpus / name).write_bytes(content[:-50])
    command = ["build", "captions", ",".join(CONFIGS), "--captions", str(corpus / "*"), "--output", str(out)]
    command += ["--executor", "local", "--workers", "2"]
    capsys.readouterr()
    for n in range(2):  # again, one of them being mended
        assert main(command) == 1
        said = capsys.readouterr().err
        assert "3.jsonl: line 15 is not JSON" in said and ("2.parquet: cannot be read" in said) == (n == 0)
        assert f"{2 - n} file" in said.splitlines()[-1] and "the same command completes the set" in said
        done = tables(out)
        ahead = [name for name in done if name.startswith(".blocks/ahead/completions")]
        assert len(ahead) == len(json.loads(done[".blocks/plan.json"])["blocks"]) >= 4
        assert {name: content for name, content in done.items() if ".blocks" not in name} == former
        (corpus / "2.parquet").write_bytes(good["2.parquet"])
    (corpus / "3.jsonl").write_bytes(good["3.jsonl"])
    assert main(command) == 0
    assert tables(out) == tables(whole)


def test_file_systems_that_refuse_to_work_in_a_forked_process_take_a_set(table, tmp_path):
    """As s3fs does, whose thread is not forked."""
    import fsspec
    from fsspec.implementations.local import LocalFileSystem

    class Threaded(LocalFileSystem):
        def __init__(self, *args, **options):
            super().__init__(*args, **options)
            self.made_in = os.getpid()

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(path.removeprefix("threaded://"))

        def _open(self, *args, **options):
            if os.getpid() != self.made_in:
                raise RuntimeError("This class is not fork-safe")
            return super()._open(*args, **options)

    fsspec.register_implementation("threaded", Threaded, clobber=True)
    here = build("captions", CONFIGS, output=tmp_path / "here", captions=str(table), executor="local")
    build("captions", CONFIGS, output=f"threaded://{tmp_path}/out", captions=str(table), executor="local", workers=2)
    expected = {name: content for name, content in tables(here).items() if name.endswith(".parquet")}
    assert {name: content for name, content in tables(tmp_path / "out").items() if name in expected} == expected


def test_two_commands_at_once_do_not_build_the_same_set(table, tmp_path):
    (tmp_path / "set/.blocks").mkdir(parents=True)
    with held(tmp_path / "set/.blocks/lock", "x"), pytest.raises(VideoContrastError, match="another build is writing"):
        build("captions", "retrieval", output=tmp_path / "set", captions=str(table), executor="local")
    build("captions", "retrieval", output=tmp_path / "set", captions=str(table), executor="local")


def test_what_a_bucket_refuses_is_one_sentence(tmp_path, monkeypatch):
    from fsspec.implementations.memory import MemoryFileSystem

    def refused(*args, **options):
        raise PermissionError("403 Forbidden: no access to corpus")

    monkeypatch.setattr(MemoryFileSystem, "_open", refused)
    with pytest.raises(VideoContrastError, match=r"memory://corpus/a\.csv: 403 Forbidden"):
        cut(CaptionTable(captions="memory://corpus/a.csv"), tmp_path)
    with pytest.raises(UsageError, match=r"nosuch://corpus/a\.csv: .*[Pp]rotocol"):
        cut(CaptionTable(captions="nosuch://corpus/a.csv"), tmp_path)
    monkeypatch.setattr(MemoryFileSystem, "pipe_file", refused)
    with pytest.raises(VideoContrastError, match=r"memory://corpus/set/\.writable: 403 Forbidden"):
        build("captions", "retrieval", output="memory://corpus/set", captions="x.csv", executor="local")


def test_an_address_that_holds_another_set_is_refused_before_the_work(tmp_path):
    (tmp_path / "set.json").write_text('{"builder": "shapes", "configs": {}}')
    with pytest.raises(VideoContrastError, match=r"file://.* holds a set of 'shapes'; give a new folder"):
        build("captions", "retrieval", output=f"file://{tmp_path}", captions="x.csv", executor="local")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"executor": "slurm"}, "--slurm partition=NAME"),
        ({"executor": "local", "slurm": "partition=x"}, "go together"),
        ({"executor": "slurm", "slurm": "time=1"}, "--slurm needs partition"),
        ({"executor": "slurm", "slurm": "partition=a,time=1,memory=3"}, "unknown option of --slurm 'memory'"),
        ({"executor": "slurm", "slurm": "partition=a,time=1"}, "no sbatch"),
        ({"executor": "local", "workers": 0}, "--workers must be at least 1"),
        ({"executor": "local", "explain": True}, "--explain goes with sets that are built whole"),
        ({"executor": "spark"}, "unknown value of --executor"),
    ],
)
def test_options_that_do_not_go_together(options, message, table, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match=message):
        build("captions", "retrieval", output=tmp_path / "set", captions=str(table), **options)


def test_a_config_that_needs_more_is_refused_before_the_work(table, tmp_path):
    with pytest.raises(UsageError, match="--cast"):
        build("captions", "person_id_mc", output=tmp_path / "set", captions=str(table), executor="local")
    assert not (tmp_path / "set").exists()


def test_no_item_at_all_is_an_error(tmp_path):
    table = write_csv(tmp_path / "t.csv", [(f"{n}.mp4", f"{DOERS[n % 5]} {n}") for n in range(20)])
    with pytest.raises(VideoContrastError, match="verb_mc: no item could be built"):
        build("captions", "verb_mc", output=tmp_path / "set", captions=str(table), executor="local")


def test_the_audit_is_of_a_sample(table, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(block_build, "AUDITED", 20)
    root = build("captions", "random_mc", output=tmp_path / "set", captions=str(table), executor="local")
    audit = SetFolder(root).record["configs"]["random_mc"]["facts"]["audit"]
    assert (audit["items"], audit["sampled_of"]) == (20, 60)
    assert json.loads((root / "set.json").read_text())["configs"]["random_mc"]["splits"]["test"]["num_examples"] == 60


def test_checks_of_blocks_are_means_of_shares_and_the_words_of_the_first():
    """Of a visual config they are sentences, some of which end in a share."""
    config = block_build.ConfigFacts()
    for share, words in (("10.0 %", "frames moved 5 %"), ("20.0 %", "frames moved 6 %")):
        config.add({"checks": {"unchanged": share, "box_jumble": words}}, items=10)
    assert config.whole()["checks"] == {"unchanged": "15.0 %", "box_jumble": "frames moved 5 %"}


def test_a_set_is_perturbed_in_blocks(table, tmp_path, monkeypatch):
    """The rows are those of the set perturbed whole, since each has random streams of its own."""
    clean = build("captions", "retrieval", output=tmp_path / "clean", captions=str(table))
    names = ["clean", "keyboard", "drop_first"]
    whole = SetFolder(build("perturbed", names, output=tmp_path / "whole", dataset=clean))
    monkeypatch.setattr(perturbed, "ROWS", 25)
    monkeypatch.setattr(perturbed, "WHOLE", 59)
    blocks = SetFolder(build("perturbed", names, output=tmp_path / "blocks", dataset=clean, workers=2))
    assert len(blocks.files("keyboard", "test")) == 3 and blocks.video_root.samefile(whole.video_root)
    for name in names:
        assert blocks.rows(name, "test") == whole.rows(name, "test")
    checks = [folder.record["configs"]["keyboard"]["facts"]["checks"] for folder in (whole, blocks)]
    assert checks[0].keys() == checks[1].keys()
    shares = [float(of["captions left unchanged"].split()[0]) for of in checks]
    assert abs(shares[0] - shares[1]) < 1
    with pytest.raises(UsageError, match="--files"):
        build("perturbed", "visual", output=tmp_path / "f", dataset=clean, files=tmp_path / "v")


def test_a_damaged_shard_of_a_set_is_named_and_its_rows_alone_are_not_perturbed(table, tmp_path, monkeypatch, capsys):
    """Where a footer is gone, the rows behind are counted from the end."""
    clean = build("captions", "retrieval", output=tmp_path / "clean", captions=str(table), executor="local")
    shards = SetFolder(clean).files("retrieval", "test")
    assert len(shards) == 5
    monkeypatch.setattr(perturbed, "ROWS", 6)
    whole = tables(build("perturbed", "keyboard", output=tmp_path / "whole", dataset=clean, executor="local"))
    for number, kept in ((0, 10), (2, 400)):
        content, out = shards[number].read_bytes(), tmp_path / f"of{number}"
        shards[number].write_bytes(content[:kept])
        command = ["build", "perturbed", "keyboard", "--dataset", str(clean), "--output", str(out)]
        command += ["--executor", "local"]
        assert main(command) == 1
        said = capsys.readouterr().err
        assert f"{shards[number]}: cannot be read as parquet" in said and str(shards[1]) not in said
        assert len([name for name in tables(out) if name.startswith("keyboard/")]) == 10 - said.count("block ")
        shards[number].write_bytes(content)
        assert main(command) == 0
        assert tables(out) == whole
