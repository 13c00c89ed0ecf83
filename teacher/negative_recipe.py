"""The negatives that a caption gets: from the options of `teach` and `generate` to their proposers, and their rows.

Whether the models behind negatives and teacher can be had (in a folder, the cache, on the Hub, or behind an endpoint)
is looked up before any video is decoded or any word counted: configs are read (or fetched), weights are not.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

from video_contrast.builders.assembly.captioned_clip import ContrastSetOptions, EditOptions
from video_contrast.builders.assembly.word_contrasts import KindContrasts, WordEdits
from video_contrast.errors import UsageError, VideoContrastError, check_names
from video_contrast.files import read_json
from video_contrast.hub import asked_once
from video_contrast.options import named_values, names_in
from video_contrast.perturbations.contrast.generators import GENERATORS as PROPOSERS
from video_contrast.perturbations.contrast.judge import threshold
from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.perturbations.contrast.proposal import Target
from video_contrast.pretrained import load
from video_contrast.rows import RetrievalRow
from video_contrast.runner.model_files import WEIGHTS, digest_of
from video_contrast.storage import SetFolder

GENERATORS = ("auto", "shapes", "lexicon", "t5", "mlm", "llm", "set")
Corpus = Mapping[str, Sequence[str]]  # video -> its captions
ClipRows = Sequence[RetrievalRow]
READY = ("shapes", "set")  # negatives that are known, not proposed and judged


@dataclass(frozen=True, kw_only=True)
class CaptionEdits(EditOptions):
    """The options of negatives: their number, and how they are made."""

    negatives: Annotated[str, "10-action, 5-action, 5-action-5-object"] = "10-action"
    rules: Annotated[str, "kinds by rules beside these, one each: role,order,direction ... or all"] = ""


@dataclass(frozen=True)
class NegativeRecipe:
    """The recipe of negatives, with which the stored file must have been made."""

    actions: int  # a caption, at most
    objects: int
    generator: str = "lexicon"  # one of `GENERATORS`
    seed: int = 0
    model: str | None = None  # checkpoint of the generator; of "set" the folder that `video-contrast generate` wrote
    options: str | None = None  # of the generator: "name=value,..."
    quality: str = "balanced"  # least probability by the judge
    rules: tuple[str, ...] = ()  # kinds of `perturbations.contrast.kinds`, of each at most one a caption

    @property
    def total(self) -> int:
        """Negatives of a caption, at most."""
        return self.actions + self.objects + len(self.rules)

    @classmethod
    def of(cls, options: CaptionEdits, generator: str, seed: int) -> "NegativeRecipe":
        """The recipe of options of `teach` or `generate`. Raises UsageError: numbers of negatives that are none."""
        model, given, rules = options.generator_model, options.generator_options, rule_kinds(options.rules)
        return cls(*amounts(options.negatives), generator, seed, model, given, options.quality, rules)

    def record(self) -> dict[str, object]:
        """The facts that the negatives depend on."""
        own = asdict(self) | {"rules": ",".join(self.rules)}
        if not self.rules:
            del own["rules"]
        if self.generator in READY:
            del own["quality"]
        return own

    def check(self) -> None:
        """Raises a UsageError for a generator or option that does not exist, or options that do not go together."""
        check_names("generator", [self.generator], GENERATORS)
        if self.generator == "set" and not (self.model and Path(self.model).is_dir()):
            raise UsageError("--generator set needs --generator-model, a folder that `video-contrast generate` wrote")
        if self.generator == "set" and not choice_tables(SetFolder.open(str(self.model))):
            raise UsageError(f"--generator set: {self.model} has no multiple-choice config")
        if self.generator == "shapes" and self.rules:
            raise UsageError("--rules edits captions that people wrote; the shapes world has kinds of its own")
        if self.generator not in READY:
            threshold(self.quality, "verb")
            self.source("verb", {})
        elif self.options or (self.model and self.generator == "shapes") or self.quality != "balanced":
            raise UsageError(
                "--quality, --generator-model and --generator-options are of generators whose proposals are judged; "
                f"{self.generator} has no use for them"
            )

    def sources(self, corpus: Corpus) -> list[tuple[WordEdits | KindContrasts, str, int]]:
        """The makers of negatives, each with its name in training and how many a caption gets; `corpus`: by video."""
        targets: list[tuple[Target, str, int]] = [("verb", "action", self.actions), ("object", "object", self.objects)]
        words = [(self.source(target, corpus), label, n) for target, label, n in targets if n]
        return [*words, *((KindContrasts(kind, ContrastSetOptions(seed=self.seed)), kind, 1) for kind in self.rules)]

    def source(self, target: Target, corpus: Corpus) -> WordEdits:
        """The proposer of verbs or things. Things that no model proposes come from the lexicon."""
        options = EditOptions(generator_model=self.model, generator_options=self.options, quality=self.quality)
        return WordEdits(
            target=target,
            generator=self.generator,  # type: ignore[arg-type]  # checked above
            options=options,
            training=lambda: corpus,
        )


def amounts(kind: str) -> tuple[int, int]:
    """Action and object negatives of a choice such as "10-action" (the paper's) or "5-action-5-object".

    >>> amounts("5-action-5-object"), amounts("10-action")
    ((5, 5), (10, 0))
    """
    if not (match := re.fullmatch(r"([1-9]\d?)-action(?:-([1-9]\d?)-object)?", kind)):
        raise UsageError(f"--negatives {kind!r} is not like 10-action, 5-action or 5-action-5-object")
    return int(match[1]), int(match[2] or 0)


def rule_kinds(names: str) -> tuple[str, ...]:
    """Kinds of contrast by rules, comma-separated or "all", in the order of their table.

    >>> rule_kinds("place, role"), rule_kinds("")
    (('role', 'place'), ())
    """
    kinds = names_in(names) or []
    if kinds == ["all"]:
        return tuple(RULES)
    check_names("kind of contrast by rules", kinds, RULES)
    return tuple(kind for kind in RULES if kind in kinds)


def choice_tables(folder: SetFolder) -> list[tuple[str, str]]:
    """The (config, split) of each multiple-choice table of a set."""
    return [(config, split) for config, split in folder.tables() if folder.layout(config) != "retrieval"]


class CaptionNegatives(TypedDict):
    """A training caption with its negatives, a line of `negatives-SPLIT-KEY.parquet`."""

    id: str  # of the clip
    caption: str
    negatives: list[str]
    kinds: NotRequired[list[str]]  # of each negative: action, object, or a kind by rules


class TaughtCaption(CaptionNegatives):
    """A caption and its negatives with the teacher's similarities."""

    teacher: list[float]  # cosines of the caption with itself (1) and with each negative
    video_id: NotRequired[str]  # of the clip; its id where this is absent


CLASSES = {"mlm": "AutoModelForMaskedLM", "t5": "AutoModelForSeq2SeqLM", "llm": "AutoModelForCausalLM"}
SECONDS = 10.0  # until an endpoint counts as not there


def check_generator(recipe: NegativeRecipe) -> None:
    """Checks the model of a generator, and what it needs of the tokenizer besides tokens.

    `recipe`: of the negatives; a served model is asked for its name alone, which is free. Raises VideoContrastError:
    the model is neither a folder nor in the cache nor on the Hub, has no weights, is of another class than it is needed
    for, or its endpoint does not answer.
    """
    import transformers
    from transformers import AutoConfig, AutoTokenizer

    if recipe.generator not in CLASSES:
        return
    endpoint = named_values(recipe.options, "--generator-options").get("endpoint")
    name = recipe.model or signature(PROPOSERS[recipe.generator]).parameters["model"].default
    if endpoint:
        check_endpoint(str(endpoint))
    elif name:
        option = f"model of the generator {recipe.generator}"
        config, automatic = load(name, AutoConfig, option), CLASSES[recipe.generator]
        if type(config) not in getattr(transformers, automatic)._model_mapping:
            raise VideoContrastError(
                f"{option}: {name!r} is a model of type {config.model_type}, which transformers.{automatic} cannot "
                "load; name another one"
            )
        if (folder := _folder(name)) is not None and not _has_weights(folder):
            raise VideoContrastError(f"{option}: {folder} holds no weights of {name!r}; download it whole: hf download")
        tokenizer = load(name, AutoTokenizer, option)
        if recipe.generator == "mlm" and tokenizer.mask_token is None:
            raise VideoContrastError(f"{name!r} has no mask token: the generator mlm needs a masked language model")
        if recipe.generator == "llm" and not tokenizer.chat_template:
            raise VideoContrastError(f"{name!r} has no chat template: the generator llm needs a chat model")


def is_stored(recipe: NegativeRecipe, folder: Path) -> bool:
    """Whether negatives by this recipe lie in a store already, so that no model may be needed."""
    own = recipe.record() | {"model": content(recipe.model)}
    return any(own.items() <= read_json(path)["settings"].items() for path in folder.glob("negatives-*.json"))


def content(model: str | None) -> str | None:
    """The key of a model: a folder by its name and files, so that one trained anew is another; else its name."""
    return f"{model}@{digest_of(Path(model))[:12]}" if model and Path(model).is_dir() else model


def check_encoder(name: str) -> None:
    """Raises a VideoContrastError where a sentence encoder is no folder with weights, nor cached, nor on the Hub."""
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
    for repository in (name, *([] if "/" in name else [f"sentence-transformers/{name}"])):
        for file in ("modules.json", "config.json"):
            try:
                with asked_once(repository):
                    cached_file(repository, file)
            except (OSError, ValueError) as error:
                reason = reason or str(error).strip().splitlines()[0]
            else:
                return
    raise VideoContrastError(
        f"--encoder: the sentence encoder {name!r} cannot be loaded ({reason}). Download it on a machine with a "
        f"network (hf download {repository}) or give the folder of another one"
    )


def check_endpoint(address: str) -> None:
    """Raises a VideoContrastError where nobody answers at an address, or the key is refused."""
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
    """The folder of a model's files on this machine; None where the Hub has yet to be asked for them."""
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
