"""Videos that must not be read, cannot be read, or are read from elsewhere: each is counted with its reason."""

import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import runner_set
import tiny_models
from video_files import write_clip

from video_contrast.runner import score
from video_contrast.runner.conditions import CLEAN
from video_contrast.runner.views import Sampling, views_of
from video_contrast.video import Clip, read_video


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.clip(tmp_path_factory.mktemp("model") / "clip")


def run(model: Path, dataset: Path, output: Path, **options: object):
    given = {"store": output / "store", "frames": 4, "accept": "all", "progress": False, **options}
    return score(model, dataset, "verb_mc", output=output, **given)


def test_every_bad_video_is_counted_with_its_reason(model: Path, tmp_path: Path) -> None:
    folder = runner_set.write(tmp_path / "set")
    clips = folder / "clips"
    for name in ("01", "02", "03", "04"):
        (clips / f"{name}.mp4").unlink()
    (clips / "01.mp4").symlink_to("01.mp4")
    os.mkfifo(clips / "02.mp4")
    (clips / "03.mp4").write_text("ffconcat version 1.0\nfile 00.mp4\n")
    (tmp_path / "outside.mp4").write_bytes((clips / "00.mp4").read_bytes())
    table = folder / "verb_mc" / "test-00000-of-00001.parquet"
    read = pq.ParquetFile(table).read()
    rows = read.to_pylist()
    rows[4]["video_path"], rows[5]["video_path"] = "../outside.mp4", str(tmp_path / "outside.mp4")
    pq.write_table(type(read).from_pylist(rows, schema=read.schema), table)
    result = run(model, folder, tmp_path / "run")
    missing = result.record["missing"]
    assert result["verb_mc"]["conditions"]["clean"]["n"] == 2 and result.record["n_missing"] == 5
    for path, reason in (
        ("clips/01.mp4", "no such file"),
        ("clips/02.mp4", "is not a regular file"),
        ("clips/03.mp4", "cannot be read as a video"),
        ("../outside.mp4", "must be relative"),
        (str(tmp_path / "outside.mp4"), "must be relative"),
    ):
        assert reason in missing[path], path


def test_damaged_videos_are_scored_and_recorded_where_they_are_accepted(model: Path, tmp_path: Path) -> None:
    folder = runner_set.write(tmp_path / "set")
    broken = folder / "clips" / "03.mp4"
    write_clip(tmp_path / "whole.mkv", n_frames=60)
    data = (tmp_path / "whole.mkv").read_bytes()
    broken.write_bytes(data[: len(data) * 7 // 10])  # the name does not matter, the content does
    refused = run(model, folder, tmp_path / "a", accept="")  # the self-test passes over it
    assert "stops in the middle" in refused.record["missing"]["clips/03.mp4"]
    accepted = run(model, folder, tmp_path / "b", accept_damaged=True)
    assert accepted.record["missing"] == {} and accepted["verb_mc"]["conditions"]["clean"]["n"] == 7
    assert "stops in the middle" in accepted.record["damaged"]["clips/03.mp4"]
    shared = run(model, folder, tmp_path / "c", store=tmp_path / "b" / "store")
    assert shared.record["n_missing"] == 1, "an accepted clip's embedding was taken for a sound one"


def test_linked_videos_are_scored(model: Path, tmp_path: Path) -> None:
    """A folder of links, as people and the Hub's cache make them."""
    folder = runner_set.write(tmp_path / "set")
    plain = run(model, folder, tmp_path / "a")
    blobs = tmp_path / "blobs"
    shutil.move(folder / "clips", blobs)
    (folder / "clips").mkdir()
    for file in blobs.iterdir():
        (folder / "clips" / file.name).symlink_to(Path("../../blobs") / file.name)
    linked = run(model, folder, tmp_path / "b")
    assert linked.record["n_missing"] == 0 and linked.metrics == plain.metrics
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "clips").symlink_to(blobs)
    assert run(model, folder, tmp_path / "c", video_root=tmp_path / "videos").metrics == plain.metrics


def test_a_span_of_a_variable_rate_is_the_same_to_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    every = write_clip(path, options={"bf": "2"}, n_frames=60, shown_at=lambda k: k + 40 * (k > 20) + k // 2)
    clip = Clip("a", "a.mkv", 0.4, 2.9)
    whole = read_video(path, clip.start, clip.end)
    view = next(views_of(path.parent, clip, [CLEAN.visual], Sampling(6)))
    inside = np.arange(whole.first, whole.first + len(whole.frames))
    assert set(view.numbers.tolist()) <= set(inside.tolist())
    np.testing.assert_array_equal(view.frames, every[view.numbers])
    moments = 0.4 + (np.arange(6) + 0.5) * (2.92 - 0.4) / 6  # frame 7 is shown at 0.4 s, frame 22 at 2.92 s
    shown = inside[np.searchsorted(whole.times, moments, side="right") - 1]
    np.testing.assert_array_equal(view.numbers, shown)
    np.testing.assert_allclose(view.times, whole.times[view.numbers - whole.first] - whole.times[0])
