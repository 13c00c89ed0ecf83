"""Perturbed files: they hold what the recipes say, work is shared and resumed, nothing is left half."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import processes
import pytest
from accelerate import PartialState
from robustness_sets import clean, rows_of, tree, videos  # noqa: F401  fixtures

from video_contrast import cli
from video_contrast.builders import build
from video_contrast.builders.robustness import perturbed
from video_contrast.errors import VideoContrastError
from video_contrast.files import read_json, remove_abandoned
from video_contrast.perturbations.video import NAMES, VideoCondition, perturb_clip
from video_contrast.perturbations.video.files import file_name, perturbed_clip, write_perturbed
from video_contrast.video import Clip, read_video


def test_files_hold_what_the_recipes_say_and_point_at_themselves(clean: Path, videos: Path, tmp_path: Path) -> None:
    root = tmp_path / "p"
    build(
        "perturbed", ["clean", "pairs"], output=root, dataset=clean, video_root=videos, files=root, quality="lossless"
    )
    for row in rows_of(root, "pairs")[:20] + rows_of(root, "clean"):
        assert row["video_perturbation"] is None and row["start"] is None
        recipe = json.loads(row["meta"])["perturbed_file"]
        frames = read_video(videos / f"{row['video_id']}.mp4", 0.25, 1.5).frames
        if recipe != "clean, re-encoded":
            frames = perturb_clip(
                frames, recipe["name"], recipe["severity"], video_id=row["video_id"], start=0.25, end=1.5
            )
        assert np.array_equal(read_video(root / row["video_path"]).frames, frames)


def test_any_number_of_processes_writes_the_same_set_and_a_second_run_writes_nothing(
    clean: Path, videos: Path, tmp_path: Path
) -> None:
    def make(root: Path, num_proc: int) -> Path:
        return build(
            "perturbed", ["clean", "pairs"], output=root, dataset=clean, video_root=videos, files=root / "videos",
            num_proc=num_proc,
        )  # fmt: skip

    one, two = make(tmp_path / "one", 1), make(tmp_path / "two", 2)
    assert tree(one) == tree(two)
    stamps = {path: path.stat().st_mtime_ns for path in (one / "videos").rglob("*.mp4")}
    assert len(stamps) == 3 * 7
    gone = sorted(stamps)[4]
    gone.unlink()
    make(one, 1)
    now = {path: path.stat().st_mtime_ns for path in (one / "videos").rglob("*.mp4")}
    assert {path for path in now if now[path] != stamps[path]} == {gone}
    assert tree(one) == tree(two)


def test_a_killed_run_leaves_no_half_file_and_goes_on(videos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import sys, itertools; from video_contrast.perturbations.video import *;"
        "from video_contrast.perturbations.video.files import *\n"
        "for name in NAMES: print(write_perturbed(sys.argv[1], Clip('v0', 'v0.mp4'), [VideoCondition(name, 1)],"
        " sys.argv[2]), flush=True)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(videos / "v0.mp4"), str(out)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.kill()
    process.wait()
    whole = [path for path in out.rglob("*.mp4") if not path.name.startswith(".")]
    assert len(whole) >= 3
    left = out / f".whole.{process.pid}-0123456789ab.tmp.mp4"  # what a kill in the middle of a write leaves
    left.write_bytes(b"half")
    for path in (left, *out.rglob(".*.tmp*")):
        os.utime(path, (0, 0))
    mine, fresh_one = (out / f".new.{pid}-0123456789ab.tmp.mp4" for pid in (os.getpid(), process.pid))
    mine.write_bytes(b"of a process that runs")
    os.utime(mine, (0, 0))
    fresh_one.write_bytes(b"perhaps of another machine")
    assert left in remove_abandoned(out)
    assert {path for path in out.rglob(".*.tmp*")} == {mine, fresh_one}
    for path in whole:
        assert len(read_video(path).frames) == 40
    conditions = [VideoCondition(name, 1) for name in NAMES]
    source, clip = videos / "v0.mp4", Clip("v0", "v0.mp4")
    names = write_perturbed(source, clip, conditions, out)
    fresh = write_perturbed(source, clip, conditions, tmp_path / "fresh")
    assert names == fresh
    assert all((out / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes() for name in names)


def command(arguments: list[str]) -> None:
    PartialState._reset_state()  # a forked process inherits the parent's, which is of one process
    assert cli.main(arguments) == 0


@pytest.mark.processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_the_processes_of_torchrun_share_the_files(
    clean: Path, videos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perturbed, "_CLIPS_A_CHUNK", 1)
    out = tmp_path / "two"
    given = [
        "perturbed",
        "clean",
        "--dataset",
        clean,
        "--video-root",
        videos,
        "--files",
        out / "videos",
        "--output",
        out,
    ]
    processes.launch(2, command, ["build", *map(str, given), "--quiet"])
    one = tmp_path / "one"
    build("perturbed", ["clean"], output=one, dataset=clean, video_root=videos, files=one / "videos")
    assert tree(out) == tree(one)


@pytest.mark.processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_processes_of_these_tests_find_what_torchrun_tells_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch.distributed.run import main as torchrun

    fork = multiprocessing.get_context("fork")
    told = f'env > "{tmp_path}/$RANK"'
    launcher = fork.Process(
        target=torchrun, args=(["--nproc_per_node=2", "--standalone", "--no-python", "sh", "-c", told],)
    )
    launcher.start()
    launcher.join(180)
    assert launcher.exitcode == 0
    for rank in range(2):
        theirs = dict(line.split("=", 1) for line in (tmp_path / str(rank)).read_text().splitlines() if "=" in line)
        with monkeypatch.context() as patched:
            patched.setattr(os, "environ", {})
            processes.as_torchrun(rank, 2, 1, 29500, lambda: None, ())
            ours = dict(os.environ)
        of_launcher = {"MASTER_PORT", "MASTER_ADDR"}  # its free port, its name of this machine
        assert of_launcher <= ours.keys() & theirs.keys()
        for name in ours.keys() - of_launcher - {"ACCELERATE_USE_CPU", "OMP_NUM_THREADS"}:
            assert ours[name] == theirs[name], name


def test_a_build_of_files_takes_away_what_a_killed_one_left(clean: Path, videos: Path, tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = tmp_path / "files" / f".a.{gone.pid}-0123456789ab.tmp.mp4"
    left.parent.mkdir()
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    build("perturbed", ["clean"], output=tmp_path / "p", dataset=clean, video_root=videos, files=tmp_path / "files")
    assert not left.exists() and list((tmp_path / "files").rglob("*.mp4"))


def test_an_unreadable_video_is_left_out_and_counted(clean: Path, videos: Path, tmp_path: Path) -> None:
    broken = tmp_path / "videos"
    shutil.copytree(videos, broken)
    (broken / "v1.mp4").write_bytes((broken / "v1.mp4").read_bytes()[:700])
    root = build("perturbed", ["clean"], output=tmp_path / "p", dataset=clean, video_root=broken, files=tmp_path / "p")
    assert [row["video_id"] for row in rows_of(root, "clean")] == ["v0", "v2"]
    facts = read_json(root / "set.json")["facts"]
    assert facts["counts"]["clips whose video could not be read"] == 1
    assert "v1.mp4" in facts["warnings"][0]
    with pytest.raises(VideoContrastError, match="no video could be read"):
        build("perturbed", ["clean"], output=tmp_path / "q", dataset=clean, video_root=tmp_path, files=tmp_path / "q")


def test_scope_video_perturbs_the_whole_file_and_cuts_it(videos: Path) -> None:
    path = str(videos / "v0.mp4")
    whole = read_video(path).frames
    for name in NAMES:
        done = perturbed_clip(path, Clip("v0", "v0.mp4", 0.5, 1.5), VideoCondition(name, 2, scope="video"))
        assert np.array_equal(done.frames, perturb_clip(whole, name, 2, video_id="v0")[10:30]), name


def test_file_names_tell_clips_and_recipes_apart(videos: Path, tmp_path: Path) -> None:
    spans = [
        (None, None), (1, None), (1, 2), (0, 5), (None, 5), (1234.561, None), (1234.564, None), (1, 1234.5678),
        (1, 1234.5679),
    ]  # fmt: skip
    titles = ("x/y", "x y", "x_y", "映画" * 100 + "1", "映画" * 100 + "2")
    clips = [Clip(name, "v.mp4", *span) for name in titles for span in spans]
    conditions = [
        None, VideoCondition("jpeg", 1), VideoCondition("jpeg", 2), VideoCondition("jpeg", 1, seed=1),
        VideoCondition("jpeg", 1, "monotone"), VideoCondition("jpeg", 1, scope="video"),
    ]  # fmt: skip
    one, other = videos / "v0.mp4", videos / "v1.mp4"
    names = [file_name(one, clip, c, quality) for clip in clips for c in conditions for quality in ("high", "lossless")]
    assert len(set(names)) == len(names)
    assert not set(names) & {file_name(other, clip, c) for clip in clips for c in conditions}
    copy = shutil.copy(one, tmp_path / "renamed.mp4")
    assert file_name(copy, clips[0], None) == file_name(one, clips[0], None)  # the content counts, not the place
    assert all(".." not in name and not name.startswith("/") for name in names)
    assert file_name(one, Clip("../../etc", "v.mp4"), None).count("/") == 1
    assert max(len(part.encode()) for name in names for part in name.split("/")) < 200  # file systems take 255


def test_clips_of_nearly_equal_spans_get_their_own_pixels(videos: Path, tmp_path: Path) -> None:
    """Seconds with more digits than a name shows, and another video under the same id, are other clips."""
    source, out = videos / "v0.mp4", tmp_path / "out"
    first, second = (Clip("v0", "v0.mp4", start) for start in (1.0399991, 1.0399999))
    names = [write_perturbed(source, clip, [None], out, quality="lossless")[0] for clip in (first, second)]
    assert names[0] != names[1]
    replaced = shutil.copy(videos / "v1.mp4", tmp_path / "v0.mp4")
    other = write_perturbed(replaced, first, [None], out, quality="lossless")[0]
    assert np.array_equal(read_video(out / other).frames, read_video(replaced, first.start).frames)


def test_perturb_video_writes_what_perturb_clip_makes(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out, reference = tmp_path / "o.mp4", tmp_path / "c.mp4"
    call = [
        "perturb",
        "video",
        str(videos / "v0.mp4"),
        str(out),
        "--name",
        "shot_noise",
        "--severity",
        "2",
        "--seed",
        "4",
    ]
    assert cli.main([*call, "--quality", "lossless", "--clean", str(reference)]) == 0
    assert "40 frames 48x32, shot_noise at severity 2" in capsys.readouterr().out
    source = read_video(videos / "v0.mp4").frames
    assert np.array_equal(read_video(out).frames, perturb_clip(source, "shot_noise", 2, seed=4, video_id="v0"))
    assert np.array_equal(read_video(reference).frames, source)
    assert cli.main([*call, "--quiet"]) == 0 and capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("change", "says", "code"),
    [
        (["--name", "shot_nose"], "did you mean 'shot_noise'", 2),
        (["--severity", "9"], "1 to 5", 2),
        (["--profile", "papr"], 'Did you mean "paper"', 2),
        (["--start", "90"], "start 90 s is past the end", 1),
        (["--end", "0"], "end 0 s is not after start 0 s", 1),
        (["--clean", "OUT"], "o.mp4 is OUT itself", 2),
        (["--clean", "clean.txt"], "clean.txt: a video file that is written ends in .mp4", 2),
    ],
)
def test_perturb_video_says_what_is_wrong(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture, change: list[str], says: str, code: int
) -> None:
    options = {"--name": "jpeg", "--severity": "1", **dict([change])}
    words = ["perturb", "video", str(videos / "v0.mp4"), "OUT", *(word for pair in options.items() for word in pair)]
    assert cli.main([str(tmp_path / "o.mp4") if word == "OUT" else word for word in words]) == code
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())
