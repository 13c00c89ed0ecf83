"""The replacement must be made of words that training captions use (contrast-set paper, A.3: more than 30 times)."""

from dataclasses import dataclass

from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.perturbations.contrast.counts import WordCounts


@dataclass
class Frequency(Constraint):
    """Rejects verbs that the training captions do not use more than `limit` times. Score: the count of the rarest.

    Attributes:
        counts: the training captions' words.
        frequency_limit: None for the paper's 30, scaled down for corpora under 100,000 captions.
    """

    counts: WordCounts
    frequency_limit: float | None = None
    name = "frequency"

    def __post_init__(self) -> None:
        self._limit = self.counts.limit if self.frequency_limit is None else self.frequency_limit

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """The score is the count of the rarest verb in the replacement."""
        rarest = min((self.counts.uses[lemma] for lemma in candidate.lemmas or ()), default=0)
        return Verdict(rarest > self._limit, float(rarest))

    def record(self) -> dict[str, object]:
        """The limit, and the size of the corpus that it was scaled to."""
        return {"more_than": self._limit, "training_captions": self.counts.size}
