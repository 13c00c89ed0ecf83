"""The models behind negatives and teacher: whether they can be had, before any video is decoded or any word counted.

In a folder, in the cache, on the Hub, or behind an endpoint. Configs are read (or fetched), weights are not.
"""

import os
from inspect import signature
from pathlib import Path

from video_contrast.builders.assembly.word_contrasts import named_values
from video_contrast.errors import VideoContrastError
from video_contrast.files import read_json
from video_contrast.hub import asked_once
from video_contrast.perturbations.contrast.generators import GENERATORS
from video_contrast.pretrained import load
from video_contrast.runner.locate import WEIGHTS, digest_of
from video_contrast.teacher.negative_recipe import NegativeRecipe

CLASSES = {"mlm": "AutoModelForMaskedLM", "t5": "AutoModelForSeq2SeqLM", "llm": "AutoModelForCausalLM"}
SECONDS = 10.0  # until an endpoint counts as not there


def check_generator(recipe: NegativeRecipe) -> None:
    """Checks the model of a generator, and what it needs of the tokenizer besides tokens.

    `recipe`: of the negatives; a served model is asked for its name alone, which is free. Raises VideoContrastError:
    the model is neither a folder nor in the cache nor on the Hub, has no weights, is of another class than it is needed
    for, or its endpoint does not answer.
    """
    from transformers import AutoTokenizer

    if recipe.generator not in CLASSES:
        return
    endpoint = named_values(recipe.options, "--generator-options").get("endpoint")
    name = recipe.model or signature(GENERATORS[recipe.generator]).parameters["model"].default
    if endpoint:
        check_endpoint(str(endpoint))
    elif name:
        option = f"model of the generator {recipe.generator}"
        _check_model(name, CLASSES[recipe.generator], option)
        tokenizer = load(name, AutoTokenizer, option)
        if recipe.generator == "mlm" and tokenizer.mask_token is None:
            raise VideoContrastError(f"{name!r} has no mask token: the generator mlm needs a masked language model")
        if recipe.generator == "llm" and not tokenizer.chat_template:
            raise VideoContrastError(f"{name!r} has no chat template: the generator llm needs a chat model")


def is_stored(recipe: NegativeRecipe, folder: Path) -> bool:
    """Whether negatives by this recipe lie in a store already, so that no model may be needed."""
    own = recipe.record() | {"model": content(recipe.model)}
    for path in folder.glob("negatives-*.json"):
        stored = read_json(path)["settings"]
        if all(stored.get(name) == value for name, value in own.items()):
            return True
    return False


def content(model: str | None) -> str | None:
    """What a model is known by: a folder by its name and files, so that one trained anew is another; else its name."""
    return f"{model}@{digest_of(Path(model))[:12]}" if model and Path(model).is_dir() else model


def _check_model(name: str, automatic: str, option: str) -> None:
    """Raises VideoContrastError: a model (folder or Hub id) cannot be had, or not by an auto class of transformers."""
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
