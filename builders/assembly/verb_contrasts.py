"""Verb and object contrasts by models in builders: the pipeline made from options, and its record for the card."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

from video_contrast.builders.assembly.clip_contrasts import Attempt, TrainingVideos
from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.english.caption_store import user_store
from video_contrast.storage.set_records import Facts

if TYPE_CHECKING:
    from video_contrast.perturbations.contrast.generators.local_chat import Chat
    from video_contrast.perturbations.contrast.pipeline import OnReject, Pipeline
    from video_contrast.perturbations.contrast.target import Target

KINDS = {"t5": "verb_lm", "mlm": "verb_mlm", "llm": "verb_llm"}


@dataclass(frozen=True, kw_only=True)
class EditOptions:
    """The model behind a generator of edits, and the constraints on what it proposes."""

    generator_model: Annotated[str | None, "checkpoint of the generator, or its server's model"] = None
    generator_options: Annotated[str | None, "its further options: name=value,... (endpoint=, store=, k= ...)"] = None
    constraints: Annotated[str | None, "checks of contrasts, comma-separated; default: the generator's"] = None
    constraint_options: Annotated[str | None, "their thresholds and models: name=value,..."] = None


@dataclass(frozen=True, kw_only=True)
class VerbOptions(EditOptions):
    """How a model makes verb contrasts."""

    generator: Annotated[Literal["t5", "mlm", "llm"], "of verb contrasts"] = "t5"

    def constraint_names(self) -> list[str] | None:
        """The constraints that are named; None for the generator's own set."""
        return None if self.constraints is None else [name.strip() for name in self.constraints.split(",")]


@dataclass(kw_only=True)
class VerbContrasts:
    """The verb (or object) contrasts of a set."""

    options: VerbOptions  # generator and constraints
    seed: int = 0  # of every draw
    target: Literal["verb", "object"] = "verb"
    training_videos: TrainingVideos | None = None  # added to the counts that constraints read
    per_caption: int = 1  # how many contrasts of different verbs (things) a caption is asked for
    chat: "Chat | None" = None  # answers in place of the chat model that the options name
    on_reject: "OnReject | None" = None  # told of every candidate that a constraint rejects

    def __post_init__(self) -> None:
        """Unknown names are said before models are looked for."""
        names = self.options.constraint_names()
        if names is not None and self.target == "verb":
            from video_contrast.perturbations.contrast.verb import constraint_names

            constraint_names(self.options.generator, names)
        from video_contrast.perturbations.contrast.constraints import check_options
        from video_contrast.perturbations.contrast.generators import check_generator_options

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

    @property
    def kind(self) -> str:
        """The kind of the negatives."""
        return "object" if self.target == "object" else KINDS[self.options.generator]

    @property
    def on_gpu(self) -> bool:
        """Whether models of the pipeline run on a GPU."""
        from video_contrast.pretrained import device_of

        device = named_values(self.options.constraint_options, "--constraint-options").get("device", "auto")
        return device_of(str(device)).startswith("cuda")

    @cached_property
    def pipeline(self) -> "Pipeline":
        """The pipeline, made at first use."""
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
            seed=self.seed,
            generator_options=generator_options,
            options=named_values(self.options.constraint_options, "--constraint-options") | self._own_counts(),
            on_reject=self.on_reject,
        )

    def _own_counts(self) -> dict[str, object]:
        """The counts that constraints read, with those of the user's training videos."""
        from video_contrast.perturbations.contrast.generate import load_counts

        if self.training_videos is None:
            return {}
        return {"caption_counts": load_counts(self.training_videos(), cache=user_store())}

    def facts(self) -> Facts:
        """What the card says of the generator and its constraints."""
        return {"pipeline": self.pipeline.record()}


def _one_a_word(edits: Sequence[Edit], target: str) -> list[Edit]:
    """The edits with their first word (last, for things) each once, by its dictionary form."""
    from video_contrast.perturbations.english.forms import lemma

    place, tag = (0, "VB") if target == "verb" else (-1, "NN")
    return list({lemma(edit.new.lower().split()[place], tag): edit for edit in reversed(edits)}.values())[::-1]


def _target(name: str) -> "Target":
    from video_contrast.perturbations.contrast.object import OBJECT
    from video_contrast.perturbations.contrast.target import VERB

    return VERB if name == "verb" else OBJECT


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
