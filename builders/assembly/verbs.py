"""Verb and object contrasts in builders: the pipeline made from a builder's options, and its record for the card."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

from video_contrast.builders.assembly.contrasts import Attempt
from video_contrast.builders.assembly.sharding import spread, world_size
from video_contrast.errors import UsageError, unknown_name
from video_contrast.files import cache_dir
from video_contrast.perturbations.contrast import Edit

if TYPE_CHECKING:
    from video_contrast.perturbations.contrast.pipeline import Pipeline
    from video_contrast.perturbations.contrast.target import Target
    from video_contrast.perturbations.contrast.verb import WordCounts

_CORPUS_CHUNK = 20_000  # captions that a rank counts at a time
KINDS = {"lexical": "verb_lexical", "t5": "verb_lm", "mlm": "verb_mlm", "llm": "verb_llm"}


@dataclass
class Verbs:
    """The verb (or object) contrasts of a set.

    Attributes:
        training: gives the captions whose words are counted; called when they are needed.
        generator: "lexical", "t5", "mlm" or "llm".
        model: checkpoint of the generator; None for its default.
        constraints: names, comma-separated; None for the generator's default set.
        settings: further thresholds and models, `name=value`, comma-separated (fields of the constraints).
        target: "verb" or "object".
        generator_options: further options of the generator, `name=value`, comma-separated.
        many: how many contrasts of different verbs (things) a caption is asked for.
    """

    training: Callable[[], Sequence[str]]
    generator: str = "lexical"
    model: str | None = None
    constraints: str | None = None
    settings: str | None = None
    tagger: str = "auto"
    seed: int = 0
    num_proc: int = 1
    target: Literal["verb", "object"] = "verb"
    many: int = 1
    generator_options: str | None = None

    def __post_init__(self) -> None:
        """Unknown names are said before captions are counted or models are looked for.

        Raises:
            UsageError: no such generator or constraint, or an option that is not name=value.
        """
        if self.generator not in KINDS:
            raise unknown_name("generator", self.generator, list(KINDS))
        if self.constraints is not None and self.target == "verb":
            from video_contrast.perturbations.contrast.verb import constraint_names

            constraint_names(self.generator, [name.strip() for name in self.constraints.split(",")])
        _named(self.settings, "--settings")
        _named(self.generator_options, "--generator-options")

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """Up to `many` contrasts a caption, with counts of captions and candidates by reason."""
        # Several forms of one verb ("sit", "sit down") count once, so more are asked for than wanted.
        edits, counts = self.pipeline.run_many(
            [attempt.caption for attempt in attempts],
            [attempt.id for attempt in attempts],
            [attempt.siblings for attempt in attempts],
            n=1 if self.many == 1 else 3 * self.many,
        )
        return [_one_a_word(found, self.target)[: self.many] for found in edits], counts

    @property
    def kind(self) -> str:
        """The kind of the negatives."""
        return "object" if self.target == "object" else KINDS.get(self.generator, "verb_lm")

    @property
    def counts_words(self) -> bool:
        """Whether the training captions are read at all."""
        return self.generator == "lexical" or self.constraints is None or "frequency" in self.constraints.split(",")

    @cached_property
    def pipeline(self) -> "Pipeline":
        """The pipeline; made, and the training captions counted, at first use.

        Raises:
            UsageError, VideoContrastError: an unknown name, or a model or file that is absent.
        """
        from video_contrast.perturbations.contrast.pipeline import Pipeline

        options = _named(self.generator_options, "--generator-options")
        if self.model is not None:
            options["model"] = self.model
        return Pipeline(
            self.generator,
            [name.strip() for name in self.constraints.split(",")] if self.constraints is not None else None,
            target=_target(self.target),
            counts=self.counts if self.counts_words else None,
            seed=self.seed,
            tagger=self.tagger,
            generator_options=options,
            options=_named(self.settings, "--settings"),
        )

    @cached_property
    def counts(self) -> "WordCounts":
        """What the training captions say about words; under `torchrun` each rank counts its share."""
        from video_contrast.perturbations.contrast.counts import count_words

        captions = self.training()
        count = partial(count_words, target=_target(self.target), tagger=self.tagger, num_proc=self.num_proc)
        if world_size() == 1:
            return count(captions)
        return _merged(spread(count, captions, chunk=_CORPUS_CHUNK))

    def facts(self) -> dict[str, Any]:
        """What the card says of the generator and its constraints."""
        read = {"training_captions": self.counts.size} if self.counts_words else {}
        return {"pipeline": self.pipeline.record() | read}


@contextmanager
def tag_cache() -> Iterator[None]:
    """Keeps tags between builds in the user's cache (unless VIDEO_CONTRAST_TAGS names another file)."""
    name = "VIDEO_CONTRAST_TAGS"
    if name in os.environ:
        yield
        return
    place = cache_dir() / "tags.sqlite"
    place.parent.mkdir(parents=True, exist_ok=True)
    os.environ[name] = str(place)
    try:
        yield
    finally:
        del os.environ[name]


def _one_a_word(edits: Sequence[Edit], target: str) -> list[Edit]:
    """The edits with their first word (last, for things) each once, by its dictionary form."""
    from video_contrast.perturbations.language import lemma

    place, tag = (0, "VB") if target == "verb" else (-1, "NN")
    return list({lemma(edit.new.lower().split()[place], tag): edit for edit in reversed(edits)}.values())[::-1]


def _target(name: str) -> "Target":
    from video_contrast.perturbations.contrast.object import OBJECT
    from video_contrast.perturbations.contrast.target import VERB

    return VERB if name == "verb" else OBJECT


def _merged(parts: Sequence["WordCounts"]) -> "WordCounts":
    """Counts of a corpus from the counts of its parts."""
    from video_contrast.perturbations.contrast.verb import WordCounts

    uses, otherwise = Counter[str](), Counter[str]()
    frames: dict[str, Counter[str]] = {}
    company: dict[tuple[str, str], Counter[str]] = {}
    for part in parts:
        uses.update(part.uses)
        otherwise.update(part.otherwise)
        for kind, counts in part.frames.items():
            frames.setdefault(kind, Counter()).update(counts)
        for pair, counts in part.company.items():
            company.setdefault(pair, Counter()).update(counts)
    return WordCounts(sum(part.size for part in parts), uses, otherwise, frames, company, parts[0].tagger)


def _named(text: str | None, option: str) -> dict[str, Any]:
    """`name=value,...` as keywords; numbers become numbers."""
    found: dict[str, Any] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{option}: {part!r} must be name=value, several with commas between them")
        try:
            found[name.strip()] = float(value) if "." in value else int(value)
        except ValueError:
            found[name.strip()] = value.strip()
    return found
