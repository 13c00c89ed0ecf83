"""The three tiny checkpoints that travel with the package (see `README.md beside this file`)."""

from importlib.resources import files
from pathlib import Path

from video_contrast.errors import unknown_name

NAMES = ("bag-of-frames", "temporal-plain", "temporal")


def checkpoint_path(name: str) -> Path:
    """The folder of a packaged checkpoint: a plain `save_pretrained` folder of a standard transformers class.

    `name`: "bag-of-frames" (a CLIP that averages frames), "temporal-plain" (an X-CLIP trained by plain contrast) or
    "temporal" (the same, trained with hard negatives). Raises UsageError: no such checkpoint.
    """
    if name not in NAMES:
        raise unknown_name("checkpoint", name, NAMES)
    return Path(str(files(__name__))) / name
