"""A set's folder: what is on disk now is what is read, and what is written is whole."""

import os
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import video_contrast
from video_contrast import load_dataset
from video_contrast.builders import dataset_dir
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import Row, multiple_choice_row, retrieval_row
from video_contrast.runner.sets import load_set
from video_contrast.storage import SetDraft, SetFolder


def items(n: int, **changes: str) -> list[Row]:
    return [
        multiple_choice_row(
            id=f"i{k}", video_id=f"v{k}", video_path=f"v{k}.mp4", candidates=[f"a man sits {k}", "a dog runs"],
            label=0, kinds=["true", "random"], **changes,
        )
        for k in range(n)
    ]  # fmt: skip


def clips(n: int) -> list[Row]:
    return [retrieval_row(id=f"v{k}", video_id=f"v{k}", video_path=f"v{k}.mp4", captions=["a man"]) for k in range(n)]


def swapped(file: Path) -> None:
    """The first item's candidates change places: another answer, in a file of the same size and time."""
    before = file.stat()
    table = pq.ParquetFile(file).read()
    rows = table.to_pylist()
    rows[0]["candidates"].reverse()
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("name", ["test-00000-of-00001.parquet", "part.parquet"])
def test_a_folder_without_record_is_read_as_it_is_now(tmp_path: Path, name: str) -> None:
    folder = SetDraft(tmp_path / "set", "made")
    folder.add("random_mc", {"test": items(12)}, {})
    folder.save()
    root = tmp_path / "set"
    (root / "set.json").unlink()
    file = next((root / "random_mc").iterdir()).rename(root / "random_mc" / name)
    (root / "README.md").write_text(
        f"---\nconfigs:\n- config_name: random_mc\n  data_files:\n  - {{split: test, path: random_mc/{name}}}\n---\n"
    )
    before = load_set(root, ["random_mc"], "test")
    swapped(file)
    after = load_set(root, ["random_mc"], "test")
    assert after.fingerprints != before.fingerprints
    assert after.groups[0].items[0].texts == before.groups[0].items[0].texts[::-1]
    assert video_contrast.open_set(root).configs == ["random_mc"]
    assert video_contrast.open_set(root).splits("random_mc") == ["test"]


def test_a_draft_is_written_with_what_a_former_build_left(tmp_path: Path) -> None:
    first = SetDraft(tmp_path, "made")
    first.add("random_mc", {"test": items(3), "train": items(2)}, {"counts": {"built": 5}})
    first.save()
    second, third = SetDraft(tmp_path, "made"), SetDraft(tmp_path, "made")  # at once
    second.add("retrieval", {"test": clips(2)}, {})
    third.add("random_mc", {"test": items(3), "train": items(2)}, {"counts": {"built": 5}})
    third.save()
    folder = second.save()
    assert third.save().configs == ["random_mc", "retrieval"]
    assert folder.configs == ["random_mc", "retrieval"] and folder.splits("random_mc") == ["test", "train"]
    assert folder.layout("retrieval") == "retrieval" and folder.record["configs"]["random_mc"]["facts"]["counts"]
    assert folder.validate() == {"random_mc": {"test": 3, "train": 2}, "retrieval": {"test": 2}}
    assert folder.choice_rows("random_mc", "train") == items(2)
    with pytest.raises(UsageError, match="random_mc is not a retrieval config"):
        folder.retrieval_rows("random_mc", "test")


def test_equal_content_gives_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        draft = SetDraft(tmp_path / name, "made")
        draft.add("random_mc", {"test": items(3)}, {"counts": {"built": 3}})
        draft.save({"clips/a.txt": lambda path: path.write_text("a")})
    files = [p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()]
    assert len(files) == 3
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in files)


def test_nothing_is_written_where_a_row_is_wrong(tmp_path: Path) -> None:
    draft = SetDraft(tmp_path / "set", "made")
    draft.add("retrieval", {"test": clips(2)}, {})
    with pytest.raises(VideoContrastError, match=r"config random_mc, split test: row 1 .* duplicate"):
        draft.add("random_mc", {"test": [*items(1), *items(1)]}, {})
    with pytest.raises(VideoContrastError, match="split test: no row could be built"):
        draft.add("random_mc", {"test": []}, {})
    assert not (tmp_path / "set").exists()


def test_what_a_killed_build_left_in_the_cache_is_built_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path / "cache"))
    (tmp_path / "c.csv").write_text("video,caption\n" + "".join(f"{n}.mp4,a man {n}\n" for n in range(6)))
    load_dataset("captions", "retrieval", split="test", captions=str(tmp_path / "c.csv"))
    folder = dataset_dir("captions", captions=str(tmp_path / "c.csv"))
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for name in ("README.md", "set.json", "eval.yaml"):  # these are written after the tables
        (folder / name).unlink()
    assert len(load_dataset("captions", "retrieval", split="test", captions=str(tmp_path / "c.csv"))) == 6
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_table_under_a_temporary_name_is_no_table(tmp_path: Path) -> None:
    draft = SetDraft(tmp_path / "set", "made")
    draft.add("verb_mc", {"test": items(6)}, {})
    folder = draft.save()
    whole = tmp_path / "set" / "verb_mc" / "test-00000-of-00001.parquet"
    shutil.copy(whole, whole.with_name(".test-00000-of-00001.0123456789ab.tmp.parquet"))  # of a write that was killed
    assert folder.tables() == [("verb_mc", "test")] and folder.validate() == {"verb_mc": {"test": 6}}
    assert [path.name for path in folder.published_files()] == [whole.name, "set.json", "README.md"]


def test_a_folder_of_the_same_name_elsewhere_and_one_that_has_changed_are_other_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = []
    for place in (tmp_path / "a", tmp_path / "b"):
        (place / "release").mkdir(parents=True)
        monkeypatch.chdir(place)
        names += [dataset_dir("msrvtt", folder="release"), dataset_dir("msrvtt", folder="release")]
    Path("release", "test_videodatainfo.json").write_text("{}")
    names.append(dataset_dir("msrvtt", folder="release"))
    assert names[0] == names[1] and names[2] == names[3] and len(set(names)) == 3


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    draft = SetDraft(tmp_path / "set", "made")
    draft.add("retrieval", {"test": clips(2)}, {})
    draft.save()
    with pytest.raises(VideoContrastError, match="holds a set of 'made'"):
        SetDraft(tmp_path / "set", "other")
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(VideoContrastError, match="not ours"):
        SetDraft(tmp_path, "made")
    with pytest.raises(UsageError, match=r"holds no set\.json"):
        SetDraft(tmp_path)
    with pytest.raises(VideoContrastError, match="is a file"):
        SetDraft(tmp_path / "README.md", "made")


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        SetFolder.open(tmp_path / "none")
    draft = SetDraft(tmp_path, "made")
    draft.add("retrieval", {"test": clips(2)}, {})
    folder = draft.save()
    with pytest.raises(UsageError, match="has no split 'train' of retrieval; it has test"):
        folder.rows("retrieval", "train")
    with pytest.raises(UsageError, match="did you mean 'retrieval'"):
        folder.splits("retrival")
    (tmp_path / "retrieval" / "test-00000-of-00001.parquet").write_bytes(b"PAR1")
    with pytest.raises(VideoContrastError, match="cannot be read as parquet"):
        folder.validate()
    shutil.rmtree(tmp_path / "retrieval")
    with pytest.raises(UsageError, match="It has none"):
        folder.rows("retrieval", "test")
