"""Which negatives a caption gets: from the options of `teach` and `generate` to what proposes them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.word_contrasts import EditOptions, KindContrasts, WordEdits
from video_contrast.errors import UsageError, unknown_name
from video_contrast.perturbations.contrast.judge import threshold
from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.perturbations.contrast.proposal import Kind
from video_contrast.storage import SetFolder

GENERATORS = ("auto", "shapes", "lexicon", "t5", "mlm", "llm", "set")
READY = ("shapes", "set")  # negatives that are known, not proposed and judged


@dataclass(frozen=True, kw_only=True)
class CaptionEdits(EditOptions):
    """How many negatives, and how they are made."""

    negatives: Annotated[str, "10-action, 5-action, 5-action-5-object"] = "10-action"
    rules: Annotated[str, "kinds by rules beside these, one each: role,order,direction ... or all"] = ""


@dataclass(frozen=True)
class NegativeRecipe:
    """Which negatives: what the stored file must have been made with."""

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
        """What options ask for.

        `options`: of `teach` or `generate`. Raises UsageError: numbers of negatives that are none.
        """
        actions, objects = amounts(options.negatives)
        return cls(
            actions,
            objects,
            generator=generator,
            seed=seed,
            model=options.generator_model,
            options=options.generator_options,
            quality=options.quality,
            rules=rule_kinds(options.rules),
        )

    def record(self) -> dict[str, object]:
        """What the negatives depend on."""
        own = asdict(self) | {"rules": ",".join(self.rules)}
        if not self.rules:
            del own["rules"]
        if self.generator in READY:
            del own["quality"]
        return own

    def check(self) -> None:
        """Raises a UsageError for a generator or option that does not exist, or options that do not go together."""
        if self.generator not in GENERATORS:
            raise unknown_name("generator", self.generator, GENERATORS)
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

    def sources(self, corpus: Mapping[str, Sequence[str]]) -> list[tuple[WordEdits | KindContrasts, str, int]]:
        """What makes negatives: each with the name of its negatives in training, and how many a caption gets of it.

        `corpus`: the captions of each training video.
        """
        targets: tuple[tuple[Kind, str, int], ...] = (
            ("verb", "action", self.actions),
            ("object", "object", self.objects),
        )
        words = [(self.source(target, corpus), label, n) for target, label, n in targets if n]
        return [*words, *((KindContrasts(kind, self.seed), kind, 1) for kind in self.rules)]

    def source(self, target: Kind, corpus: Mapping[str, Sequence[str]]) -> WordEdits:
        """What proposes verbs or things. Things that no model proposes come from the lexicon."""
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
    match = re.fullmatch(r"([1-9]\d?)-action(?:-([1-9]\d?)-object)?", kind)
    if not match:
        raise UsageError(f"--negatives {kind!r} is not like 10-action, 5-action or 5-action-5-object")
    return int(match[1]), int(match[2] or 0)


def rule_kinds(names: str) -> tuple[str, ...]:
    """Kinds of contrast by rules, comma-separated or "all", in the order of their table.

    >>> rule_kinds("place, role"), rule_kinds("")
    (('role', 'place'), ())
    """
    kinds = [name.strip() for name in names.split(",") if name.strip()]
    if kinds == ["all"]:
        return tuple(RULES)
    for name in kinds:
        if name not in RULES:
            raise unknown_name("kind of contrast by rules", name, list(RULES))
    return tuple(kind for kind in RULES if kind in kinds)


def choice_tables(folder: SetFolder) -> list[tuple[str, str]]:
    """The (config, split) of each multiple-choice table of a set."""
    return [(config, split) for config, split in folder.tables() if folder.layout(config) != "retrieval"]
