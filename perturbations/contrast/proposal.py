"""A proposed contrast of one of a clip's captions, all that are proposed for the clip, and what was rejected."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, Literal, NamedTuple, TypeVar

from video_contrast.perturbations.contrast.edit import Contrast, Edit
from video_contrast.perturbations.contrast.generators.base import MaskedSpan
from video_contrast.perturbations.contrast.slots import CaptionReading, ClipReading, ThingSlot, VerbSlot
from video_contrast.perturbations.english.forms import replaced

Target = Literal["verb", "object"]
GENERATOR = "lexicon"
OTHER_FORM = "another form or part of speech"
Slot = VerbSlot | ThingSlot
Features = Mapping[str, float]
Replacements = Mapping[MaskedSpan, Sequence[str]]  # span -> proposals of a model
Choice = TypeVar("Choice")
# Reasons that hold of most candidates everywhere: any other one tells more.
_DULL = frozenset((
    "same verb", "says little", "unit not known", "of another kind", "form not known", "rare",
    "another form or part of speech",
))  # fmt: skip


def masked_span(reading: CaptionReading, slot: Slot) -> MaskedSpan:
    """The span that a model is asked to replace for a slot."""
    head = reading.sentence.words[slot.place]
    return MaskedSpan(reading.caption, slot.start, slot.end, head.start, head.end)


@dataclass(frozen=True, slots=True)
class Proposal(Contrast):
    """A contrast of a verb or a thing of one caption."""

    clip: str  # id of the clip
    index: int  # of the caption among the clip's
    caption: str  # as it is
    features: Features = field(default_factory=dict)  # read by the judge
    probability: float = 0.0  # that a reader finds it natural and surely false
    generator: str = GENERATOR  # "lexicon", or the name of a model

    @property
    def antonym(self) -> bool:
        """Whether `unit` and `other` are opposites."""
        return "reason opposites" in self.features

    def edit(self) -> Edit:
        """The edit as a set's table stores it, with its probability."""
        scores = {"probability": round(self.probability, 4)}
        return replace(self.as_edit(self.generator), antonym=self.antonym, scores=scores)


class RejectedEdit(NamedTuple):
    """An edit that a model proposed and that was not taken; `probability` where the judge was asked."""

    caption: str
    text: str
    reason: str
    probability: float | None = None


class ClipProposals:
    """The proposals for a clip.

    Attributes:
        proposals: the eligible edits of at least the `least` probability; where there is none, among others the best.
        reasons: (reason, words) of the verbs (things) without any.
        rejected_edits: what the model proposed and a rule rejected.
    """

    def __init__(
        self,
        clip: ClipReading,  # whose captions are edited
        replacements: Replacements | None = None,  # span -> proposals of a model; None: the lexicon proposes
        *,
        least: float = 0.0,  # the probability from which on edits are wanted
        generator: str = GENERATOR,  # name of what proposes
        unfit: Container[int] = (),  # the captions that get no edit
    ) -> None:
        self.clip, self.replacements = clip, replacements
        self._floor, self._least, self._generator, self._unfit = 0.0, least, generator, unfit
        self.proposals: list[Proposal] = []
        self.reasons: list[tuple[str, str]] = []
        self.rejected_edits: list[RejectedEdit] = []

    def leave_out(self, reason: str, index: int = 0, slot: Slot | None = None) -> None:
        """Notes why a verb (thing) is not replaced, or why a caption has none."""
        words = "" if slot is None else self.clip.readings[index].caption[slot.start : slot.end]
        self.reasons.append((reason, words))

    def wants(self, index: int, probability: float) -> bool:
        """Whether an edit of a caption that has at most a probability is wanted, or is the best so far."""
        return probability >= self._floor and index not in self._unfit

    def add(
        self,
        index: int,
        start: int,
        end: int,
        unit: str,
        new: str,
        other: str,
        *,
        features: Features,
        probability: float,
    ) -> Proposal:
        """Adds an edit of a caption, and returns it. `new`: the words that stand there instead, in lower case."""
        reading = self.clip.readings[index]
        text, start, old, new_words = replaced(reading.caption, start, end, new)
        proposal = Proposal(
            text, start, old, new_words, unit, other, self.clip.id, index, reading.caption, features, probability,
            self._generator,
        )  # fmt: skip
        self._floor = max(self._floor, min(probability, self._least))
        self.proposals.append(proposal)
        return proposal


class Trial(Generic[Choice]):
    """The choices for one slot, tried by the rules one after the other; `choices` holds those that pass.

    `rejection`: why a choice cannot stand there; None where it can.
    """

    def __init__(
        self, proposals: ClipProposals, index: int, slot: Slot, rejection: Callable[[Choice], str | None]
    ) -> None:
        self._proposals, self._index, self._slot, self._rejection = proposals, index, slot, rejection
        self._reasons: list[str] = []
        self.choices: list[Choice] = []

    def take(self, choices: Iterable[Choice], most: int) -> None:
        """Tries the lexicon's choices, until `most` have passed."""
        for choice in choices:
            self._try(choice)
            if len(self.choices) >= most:
                break

    def read(self, choice_of: Callable[[str], Choice | None], most: int) -> None:
        """Tries what the model proposes, until `most` have passed, and keeps what is rejected.

        `choice_of`: the choice that some words stand for; None where they have not the form that fits.
        """
        reading = self._proposals.clip.readings[self._index]
        for words in (self._proposals.replacements or {})[masked_span(reading, self._slot)]:
            reason = self._try(choice_of(words))
            if reason is not None:
                text = replaced(reading.caption, self._slot.start, self._slot.end, words)[0]
                self._proposals.rejected_edits.append(RejectedEdit(reading.caption, text, reason))
            if len(self.choices) == most:
                break

    def end(self, reason: str | None = None) -> list[Choice]:
        """The choices; where there is none, `reason` or the commonest telling one is noted."""
        if not self.choices:
            reason = reason or farthest(self._reasons) or "nothing else known here"
            self._proposals.leave_out(reason, self._index, self._slot)
        return self.choices

    def _try(self, choice: Choice | None) -> str | None:
        reason = OTHER_FORM if choice is None else self._rejection(choice)
        if reason is not None:
            self._reasons.append(reason)
        elif choice is not None and choice not in self.choices:
            self.choices.append(choice)
        return reason


def farthest(reasons: Sequence[str]) -> str:
    """The commonest reason that tells something; "" if there is none.

    >>> farthest(["says little"] * 9 + ["another caption says it"])
    'another caption says it'
    """
    common = [reason for reason, _ in Counter(reasons).most_common()]
    return next((reason for reason in common if reason not in _DULL), common[0] if common else "")
