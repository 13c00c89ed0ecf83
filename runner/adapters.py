"""Adapters (LoRA) as peft saves them: a folder with `adapter_config.json`, which names the base, and their weights.

`base.json` beside them, where `teach` wrote it, holds a digest of the base's files, so that a base that was replaced
under the same name is noticed.
"""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json, write_json
from video_contrast.runner.kinds.base import ModelSource
from video_contrast.untyped import TorchModel

CONFIG, BASE = "adapter_config.json", "base.json"
OLDEST_PEFT = (0, 14)  # the first that leaves layers out by name (`exclude_modules`)


def check_peft(why: str) -> None:
    """Raises a UsageError where peft is absent or too old; `why` is what needs it."""
    from packaging.version import Version

    try:
        installed = version("peft")
    except PackageNotFoundError:
        raise UsageError(f"{why} needs peft; get it with `pip install video-contrast[lora]`") from None
    if Version(installed).release < OLDEST_PEFT:
        oldest = ".".join(map(str, OLDEST_PEFT))
        raise UsageError(f"{why} needs peft {oldest} or later, not {installed}; `pip install -U video-contrast[lora]`")


def is_adapter(folder: Path) -> bool:
    """Whether the folder holds adapters without their base."""
    return (folder / CONFIG).is_file() and not (folder / "config.json").is_file()


def base_of(folder: Path) -> str:
    """The base that the adapters name. Raises UsageError: they name none."""
    name = read_json(folder / CONFIG).get("base_model_name_or_path")
    if not name:
        raise UsageError(f"{folder / CONFIG} names no base (base_model_name_or_path), so it is unknown what it adapts")
    return str(name)


def write_base(folder: Path, digest: str) -> None:
    """Keeps a digest of the base's files beside the adapters."""
    write_json(folder / BASE, {"digest": digest})


def check_base(folder: Path, base: ModelSource, digest: str) -> None:
    """Compares the base that is there with the one that the adapters were trained on.

    `base`: what their config names, as it is now. Raises UsageError: it is another one.
    """
    path = folder / BASE
    if path.is_file() and (trained := read_json(path)["digest"]) != digest:
        raise UsageError(
            f"{folder} adapts another base: {base.name} has other files now ({digest[:12]}) than those it was trained "
            f"on ({trained[:12]})"
        )


def merged(model: TorchModel, folder: Path) -> TorchModel:
    """The model with the adapters added to its weights: of its own class again.

    Raises UsageError: peft is absent, or the adapters are of another base; VideoContrastError: their files cannot be
    read.
    """
    check_peft(f"the adapter folder {folder}")
    from peft import PeftModel
    from peft.utils import load_peft_weights

    name = type(model).__name__
    try:
        weights = load_peft_weights(str(folder), device="cpu")
        adapted = PeftModel.from_pretrained(model, str(folder))
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{folder} adapts another base than this {name}: {reason}") from error
    except (OSError, KeyError, TypeError) as error:
        raise VideoContrastError(f"{folder} cannot be read as adapters: {error}") from error
    own = {key.replace(".default", "") for key in adapted.state_dict()}
    read = {key.replace(".default", "") for key in weights}
    if foreign := sorted(read - own):
        raise UsageError(f"{folder} adapts another base than this {name}, which has no place for {foreign[0]}")
    if absent := sorted(key for key in own - read if ".lora_" in key):
        raise UsageError(f"{folder} adapts another base than this {name}: it holds nothing for {absent[0]}")
    plain: TorchModel = adapted.merge_and_unload()
    return plain
