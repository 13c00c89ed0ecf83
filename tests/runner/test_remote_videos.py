"""Videos at addresses of fsspec and in tar shards: the figures are those of a folder; what fails is one sentence."""

import errno
import re
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import fsspec
import pytest
import runner_set
import tiny_models

from video_contrast import addresses, files
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import Row
from video_contrast.runner import score
from video_contrast.storage import SetFolder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path / "cache"))
    runner_set.write(tmp_path / "set", n_clips=6)
    tiny_models.clip(tmp_path / "model")
    memory = fsspec.filesystem("memory")
    for file in (tmp_path / "set" / "clips").iterdir():
        memory.pipe_file(f"/bucket/clips/{file.name}", file.read_bytes())
    yield tmp_path
    memory.rm("/bucket", recursive=True)
    files.FETCHED.clear()


def run(place: Path, name: str, root: str | Path, dataset: str = "set", **options: Any) -> Any:
    given = {"accept": "all", "progress": False, "store": place / f"store-{name}", "workers": 2} | options
    return score(
        str(place / "model"), place / dataset, "retrieval", output=place / name, video_root=Path(root), **given
    )


def test_a_bucket_gives_the_figures_of_a_folder(place: Path) -> None:
    here, there = run(place, "here", place / "set"), run(place, "there", "memory://bucket")
    assert here.metrics == there.metrics and not there.record["missing"]
    again = run(place, "there", "memory://bucket")  # a finished run is returned at once
    assert again.record["seconds"] == there.record["seconds"]


def test_a_video_that_is_refused_is_missing_with_one_sentence_and_the_rest_goes_on(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = fsspec.filesystem("memory")
    get = type(system).get_file

    def refused(self: Any, path: str, *rest: Any, **named: Any) -> None:
        if path.endswith("02.mp4"):
            raise PermissionError("403 Forbidden\nRequest ID: 17")
        get(self, path, *rest, **named)

    monkeypatch.setattr(type(system), "get_file", refused)
    record = run(place, "refused", "memory://bucket").record
    assert record["missing"] == {"clips/02.mp4": "clips/02.mp4: memory://bucket/clips/02.mp4: 403 Forbidden"}
    monkeypatch.undo()
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(place / "cache"))
    assert not run(place, "refused", "memory://bucket").record["missing"]


def test_a_full_disk_ends_the_run_and_loses_no_video(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    cache = place / "cache"  # of one machine: the run and the store lie elsewhere
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=int(folder != cache)))
    monkeypatch.setattr(type(fsspec.filesystem("memory")), "get_file", full)
    with pytest.raises(VideoContrastError, match=f"no space left on the device of {re.escape(str(cache))}:"):
        run(place, "full", "memory://bucket")


def test_an_unknown_protocol_is_named(place: Path) -> None:
    with pytest.raises(UsageError, match="--video-root nosuch://bucket"):
        run(place, "unknown", "nosuch://bucket")


def test_only_so_much_is_kept_of_what_was_fetched(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run(place, "here", place / "set").metrics
    monkeypatch.setattr(addresses, "ROOM", 0)
    monkeypatch.setattr(addresses, "IN_USE", 2)
    assert run(place, "bounded", "memory://bucket", workers=0).metrics == whole
    assert len(list((place / "cache" / "videos").rglob("*.mp4"))) <= 2


def in_shards(place: Path) -> Path:
    """The set with its clips in two tar shards."""
    (place / "shards").mkdir()
    for number in range(2):
        with tarfile.open(place / "shards" / f"{number}.tar", "w") as shard:
            for file in sorted((place / "set" / "clips").iterdir())[number::2]:
                shard.add(file, file.name)
    rows: dict[str, Row] = {row["id"]: row for row in SetFolder(place / "set").rows("retrieval", "test")}
    names = sorted(path.name for path in (place / "set" / "clips").iterdir())
    shard_of = {f"clips/{name}": f"shards/{n % 2}.tar/{name}" for n, name in enumerate(names)}
    changed = [{**row, "video_path": shard_of[row["video_path"]]} for row in rows.values()]
    table = cast("list[Row]", changed)
    write_set(BuiltSet("sharded", {"retrieval": {"test": table}}, {"summary": "test"}), place / "sharded")
    return place


def test_tar_shards_are_read_without_unpacking(place: Path) -> None:
    whole = run(place, "here", place / "set").metrics
    assert run(in_shards(place), "tars", place, "sharded").metrics == whole


def test_shards_in_a_folder_with_an_odd_name_and_unpacked_ones(place: Path) -> None:
    whole = run(place, "here", place / "set").metrics
    in_shards(place)
    odd = place / "my vidéos 50%20"
    odd.mkdir()
    (place / "shards").rename(odd / "shards")
    assert run(place, "odd", odd, "sharded").metrics == whole
    for shard in sorted((odd / "shards").iterdir()):
        with tarfile.open(shard) as archive:
            files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        shard.unlink()
        # By hand: extractall takes a filter from Python 3.11.4 on, and later warns without one.
        for name, content in files.items():
            (shard / name).parent.mkdir(parents=True, exist_ok=True)
            (shard / name).write_bytes(content)
    assert run(place, "unpacked", odd, "sharded").metrics == whole


def test_a_shard_that_cannot_be_read_is_named_and_the_others_go_on(place: Path) -> None:
    shard = in_shards(place) / "shards" / "1.tar"
    shard.write_bytes(b"no archive" * 100)
    missing = run(place, "torn", place, "sharded").record["missing"]
    assert len(missing) == 3
    assert all("shards/1.tar: " in why and "\n" not in why for why in missing.values())
