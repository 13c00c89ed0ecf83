"""What fails while a model runs is told apart: the video, the memory, the disk, the model."""

import errno
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import runner_set
import tiny_late
import tiny_matching
import tiny_models
from safetensors.numpy import load_file, save_file

from video_contrast.cli import main
from video_contrast.errors import VideoContrastError
from video_contrast.runner import RunResult, score
from video_contrast.runner.kinds.base import MODEL_KINDS, ClipFrames, DualEncoder, PairScorer, ScoreResult, kind
from video_contrast.runner.score_pairs import PairResults


class Lengths(PairScorer):
    """Scores captions by their length, and fails where it is told to."""

    def __init__(self, fails: Callable[["Lengths", str], None], batch_size: int) -> None:
        self.fails = fails
        self.batch_size = batch_size

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        self.fails(self, clip.video_id if clip else "")
        return ScoreResult(np.array([float(len(caption)) for caption in captions]))


Run = Callable[..., RunResult]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    runner_set.write(tmp_path / "set")

    def scored(fails: Callable[[Lengths, str], None], batch_size: int = 1) -> RunResult:
        @kind("lengths", family="pair", summary="for this test", names=("lengths",))
        def load(source: object, settings: object) -> Lengths:
            return Lengths(fails, batch_size)

        return score("lengths", tmp_path / "set", "verb_mc", output=tmp_path / "run", progress=False, accept="all")

    yield scored
    MODEL_KINDS.pop("lengths", None)


def test_a_pair_scorer_out_of_memory_halves_its_batch_and_says_so(run: Run) -> None:
    def small(model: Lengths, video: str) -> None:
        if model.batch_size > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB")

    result = run(small, batch_size=8)
    assert result.record["notes"] == [f"out of memory: the batch was halved to {size}" for size in (4, 2)]
    assert result["verb_mc"]["conditions"]["clean"]["n"] == 7


def test_a_pair_scorer_without_a_batch_to_halve_says_what_helps(run: Run) -> None:
    def never(model: Lengths, video: str) -> None:
        raise MemoryError

    with pytest.raises(VideoContrastError, match="out of memory with one clip or text at a time; give --dtype"):
        run(never)


def test_a_full_disk_is_not_taken_for_broken_videos(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: PairResults, key: str, answer: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(PairResults, "put", full)
    with pytest.raises(VideoContrastError, match="no space left on the device of"):
        run(lambda model, video: None)


def test_a_clip_that_the_models_processor_refuses_is_missing_and_the_others_go_on(run: Run) -> None:
    def refuses(model: Lengths, video: str) -> None:
        if video == "video3":
            raise ValueError("absolute aspect ratio must be smaller than 200")

    record = run(refuses).record
    assert (record["n_missing"], record["n_clips"]) == (1, 7)
    assert record["missing"] == {"clips/03.mp4": "absolute aspect ratio must be smaller than 200"}


@pytest.mark.parametrize("existed", [False, True])
def test_a_run_whose_videos_are_all_missing_leaves_nothing_behind(run: Run, tmp_path: Path, existed: bool) -> None:
    if existed:
        (tmp_path / "run").mkdir()
    for video in (tmp_path / "set").rglob("*.mp4"):
        video.unlink()
    with pytest.raises(VideoContrastError, match="no video of the config verb_mc could be read"):
        run(lambda *_: None)
    assert (list((tmp_path / "run").rglob("*")) == []) if existed else not (tmp_path / "run").exists()


def test_a_run_that_failed_before_it_scored_leaves_the_folder_to_others(run: Run, tmp_path: Path) -> None:
    def stops(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(stops)
    assert not (tmp_path / "run").exists()
    assert score("random", tmp_path / "set", "verb_mc", output=tmp_path / "run", progress=False)["verb_mc"]


@pytest.mark.parametrize("models", [["lengths"], ["blind", "lengths"]])
def test_more_missing_clips_than_allowed_end_a_job_with_a_code_of_their_own(
    models: list[str], run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(3):
        (tmp_path / "set" / "clips" / f"0{number}.mp4").unlink()
    run(lambda model, video: None)
    call = ["score", *[word for model in models for word in ("--model", model)], "--dataset", str(tmp_path / "set"),
            "--config", "verb_mc", "--output", str(tmp_path / "runs"), "--accept", "all"]  # fmt: skip
    assert main(call) == 0 and "3 of 7" in capsys.readouterr().out
    assert main([*call, "--max-missing", "0.5"]) == 0
    capsys.readouterr()
    assert main([*call, "--max-missing", "0.4", "--quiet"]) == 3
    assert "3 of 7 clips are missing, more than --max-missing 0.4 allows" in capsys.readouterr().err
    assert main([*call, "--max-missing", "1.5"]) == 2


def test_an_encoder_that_fails_is_not_taken_for_broken_videos(tmp_path: Path) -> None:
    class Fails(DualEncoder):
        def encode_prepared(self, prepared: Sequence[np.ndarray]) -> np.ndarray:
            if len(calls) < 1:
                calls.append(len(prepared))
                raise OSError("the model's own file went away")
            return np.ones((len(prepared), 2), np.float32)

        def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
            return np.ones((len(texts), 2), np.float32)

    calls: list[int] = []
    runner_set.write(tmp_path / "set")
    try:
        kind("fails", family="encoder", summary="for this test", names=("fails",))(lambda source, settings: Fails())
        with pytest.raises(OSError, match="own file went away"):
            score("fails", tmp_path / "set", "verb_mc", store=tmp_path / "own", batch_size=2, progress=False)
    finally:
        MODEL_KINDS.pop("fails", None)


PROCESSOR = ("preprocessor_config.json", "processor_config.json")
TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


@pytest.mark.parametrize(
    ("make", "absent", "message"),
    [
        (tiny_models.clip, PROCESSOR, "has no image processor: save it into the folder too"),
        (tiny_models.clip, TOKENIZER, "has no tokenizer: its files"),
        (tiny_matching.blip_itm, TOKENIZER, "has no tokenizer: its files"),  # the library makes one that knows no word
        (tiny_late.colpali, TOKENIZER, "has no tokenizer: its files"),
    ],
)
def test_a_checkpoint_without_its_processor_is_no_model(
    make: Callable[[Path], Path], absent: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    folder = make(tmp_path / "torn")
    for name in absent:
        (folder / name).unlink(missing_ok=True)
    runner_set.write(tmp_path / "set", n_clips=2)
    with pytest.raises(VideoContrastError, match=message) as error:
        score(folder, tmp_path / "set", "verb_mc", accept="all", output=tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists() and ". " not in str(error.value)


def test_a_model_of_another_kind_or_of_an_unknown_type_is_one_sentence(tmp_path: Path) -> None:
    folder = tiny_models.clip(tmp_path / "clip")
    runner_set.write(tmp_path / "set", n_clips=2)
    with pytest.raises(VideoContrastError, match=r"is no model of this kind \(its config is a CLIPConfig\)"):
        score(folder, tmp_path / "set", "verb_mc", kind="reranker", progress=False)
    with pytest.raises(VideoContrastError, match="CLIPModel is no model of late interaction; leave --kind out"):
        score(folder, tmp_path / "set", "verb_mc", kind="late_interaction", progress=False)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "model_type": "foo", "architectures": ["Foo"]}))
    with pytest.raises(VideoContrastError, match="is of the type foo, which the installed transformers does not know"):
        score(folder, tmp_path / "set", "verb_mc", kind="dual_encoder", progress=False)


def test_a_checkpoint_without_all_weights_is_no_model(tmp_path: Path) -> None:
    folder = tiny_models.clip(tmp_path / "torn")
    weights = load_file(folder / "model.safetensors")
    absent = [name for name in weights if name.startswith("text_model.encoder.layers.0.")]
    save_file({name: weights[name] for name in weights if name not in absent}, folder / "model.safetensors")
    runner_set.write(tmp_path / "set")
    with pytest.raises(VideoContrastError, match=f"lacks {len(absent)} weights of CLIPModel.*would be random"):
        score(folder, tmp_path / "set", "verb_mc", progress=False)
