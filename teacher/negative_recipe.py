"""Which negatives a caption gets: from the options of `teach` and `generate` to the generator and its constraints."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from video_contrast.builders.assembly.lexicon_contrasts import LexiconOptions
from video_contrast.builders.assembly.verb_contrasts import EditOptions
from video_contrast.errors import UsageError, unknown_name
from video_contrast.perturbations.contrast.judge import threshold
from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.storage import SetFolder

if TYPE_CHECKING:
    from video_contrast.builders.assembly.kind_contrasts import KindContrasts
    from video_contrast.builders.assembly.lexicon_contrasts import LexiconEdits
    from video_contrast.builders.assembly.verb_contrasts import VerbContrasts

GENERATORS = ("auto", "shapes", "lexicon", "t5", "mlm", "llm", "set")
UNTAGGED = ("shapes", "set", "lexicon")  # without captions that are tagged


@dataclass(frozen=True, kw_only=True)
class CaptionEdits(LexiconOptions, EditOptions):
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
    constraints: str | None = None  # names; None: the generator's
    constraint_settings: str | None = None  # thresholds and models: "name=value,..."
    quality: str = "balanced"  # of lexicon, which has no model or constraints
    rules: tuple[str, ...] = ()  # kinds of `perturbations.contrast.kinds`, of each at most one a caption

    @property
    def total(self) -> int:
        """Negatives of a caption, at most."""
        return self.actions + self.objects + len(self.rules)

    @classmethod
    def of(cls, options: CaptionEdits, generator: str, seed: int) -> "NegativeRecipe":
        """What options ask for.

        Args:
            options: of `teach` or `generate`.
            generator: which one they mean.
            seed: of every draw.

        Raises:
            UsageError: numbers of negatives that are none.
        """
        actions, objects = amounts(options.negatives)
        return cls(
            actions,
            objects,
            generator=generator,
            seed=seed,
            model=options.generator_model,
            options=options.generator_options,
            constraints=options.constraints,
            constraint_settings=options.constraint_options,
            quality=options.quality,
            rules=rule_kinds(options.rules),
        )

    def record(self) -> dict[str, object]:
        """What the negatives depend on."""
        own = asdict(self) | {"rules": ",".join(self.rules)}
        if not self.rules:
            del own["rules"]
        return own if self.generator == "lexicon" else {k: v for k, v in own.items() if k != "quality"}

    def check(self) -> None:
        """Raises a UsageError for a generator, constraint or option that does not exist."""
        if self.generator not in GENERATORS:
            raise unknown_name("generator", self.generator, GENERATORS)
        if self.generator == "set" and not (self.model and Path(self.model).is_dir()):
            raise UsageError("--generator set needs --generator-model, a folder that `video-contrast generate` wrote")
        if self.generator == "set" and not choice_tables(SetFolder.open(str(self.model))):
            raise UsageError(f"--generator set: {self.model} has no multiple-choice config")
        if self.generator == "shapes" and self.rules:
            raise UsageError("--rules edits captions that people wrote; the shapes world has kinds of its own")
        edits = (self.constraints, self.constraint_settings, self.options, self.generator != "set" and self.model)
        if self.generator in UNTAGGED and any(edits):
            own = "has a judge of its own (--quality)" if self.generator == "lexicon" else "has no use for them"
            raise UsageError(
                "--constraints, --constraint-options, --generator-model and --generator-options belong to the "
                f"generators t5, mlm and llm; {self.generator} {own}"
            )
        if self.generator == "lexicon":
            threshold(self.quality)
        elif self.quality != "balanced":
            raise UsageError(f"--quality belongs to the generator lexicon, not to {self.generator}")
        if self.generator not in UNTAGGED:
            self.source("verb", {})

    def sources(
        self, corpus: Mapping[str, Sequence[str]]
    ) -> "list[tuple[VerbContrasts | LexiconEdits | KindContrasts, str, int]]":
        """What makes negatives: each with the name of its negatives in training, and how many a caption gets of it.

        Args:
            corpus: the captions of each training video.
        """
        from video_contrast.builders.assembly.kind_contrasts import KindContrasts

        targets: tuple[tuple[Literal["verb", "object"], str, int], ...] = (
            ("verb", "action", self.actions),
            ("object", "object", self.objects),
        )
        models = [(self.source(target, corpus), label, n) for target, label, n in targets if n]
        return [*models, *((KindContrasts(kind, self.seed), kind, 1) for kind in self.rules)]

    def source(
        self, target: Literal["verb", "object"], corpus: Mapping[str, Sequence[str]]
    ) -> "VerbContrasts | LexiconEdits":
        """The generator and its constraints. Things that no model proposes come from the lexicon."""
        from video_contrast.builders.assembly.lexicon_contrasts import LexiconEdits
        from video_contrast.builders.assembly.verb_contrasts import VerbContrasts, VerbOptions

        if self.generator == "lexicon" or (target == "object" and self.generator != "mlm"):
            return LexiconEdits(target=target, quality=self.quality, training=lambda: corpus)
        names = self.constraints
        if names is not None and target == "object":  # those word vectors are of verbs
            names = ",".join(name for name in names.split(",") if name.strip() != "word_vectors")
        options = VerbOptions(
            generator=self.generator,  # type: ignore[arg-type]  # checked above
            generator_model=self.model,
            generator_options=self.options,
            constraints=names,
            constraint_options=self.constraint_settings,
        )
        count = self.actions if target == "verb" else self.objects
        return VerbContrasts(options=options, seed=self.seed, target=target, per_caption=count)


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
    asked = [name.strip() for name in names.split(",") if name.strip()]
    if asked == ["all"]:
        return tuple(RULES)
    for name in asked:
        if name not in RULES:
            raise unknown_name("kind of contrast by rules", name, list(RULES))
    return tuple(kind for kind in RULES if kind in asked)


def choice_tables(folder: SetFolder) -> list[tuple[str, str]]:
    """The (config, split) of each multiple-choice table of a set."""
    return [(config, split) for config, split in folder.tables() if folder.layout(config) != "retrieval"]


def texts_of(corpus: Mapping[str, Sequence[str]]) -> list[str]:
    """The captions of all videos."""
    return [text for captions in corpus.values() for text in captions]
