"""A contrast set trains a generative model with TRL's own trainers, under the prompts that are scored."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runner_set

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.chat_prompts import ChatPrompts
from video_contrast.storage import SetFolder
from video_contrast.teacher.preferences import answer_reward, check_trainable, export_preferences

PAGE = Path(__file__).parents[3] / "docs" / "preferences.md"
FRAMES = 2


@pytest.fixture(scope="module")
def contrasts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contrasts")
    runner_set.write(folder, 4, 4)
    return folder


def exported(contrasts: Path, output: Path, format_: str) -> Path:
    config = [name for name in SetFolder.open(contrasts).configs if name == "verb_mc"]
    export_preferences(
        contrasts, output=output, format_=format_, config=config, split="test", allow_test=True, frames=FRAMES
    )
    return output


def test_the_page_s_script_prefers_the_captions_after_training(
    contrasts: Path, tiny_vlm: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from transformers import AutoModelForImageTextToText

    base, pairs = tiny_vlm("gemma3"), exported(contrasts, tmp_path / "pairs", "dpo")
    check_trainable(base, pairs)
    script = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(), re.M | re.S)[0]
    script = (
        script.replace('split="train"', 'split="test"')
        .replace("google/gemma-3-4b-it", str(base))
        .replace("learning_rate=5e-6", "learning_rate=3e-3")
    )
    script = script.replace(
        "max_length=None,", "max_length=None, use_cpu=True, bf16=False, max_steps=6, logging_steps=1,"
    )
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    run: dict[str, Any] = {}
    exec(script, run)
    logs = [entry for entry in run["trainer"].state.log_history if "rewards/margins" in entry]
    assert float(logs[-1]["rewards/margins"]) > 0.1 > abs(float(logs[0]["rewards/margins"]))
    before, after = (AutoModelForImageTextToText.from_pretrained(path) for path in (base, tmp_path / "repaired"))
    moved = [name for name, value in before.state_dict().items() if not torch.equal(value, after.state_dict()[name])]
    assert any("vision" in name for name in moved) and any("language" in name for name in moved)


def test_the_trained_prompt_is_the_scored_one_where_frames_are_pictures(
    contrasts: Path, tiny_vlm: Callable[[str], Path], tmp_path: Path
) -> None:
    import datasets
    from transformers import AutoModelForImageTextToText, AutoProcessor
    from trl.trainer.dpo_trainer import DataCollatorForVisionPreference

    folder = tiny_vlm("gemma3")
    model, processor = AutoModelForImageTextToText.from_pretrained(folder), AutoProcessor.from_pretrained(folder)
    row = datasets.load_dataset(str(exported(contrasts, tmp_path / "pairs", "dpo")), split="test")[0]
    clip = ClipFrames(np.stack([np.asarray(image) for image in row["images"]]))
    scored = ChatPrompts(model, processor).prompt(clip, prompts.DESCRIBE)
    batch = DataCollatorForVisionPreference(processor)([row])
    length = len(scored.ids)
    assert batch["input_ids"][0, :length].tolist() == scored.ids
    assert batch["completion_mask"][0].tolist().index(1) == length
    assert np.allclose(batch["pixel_values"][:FRAMES].numpy(), scored.inputs["pixel_values"].numpy(), atol=1e-6)


def test_checkable_answers_train_with_trl_s_grpo(
    contrasts: Path, tiny_vlm: Callable[[str], Path], tmp_path: Path
) -> None:
    import datasets
    from transformers import AutoModelForImageTextToText, AutoProcessor
    from trl import GRPOConfig, GRPOTrainer

    folder = tiny_vlm("gemma3")
    questions = datasets.load_dataset(str(exported(contrasts, tmp_path / "questions", "grpo")), split="test")
    options = GRPOConfig(
        str(tmp_path / "out"), max_steps=1, per_device_train_batch_size=2, num_generations=2, max_completion_length=2,
        report_to="none", save_strategy="no", use_cpu=True, bf16=False, logging_steps=1,
    )  # fmt: skip
    trainer = GRPOTrainer(
        AutoModelForImageTextToText.from_pretrained(folder),
        reward_funcs=answer_reward,
        args=options,
        train_dataset=questions,
        processing_class=AutoProcessor.from_pretrained(folder),
    )
    trainer.train()
    assert any("rewards/answer_reward/mean" in entry for entry in trainer.state.log_history)


def test_what_cannot_be_trained_is_said_before_anything_is_loaded(
    contrasts: Path, tiny_vlm: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from transformers import AutoProcessor

    with pytest.raises(UsageError, match="holds no preferences"):
        check_trainable(tiny_vlm("gemma3"), tmp_path)
    pairs = exported(contrasts, tmp_path / "pairs", "dpo")
    plain = AutoProcessor.from_pretrained(tiny_vlm("gemma3"))
    plain.chat_template = plain.tokenizer.chat_template = None
    plain.save_pretrained(tmp_path / "plain")
    (tmp_path / "plain" / "config.json").write_bytes((tiny_vlm("gemma3") / "config.json").read_bytes())
    with pytest.raises(VideoContrastError, match="no chat template"):
        check_trainable(tmp_path / "plain", pairs)
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.9")
    with pytest.raises(UsageError, match=r"TRL 0\.9 trains on no pictures, 1\.16 does"):
        check_trainable(tiny_vlm("gemma3"), pairs)
