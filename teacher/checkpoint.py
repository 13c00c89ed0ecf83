"""The checkpoint that is trained, loaded as `score` loads it."""

from pathlib import Path
from typing import NamedTuple

from video_contrast.errors import UsageError
from video_contrast.runner.locate import locate
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
    `model_type` stands for: the one that `score` runs.

    Raises:
        VideoContrastError: there is none, or it is of a kind that cannot be trained here.
    """
    import transformers

    from video_contrast.runner.kinds import all_kinds
    from video_contrast.runner.kinds.base import LoadOptions
    from video_contrast.runner.kinds.loading import load_model, load_processor

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
