"""A clip to contrast: its captions read, and what all of them together say."""

from collections import Counter
from dataclasses import dataclass, field

from video_contrast.perturbations.contrast.generators.frames.reading import Reading


@dataclass(frozen=True)
class ReadClip:
    """A clip's captions after reading.

    Attributes:
        id: of the clip; names its random streams.
        category: of the video, or "".
        readings: of its captions, in their order.
        verbs, nouns: how many of the captions use each verb (or verb with particle) and each noun.
        captions: how many captions are known, also those that may not be contrasted.
    """

    id: str
    category: str
    readings: tuple[Reading, ...]
    verbs: Counter[str] = field(default_factory=Counter)
    nouns: Counter[str] = field(default_factory=Counter)
    captions: int = 0

    @classmethod
    def of(cls, id: str, category: str, readings: tuple[Reading, ...], also: tuple[Reading, ...] = ()) -> "ReadClip":
        """Makes a clip of its readings.

        Args:
            id, category: of the clip; "" where the category is not known.
            readings: of its captions, in their order.
            also: readings of captions that are true of it but may not be contrasted.
        """
        # Sorted, since sums of floats over them must not depend on the order of a set.
        verbs = Counter(verb for reading in (*readings, *also) for verb in sorted(reading.verbs))
        nouns = Counter(noun for reading in (*readings, *also) for noun in sorted(reading.nouns))
        words = Counter(word.lemma for reading in (*readings, *also) for word in reading.words)
        for word, n in words.items():  # what one caption's noun says may be another's verb ("a fight")
            verbs.setdefault(word, n)
        return cls(id, category, readings, verbs, nouns, captions=len(readings) + len(also))
