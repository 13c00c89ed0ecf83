"""What makes the runner fast and small: sharing within a clip, bounded memory, finished runs known at once."""

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import runner_set
import tiny_models

from video_contrast.perturbations.video import perturb_clip
from video_contrast.runner import clip_reader, score
from video_contrast.runner.conditions import Visual, parse
from video_contrast.runner.memory import RunCounts
from video_contrast.runner.views import Sampling, held_bytes, views_of
from video_contrast.video import Clip, Counter, decode, frame_indices, index_of, write_video

MINUTES = 3


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("speed")
    runner_set.write(root / "set", n_clips=5)
    tiny_models.clip(root / "clip")
    return root


@pytest.mark.parametrize("profile", ["paper", "monotone"])
def test_codec_views_that_share_their_pictures_are_those_of_the_whole_clip_perturbed(place: Path, profile: str) -> None:
    path = place / "set" / "clips" / "00.mp4"
    visuals = [Visual(name, severity, profile) for name in ("codec1", "codec2") for severity in (1, 2, 3, 4, 5)]
    whole = decode(path, range(index_of(path).n_frames))
    seen = []
    for view in views_of(path.parent, Clip("video0", "00.mp4"), visuals, Sampling(4)):
        name, severity = str(view.visual.name), view.visual.severity
        changed = perturb_clip(whole, name, severity, video_id="video0", profile=profile)
        np.testing.assert_array_equal(view.frames, changed[frame_indices(len(whole), 4)])
        seen.append(view.frames)
    # the paper's quantisers end at 31: five different codings for ten views
    assert len({id(frames) for frames in seen}) == (5 if profile == "paper" else 10)


def test_views_that_share_their_pictures_get_equal_embeddings_and_each_is_counted(place: Path, tmp_path: Path) -> None:
    result = score(
        str(place / "clip"), place / "set", "retrieval", conditions="clean,visual:codec1", output=tmp_path / "run",
        store=tmp_path / "store", accept="all", progress=False,
    )  # fmt: skip
    matrices = {s: np.load(tmp_path / f"run/retrieval/retrieval/visual.codec1@{s}.npy") for s in range(1, 6)}
    assert all(np.array_equal(matrices[2], matrices[s]) for s in (3, 4, 5))
    assert not np.array_equal(matrices[1], matrices[2])
    assert result.record["counters"]["visual_encodings"] == 5 * 6


def test_a_finished_run_is_known_however_the_same_call_is_spelled(place: Path, tmp_path: Path) -> None:
    given = {"output": tmp_path / "run", "store": tmp_path / "store", "progress": False}
    score("random", place / "set", "retrieval", conditions="clean, text:drop_first", **given)
    stamp = (tmp_path / "run" / "run.json").stat().st_mtime_ns
    score("random", str(place / "set"), ["retrieval"], conditions=("clean", "text:drop_first"), options={}, **given)
    assert (tmp_path / "run" / "run.json").stat().st_mtime_ns == stamp
    score("random", place / "set", "retrieval", conditions="clean,text:drop_last", **given)
    assert (tmp_path / "run" / "run.json").stat().st_mtime_ns != stamp


def test_the_command_knows_a_finished_run_of_a_real_model_without_importing_torch(place: Path, tmp_path: Path) -> None:
    score(
        str(place / "clip"), place / "set", "retrieval", conditions="clean,text:drop_first", output=tmp_path / "run",
        store=tmp_path / "store", progress=False,
    )  # fmt: skip
    stamp = (tmp_path / "run" / "run.json").stat().st_mtime_ns
    command = [
        sys.executable, "-X", "importtime", "-m", "video_contrast.cli", "score", "--model", str(place / "clip"),
        "--dataset", str(place / "set"), "--config", "retrieval", "--conditions", "clean,text:drop_first",
        "--output", str(tmp_path / "run"),
    ]  # fmt: skip
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = os.times()
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "numpy" in imported and not {"torch", "transformers", "datasets", "av"} & imported
    assert (tmp_path / "run" / "run.json").stat().st_mtime_ns == stamp and "R@1" in done.stdout
    assert after.children_user - before.children_user < 3  # seconds; about one on a quiet machine


@pytest.mark.parametrize("limit", [1, 5])
def test_a_gallery_that_cannot_be_missed_has_no_gammas_and_no_failure(place: Path, tmp_path: Path, limit: int) -> None:
    result = score(
        "random", place / "set", "retrieval", conditions="clean,text:drop_first",
        limit=limit, output=tmp_path / "run", progress=False,
    )  # fmt: skip
    scores = set(result["retrieval"].get("robustness", {}))
    assert "t2v_R@1" in scores if limit == 5 else not scores
    assert "t2v_R@5" not in scores  # five clips


@pytest.fixture(scope="module")
def long_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three minutes at 25 frames a second, 32x32: 14 MB of pixels."""
    picture = np.random.default_rng(0).integers(0, 255, (1, 32, 32, 3)).astype(np.uint8)
    still = np.broadcast_to(picture, (MINUTES * 60 * 25, 32, 32, 3))
    return write_video(tmp_path_factory.mktemp("long") / "long.mp4", still, 25)


@pytest.mark.parametrize("scope", ["clip", "video"])
def test_memory_does_not_grow_with_a_videos_length(long_clip: Path, scope: str) -> None:
    index = index_of(long_clip)
    assert index.n_frames == MINUTES * 60 * 25
    visuals = [condition.visual for condition in parse("clean,visual:*,control:shuffled", Visual(scope=scope))]
    clip = Clip("v", "long.mp4", None, None) if scope == "clip" else Clip("v", "long.mp4", 150.0, 160.0)
    counter = Counter()
    tracemalloc.start()
    try:
        n_views = sum(1 for _ in views_of(long_clip.parent, clip, visuals, Sampling(8), counter))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n_views == 92
    assert counter.converted <= 26 * 8 + 8 * 12  # clean and temporal views, and the codecs' groups
    assert peak < 8e6  # all frames: 14 MB; what is imported on the way counts, too
    held = held_bytes(long_clip.parent, clip, visuals, Sampling(8))
    assert held == 3 * 32 * 32 * counter.converted


def test_decoding_threads_are_as_many_as_their_frames_fit_in_memory(
    long_clip: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visuals, clip = [condition.visual for condition in parse("clean,visual:Temporal")], Clip("v", "long.mp4")
    held = held_bytes(long_clip.parent, clip, visuals, Sampling(8))

    def workers(folder: Path) -> int:
        reader = clip_reader.ClipReader(folder, Sampling(8), 16, RunCounts())
        return reader.affordable_workers(clip, visuals)

    assert workers(long_clip.parent) == 16
    for budget, threads in ((5 * held, 5), (held, 1), (held // 2, 1)):
        monkeypatch.setattr(clip_reader, "FRAMES_HELD", budget)
        assert workers(long_clip.parent) == threads
    assert workers(place / "none") == 16
