"""The checkpoint that is trained, loaded as `score` loads it, and the adapters that learn in its place."""

import warnings
from pathlib import Path
from typing import NamedTuple

from video_contrast.errors import UsageError
from video_contrast.runner.adapters import check_peft
from video_contrast.runner.kinds import all_kinds
from video_contrast.runner.kinds.base import LoadOptions
from video_contrast.runner.kinds.loading import load_model, load_processor
from video_contrast.runner.locate import locate
from video_contrast.teacher.options import LoraOptions
from video_contrast.teacher.two_towers import FREEZE
from video_contrast.untyped import Processor, TorchModel

DEFAULT_FRAMES = 8


class LoadedCheckpoint(NamedTuple):
    """A model to train; transformers' classes are many and have no types here."""

    net: TorchModel  # a dual encoder or X-CLIP, in float32
    processor: Processor  # its processor
    revision: str  # digest of its files


def load_checkpoint(model: str | Path) -> LoadedCheckpoint:
    """Loads a model in float32 with its processor.

    A checkpoint whose config names no class of transformers, as those of CLIP4Clip, is of the class that its
    `model_type` stands for: the one that `score` runs. Raises VideoContrastError: there is none, or it is of a kind
    that cannot be trained here.
    """
    import transformers

    source = locate(str(model))
    dual, name = all_kinds()["dual_encoder"], source.architecture or None
    if source.model_type in dual.model_types and name not in dual.architectures:
        name = None
    elif not name or not hasattr(transformers, name):
        raise UsageError(f"teach trains standard transformers classes, not {name or 'an unknown one'} ({model})")
    loading = LoadOptions(device="cpu", dtype="float32")
    net = load_model(source, loading, name)
    if source.adapter is not None:
        net.requires_grad_(True)  # the library freezes what it merges adapters into
    return LoadedCheckpoint(net, load_processor(source, loading), source.revision)


def frames_of(net: TorchModel, requested: int | None) -> int:
    """Frames a clip: as many as the model needs, or as requested. Raises UsageError: the model takes another number."""
    needed = getattr(getattr(net.config, "vision_config", None), "num_frames", None)
    if needed and requested and requested != needed:
        raise UsageError(f"--frames {requested}: this model takes exactly {needed}")
    return int(needed or requested or DEFAULT_FRAMES)


def adapted(net: TorchModel, base: str, options: LoraOptions, freeze: str) -> TorchModel:
    """Puts adapters into the layers of a dual encoder or X-CLIP, in place; nothing else learns.

    Returns peft's model around `net`, which saves the adapters. `base`: its name or folder, as `score` finds it.
    `freeze`: the towers that get none ("none", "vision", "text", "both"). Raises UsageError: peft is absent or too old,
    or the model has no such layers.
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
