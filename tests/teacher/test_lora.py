"""LoRA: adapters learn alone, are saved as peft saves them or merged, and `score` takes the folder."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models
import torch
from teacher_set import SETTINGS

import video_contrast
from video_contrast.errors import UsageError
from video_contrast.runner import model_files as locating
from video_contrast.runner.model_files import locate
from video_contrast.teacher import teach
from video_contrast.teacher.two_towers import load_checkpoint

pytest.importorskip("peft", reason="peft is not installed (pip install video-contrast[lora])")


def run(place: Path, name: str, **changed: Any) -> dict[str, Any]:
    settings = SETTINGS | {"store": place / "store", "lora_rank": 2, "epochs": 1} | changed
    return teach(settings.pop("model", place / "clip"), place / "set", output=place / name, **settings)


@pytest.fixture(scope="module")
def apart(place: Path) -> dict[str, Any]:
    return run(place, "apart", freeze="text", learning_rate=1e-2)


def scores(model: Path | str, place: Path, name: str) -> np.ndarray:
    result = video_contrast.score(
        model, place / "set", ["retrieval"], split="validation", frames=4, output=place / name, progress=False
    )
    return video_contrast.open_run(result.output).matrix("retrieval").values


def test_the_adapters_are_saved_as_the_library_saves_them(place: Path, apart: dict[str, Any]) -> None:
    from safetensors.torch import load_file

    folder = Path(apart["model"])
    assert {path.name for path in folder.iterdir()} >= {"adapter_config.json", "adapter_model.safetensors", "base.json"}
    assert not (folder / "config.json").exists()
    assert json.loads((folder / "adapter_config.json").read_text())["base_model_name_or_path"] == str(place / "clip")
    names = load_file(folder / "adapter_model.safetensors")
    assert names and all("lora_" in name for name in names)
    assert not any("text_model" in name for name in names)  # --freeze text: no adapters there
    assert any("vision_model" in name for name in names) and any("visual_projection" in name for name in names)


def test_adapters_of_a_base_named_from_here_are_found_from_elsewhere(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    result = run(place, str(tmp_path / "here"), model="clip", evaluate_every=2)
    monkeypatch.chdir(tmp_path)
    assert locate(str(result["model"])).adapter is not None


def test_score_takes_the_adapter_folder(place: Path, apart: dict[str, Any]) -> None:
    base, adapted = scores(place / "clip", place, "s-base"), scores(apart["model"], place, "s-apart")
    assert np.abs(adapted - base).max() > 1e-3
    plain = load_checkpoint(apart["model"])[0]
    assert type(plain).__name__ == "CLIPModel"


def test_a_merged_run_is_a_plain_checkpoint_with_the_same_scores(place: Path, apart: dict[str, Any]) -> None:
    merged = run(place, "merged", freeze="text", learning_rate=1e-2, merge=True)
    assert (Path(merged["model"]) / "config.json").exists()
    assert not (Path(merged["model"]) / "adapter_config.json").exists()
    expected = scores(apart["model"], place, "s-apart-again")
    np.testing.assert_allclose(scores(merged["model"], place, "s-merged"), expected, atol=1e-5)


def test_a_killed_run_with_adapters_ends_with_the_same_numbers(place: Path, apart: dict[str, Any]) -> None:
    given = {"freeze": "text", "learning_rate": 1e-2}
    run(place, "killed", stop_after=2, **given)
    assert not (place / "killed" / "model").exists()
    for changed, message in (({"lora_rank": 0}, r"lora_rank \(2 then, 0 now\)"), ({"lora_alpha": 9}, "lora_alpha")):
        with pytest.raises(UsageError, match=message):
            run(place, "killed", **given | changed)
    run(place, "killed", **given)
    for name in ("model/adapter_model.safetensors", "curves.csv"):
        assert (place / "killed" / name).read_bytes() == (place / "apart" / name).read_bytes(), name


def test_adapters_can_be_trained_on_but_not_adapted_again(place: Path, apart: dict[str, Any]) -> None:
    result = run(place, "on", model=apart["model"], lora_rank=0, stop_after=1)
    assert result["step"] == 1
    before = load_checkpoint(apart["model"])[0]
    assert all(parameter.requires_grad for parameter in before.parameters())
    with pytest.raises(UsageError, match=r"apart.model holds adapters: give --merge"):  # nothing could load the two
        run(place, "twice", model=apart["model"])
    assert not (place / "twice").exists()


def test_adapters_of_another_base_are_refused(place: Path, apart: dict[str, Any], tmp_path: Path) -> None:
    import shutil

    # a base of another shape
    wider = tmp_path / "wider"
    shutil.copytree(apart["model"], wider)
    (wider / locating.BASE).unlink()
    config = json.loads((wider / "adapter_config.json").read_text())
    other = tiny_models.xclip(tmp_path / "xclip")
    (wider / "adapter_config.json").write_text(json.dumps(config | {"base_model_name_or_path": str(other)}))
    with pytest.raises(UsageError, match=r"wider adapts another base than this XCLIPModel"):
        load_checkpoint(wider)
    # other weights of the same shape, under the same name
    replaced = tmp_path / "replaced"
    shutil.copytree(apart["model"], replaced)
    again = tiny_models.clip(tmp_path / "again", seed=5)
    (replaced / "adapter_config.json").write_text(json.dumps(config | {"base_model_name_or_path": str(again)}))
    with pytest.raises(UsageError, match=r"replaced adapts another base: .*again has other files now"):
        locate(str(replaced))
    # a base that is not there
    (replaced / "adapter_config.json").write_text(json.dumps(config | {"base_model_name_or_path": "./gone"}))
    with pytest.raises(UsageError, match=r"its base \./gone: no such folder \(named in .*adapter_config\.json\)"):
        locate(str(replaced))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lora_targets": "no_such_layer"}, "--lora-targets no_such_layer"),
        ({"lora_rank": 0, "merge": True}, "--merge and --lora-alpha need --lora-rank"),
        ({"lora_rank": -1}, "--lora-rank must be at least 0"),
    ],
)
def test_wrong_options_are_said(place: Path, tmp_path: Path, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run(place, str(tmp_path / "run"), **changed)
    assert not (tmp_path / "run").exists()


def test_an_absent_peft_is_said_before_work_begins(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(locating, "find_spec", lambda _: None)
    with pytest.raises(
        UsageError, match=r'--lora-rank: peft is not installed: `pip install "video-contrast\[lora\]"`, or'
    ):
        run(place, str(tmp_path / "absent"))
    assert not (tmp_path / "absent").exists()


def test_only_adapters_learn_in_an_xclip(place: Path, tmp_path: Path) -> None:
    base = tiny_models.xclip(tmp_path / "xclip", prompt_alpha=0.5)
    result = run(place, str(tmp_path / "x"), model=base, merge=True, learning_rate=1e-2, gradient_checkpointing=True)
    before, after = (load_checkpoint(path)[0].state_dict() for path in (base, result["model"]))
    moved = {name for name in before if not torch.equal(before[name], after[name])}
    assert moved and all(before[name].ndim == 2 and "weight" in name for name in moved)  # linear layers alone
