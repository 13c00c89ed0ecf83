"""Clips of several names that show the same: which one is encoded is told by the plan, not by timing."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import runner_set
import tiny_models

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import multiple_choice_row
from video_contrast.runner import clip_reader, score
from video_contrast.runner.encode import Encoding
from video_contrast.sealed_files import read_tensors
from video_contrast.video import Segment, write_video

HALVES = (Segment("0.mp4", 0.0, 0.75), Segment("0.mp4", 0.75, 1.5))
WAYS = {  # edits by their names, in whose order they are encoded: d and f repeat a and b
    "a": HALVES, "b": HALVES[::-1], "c": (HALVES[0], HALVES[0]), "d": HALVES, "e": (HALVES[1], HALVES[1]),
    "f": HALVES[::-1], "g": (Segment("1.mp4", 0.0, 1.5),),
}  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repeated")
    rows = [
        multiple_choice_row(
            id=name, video_id=name, video_path=parts[0].video_path, label=0, kinds=["true", "random"],
            candidates=["a bar moves to the right", f"a bar {name} stays"], segments=[part.record() for part in parts],
        )
        for name, parts in WAYS.items()
    ]  # fmt: skip
    write_set(BuiltSet("captions", {"edits": {"test": rows}}, {"summary": "edits made for a test"}), root / "set")
    (root / "videos").mkdir()
    for number in range(2):
        write_video(root / "videos" / f"{number}.mp4", runner_set.clip(number), 8)
    tiny_models.xclip(root / "xclip")
    return root


def run(place: Path, output: Path, **changed: Any) -> Any:
    given = {"batch_size": 2, "frames": 4, "conditions": "clean,control:shuffled", "accept": "all", "progress": False}
    given |= {"output": output / "run", "store": output / "store", "video_root": place / "videos"} | changed
    return score(str(place / "xclip"), place / "set", "edits", **given)


def late(function: Callable[..., Any], names: str, seconds: float, clip_at: int) -> Callable[..., Any]:
    """The function, which is slow for some clips; `clip_at`: which of its arguments is the clip."""

    def slow(*given: Any, **options: Any) -> Any:
        if given[clip_at].video_id in names:
            time.sleep(seconds)
        return function(*given, **options)

    return slow


def shards(output: Path) -> dict[str, bytes]:
    """The rows that were stored together, to the bit."""
    return {path.name: read_tensors(path)["rows"].tobytes() for path in (output / "store").rglob("*.safetensors")}


def test_equal_clips_are_encoded_once_in_the_same_batches_whatever_thread_is_slow(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = run(place, tmp_path / "one", workers=0)
    with monkeypatch.context() as patch:  # the repeats are looked at before the first rows are stored
        patch.setattr(clip_reader, "views_of", late(clip_reader.views_of, "ab", 0.5, 1))
        first_slow = run(place, tmp_path / "first", workers=6)
    with monkeypatch.context() as patch:  # and after
        patch.setattr(Encoding, "missing_views", late(Encoding.missing_views, "df", 0.5, 1))
        last_slow = run(place, tmp_path / "last", workers=6)
    assert shards(tmp_path / "one") == shards(tmp_path / "first") == shards(tmp_path / "last")
    assert one.metrics == first_slow.metrics == last_slow.metrics
    for result in (one, first_slow, last_slow):
        counters = result.record["counters"]
        assert counters["visual_encodings"] == counters["visual_encodings_planned"] == 5 + 7  # shuffled by their names
        assert counters["batches"] == one.record["counters"]["batches"]


def test_a_clip_that_shows_what_cannot_be_read_is_missing_for_the_same_reason(place: Path, tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    shutil.copy(place / "videos" / "1.mp4", tmp_path / "videos")
    record = run(place, tmp_path, video_root=tmp_path / "videos", conditions="clean").record
    assert sorted(record["missing"]) == ["a", "b", "c", "d", "e", "f"]
    assert len(set(record["missing"].values())) == 1, "the repeats say what their firsts say"
