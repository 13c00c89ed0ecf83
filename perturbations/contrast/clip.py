"""A clip as proposals see it: its captions read, and all that they say."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from video_contrast.perturbations.contrast.caption_counts import CaptionCounts, words_of
from video_contrast.perturbations.contrast.evidence import Gap
from video_contrast.perturbations.contrast.slots import ThingSlot, VerbSlot, thing_slots, verb_slots
from video_contrast.perturbations.english import Sentence

# Reasons that hold of most candidates everywhere: any other one tells more.
_DULL = frozenset((
    "same verb", "says little", "unit not known", "of another kind", "form not known", "rare",
    "another form or part of speech",
))  # fmt: skip
_WELL_KNOWN = 20  # videos that name a noun


class CaptionReading:
    """One parsed caption: its slots, words, and the lemmas of its verbs and nouns."""

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.caption = sentence.caption
        self._counted: list[str] | None = None
        self.gaps: dict[tuple[int, int], Gap] = {}  # by the characters that are replaced, where they are known

    @cached_property
    def verbs(self) -> list[VerbSlot]:
        """Its main verbs."""
        return verb_slots(self.sentence)

    @cached_property
    def things(self) -> list[ThingSlot]:
        """Its common nouns."""
        return thing_slots(self.sentence)

    @cached_property
    def words(self) -> list[str]:
        """Its words without full stops and commas."""
        return words_of(self.sentence)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """Lemmas of its nouns, compounds included."""
        keys = {self.sentence.noun_key(place) for place in self.sentence.noun_phrases()}
        return frozenset({word.lemma for word in self.sentence.words if word.is_noun} | keys - {""})

    def counted_nouns(self, counts: CaptionCounts) -> list[str]:
        """Its nouns that the counts know well."""
        if self._counted is None:
            self._counted = sorted(noun for noun in self.nouns if counts.get("noun", noun) > _WELL_KNOWN)
        return self._counted

    def governor(self, slot: ThingSlot) -> VerbSlot | None:
        """The verb that a thing is subject or object of, or that its preposition hangs on."""
        words = self.sentence.words
        of_preposition = words[words[slot.place].head].head if words[slot.place].dep == "pobj" else None
        return next(
            (verb for verb in self.verbs if slot.place in (verb.noun_place, verb.subject_place)),
            next((verb for verb in self.verbs if verb.place == of_preposition), None),
        )

    def word_number(self, place: int) -> int:
        """The place of a word among `words`."""
        return place - sum(word.text in (".", ",") for word in self.sentence.words[:place])


@dataclass(frozen=True)
class ClipReading:
    """A clip: captions that may be contrasted, and further true ones, which only reject contrasts."""

    id: str
    readings: Sequence[CaptionReading]
    other_captions: Sequence[CaptionReading] = ()

    @cached_property
    def units(self) -> frozenset[str]:
        """The units of all captions' verbs."""
        return frozenset(slot.unit for reading in self._all for slot in reading.verbs)

    @cached_property
    def verbs(self) -> frozenset[str]:
        """The lemmas of all captions' verbs."""
        return frozenset(word.lemma for reading in self._all for word in reading.sentence.words if word.is_verb)

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of all captions."""
        return frozenset(word.text for reading in self._all for word in reading.sentence.words)

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The lemmas of all captions' nouns."""
        return frozenset(noun for reading in self._all for noun in reading.nouns)

    @property
    def _all(self) -> list[CaptionReading]:
        return [*self.readings, *self.other_captions]


def farthest(reasons: Sequence[str]) -> str:
    """The commonest reason that tells something; "" if there is none.

    >>> farthest(["says little"] * 9 + ["another caption says it"])
    'another caption says it'
    """
    common = [reason for reason, _ in Counter(reasons).most_common()]
    return next((reason for reason in common if reason not in _DULL), common[0] if common else "")
