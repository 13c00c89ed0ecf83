"""Checkpoints of perturbations: which ones by default, how they are loaded, what is said if they are not there.

Model-based perturbations are batched, run in float32 without gradients on a GPU where there is one, and every
caption draws from its own random stream, so a caption's result does not depend on the others in its batch.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from video_contrast.errors import UsageError, how_to_install
from video_contrast.perturbations.registry import Origin, Rule, TextSpec, text_perturbation
from video_contrast.pretrained import MissingCheckpoint, device_of, download_command, load, placed
from video_contrast.untyped import Tokenizer, TorchModel

RULES = "rules"  # in place of a checkpoint: the rules of a perturbation that has them
DEFAULTS: dict[str, tuple[str, ...]] = {
    "mlm_suggestion": ("google-bert/bert-base-uncased",),
    "back_trans": ("facebook/wmt19-en-de", "facebook/wmt19-de-en"),
    "swap_syn_word_embedding": ("sentence-transformers/average_word_embeddings_glove.6B.300d",),
    "casual_to_formal": ("prithivida/informal_to_formal_styletransfer", "prithivida/parrot_adequacy_model"),
    "formal_to_casual": ("prithivida/formal_to_informal_styletransfer", "prithivida/parrot_adequacy_model"),
    "active_to_passive": (RULES, "prithivida/parrot_adequacy_model"),  # the second judges what a named first one writes
}
BATCH = 64  # texts a forward pass
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".h5", ".msgpack")
_Item = TypeVar("_Item")
Given = str | Sequence[str] | None  # checkpoints in place of the default ones, as of `perturb_captions`


def model_perturbation(
    name: str, *, category: str, origin: Origin, version: str = "1", needs: tuple[str, ...] = ()
) -> Callable[[Rule], Rule]:
    """Registers a perturbation that runs the checkpoints of `DEFAULTS`, of batches: `needs` are its requirements beside
    these, the other fields those of `TextSpec`."""
    models = tuple(f"model:{checkpoint}" for checkpoint in DEFAULTS[name])
    return text_perturbation(
        name, category=category, origin=origin, version=version, requirements=(*needs, *models), batched=True
    )


def names_of(name: str, models: Given) -> tuple[str, ...]:
    """The checkpoints to use: those given in order, then the default ones."""
    default = DEFAULTS[name]
    names = () if models is None else (models,) if isinstance(models, str) else tuple(models)
    if len(names) > len(default):
        raise UsageError(f"{name} takes {len(default)} checkpoint(s), but {len(names)} were given: {', '.join(names)}")
    return names + default[len(names) :]


def available(name: str, models: Given) -> tuple[str, ...]:
    """The checkpoints to use (`names_of`), after a look at the cache and, for those absent, one question to the Hub.

    Raises MissingCheckpoint: some are absent and the Hub cannot be reached; the message names all of them.
    """
    from video_contrast.hub import answers

    names = names_of(name, models)
    absent = [checkpoint for checkpoint in names if stored_revision(checkpoint) is None]
    if absent and not answers(absent[0]):
        raise missing(absent, name)
    return names


def stored_revision(checkpoint: str) -> str | None:
    """The commit of a checkpoint in the Hub cache, or the newest change of a folder; None where it is neither.

    Without a file of weights (an interrupted download) it is not there.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    if Path(checkpoint).exists():
        files = [path for path in Path(checkpoint).rglob("*") if path.is_file()] or [Path(checkpoint)]
        return str(max(path.stat().st_mtime_ns for path in files))
    try:
        folder = Path(snapshot_download(checkpoint, local_files_only=True))
    except (LocalEntryNotFoundError, ValueError):
        return None
    return folder.name if any(path.suffix in _WEIGHTS for path in folder.rglob("*")) else None


def produced_by(name: str, models: Given = None) -> str:
    """The maker of a perturbation's texts, given `models`: "rules", or checkpoints as `NAME@REVISION`."""
    names = names_of(name, models)
    if names[0] == RULES:
        return RULES
    revisions = {checkpoint: stored_revision(checkpoint) or "absent" for checkpoint in names}
    return ",".join(f"{checkpoint}@{revision[:12]}" for checkpoint, revision in revisions.items())


@lru_cache(4)
def pretrained(model_class: str, checkpoint: str, wanted_by: str) -> tuple[Tokenizer, TorchModel]:
    """A tokenizer and a model of a transformers auto class, ready to run in float32.

    `model_class`: name of the auto class, e.g. "AutoModelForMaskedLM". `checkpoint`: a Hub name or folder. Raises
    MissingCheckpoint: it cannot be had; the message names the command that gets it; VideoContrastError: it is there,
    but is of another kind, or does not fit the memory of the GPU.
    """
    import transformers

    here = {"local_files_only": stored_revision(checkpoint) is not None}
    try:
        tokenizer = load(checkpoint, transformers.AutoTokenizer, wanted_by, **here)
        model = load(checkpoint, getattr(transformers, model_class), wanted_by, dtype="float32", **here)
    except MissingCheckpoint as error:
        raise missing([checkpoint], wanted_by) from error
    return tokenizer, placed(model, device_of(), wanted_by)


def missing(checkpoints: Sequence[str], wanted_by: str) -> MissingCheckpoint:
    """The error for checkpoints that are not there."""
    s, place = ("", "is neither a folder") if len(checkpoints) == 1 else ("s", "are neither folders")
    return MissingCheckpoint(
        f"{wanted_by} needs the checkpoint{s} {' and '.join(checkpoints)}, which {place} nor in the Hub cache and "
        f"could not be downloaded: run {download_command(*checkpoints)}, or name another checkpoint (--model, or "
        f"models={{'{wanted_by}': ...}})"
    )


def batches(items: Sequence[_Item], length: Callable[[_Item], int]) -> Iterator[list[int]]:
    """Places of `items` in batches of equal length: nothing is padded, so no neighbour changes a caption's result."""
    groups: dict[int, list[int]] = {}
    for place, item in enumerate(items):
        groups.setdefault(length(item), []).append(place)
    for _, places in sorted(groups.items()):
        yield from (places[first : first + BATCH] for first in range(0, len(places), BATCH))


def outputs(ids: Sequence[list[int]], tokenizer: Tokenizer, model: TorchModel, **options: object) -> list[str]:
    """The texts that a sequence-to-sequence model writes for token ids of one length, without sampling of its own.

    `ids`: a batch of `batches`. `options`: of `generate`.
    """
    import torch

    inputs = torch.tensor(ids, device=model.device)
    with torch.inference_mode():
        out = model.generate(input_ids=inputs, attention_mask=torch.ones_like(inputs), do_sample=False, **options)
    return [text.strip() for text in tokenizer.batch_decode(out, skip_special_tokens=True)]


def how_to_get(spec: TextSpec) -> str:
    """The requirements of `spec` and the command that gets them, in one line; "nothing" if it runs as installed."""
    parts = []
    if "parse" in spec.requirements and find_spec("spacy") is None:
        parts.append(f"a parser of English: {how_to_install('english')}")
    checkpoints = [need.removeprefix("model:") for need in spec.requirements if need.startswith("model:")]
    if checkpoints:
        kind = "checkpoint" if len(checkpoints) == 1 else "checkpoints"
        parts.append(f"{kind}: {download_command(*checkpoints)}")
    named = [need.removeprefix("named:") for need in spec.requirements if need.startswith("named:")]
    if named:
        parts.append(f"rules; a checkpoint can be named: {download_command(*named)}")
    return "; ".join(parts) or "nothing"
