"""Verb and object contrasts in builders: the pipeline made from a builder's options, and its record for the card."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Literal

from video_contrast.builders.assembly.clip_contrasts import Attempt, TrainingCaptions, TrainingVideos
from video_contrast.builders.assembly.sharding import spread, world_size
from video_contrast.errors import UsageError
from video_contrast.options import Tagger
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.english.caption_store import user_store
from video_contrast.storage.set_records import Facts

if TYPE_CHECKING:
    from video_contrast.perturbations.contrast.generators.local_chat import Chat
    from video_contrast.perturbations.contrast.pipeline import OnReject, Pipeline
    from video_contrast.perturbations.contrast.target import Target
    from video_contrast.perturbations.contrast.verb import WordCounts

_CORPUS_CHUNK = 20_000  # captions that a rank counts at a time
WITH_MODELS = {"perplexity", "sentence", "nli"}  # constraints
KINDS = {"lexical": "verb_lexical", "t5": "verb_lm", "mlm": "verb_mlm", "llm": "verb_llm"}


@dataclass(frozen=True, kw_only=True)
class EditOptions:
    """The model behind a generator of edits, and the constraints on what it proposes."""

    generator_model: Annotated[str | None, "checkpoint of the generator, or its server's model"] = None
    generator_options: Annotated[str | None, "its further options: name=value,... (endpoint=, store=, k= ...)"] = None
    constraints: Annotated[str | None, "checks of contrasts, comma-separated; default: the generator's"] = None
    constraint_options: Annotated[str | None, "their thresholds and models: name=value,..."] = None
    tagger: Tagger = "auto"


@dataclass(frozen=True, kw_only=True)
class VerbOptions(EditOptions):
    """How verb contrasts are made."""

    generator: Annotated[Literal["lexical", "t5", "mlm", "llm"], "of verb contrasts"] = "lexical"

    def for_objects(self) -> "VerbOptions":
        """The options of object contrasts. There is no T5 or chat model for these: one without a model stands in."""
        if self.generator == "mlm":
            return VerbOptions(generator="mlm", generator_model=self.generator_model, tagger=self.tagger)
        return VerbOptions(tagger=self.tagger)

    def constraint_names(self) -> list[str] | None:
        """The constraints that are named; None for the generator's own set."""
        return None if self.constraints is None else [name.strip() for name in self.constraints.split(",")]


@dataclass(kw_only=True)
class VerbContrasts:
    """The verb (or object) contrasts of a set."""

    training: TrainingCaptions  # the captions whose words are counted, called when they are needed
    options: VerbOptions  # generator and constraints
    seed: int = 0  # of every draw
    num_proc: int = 1  # processes that count words
    target: Literal["verb", "object"] = "verb"
    training_videos: TrainingVideos | None = None  # added to the counts that the constraint `lift` reads
    per_caption: int = 1  # how many contrasts of different verbs (things) a caption is asked for
    chat: "Chat | None" = None  # answers in place of the chat model that the options name
    on_reject: "OnReject | None" = None  # told of every candidate that a constraint rejects

    def __post_init__(self) -> None:
        """Unknown names are said before captions are counted or models are looked for."""
        names = self.options.constraint_names()
        if names is not None and self.target == "verb":
            from video_contrast.perturbations.contrast.verb import constraint_names

            constraint_names(self.options.generator, names)
        from video_contrast.perturbations.contrast.constraints import check_options
        from video_contrast.perturbations.contrast.generators import check_generator_options
        from video_contrast.perturbations.language.taggers import resolve

        resolve(self.options.tagger)
        check_options(named_values(self.options.constraint_options, "--constraint-options"))
        generator_options = named_values(self.options.generator_options, "--generator-options")
        check_generator_options(self.options.generator, generator_options)

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """Up to `per_caption` contrasts a caption, with counts of captions and candidates by reason."""
        # Several forms of one verb ("sit", "sit down") count once, so more than needed are requested.
        edits, counts = self.pipeline.run_many(
            [attempt.caption for attempt in attempts],
            [attempt.id for attempt in attempts],
            [attempt.siblings for attempt in attempts],
            n=1 if self.per_caption == 1 else 3 * self.per_caption,
        )
        return [_one_a_word(proposals, self.target)[: self.per_caption] for proposals in edits], counts

    def for_objects(self) -> "VerbContrasts":
        """Returns the object contrasts that go with these verb contrasts."""
        return replace(self, options=self.options.for_objects(), target="object")

    @property
    def kind(self) -> str:
        """The kind of the negatives."""
        return "object" if self.target == "object" else KINDS[self.options.generator]

    @property
    def counts_words(self) -> bool:
        """Whether the training captions are read at all."""
        names = self.options.constraint_names()
        return self.options.generator == "lexical" or names is None or "frequency" in names

    @property
    def on_gpu(self) -> bool:
        """Whether models of the pipeline run on a GPU."""
        from video_contrast.perturbations.contrast.constraints import constraint_names
        from video_contrast.perturbations.pretrained import device_of

        names = constraint_names(self.options.generator, self.options.constraint_names(), target=self.target)
        if self.options.generator == "lexical" and not WITH_MODELS.intersection(names):
            return False
        device = named_values(self.options.constraint_options, "--constraint-options").get("device", "auto")
        return device_of(str(device)).startswith("cuda")

    @cached_property
    def pipeline(self) -> "Pipeline":
        """The pipeline; made, and the training captions counted, at first use."""
        from video_contrast.perturbations.contrast.pipeline import Pipeline

        generator_options = named_values(self.options.generator_options, "--generator-options")
        if self.options.generator_model is not None:
            generator_options["model"] = self.options.generator_model
        if self.chat is not None:
            generator_options["chat"] = self.chat
        return Pipeline(
            self.options.generator,
            self.options.constraint_names(),
            target=_target(self.target),
            counts=self.counts if self.counts_words else None,
            seed=self.seed,
            tagger=self.options.tagger,
            generator_options=generator_options,
            options=named_values(self.options.constraint_options, "--constraint-options") | self._sibling_counts(),
            on_reject=self.on_reject,
        )

    def _sibling_counts(self) -> dict[str, object]:
        """What captions of one video say together, with the user's training videos, where `lift` is applied."""
        from video_contrast.perturbations.contrast.constraints import constraint_names
        from video_contrast.perturbations.contrast.generators.frames import load_counts

        names = constraint_names(self.options.generator, self.options.constraint_names(), target=self.target)
        if self.training_videos is None or "lift" not in names:
            return {}
        return {"frame_counts": load_counts(self.training_videos(), cache=user_store())}

    @cached_property
    def counts(self) -> "WordCounts":
        """What the training captions say about words; under `torchrun` each rank counts its share."""
        from video_contrast.perturbations.contrast.counts import count_words

        captions = self.training()
        count = partial(count_words, target=_target(self.target), tagger=self.options.tagger, num_proc=self.num_proc)
        if world_size() == 1:
            return count(captions)
        return _merged(spread(count, captions, chunk=_CORPUS_CHUNK))

    def facts(self) -> Facts:
        """What the card says of the generator and its constraints."""
        read = {"training_captions": self.counts.size} if self.counts_words else {}
        return {"pipeline": self.pipeline.record() | read}


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

    whole = WordCounts(0, Counter(), otherwise=Counter(), frames={}, company={}, tagger=parts[0].tagger)
    for part in parts:
        whole.uses.update(part.uses)
        whole.otherwise.update(part.otherwise)
        for kind, counts in part.frames.items():
            whole.frames.setdefault(kind, Counter()).update(counts)
        for pair, counts in part.company.items():
            whole.company.setdefault(pair, Counter()).update(counts)
    return replace(whole, size=sum(part.size for part in parts))


def named_values(text: str | None, option: str) -> dict[str, object]:
    """`name=value,...` as keywords; numbers become numbers."""
    values: dict[str, object] = {}
    for part in (text or "").split(","):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"{option}: {part!r} must be name=value, several with commas between them")
        try:
            values[name.strip()] = float(value) if "." in value else int(value)
        except ValueError:
            values[name.strip()] = value.strip()
    return values
