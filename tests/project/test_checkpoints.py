"""The packaged checkpoints: standard folders, small, and as good as their card says."""

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import video_contrast
from video_contrast.checkpoints import NAMES
from video_contrast.errors import UsageError


@pytest.fixture(scope="module")
def scored(demo_metrics: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Every checkpoint on clips that were written, decoded and scored as in any run: those of the demo."""
    return demo_metrics


def clean(result: Any, config: str) -> dict[str, Any]:
    return result[config]["conditions"]["clean"]


@pytest.mark.parametrize("name", NAMES)
def test_random_options_are_easy_for_all_three(scored: dict[str, Any], name: str) -> None:
    assert clean(scored[name], "random_mc")["accuracy"] >= 0.98


def test_a_bag_of_frames_is_at_exactly_one_half_on_antonyms(scored: dict[str, Any]) -> None:
    assert clean(scored["bag-of-frames"], "antonym_mc")["accuracy"] == 0.5


def test_training_with_contrasts_repairs_what_plain_contrast_leaves_out(scored: dict[str, Any]) -> None:
    plain, taught = (clean(scored[name], "antonym_mc") for name in ("temporal-plain", "temporal"))
    assert taught["accuracy"] >= 0.80
    assert taught["accuracy_low"] > plain["accuracy_high"]
    assert plain["accuracy"] < 0.65


@pytest.mark.parametrize("config", ["gender_mc", "person_id_mc"])
def test_who_acts_is_told_apart(scored: dict[str, Any], config: str) -> None:
    assert clean(scored["temporal"], config)["accuracy"] >= 0.85


def test_the_three_together_stay_under_four_megabytes() -> None:
    files = [path for name in NAMES for path in video_contrast.checkpoint_path(name).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 4_000_000


@pytest.mark.parametrize("name", NAMES)
def test_the_folders_load_with_the_library_alone(name: str) -> None:
    import torch
    from transformers import AutoModel, AutoProcessor

    folder = video_contrast.checkpoint_path(name)
    model = AutoModel.from_pretrained(folder, local_files_only=True)
    processor = AutoProcessor.from_pretrained(folder, local_files_only=True, backend="pil")
    assert type(model).__name__ == ("CLIPModel" if name == "bag-of-frames" else "XCLIPModel")
    assert model.dtype == torch.float32
    frame = np.full((64, 64, 3), 200, np.uint8)
    pixels = processor.image_processor(images=[frame], return_tensors="pt")["pixel_values"]
    assert pixels.shape[-2:] == (64, 64)
    assert pixels.flatten()[0].item() == pytest.approx(200 / 127.5 - 1, abs=1e-5)
    ids = processor.tokenizer(["a man in red rizes", "Ünïcode"])["input_ids"]
    assert all(row[-1] == max(row) == len(processor.tokenizer) - 1 for row in ids)


def test_no_such_checkpoint() -> None:
    with pytest.raises(UsageError, match="did you mean 'temporal'"):
        video_contrast.checkpoint_path("temporl")


def test_the_card_lies_beside_them() -> None:
    card = Path(str(video_contrast.checkpoint_path("temporal").parent / "README.md")).read_text(encoding="utf-8")
    assert all(name in card for name in NAMES)


def test_the_script_makes_each_from_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commands of the card in small: the steps run, and write folders of the same form."""
    import shutil
    from dataclasses import replace

    from safetensors.torch import load_file

    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "tools"))
    script = importlib.import_module("shapes_training")

    recipes = {name: replace(recipe, steps=1) for name, recipe in script.RECIPES.items()}
    monkeypatch.setattr(script, "RECIPES", recipes)
    monkeypatch.setattr(script, "CLIPS", script.CLIPS | {"train": 6, "validation": 3})
    small = {"epochs": 1, "batch_size": 8, "evaluate_every": 1}
    monkeypatch.setattr(script, "TAUGHT", tuple((clips, stage | small) for clips, stage in script.TAUGHT))
    monkeypatch.setattr(script, "warm_up", lambda words, seed: script.shapes_models.clip(words, seed))
    shutil.copytree(video_contrast.checkpoint_path("temporal-plain"), tmp_path / "out" / "temporal-plain")
    arguments = ["--output", str(tmp_path / "out"), "--work", str(tmp_path / "work"), "--only"]
    for name in ("bag-of-frames", "temporal"):  # temporal-plain goes the way of the first
        monkeypatch.setattr("sys.argv", ["shapes_training", *arguments, name])
        script.main()
        shipped, made = video_contrast.checkpoint_path(name), tmp_path / "out" / name
        assert {path.name for path in made.iterdir()} == {path.name for path in shipped.iterdir()}
        words = [json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")) for folder in (shipped, made)]
        assert words[0]["model"] == words[1]["model"]
        one, other = (load_file(folder / "model.safetensors") for folder in (shipped, made))
        assert {key: value.shape for key, value in one.items()} == {key: value.shape for key, value in other.items()}
        assert {value.dtype for value in one.values()} == {value.dtype for value in other.values()}
