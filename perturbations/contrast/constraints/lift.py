"""The replacement must exclude what it replaces: two that often stand in captions of one video can be true together.

Twenty people describe a clip; what they say of it is true together. Lift is the number of videos whose captions say
both words over the number that would if the two were independent, within categories, smoothed towards 1 by 1.5 videos.
The counts travel with the package; those of one's own training videos are added to them (`load_counts`).
"""

from dataclasses import dataclass

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.generate import load_counts
from video_contrast.perturbations.contrast.generators.frames.groups import SPEECH, exclusive
from video_contrast.perturbations.contrast.generators.frames.together import Together
from video_contrast.perturbations.contrast.near_verbs import vague
from video_contrast.perturbations.contrast.target import next_noun

LIFT = 0.8  # from here on two words go together
SPEECH_LIFT = 0.6  # speech and vague verbs go with nearly everything
EXCLUSIVE_LIFT = 1.1  # of two postures or ways of moving: that both are said means one after the other
SAME_NOUN = 0.2  # by which the lift of two verbs of one and the same noun may be higher: it is counted in few videos
LEAST_EXPECTED = 1.0  # videos that would say both by chance, below which "none says both" tells nothing


@dataclass
class SiblingLift(Constraint):
    """Rejects a word that captions of one video often use beside the one that it replaces. Score: their lift.

    Opposites pass: that people say both ("opens", "closes") means one after the other. A pair of which the counts know
    too little passes without a score.

    Attributes:
        lift: from here on a candidate is rejected.
        speech_lift: the same for verbs of speech and for verbs that are true of most clips.
        frame_counts: of `load_counts`; None for those of the package.
    """

    lift: float = LIFT
    speech_lift: float = SPEECH_LIFT
    frame_counts: FrameCounts | None = None
    name = "lift"
    group = "counts"

    def __post_init__(self) -> None:
        if not isinstance(self.frame_counts, FrameCounts | None):
            raise UsageError("frame_counts are made by load_counts in Python; builds add --training to the counts")
        self._counts = self.frame_counts if self.frame_counts is not None else load_counts()
        self._verbs, self._nouns = Together(self._counts, "verb"), Together(self._counts, "noun")

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """The score is the higher of the lifts of the two words and of the two phrases."""
        if not candidate.lemmas:
            return Verdict(True)
        verb, old, new = candidate.tag.startswith("VB"), original.phrase.lemma, candidate.lemmas[0]
        together = self._verbs if verb else self._nouns
        phrase = " ".join([new, *candidate.new.lower().split()[1:]]) if verb else candidate.new.lower()
        lifts = [
            together.lift(first, other)
            for first, other in dict.fromkeys([(old, new), (original.phrase.base, phrase)])
            if _is_known(together, first, other)
        ]
        if not lifts:
            return Verdict(True)
        score, limit = max(lifts), self._limit(old, new)
        noun = next_noun(original.tokens, original.phrase.place + 1 + len(original.phrase.particles)) if verb else None
        goes_with = noun is not None and together.same_noun(noun, original.phrase.base, phrase) > limit + SAME_NOUN
        return Verdict(candidate.antonym or not (score >= limit or goes_with), score)

    def record(self) -> dict[str, object]:
        """The limits and what was counted."""
        return {"below": self.lift, "speech_below": self.speech_lift, "counts": list(self._counts.sources)}

    def _limit(self, old: str, new: str) -> float:
        if exclusive(old, new):
            return max(self.lift, EXCLUSIVE_LIFT)
        return self.speech_lift if {old, new} & (SPEECH | vague()) else self.lift


def _is_known(together: Together, first: str, other: str) -> bool:
    """Whether the counts say anything of two words."""
    if first not in together.totals or other not in together.totals:
        return False
    return together.observed(first, other) > 0 or together.expected(first, other) >= LEAST_EXPECTED
