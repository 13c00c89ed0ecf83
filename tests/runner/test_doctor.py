"""The self-test: adapters that are wrong on purpose are caught, right ones pass, and a run says what was found."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import remote_code
import runner_set
import tiny_late
import tiny_models
import torch

import video_contrast
from video_contrast.checkpoints import NAMES
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.doctor.checks import check_reactions
from video_contrast.runner.doctor.probe import Probe
from video_contrast.runner.doctor.result import SelfTest
from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import (
    MODEL_KINDS,
    ClipFrames,
    LoadOptions,
    PairScorer,
    ScoreResult,
    kind,
    product,
)
from video_contrast.runner.kinds.dual_encoder import ImageTextEncoder
from video_contrast.runner.model_files import locate
from video_contrast.storage import SetFolder

COLUMNS = ("id", "video_path", "candidates", "label")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("doctor")
    runner_set.write(root / "set", n_clips=9)
    tiny_models.clip(root / "clip")
    return root


def doctor(model: str | Path, place: Path, **options: Any) -> SelfTest:
    """The verdicts on a model, shown four frames of each clip of the set."""
    return video_contrast.doctor(model, place / "set", frames=4, **options)


def failed(test: SelfTest) -> set[str]:
    return {verdict.check for verdict in test.of("fail")}


def as_text(model: ImageTextEncoder, prepared: Sequence[Any]) -> np.ndarray:
    """Frames printed and embedded as a caption, as a library does with an input that it takes for text."""
    return model.encode_texts([str(frames) for frames in prepared])


def unseen(model: ImageTextEncoder, prepared: Sequence[Any]) -> np.ndarray:
    return np.ones((len(prepared), 24), np.float32)


def shuffled(model: ImageTextEncoder, prepared: Sequence[Any]) -> np.ndarray:
    """Sorted by size for speed, and never sorted back."""
    rows = ImageTextEncoder.encode_prepared(model, prepared)
    return rows[np.argsort([np.sum(arrays["pixel_values"]) for arrays in prepared])]


def first_frame(model: ImageTextEncoder, prepared: Sequence[Any]) -> np.ndarray:
    return ImageTextEncoder.encode_prepared(model, [{k: v[:1] for k, v in arrays.items()} for arrays in prepared])


def cut(model: ImageTextEncoder, texts: Sequence[str]) -> np.ndarray:
    return ImageTextEncoder.encode_texts(model, [text[:8] for text in texts])


def without_last_word(model: ImageTextEncoder, texts: Sequence[str]) -> np.ndarray:
    return ImageTextEncoder.encode_texts(model, [text.rpartition(" ")[0] or text for text in texts])


def sorted_texts(model: ImageTextEncoder, texts: Sequence[str]) -> np.ndarray:
    return ImageTextEncoder.encode_texts(model, sorted(texts, key=len))


def first_frame_repeated(model: ImageTextEncoder, clip: ClipFrames) -> Any:
    return ImageTextEncoder.prepare(model, replace(clip, frames=np.repeat(clip.frames[:1], len(clip.frames), 0)))


def lower_and_short(model: ImageTextEncoder, texts: Sequence[str]) -> np.ndarray:
    model.tokens.limit = 8
    return ImageTextEncoder.encode_texts(model, [text.lower() for text in texts])


def softmax(axis: int) -> Callable[..., np.ndarray]:
    """Scores that are a softmax over what else is there: all clips (0) or all captions (1)."""

    def join(model: ImageTextEncoder, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        powers = np.exp(50 * product(videos, texts))
        return powers / powers.sum(axis, keepdims=True)

    return join


def stale(model: ImageTextEncoder, clip: ClipFrames) -> Any:
    """A cache that knows a clip by the name of its file."""
    assert clip.source is not None
    cache = model.__dict__.setdefault("cache", {})
    return cache.setdefault(clip.source.paths, ImageTextEncoder.prepare(model, clip))


def one_nan(model: ImageTextEncoder, prepared: Sequence[Any]) -> np.ndarray:
    """Half precision that overflows on a bright clip."""
    rows = ImageTextEncoder.encode_prepared(model, prepared)
    brightness = [float(arrays["pixel_values"].mean()) for arrays in prepared]
    if len(prepared) > 1:
        model.__dict__.setdefault("limit", sorted(brightness)[-2])
    rows[np.array(brightness) > model.__dict__.get("limit", np.inf)] = np.nan
    return rows


def dropped(model: ImageTextEncoder, prepared: Sequence[Any]) -> np.ndarray:
    """Dropout that was left on."""
    rows = torch.from_numpy(ImageTextEncoder.encode_prepared(model, prepared))
    return torch.nn.functional.dropout(rows, 0.1).numpy()


def of_any_length(model: ImageTextEncoder, texts: Sequence[str]) -> np.ndarray:
    """Embeddings that nobody normalised."""
    lengths = np.array([[1 + sum(map(ord, text)) % 7] for text in texts], np.float32)
    return ImageTextEncoder.encode_texts(model, texts) * lengths


def channels_reversed(model: ImageTextEncoder, clip: ClipFrames) -> Any:
    return ImageTextEncoder.prepare(model, replace(clip, frames=clip.frames[..., ::-1]))


BROKEN: dict[str, tuple[dict[str, Callable[..., Any]], set[str]]] = {
    "frames as text": ({"prepare": lambda model, clip: clip.frames, "encode_prepared": as_text}, {"pixels"}),
    "ignored video": ({"encode_prepared": unseen}, {"clip", "grey", "pixels", "frames"}),
    "shuffled clips": ({"encode_prepared": shuffled}, {"order"}),
    "shuffled captions": ({"encode_texts": sorted_texts}, {"candidates"}),
    "cut captions": ({"encode_texts": cut, "truncated_texts": lambda model, texts: 0}, {"ends"}),
    "last word cut": ({"encode_texts": without_last_word}, {"ends"}),
    "first frame only": ({"encode_prepared": first_frame}, {"frames"}),
    "first frame repeated": ({"prepare": first_frame_repeated}, {"frames"}),
    "lower-cased and cut at 8 tokens": ({"encode_texts": lower_and_short, "truncated_texts": lambda *_: 0}, {"ends"}),
    "softmax over the clips": ({"join": softmax(0)}, {"batch"}),
    "softmax over the captions": ({"join": softmax(1)}, {"candidates"}),
    "stale cache": ({"prepare": stale}, {"clip", "grey", "pixels"}),
    "a NaN": ({"encode_prepared": one_nan}, {"finite"}),
    "dropout": ({"encode_prepared": dropped}, {"repeat"}),
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, ImageTextEncoder]:
    """Checkpoint -> its encoder, of which adapters are copies."""
    return {}


@pytest.fixture
def adapter(place: Path, loaded: dict[str, ImageTextEncoder]) -> Iterator[Callable[..., str]]:
    """Registers an encoder of the tiny CLIP with other methods; its name."""

    def register(checkpoint: str = "", **methods: Callable[..., Any]) -> str:
        @kind("adapter", family="encoder", summary="for this test", names=("adapter",))
        def load(source: object, settings: LoadOptions) -> ImageTextEncoder:
            if checkpoint not in loaded:
                real = locate(checkpoint or str(place / "clip"))
                usual = choose(real)
                loaded[checkpoint] = usual.load(real, LoadOptions(options=options_for(usual, {})))
            model = deepcopy(loaded[checkpoint])
            model.__class__ = type("Adapter", (ImageTextEncoder,), methods)
            if "left" in methods:
                model.tokens.tokenizer.padding_side = "left"
            return model

        return "adapter"

    yield register
    MODEL_KINDS.pop("adapter", None)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_adapter_is_caught(name: str, place: Path, adapter: Callable[..., str]) -> None:
    methods, expected = BROKEN[name]
    test = doctor(adapter(**methods), place)
    assert expected <= failed(test), "\n".join(map(str, test.verdicts))


def test_left_padding_in_the_wrong_place_is_caught(place: Path, adapter: Callable[..., str]) -> None:
    assert "padding" in failed(doctor(adapter(left=True), place))


def test_embeddings_that_nobody_normalised_are_doubtful(place: Path, adapter: Callable[..., str]) -> None:
    test = doctor(adapter(encode_texts=of_any_length), place)
    assert "lengths" in {verdict.check for verdict in test.of("doubt")} and not failed(test)


def test_channels_in_the_wrong_order_are_caught(adapter: Callable[..., str]) -> None:
    """By the true captions, which win by more once red and blue are exchanged again."""
    assert failed(video_contrast.doctor(adapter("bag-of-frames", prepare=channels_reversed))) == {"channels"}


class Reader(PairScorer):
    """Scores by pixels and letters, of which it reads so many."""

    def __init__(self, letters: int) -> None:
        self.letters = letters

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        assert clip is not None
        shown = clip.frames.astype(np.float64).mean(axis=(1, 2, 3)) @ (1 + np.arange(len(clip.frames)))
        read = [sum((n + 1) * ord(letter) for n, letter in enumerate(text[: self.letters])) for text in captions]
        return ScoreResult(np.sin(shown + np.array(read)))


class FirstOption(PairScorer):
    """Prefers the option that stands first, whatever is shown."""

    together = True

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        assert clip is not None
        return ScoreResult(-np.arange(len(captions)) + 1e-3 * clip.frames.mean() * np.array([len(c) for c in captions]))


def test_a_model_that_prefers_the_first_option_does_not_seem_to_know_the_true_one(place: Path) -> None:
    kind("first option", family="pair", summary="for this test", names=("first option",))(lambda *_: FirstOption())
    try:
        test = doctor("first option", place)
    finally:
        MODEL_KINDS.pop("first option", None)
    assert "truth" in {verdict.check for verdict in test.of("doubt")}, "\n".join(map(str, test.verdicts))


@pytest.mark.parametrize("letters", [120, 1000])
def test_captions_cut_beyond_the_usual_length_are_caught(letters: int, tmp_path: Path) -> None:
    """The ends of the set's longest caption must show, too."""
    long = (
        "a red bar moves over a field of squares, and then " + "it stops and goes on again and again, " * 3 + "slowly"
    )
    runner_set.write(tmp_path / "set", n_clips=3, longest=long)
    kind("reader", family="pair", summary="for this test", names=("reader",))(lambda *_: Reader(letters))
    try:
        assert failed(video_contrast.doctor("reader", tmp_path / "set", "verb_mc")) == (
            {"ends"} if letters == 120 else set()
        )
    finally:
        MODEL_KINDS.pop("reader")


def test_the_same_adapter_unbroken_passes_and_is_order_blind(place: Path, adapter: Callable[..., str]) -> None:
    test = doctor(adapter(), place)
    assert not failed(test)
    says = {verdict.check: verdict.says for verdict in test.verdicts}
    assert "order-blind" in says["reversal"] and test.items == 8
    assert next(v for v in test.verdicts if v.check == "cost").numbers["seconds_an_item"] > 0


@pytest.mark.parametrize(("n", "model"), [(1, "clip"), (2, "temporal")])
def test_a_sound_model_passes_on_a_set_of_one_or_two_clips(n: int, model: str, place: Path) -> None:
    rows = SetFolder(place / "set").choice_rows("verb_mc", "test")[:n]
    table = place / f"{n}.jsonl"
    table.write_text("\n".join(json.dumps({name: row[name] for name in COLUMNS}) for row in rows))
    test = video_contrast.doctor(
        str(place / "clip") if model == "clip" else model, table, table.stem, video_root=place / "set"
    )
    assert test.items == n and not failed(test)


def test_a_clip_and_its_reversal_are_no_two_clips_to_a_bag_of_frames() -> None:
    frames = np.random.default_rng(0).integers(0, 256, (4, 8, 8, 3)).astype(np.uint8)
    clip = ClipFrames(frames, (0.0, 1.0, 2.0, 3.0))
    reversal, other = replace(clip, frames=frames[::-1].copy()), replace(clip, frames=np.zeros_like(frames))
    assert Probe(Timed(True), [clip, reversal, other], ["a", "b", "c"]).other(0) is other
    assert (Probe(Timed(True), [clip, reversal], ["a", "b"]).other(0).frames == 255 - frames).all()


class Timed(PairScorer):
    """Scores by pixels, times and letters; told not to look at the times, it says all the same that it reads them."""

    reads_times = True

    def __init__(self, looks: bool) -> None:
        self.looks = looks

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        assert clip is not None
        rate = float(np.mean(np.diff(clip.times))) if self.looks else 2.0
        shown = clip.frames.astype(np.float64).mean(axis=(1, 2, 3)) @ (1 + np.arange(len(clip.frames)))
        return ScoreResult(np.array([np.sin(shown + sum(map(ord, text))) + rate for text in captions]))


def test_order_is_not_judged_by_clips_that_stand_still() -> None:
    still = ClipFrames(np.full((4, 8, 8, 3), 7, np.uint8), (0.0, 1.0, 2.0, 3.0))
    moving = replace(still, frames=np.arange(768, dtype=np.uint8).reshape(4, 8, 8, 3))
    for clips in ([still, still], [still, still, moving]):
        probe = Probe(Timed(True), clips, ["a", "b", "c"][: len(clips)])
        checks = {outcome.check for outcome in check_reactions(probe)}
        assert ("reversal" in checks) == (len(clips) == 3)


@pytest.mark.parametrize("looks", [True, False])
def test_a_constant_frame_rate_is_caught(looks: bool, place: Path) -> None:
    kind("timed", family="pair", summary="for this test", names=("timed",))(lambda source, settings: Timed(looks))
    try:
        assert failed(video_contrast.doctor("timed", place / "set")) == (set() if looks else {"times"})
    finally:
        MODEL_KINDS.pop("timed")


def test_the_cost_of_a_reader_is_that_of_asking_it(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not of scores that the self-test still knows."""
    monkeypatch.setattr(Timed, "score", lambda self, clip, captions, **_: time.sleep(0.02) or ScoreResult(
        np.array([float(clip.frames.mean()) + len(caption) for caption in captions])))  # fmt: skip
    kind("timed", family="pair", summary="for this test", names=("timed",))(lambda source, settings: Timed(True))
    try:
        test = video_contrast.doctor("timed", place / "set", "verb_mc")
    finally:
        MODEL_KINDS.pop("timed")
    assert next(verdict for verdict in test.verdicts if verdict.check == "cost").numbers["seconds_an_item"] >= 0.02


def test_a_model_that_was_given_no_clip_has_not_passed(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["doctor", "temporal", "--dataset", str(place / "set"), "--config", "random_mc"]
    assert main([*words, "--video-root", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert f"no clip of the set could be read under {tmp_path} (--video-root)" in said.err and not said.out


@pytest.mark.parametrize("name", NAMES)
def test_the_packaged_checkpoints_pass(name: str) -> None:
    test = video_contrast.doctor(name)
    assert not test.of("fail") and not test.of("doubt")
    truth = next(verdict for verdict in test.verdicts if verdict.check == "truth")
    assert truth.state == "pass" and truth.numbers["p_value"] < 0.05
    blind = "order-blind" in next(verdict.says for verdict in test.verdicts if verdict.check == "reversal")
    assert blind == (name == "bag-of-frames")


@pytest.mark.parametrize("name", [*tiny_models.MAKERS, *tiny_late.MAKERS])
def test_tiny_checkpoints_of_all_encoders_pass(name: str, place: Path, tmp_path: Path) -> None:
    folder = (tiny_models.MAKERS | tiny_late.MAKERS)[name](tmp_path / "model")
    test = doctor(folder, place)
    assert not failed(test), "\n".join(map(str, test.verdicts))
    assert test.rendered["tokens"] and test.rendered["pixels"] and test.rendered["times"]


@pytest.mark.parametrize("name", remote_code.METHODS)
def test_embedders_with_code_of_their_own_pass_and_count_what_they_cut(
    name: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = remote_code.embedder(tmp_path / f"model_{name}", name)
    test = video_contrast.doctor(folder, place / "set", "verb_mc", trust_remote_code=True)
    assert not failed(test), "\n".join(map(str, test.verdicts))
    truncated = next(verdict for verdict in test.verdicts if verdict.check == "truncated")
    if name == "CosmosEmbed1":  # its processor reads 40 letters here
        assert 0 < truncated.numbers["truncated"] < truncated.numbers["captions"]
    elif name == "LanguageBindVideo":
        assert truncated.numbers["truncated"] == 0


@pytest.mark.parametrize("pooling", ["max", "query-scored"])
def test_other_poolings_pass(pooling: str, place: Path) -> None:
    assert not failed(doctor(place / "clip", place, options={"pooling": pooling}))


def test_a_run_stops_unless_what_fails_is_accepted(
    place: Path, tmp_path: Path, adapter: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    name = adapter(encode_prepared=first_frame)
    given: dict[str, Any] = {"store": tmp_path / "store", "frames": 4, "progress": False}
    with pytest.raises(VideoContrastError, match=r"failed the self-test.*frames: .*--accept frames"):
        video_contrast.score(name, place / "set", "verb_mc", output=tmp_path / "run", **given)
    assert not (tmp_path / "run" / "run.json").exists()
    result = video_contrast.score(name, place / "set", "verb_mc", output=tmp_path / "run", accept="frames", **given)
    record: Any = result.record["self_test"]
    assert record["failed"] == record["accepted"] == ["frames"] and not record["passed"]
    assert "self-test: fail (accepted): frames" in (tmp_path / "run" / "RESULTS.md").read_text()
    left_out = video_contrast.score(name, place / "set", "verb_mc", accept="all", **given)
    assert left_out.record["self_test"] == {"left_out": True}
    assert main(["doctor", name, "--dataset", str(place / "set"), "--config", "random_mc", "--frames", "4"]) == 1
    shown = capsys.readouterr()
    assert "fail  frames" in shown.out and "failed 1 of" in shown.err


def test_a_run_that_goes_on_and_a_finished_one_are_not_tested_again(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from video_contrast.runner import self_test

    calls: list[int] = []
    examine = self_test.examine
    monkeypatch.setattr(self_test, "examine", lambda *args, **named: calls.append(1) or examine(*args, **named))
    given: dict[str, Any] = {
        "output": tmp_path / "run", "store": tmp_path / "store", "frames": 4, "progress": False
    }  # fmt: skip
    first = video_contrast.score(place / "clip", place / "set", "verb_mc", **given)
    video_contrast.score(place / "clip", place / "set", "verb_mc", **given)
    more = video_contrast.score(place / "clip", place / "set", "verb_mc", conditions="clean,controls", **given)
    assert len(calls) == 1
    assert more.record["self_test"] == first.record["self_test"]
    assert first.record["self_test"]["passed"] and first.record["input"]["tokens"]


def test_baselines_are_exempt(place: Path) -> None:
    assert video_contrast.doctor("random", place / "set").exempt == "never sees a video"
    record = video_contrast.score("random", place / "set", "verb_mc", progress=False).record
    assert record["self_test"] == {"exempt": "never sees a video"}


@pytest.mark.parametrize("accept", ["frame", "all,frames"])
def test_only_checks_can_be_accepted(accept: str, place: Path) -> None:
    with pytest.raises(UsageError, match="accept"):
        video_contrast.score("temporal", place / "set", "verb_mc", accept=accept, progress=False)


def test_show_input_prints_what_the_model_is_given(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--model", str(place / "clip"), "--dataset", str(place / "set"), "--config", "verb_mc",
                 "--show-input"]) == 0  # fmt: skip
    out = capsys.readouterr().out
    assert '"prompt": "<bos>a ' in out and '"pixel_values"' in out
