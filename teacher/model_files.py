"""Whether a model can be had, before it is loaded: in a folder, in the cache, on the Hub, or behind an endpoint.

Configs are read (or fetched), weights are not.
"""

import os
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.hub import asked_once
from video_contrast.pretrained import load
from video_contrast.runner.locate import WEIGHTS

SECONDS = 10.0  # until an endpoint counts as not there


def check_model(name: str, automatic: str, option: str) -> None:
    """Checks that a model can be had and is of a class.

    Raises VideoContrastError: it is not.

    Args:
        name: a folder or Hub id.
        automatic: name of the auto class of transformers that it is loaded by.
        option: what names the model, for messages.
    """
    import transformers

    config = load(name, transformers.AutoConfig, option)
    if type(config) not in getattr(transformers, automatic)._model_mapping:
        raise VideoContrastError(
            f"{option}: {name!r} is a model of type {config.model_type}, which transformers.{automatic} cannot load; "
            "name another one"
        )
    if (folder := _folder(name)) is not None and not _has_weights(folder):
        raise VideoContrastError(f"{option}: {folder} holds no weights of {name!r}; download it whole: hf download")


def check_encoder(name: str) -> None:
    """Checks that a sentence encoder can be had.

    Raises VideoContrastError: it is neither a folder with weights, nor in the cache, nor on the Hub.
    """
    from transformers.utils import cached_file

    if name == "lsa":
        return
    if Path(name).is_dir():
        if not _has_weights(Path(name)):
            raise VideoContrastError(f"--encoder: the folder {name} holds no weights of a sentence encoder")
        return
    if name.startswith((".", "/", "~")):
        raise VideoContrastError(f"--encoder {name}: no such folder")
    reason = ""
    for known in (name, *([] if "/" in name else [f"sentence-transformers/{name}"])):
        for file in ("modules.json", "config.json"):
            try:
                with asked_once(known):
                    cached_file(known, file)
            except (OSError, ValueError) as error:
                reason = reason or str(error).strip().splitlines()[0]
            else:
                return
    raise VideoContrastError(
        f"--encoder: the sentence encoder {name!r} cannot be loaded ({reason}). Download it on a machine with a "
        f"network (hf download {known}) or give the folder of another one"
    )


def check_endpoint(address: str) -> None:
    """Asks a server for its list of models; one that has none is there all the same.

    Raises VideoContrastError: nobody answers at the address, or the key is refused.
    """
    from huggingface_hub import get_session
    from huggingface_hub.errors import OfflineModeIsEnabled

    key = os.environ.get("OPENAI_API_KEY") or os.environ.get("HF_TOKEN")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = get_session().get(f"{address.rstrip('/')}/models", headers=headers, timeout=SECONDS)
    except OfflineModeIsEnabled as error:
        raise VideoContrastError(
            f"HF_HUB_OFFLINE=1 keeps the client from asking {address}; an endpoint of your own is no download, so run "
            "this command with HF_HUB_OFFLINE=0"
        ) from error
    except Exception as error:  # of whatever library the session is
        reason = " ".join(str(error).split())[:120]
        raise VideoContrastError(f"endpoint={address}: no server answers there ({reason}); start it first") from error
    if answer.status_code in (401, 403):
        raise VideoContrastError(
            f"endpoint={address}: the server refuses the key ({answer.status_code}); set OPENAI_API_KEY or HF_TOKEN"
        )


def _folder(name: str) -> Path | None:
    """Where a model's files are on this machine; None where the Hub has yet to be asked for them."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.constants import HF_HUB_OFFLINE
    from huggingface_hub.errors import LocalEntryNotFoundError

    if Path(name).is_dir():
        return Path(name)
    try:
        folder = Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, OSError):
        return None
    return folder if HF_HUB_OFFLINE or _has_weights(folder) else None


def _has_weights(folder: Path) -> bool:
    return any(path.suffix in WEIGHTS for path in folder.rglob("*"))
