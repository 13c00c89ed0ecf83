"""The replacement must exclude what it replaces: two that often stand in captions of one video can be true together.

Twenty people describe a clip; what they say of it is true together. Lift is the number of videos whose captions say
both words over the number that would if the two were independent, smoothed towards 1 by 1.5 videos.
"""

from dataclasses import dataclass
from functools import cached_property
from math import exp

from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.caption_counts import CaptionCounts, load_counts
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.perturbations.contrast.evidence import Evidence
from video_contrast.perturbations.contrast.features import SPEECH
from video_contrast.perturbations.contrast.near_verbs import vague

LIFT = 0.8  # from here on two words go together
SPEECH_LIFT = 0.6  # speech and vague verbs go with nearly everything


@dataclass
class SiblingLift(Constraint):
    """Rejects a word that captions of one video often use beside the one that it replaces. Score: their lift.

    Opposites pass: that people say both ("opens", "closes") means one after the other. A pair of which the counts know
    too little passes without a score.

    Attributes:
        lift: from here on a candidate is rejected.
        speech_lift: the same for verbs of speech and for verbs that are true of most clips.
        caption_counts: of `generate.load_counts`; None for those of the package.
    """

    lift: float = LIFT
    speech_lift: float = SPEECH_LIFT
    caption_counts: CaptionCounts | None = None
    name = "lift"
    group = "counts"

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self.caption_counts or load_counts())

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """The score is the lift of the two words."""
        if not candidate.lemmas:
            return Verdict(True)
        table = "verbs" if candidate.tag.startswith("VB") else "nouns"
        old, new = original.phrase.lemma, candidate.lemmas[0]
        if not self._evidence.can_tell(table, old, new):
            return Verdict(True)
        score = exp(self._evidence.lift(table, old, new))
        limit = self.speech_lift if {old, new} & (SPEECH | vague()) else self.lift
        return Verdict(candidate.antonym or score < limit, score)

    def record(self) -> dict[str, object]:
        """The limits and what was counted."""
        return {"below": self.lift, "speech_below": self.speech_lift, "counts": list(self._evidence.counts.sources)}
