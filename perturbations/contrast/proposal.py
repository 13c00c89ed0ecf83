"""A proposed contrast of one caption of a clip."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from video_contrast.perturbations.contrast.edit import Edit

Kind = Literal["verb", "object"]
GENERATOR = "lexicon"


@dataclass(frozen=True, slots=True)
class Proposal:
    """One edit of one caption.

    Attributes:
        clip: id of the clip.
        index: which of its captions.
        caption, text: the caption and the contrast.
        start, old, new: what was replaced: `text[start : start + len(new)] == new`.
        unit, other: the same in dictionary form.
        antonym: whether the two are opposites.
        features: what the judge reads.
        probability: that a reader finds it natural and surely false.
    """

    clip: str
    index: int
    caption: str
    text: str
    start: int
    old: str
    new: str
    unit: str
    other: str
    antonym: bool = False
    features: Mapping[str, float] = field(default_factory=dict)
    probability: float = 0.0

    def edit(self) -> Edit:
        """The edit as a set's table stores it."""
        return Edit(
            self.text,
            self.old,
            self.new,
            self.start,
            GENERATOR,
            antonym=self.antonym,
            scores={"probability": round(self.probability, 4)},
        )
