"""LLM-teacher on every kind of dual encoder: it sees the runner's scores, and frozen towers run once."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import teacher_set
import tiny_models
import torch
from safetensors.torch import load_file

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.kinds import base, dual_encoder, video_dual
from video_contrast.runner.kinds.loading import Tokens
from video_contrast.runner.model_files import locate
from video_contrast.teacher import teach, training_data
from video_contrast.teacher.batches import open_store
from video_contrast.teacher.two_towers import Pairs, load_checkpoint
from video_contrast.video import frame_indices

QUICK: dict[str, Any] = {
    "epochs": 1, "batch_size": 6, "evaluate_every": 1, "learning_rate": 1e-3, "progress": False,
    "negatives": "5-action", "frames": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def dataset(place: Path) -> Path:
    return place / "set"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    made = {name: maker(root / name) for name, maker in tiny_models.MAKERS.items()}
    return made | {"XCLIPModel, plain": tiny_models.xclip(root / "plain", prompt_alpha=0.0)}


def _score(pairs: Pairs, processor: Any, dataset: Path, folder: Path, captions: list[str]) -> np.ndarray:
    rows = [{"video_path": f"clips/{n:02d}.mp4", "start": None, "end": None} for n in range(5)]
    store = open_store(folder / "frames", rows, dataset, processor.image_processor, 4, progress=False)
    with torch.no_grad():
        words = Tokens(processor.tokenizer, pairs.model.config)(captions, "cpu")
        return pairs.join(pairs.videos(store.pixels(range(5))), pairs.texts(words)).numpy()


@pytest.mark.parametrize("name", ["CLIPModel", "MetaClip2Model", "SiglipModel", "AlignModel", "XCLIPModel"])
def test_training_sees_the_scores_that_the_runner_gives(
    name: str, models: dict[str, Path], dataset: Path, tmp_path: Path
) -> None:
    from video_contrast.video import read_video

    net, processor, _ = load_checkpoint(models[name])
    captions = [teacher_set.caption(n) for n in range(7)]
    found = _score(Pairs(net).eval(), processor, dataset, tmp_path, captions)
    load = video_dual.load_xclip if name == "XCLIPModel" else dual_encoder.load
    encoder = load(locate(str(models[name])), base.LoadOptions())
    frames = [read_video(dataset / f"clips/{n:02d}.mp4").frames[frame_indices(8, 4)] for n in range(5)]
    scores = encoder.join(encoder.encode_videos(frames), encoder.encode_texts(captions))
    assert found == pytest.approx(scores, abs=5e-3)  # frames are stored as bytes
    assert np.corrcoef(found.ravel(), scores.ravel())[0, 1] > 0.999
    assert found.std() > 0.01


FROZEN = [
    ("CLIPModel", "both"),
    ("SiglipModel", "text"),
    ("AlignModel", "vision"),  # with batch statistics, which must not move
    ("XCLIPModel", "both"),  # captions prompted by the video
    ("XCLIPModel, plain", "both"),
]


@pytest.mark.parametrize(("name", "freeze"), FROZEN)
def test_a_frozen_tower_runs_once_and_changes_no_number(
    name: str, freeze: str, models: dict[str, Path], dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store"
    settings = QUICK | {"freeze": freeze, "store": store}
    rows: Counter[str] = Counter()
    for side, kind in (("vision", "video_tower"), ("text", "text_tower")):
        tower = getattr(Pairs, kind)

        def counted(self: Pairs, given: Any, tower: Any = tower, side: str = side) -> torch.Tensor:
            found = tower(self, given)
            rows[side] += len(found)
            return found

        monkeypatch.setattr(Pairs, kind, counted)
    kept = teach(models[name], dataset, output=tmp_path / "kept", **settings)
    frozen = ("vision", "text") if freeze == "both" else (freeze,)
    distinct = {"vision": 12, "text": kept["encoded"]["captions"]}
    for side in frozen:
        assert rows[side] == distinct[side] > 0
    assert kept["encoded"]["clips"] == (12 if "vision" in frozen else 0)
    # The same training that runs the frozen tower in every step
    rows.clear()
    with monkeypatch.context() as patch:
        patch.setattr(training_data, "with_outputs", lambda pairs, part, *_, **__: (part, {}))
        again = teach(models[name], dataset, output=tmp_path / "again", **settings)
    assert all(rows[side] > distinct[side] for side in frozen)
    assert again["best_loss"] == pytest.approx(kept["best_loss"], abs=2e-5)
    curves = [(tmp_path / run_of / "curves.csv").read_text().splitlines()[1:] for run_of in ("kept", "again")]
    for one, other in zip(*curves, strict=True):
        assert [float(x) for x in one.split(",")] == pytest.approx([float(x) for x in other.split(",")], abs=1e-4)
    # What is frozen stays, what is not moves; another call with this store encodes nothing
    before, after = (load_checkpoint(path)[0].state_dict() for path in (models[name], tmp_path / "kept" / "model"))
    moved = {key.partition(".")[0] for key in before if not torch.equal(before[key], after[key])}
    assert moved and not moved & {f"{side}_model" for side in frozen}
    assert freeze == "both" or moved & ({"vision_model", "text_model"} - {f"{side}_model" for side in frozen})
    third = teach(models[name], dataset, output=tmp_path / "third", stop_after=1, **settings)
    assert third["encoded"] == {"clips": 0, "captions": 0}


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("SiglipModel", {"freeze": "both"}, "--freeze both leaves nothing to train: SiglipModel has no projections"),
        ("SiglipModel", {"freeze": "all"}, "unknown value of --freeze 'all'. Known: none, vision"),
        ("Siglip2Model", {}, "needs a processor that gives pictures"),
        ("XCLIPModel", {"frames": 6}, "--frames 6: this model takes exactly 4"),
    ],
)
def test_what_cannot_be_trained_is_said(
    name: str, settings: dict[str, Any], message: str, models: dict[str, Path], dataset: Path, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        teach(models[name], dataset, output=tmp_path / "run", **QUICK | settings)


def test_a_model_without_two_towers_is_refused(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(VideoContrastError, match=r"trains dual encoders .* and X-CLIP, not GPT2LMHeadModel"):
        teach(tiny_models.gpt2(tmp_path / "gpt2"), dataset, output=tmp_path / "run", **QUICK)


def test_towers_of_different_widths_are_refused(models: dict[str, Path]) -> None:
    pairs = Pairs(load_checkpoint(models["CLIPModel"])[0])
    with pytest.raises(VideoContrastError, match="clips have 24 numbers and captions 32"):
        pairs.join(torch.zeros(2, 24), torch.zeros(3, 32))


def test_a_prompted_xclip_learns_and_is_scored(models: dict[str, Path], dataset: Path, tmp_path: Path) -> None:
    import video_contrast

    result = teach(models["XCLIPModel"], dataset, output=tmp_path / "run", **QUICK | {"epochs": 2})
    before = load_checkpoint(models["XCLIPModel"])[0].state_dict()
    # The weights of the last step: which step is the best one hangs on how a processor rounds.
    last = load_file(tmp_path / "run/state/checkpoint-6/model.safetensors")
    after = {name.removeprefix("model."): values for name, values in last.items()}
    moved = {name.partition(".")[0] for name in before.keys() & after if not torch.equal(before[name], after[name])}
    assert {"prompts_generator", "prompts_visual_projection", "mit", "vision_model", "text_model"} <= moved
    scored = video_contrast.score(
        result["model"], dataset, ["retrieval"], split="validation", output=tmp_path / "scores", progress=False
    )
    assert scored.metrics["configs"]["retrieval"]
