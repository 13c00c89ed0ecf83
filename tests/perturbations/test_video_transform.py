"""VideoPerturbation as a transform of data sets: map, lazy frames, cache, errors."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

from collections.abc import Iterator
from pathlib import Path

import datasets
import numpy as np
import pytest
from robustness_sets import tree, videos  # noqa: F401  fixtures

import video_contrast
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations import VideoPerturbation
from video_contrast.video import read_video


@pytest.fixture()
def table(videos: Path) -> Iterator[datasets.Dataset]:
    rows = {
        "id": [f"i{n}" for n in range(4)], "video_id": ["v0", "v1", "v2", "v0"],
        "video_path": ["v0.mp4", "v1.mp4", "v2.mp4", "v0.mp4"],
        "start": [0.0, 0.5, None, 0.0], "end": [1.0, 1.5, None, 1.0],
    }  # fmt: skip
    yield datasets.Dataset.from_dict(rows)


def test_map_writes_one_file_a_clip_whatever_the_batches(table: datasets.Dataset, videos: Path, tmp_path: Path) -> None:
    results = []
    for folder, options in (("a", {}), ("b", {"batched": True, "batch_size": 3}), ("c", {"num_proc": 2})):
        change = VideoPerturbation("gaussian_noise", 3, video_root=videos, output_dir=tmp_path / folder)
        done = table.map(change, load_from_cache_file=False, **options)
        results.append((done.to_dict(), tree(tmp_path / folder)))
    assert results[0] == results[1] == results[2]
    rows, files = results[0]
    assert len(files) == 6 and rows["video_path"][0] == rows["video_path"][3]
    assert rows["start"] == [None] * 4
    noisy = read_video(tmp_path / "a" / rows["video_path"][1]).frames
    assert noisy.shape == read_video(tmp_path / "a" / rows["clean_path"][1]).frames.shape == (20, 32, 48, 3)


def test_a_streamed_table_gives_the_files_of_map(table: datasets.Dataset, videos: Path, tmp_path: Path) -> None:
    def change(folder: str) -> VideoPerturbation:
        return VideoPerturbation("freeze", 3, video_root=videos, output_dir=tmp_path / folder)

    stream = table.to_iterable_dataset(num_shards=2).map(change("stream"))
    assert list(stream) == list(table.map(change("map"), load_from_cache_file=False))
    assert tree(tmp_path / "stream") == tree(tmp_path / "map")


def test_lossless_map_and_lazy_frames_agree(table: datasets.Dataset, videos: Path, tmp_path: Path) -> None:
    change = VideoPerturbation("speckle_noise", 2, video_root=videos, output_dir=tmp_path, quality="lossless")
    written = table.map(change)
    lazy = table.with_transform(change.frames)
    for number in (1, 2):
        assert np.array_equal(
            read_video(tmp_path / written[number]["video_path"]).frames, np.asarray(lazy[number]["frames"])
        )
    few = VideoPerturbation("speckle_noise", 2, video_root=videos, sample=4)
    assert np.asarray(table.with_transform(few.frames)[2]["frames"]).shape == (4, 32, 48, 3)


def test_a_new_version_misses_the_old_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from datasets.fingerprint import Hasher

    from video_contrast.perturbations.registry import VIDEO

    first = Hasher.hash(VideoPerturbation("jpeg", 3))
    assert first == Hasher.hash(VideoPerturbation("jpeg", 3)) != Hasher.hash(VideoPerturbation("jpeg", 4))
    monkeypatch.setitem(VIDEO, "jpeg", replace(VIDEO["jpeg"], version="2"))
    assert Hasher.hash(VideoPerturbation("jpeg", 3)) != first


def test_transform_errors_are_sentences(videos: Path) -> None:
    change = VideoPerturbation("jpeg", 3, video_root=videos)
    with pytest.raises(VideoContrastError, match="no column 'video_id'"):
        change({"video_path": "v0.mp4"})
    with pytest.raises(VideoContrastError, match=r"none\.mp4: no such file"):
        change({"video_id": "none", "video_path": "none.mp4"})
    with pytest.raises(VideoContrastError, match=r"without '\.\.'"):
        change({"video_id": "x", "video_path": "../x.mp4"})
    edited = {"video_id": "x", "video_path": "v0.mp4", "segments": [{"video_path": "v0.mp4", "start": 0.0, "end": 1.0}]}
    with pytest.raises(VideoContrastError, match=r"video 'x' has a recipe in 'segments': build .* --write-videos"):
        change(edited)
    with pytest.raises(VideoContrastError, match="'x' has a recipe in 'video_perturbation': take the clean rows"):
        change.frames({"video_id": ["x"], "video_path": ["v0.mp4"], "video_perturbation": [{"name": "freeze"}]})
    with pytest.raises(UsageError, match="1 to 5"):
        VideoPerturbation("jpeg", 6)
    with pytest.raises(UsageError, match="quality"):
        VideoPerturbation("jpeg", 1, quality="low")
    assert video_contrast.VideoPerturbation is VideoPerturbation
