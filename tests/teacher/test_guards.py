"""LLM-teacher: what must not go wrong unseen, as half precision, a gradient without numbers, and what resumes."""

import shutil
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import tiny_models
import torch
from teacher_set import SETTINGS

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.kinds.loading import Tokens
from video_contrast.teacher import contrast_loss, label_loss, logit_loss, teach, trainer
from video_contrast.teacher.batches import Part, TrainingData
from video_contrast.teacher.evaluation import Hits, Measured
from video_contrast.teacher.options import TrainingOptions
from video_contrast.teacher.run import train
from video_contrast.teacher.two_towers import Pairs, load_checkpoint


class _Noise:
    """A frame store whose clips are noise, each its own."""

    missing: ClassVar[dict[int, str]] = {}

    def pixels(self, clips: Any, device: Any) -> torch.Tensor:
        return torch.stack([torch.randn(4, 3, 32, 32, generator=torch.Generator().manual_seed(n)) for n in clips])


@pytest.fixture(scope="module")
def xclip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.xclip(tmp_path_factory.mktemp("xclip"))


def _part(clips: int, captions: int) -> Part:
    """`captions` different captions of each clip, clip after clip, with one negative each."""
    rows = [
        {"id": f"c{clip}", "caption": f"{'abcdefgh'[n]} {clip}", "negatives": ["no"], "teacher": [1.0, 0.5]}
        for clip in range(clips)
        for n in range(captions)
    ]
    return Part(_Noise(), [clip for clip in range(clips) for _ in range(captions)], rows)  # type: ignore[arg-type]


def _train(output: Path, net: Any, processor: Any, part: Part, **settings: Any) -> dict[str, Any]:
    chosen = TrainingOptions(**{"epochs": 1, "batch_size": 8, "patience": 0, **settings})
    data = TrainingData(part, part, Tokens(processor.tokenizer, net.config))
    result, before, after = train(net, data, options=chosen, output=output, progress=False)
    return {**result, "before": before, "after": after}


# Precision


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_cosines_are_not_rounded_in_mixed_precision(alpha: float, tmp_path: Path) -> None:
    pairs = Pairs(load_checkpoint(tiny_models.xclip(tmp_path / "xclip", prompt_alpha=alpha))[0]).eval()
    torch.manual_seed(0)
    frames = pairs.model.config.vision_config.num_frames
    with torch.no_grad():
        videos = pairs.videos(torch.randn(3, frames, 3, 32, 32))
        texts = pairs.texts(torch.randn(5, pairs.model.config.text_config.hidden_size))
        plain = pairs.join(videos, texts)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            mixed = pairs.join(videos, texts)
    assert mixed.dtype == torch.float32
    assert torch.equal(mixed, plain)


def test_losses_of_halves_are_computed_in_float32() -> None:
    halves = torch.tensor([[0.9, 0.89], [0.3, 0.31]], dtype=torch.bfloat16)
    whole, teacher = halves.float(), torch.tensor([[1.0, 0.5], [1.0, 0.2]])
    assert label_loss(halves, 0.03) == label_loss(whole, 0.03)
    assert logit_loss(halves, teacher, 0.03, 0.1) == logit_loss(whole, teacher, 0.03, 0.1)
    assert contrast_loss(halves, 0.03) == contrast_loss(whole, 0.03)


def test_gradients_pass_torchs_own_check_in_float64() -> None:
    torch.manual_seed(0)
    at = (torch.rand(3, 3, dtype=torch.float64) * 2 - 1).requires_grad_()
    teacher = torch.rand(3, 3, dtype=torch.float64)
    mask = torch.tensor([[True, True, True], [True, False, True], [True, False, False]])
    same = torch.tensor([[True, False, True], [False, True, False], [True, False, True]])
    assert torch.autograd.gradcheck(lambda s: label_loss(s, 0.2, mask), at)
    assert torch.autograd.gradcheck(lambda s: logit_loss(s, teacher, 0.2, 0.1, mask), at)
    assert torch.autograd.gradcheck(lambda s: contrast_loss(s, 0.2, same), at)


# Numbers that are none, and steps that never come


def test_a_gradient_that_is_no_number_stops_before_the_weights_are_lost(xclip: Path, tmp_path: Path) -> None:
    net, processor, _ = load_checkpoint(xclip)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    net.visual_projection.weight.register_hook(lambda gradient: gradient * float("nan"))
    with pytest.raises(VideoContrastError, match=r"the gradient is not a number after step 0, clips c\d"):
        _train(tmp_path, net, processor, _part(4, 2))
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_weights_that_a_step_blew_up_are_not_saved(xclip: Path, tmp_path: Path) -> None:
    net, processor, _ = load_checkpoint(xclip)
    with pytest.raises(VideoContrastError, match=r"loss is not a number after step 1; .*a lower --learning-rate"):
        _train(tmp_path, net, processor, _part(4, 2), learning_rate=1e30, evaluate_every=1)
    assert not list((tmp_path / "state").glob("checkpoint-*"))


def test_the_last_step_of_a_pass_takes_the_batches_that_are_left(xclip: Path, tmp_path: Path) -> None:
    net, processor, _ = load_checkpoint(xclip)
    result = _train(tmp_path, net, processor, _part(4, 2), accumulate=2, epochs=3)
    assert result["step"] == result["total"] == 3


def test_validation_batches_hold_captions_of_different_clips(xclip: Path, tmp_path: Path) -> None:
    losses = []
    for contrast in (0.0, 1.0):
        net, processor, _ = load_checkpoint(xclip)
        given = {"contrast": contrast, "learning_rate": 1e-9, "evaluate_every": 99}
        losses.append(_train(tmp_path / str(contrast), net, processor, _part(6, 8), **given)["best_loss"])
    assert losses[1] > losses[0] + 0.5  # in the set's own order a batch is one clip, and the in-batch term 0


def test_a_caption_without_negatives_is_not_counted_as_right(
    xclip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = Pairs.texts

    def by_place(self: Pairs, inputs: Any) -> torch.Tensor:  # as kernels do in the last bits, and more
        rows = encode(self, inputs)
        return rows * (1 + 1e-3 * torch.arange(len(rows))[:, None])

    monkeypatch.setattr(Pairs, "texts", by_place)
    part = _part(4, 4)
    for number, row in enumerate(part.rows):
        # the one negative ties, and every second caption has none
        row |= (
            {"negatives": [row["caption"]], "teacher": [1.0, 1.0]}
            if number % 2
            else {"negatives": [], "teacher": [1.0]}
        )
    net, processor, _ = load_checkpoint(xclip)
    result = _train(tmp_path, net, processor, part, evaluate_every=1, learning_rate=1e-9)
    assert result["best_accuracy"] == 0.5


def test_the_best_step_tells_most_captions_apart_and_of_those_has_the_lowest_loss(
    xclip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validations = iter([(0.5, 1.0), (0.5, 1.0), (0.7, 3.0), (0.7, 2.0), (0.6, 0.1), (0.6, 0.1)])

    def measured(*_: Any, **__: Any) -> Measured:  # before the training, then each step
        accuracy, loss = next(validations)
        right = np.arange(10) < 10 * accuracy
        return Measured(loss, {"RCAD R@1": Hits(right.astype(float), [str(n) for n in range(10)])}, 1.5)

    monkeypatch.setattr(trainer, "measure", measured)
    net, processor, _ = load_checkpoint(xclip)
    result = _train(tmp_path, net, processor, _part(3, 8), epochs=4, evaluate_every=1, patience=2)
    assert (result["best_step"], result["best_accuracy"], result["best_loss"]) == (3, 0.7, 2.0)
    assert result["after"].loss == 2.0 and next(validations, None) is None
    assert result["stopped_early"] and result["step"] == 5


# Runs


def _run(place: Path, name: str, **changed: Any) -> dict[str, Any]:
    settings = SETTINGS | {"store": place / "store"} | changed
    return teach(place / "clip", place / "set", output=place / name, **settings)


@pytest.fixture(scope="module")
def former(place: Path) -> str:
    """The name of a run that ended."""
    _run(place, "former")
    return "former"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"quality": "high"}, r"quality \('\w+' then, 'high' now\)"),
        ({"validation": "train"}, r"validation data \('\w+' then, '\w+' now\)"),
        ({"negatives": "4-action"}, r"actions \(5 then, 4 now\)"),
    ],
)
def test_another_configuration_is_refused_before_anything_is_made(
    changed: dict[str, Any], message: str, place: Path, former: str
) -> None:
    with pytest.raises(UsageError, match=message):
        _run(place, former, store=place / "no store", **changed)
    assert not (place / "no store").exists()


def test_videos_that_were_replaced_are_another_run(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "set", tmp_path / "set")
    settings = SETTINGS | {"output": tmp_path / "run", "stop_after": 1}
    teach(place / "clip", tmp_path / "set", **settings)
    clips = tmp_path / "set" / "clips"
    shutil.copy(clips / "05.mp4", clips / "00.mp4")
    with pytest.raises(UsageError, match=r"videos \('\w+' then, '\w+' now\)"):
        teach(place / "clip", tmp_path / "set", **settings)


def test_a_call_that_failed_before_its_first_save_may_be_corrected(place: Path) -> None:
    with pytest.raises(VideoContrastError, match="no such folder"):
        _run(place, "corrected", encoder="./nowhere", objective="lgt")
    assert _run(place, "corrected", epochs=1)["finished"]


def test_labels_need_no_teacher(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("video_contrast.teacher.negatives.load_encoder", None)  # a call would fail
    assert _run(place, "labels", encoder="./nowhere", store=place / "labels-store", epochs=1)["finished"]
    assert not list((place / "labels-store").glob("similarities-*"))


def test_an_encoder_that_was_trained_anew_gives_new_similarities(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from video_contrast.teacher import negatives

    def encode(texts: Any) -> Any:
        return torch.tensor([[1.0, len(text) * (folder / "weights").stat().st_size] for text in texts]).numpy()

    folder = tmp_path / "encoder"
    folder.mkdir()
    monkeypatch.setattr(negatives, "load_encoder", lambda *_: encode)
    rows = [{"id": "a", "caption": "a man runs", "negatives": ["a man sits down"], "kinds": ["action"]}]
    found = []
    for weights in ("1", "1", "22"):
        (folder / "weights").write_text(weights)
        found += negatives.with_similarities(rows, str(folder), tmp_path / "s", documents=[], say=lambda _: None)
    assert found[0] == found[1] != found[2]
