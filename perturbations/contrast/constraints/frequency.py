"""The replacement must be made of words that captions use (contrast-set paper, A.3: more than 30 times)."""

from dataclasses import dataclass

from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.caption_counts import CaptionCounts, load_counts
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict


@dataclass
class Frequency(Constraint):
    """Rejects words that captions of at most `frequency_limit` videos use. Score: the videos of the rarest word.

    Attributes:
        frequency_limit: videos.
        caption_counts: of `generate.load_counts`; None for those of the package.
    """

    frequency_limit: int = 10
    caption_counts: CaptionCounts | None = None
    name = "frequency"

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """The score is the count of the rarest verb (thing) in the replacement."""
        counts = self.caption_counts or load_counts()
        table = "verb" if candidate.tag.startswith("VB") else "noun"
        rarest = min((counts.get(table, lemma) for lemma in candidate.lemmas or ()), default=0)
        return Verdict(rarest > self.frequency_limit, float(rarest))

    def record(self) -> dict[str, object]:
        """The limit."""
        return {"more_than": self.frequency_limit}
