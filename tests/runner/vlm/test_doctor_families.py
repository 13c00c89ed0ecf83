"""The self-test on tiny checkpoints of every family that reads video and caption together, or needs torchvision."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import runner_set
import tiny_models
import tiny_sentence
from tiny_matching import MATCHING

import video_contrast
from video_contrast.errors import VideoContrastError
from video_contrast.runner.kinds import chat_prompts
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.sentence import RerankerScorer, SentenceEncoder

TIMED = ["qwen2_5_vl", "qwen3_vl", "smolvlm", "gemma4", "glm46v", "molmo2"]
ALSO_TIMED = ["qwen3_5", "qwen2_5_omni", "glm4v"]  # through code that the others share
UNTIMED = ["qwen2_vl", "llava_onevision", "llava_next_video", "internvl", "gemma3", "lfm2_vl", "minicpmv4_6"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("families") / "set"
    runner_set.write(folder, n_clips=3)
    return folder


@pytest.mark.parametrize("name", [*TIMED, *ALSO_TIMED, *UNTIMED, *MATCHING])
def test_readers_pass(name: str, tiny_vlm: Callable[[str], Path], dataset: Path) -> None:
    test = video_contrast.doctor(tiny_vlm(name), dataset, "verb_mc", frames=4)
    assert not test.of("fail"), "\n".join(map(str, test.verdicts))
    states = {verdict.check: verdict.state for verdict in test.verdicts}
    assert states["recipe"] == "pass"
    assert (states["times"] == "pass") == (name in [*TIMED, *ALSO_TIMED])


def test_videoprism_passes(tmp_path: Path, dataset: Path) -> None:
    test = video_contrast.doctor(tiny_models.videoprism(tmp_path / "model"), dataset, "verb_mc")
    assert not test.of("fail"), "\n".join(map(str, test.verdicts))


@pytest.fixture(scope="module")
def saved(tiny_vlm: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model of sentence-transformers."""
    root = tmp_path_factory.mktemp("sentence")

    def get(name: str) -> Path:
        make, inside = tiny_sentence.MAKERS[name]
        folder = root / name.replace(" ", "-")
        return folder if folder.exists() else make(folder, tiny_vlm(inside))

    return get


@pytest.mark.parametrize("name", tiny_sentence.MAKERS)
def test_models_of_sentence_transformers_pass(name: str, saved: Callable[[str], Path], dataset: Path) -> None:
    test = video_contrast.doctor(saved(name), dataset, "verb_mc", frames=4)
    assert not test.of("fail"), "\n".join(map(str, test.verdicts))
    states = {verdict.check: verdict.state for verdict in test.verdicts}
    assert states["recipe"] == "pass"
    assert (states["times"] == "pass") == name.endswith(("qwen2_5_vl", "qwen3_vl"))


@pytest.mark.parametrize("name", ["embedder of qwen3_vl", "reranker of qwen2_5_vl"])
def test_an_embedder_or_reranker_that_is_given_other_times_than_it_shows_is_caught(
    name: str, saved: Callable[[str], Path], dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode, score = SentenceEncoder.encode_prepared, RerankerScorer.score
    monkeypatch.setattr(
        SentenceEncoder, "encode_prepared", lambda self, clips: encode(self, [steady(c) for c in clips])
    )
    monkeypatch.setattr(
        RerankerScorer, "score", lambda self, clip, captions, **more: score(self, steady(clip), captions, **more)
    )
    test = video_contrast.doctor(saved(name), dataset, "verb_mc", frames=4)
    assert [verdict.check for verdict in test.of("fail")] == ["times"]


def steady(clip: ClipFrames) -> ClipFrames:
    return ClipFrames(clip.frames, tuple(map(float, range(len(clip.frames)))))


@pytest.mark.parametrize("name", TIMED)
def test_a_constant_frame_rate_is_caught(
    name: str, tiny_vlm: Callable[[str], Path], dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = chat_prompts.metadata_of
    monkeypatch.setattr(
        chat_prompts,
        "metadata_of",
        lambda clip: told(steady(clip)),
    )
    test = video_contrast.doctor(tiny_vlm(name), dataset, "verb_mc", frames=4)
    assert [verdict.check for verdict in test.of("fail")] == ["times"]


# What is told is read off in each family's own way, and compared with the frames' times in one for all.
@pytest.mark.parametrize(("name", "factor"), [*((name, 10.0) for name in TIMED), ("qwen2_5_vl", 0.1)])
def test_times_that_are_told_wrong_are_caught(
    name: str, factor: float, tiny_vlm: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They change the scores, so only what is told shows it."""
    runner_set.write(tmp_path / "set", n_clips=1, n_frames=24)
    told = chat_prompts.metadata_of
    monkeypatch.setattr(
        chat_prompts,
        "metadata_of",
        lambda clip: told(ClipFrames(clip.frames, tuple(factor * time for time in clip.times))),
    )
    test = video_contrast.doctor(tiny_vlm(name), tmp_path / "set", "verb_mc", frames=4)
    [verdict] = test.of("fail")
    assert verdict.check == "times" and "is told" in verdict.says


@pytest.mark.parametrize(
    ("name", "scoring"),
    [
        *((name, "loglik") for name in ("qwen2_vl", "qwen2_5_omni")),
        *((name, "letter") for name in ("qwen2_vl", "gemma3")),
    ],
)
def test_other_ways_to_score_pass(name: str, scoring: str, tiny_vlm: Callable[[str], Path], dataset: Path) -> None:
    test = video_contrast.doctor(tiny_vlm(name), dataset, "verb_mc", frames=4, options={"scoring": scoring})
    assert not test.of("fail"), "\n".join(map(str, test.verdicts))


def test_a_checkpoint_that_contradicts_its_recipe_stops_the_run(dataset: Path, tmp_path: Path) -> None:
    folder = tiny_models.videoprism(tmp_path / "model", size=192)
    given: dict[str, Any] = {"output": tmp_path / "run", "store": tmp_path / "store", "progress": False}
    with pytest.raises(VideoContrastError, match=r"recipe: VideoPrism: resolution is 192 in its .*image_size, 288 in"):
        video_contrast.score(folder, dataset, "verb_mc", **given)
    assert not (tmp_path / "run" / "run.json").exists()
    result = video_contrast.score(folder, dataset, "verb_mc", accept="recipe", **given)
    assert result.record["self_test"]["accepted"] == ["recipe"]
