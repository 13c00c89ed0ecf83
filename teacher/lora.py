"""LoRA by peft: small adapters learn in place of the weights, and are saved as the library saves them, or merged."""

import warnings
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.runner.adapters import check_peft
from video_contrast.teacher.options import LoraOptions
from video_contrast.teacher.two_towers import FREEZE
from video_contrast.untyped import TorchModel


def adapted(net: TorchModel, base: str, options: LoraOptions, freeze: str) -> TorchModel:
    """Puts adapters into the model's layers; nothing else learns.

    Returns peft's model around `net`, which saves the adapters. Raises UsageError: peft is absent or too old, or the
    model has no such layers.

    Args:
        net: a dual encoder or X-CLIP; its layers are replaced in place.
        base: its name or folder, as `score` finds it.
        freeze: the towers that get none ("none", "vision", "text", "both").
    """
    check_peft("--lora-rank")
    from peft import LoraConfig, get_peft_model

    targets: str | list[str] = options.lora_targets
    if options.lora_targets != "all-linear":
        targets = [name.strip() for name in options.lora_targets.split(",")]
    name = str(Path(base).resolve()) if Path(base).is_dir() else base
    towers = [f"{side}_model" for side in FREEZE[freeze]]
    config = LoraConfig(
        r=options.lora_rank,
        lora_alpha=options.lora_alpha or 2 * options.lora_rank,
        lora_dropout=options.lora_dropout,
        target_modules=targets,
        exclude_modules=rf"(.*\.)?({'|'.join(towers)})\..*" if towers else None,
        base_model_name_or_path=name,
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # peft calls transformers by names of before
            warnings.filterwarnings("ignore", message=".*base_model_name_or_path.*")  # it is set again below
            model = get_peft_model(net, config)
    except ValueError as error:
        raise UsageError(f"--lora-targets {options.lora_targets}: {' '.join(str(error).split())[:200]}") from error
    model.peft_config["default"].base_model_name_or_path = name
    return model
