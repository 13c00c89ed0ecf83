"""The place of a model: a baseline's name, a packaged checkpoint, a folder, or the Hub; adapters and their base.

Nothing heavy is imported. A local path goes before the Hub, whose cache is read where it cannot be reached.
Adapters (LoRA) are a folder as peft saves them; `base.json` beside them, where `teach` wrote it, holds a digest of the
base's files, so that a base that was replaced under the same name is noticed.
"""

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

from video_contrast.checkpoints import NAMES as PACKAGED
from video_contrast.checkpoints import checkpoint_path
from video_contrast.errors import UsageError, VideoContrastError, how_to_install
from video_contrast.files import read_json
from video_contrast.hub import commit, explained
from video_contrast.runner.kinds.base import ModelSource
from video_contrast.untyped import TorchModel

CONFIG, BASE = "adapter_config.json", "base.json"


def check_peft(why: str) -> None:
    """Raises a UsageError where peft is absent; `why` is what needs it."""
    if find_spec("peft") is None:
        raise UsageError(f"{why}: peft is not installed: {how_to_install('lora')}")


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
        peft_model = PeftModel.from_pretrained(model, str(folder))
    except (RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise UsageError(f"{folder} adapts another base than this {name}: {reason}") from error
    except (OSError, KeyError, TypeError) as error:
        raise VideoContrastError(f"{folder} cannot be read as adapters: {error}") from error
    own = {key.replace(".default", "") for key in peft_model.state_dict()}
    names = {key.replace(".default", "") for key in weights}
    if foreign := sorted(names - own):
        raise UsageError(f"{folder} adapts another base than this {name}, which has no place for {foreign[0]}")
    if absent := sorted(key for key in own - names if ".lora_" in key):
        raise UsageError(f"{folder} adapts another base than this {name}: it holds nothing for {absent[0]}")
    plain: TorchModel = peft_model.merge_and_unload()
    return plain


OF_TRAINER = (
    "trainer_state.json", "training_args.bin", "optimizer.*", "scheduler.pt", "scaler.pt", "rng_state*.pth",
)  # fmt: skip
WEIGHTS = (".safetensors", ".bin", ".pt", ".npz", ".npy", ".parquet")
COMMIT = re.compile(r"[0-9a-f]{40}")
NOT_NEEDED = ["*.h5", "*.msgpack", "*.onnx", "*.ot", "*.tflite", "onnx/*", "openvino/*", "*.gguf"]


def locate(
    name: str, *, revision: str | None = None, names: tuple[str, ...] = (), option: str = "--model"
) -> ModelSource:
    """Finds a model.

    `revision`: branch, tag or commit on the Hub. `names`: those that are no checkpoints ("random"), and schemes that
    end in ":" ("https:"). `option`: that gave the name, for messages. Raises UsageError: a path that does not exist, or
    a name that can be neither a path nor a Hub id; VideoContrastError: the Hub does not have it, does not let you, or
    cannot be reached.
    """
    if any(name == other or (other.endswith(":") and name.startswith(other)) for other in names):
        return ModelSource(name, revision="")
    path = Path(name).expanduser()
    if not path.exists():
        if name in PACKAGED:
            path = checkpoint_path(name)
        elif name.startswith((".", "/", "~")) or name.count("/") > 1 or not name.strip("/"):
            raise UsageError(f"{option} {name}: no such folder")
        elif "/" not in name and (near := get_close_matches(name, (*PACKAGED, *names), n=1, cutoff=0.8)):
            raise UsageError(f"{option} {name}: did you mean {near[0]!r}? There is no such folder here")
        else:
            path = _from_hub(name, revision, option)
            return _read(name, path, path.name, option)  # a snapshot's folder is named by its commit
    return _read(name, path, "", option)


def _read(name: str, path: Path, revision: str, option: str) -> ModelSource:
    files = signature(path) if path.exists() else {}  # before the digest: what changes from now on is another model
    if path.is_file():
        return ModelSource(name, path, revision=revision or digest_of(path), files=files)
    if not path.is_dir():
        raise UsageError(f"{option} {name}: no such folder")
    if (path / CONFIG).is_file() and not (path / "config.json").is_file():
        return _adapted(name, path, revision, option)
    config, modules = {}, None
    if (path / "modules.json").exists():
        modules = read_json(path / "modules.json")
    if (path / "config.json").exists():
        config = read_json(path / "config.json")
    elif modules is None and not (path / "precomputed.json").exists():
        raise UsageError(f"{option} {name}: the folder {path} has no config.json, so it is not a saved model")
    return ModelSource(name, path, config, modules, revision=revision or digest_of(path), files=files)


def _adapted(name: str, path: Path, revision: str, option: str) -> ModelSource:
    """The base that the adapters name, with the adapters."""
    if not (base_name := read_json(path / CONFIG).get("base_model_name_or_path")):
        raise UsageError(f"{path / CONFIG} names no base (base_model_name_or_path), so it is unknown what it adapts")
    try:
        base = locate(str(base_name), option=f"{option} {name}: its base")
    except VideoContrastError as error:
        raise type(error)(f"{error} (named in {path / CONFIG})") from error
    if base.adapter is not None:
        raise UsageError(f"{option} {name} adapts {base_name}, itself a folder of adapters; merge that one first")
    if (path / BASE).is_file() and (digest := read_json(path / BASE)["digest"]) != base.revision:
        raise UsageError(
            f"{path} adapts another base: {base.name} has other files now ({base.revision[:12]}) than those it was "
            f"trained on ({digest[:12]})"
        )
    files = {**base.files, **{f"adapter/{name}": size for name, size in signature(path).items()}}
    both = hashlib.sha256(f"{base.revision} {revision or digest_of(path)}".encode()).hexdigest()[:40]
    return replace(base, name=name, revision=both, adapter=path, files=files)


def _from_hub(name: str, revision: str | None, option: str) -> Path:
    from huggingface_hub import errors as hub
    from huggingface_hub import snapshot_download

    def cached() -> Path:
        return Path(snapshot_download(name, revision=revision, ignore_patterns=NOT_NEEDED, local_files_only=True))

    if revision and COMMIT.fullmatch(revision):  # never changes, so a whole copy of it needs no look at the Hub
        with suppress(hub.LocalEntryNotFoundError):
            return cached()
    with explained(name, option, revision=revision):
        try:
            online = commit(name, revision=revision) is not None
        except hub.RevisionNotFoundError:
            raise
        except hub.HfHubHTTPError:  # not there, or not for you: a copy from before serves all the same
            with suppress(hub.LocalEntryNotFoundError):
                return cached()
            raise
        return Path(snapshot_download(name, revision=revision, ignore_patterns=NOT_NEEDED)) if online else cached()


def signature(path: Path) -> dict[str, list[int]]:
    """Size and time of change of a model's files: what tells cheaply whether they changed."""
    stamps = {}
    for file in _files(path):
        stat = file.stat()
        stamps[file.relative_to(path).as_posix() if path.is_dir() else file.name] = [stat.st_size, stat.st_mtime_ns]
    return stamps


def files_of(source: ModelSource) -> dict[str, list[int]]:
    """`signature` of a model's files as they are now, those of its adapters included; {} of a model without files."""
    adapter = signature(source.adapter) if source.adapter else {}
    own = signature(source.path) if source.path else {}
    return own | {f"adapter/{name}": size for name, size in adapter.items()}


def _files(path: Path) -> list[Path]:
    """The files of a model, without what a trainer keeps beside them to go on from there."""
    if path.is_file():
        return [path]
    return sorted(p for p in path.rglob("*") if p.is_file() and not any(map(p.match, OF_TRAINER)))


def digest_of(path: Path) -> str:
    """A digest of a model's files; the same files elsewhere have the same one."""
    whole = hashlib.sha256()
    for file in _files(path):
        if path.is_dir() and (file.suffix == ".md" or file.name.startswith(".")):
            continue  # a card is not the model
        with open(file, "rb") as handle:
            inner = hashlib.file_digest(handle, "sha256").hexdigest()
        whole.update(json.dumps([file.relative_to(path).as_posix() if path.is_dir() else "", inner]).encode())
    return whole.hexdigest()[:40]
