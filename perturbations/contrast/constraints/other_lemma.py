"""The replacement must say something else than the caption."""

from dataclasses import dataclass

from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.perturbations.contrast.near_verbs import near


@dataclass
class OtherLemma(Constraint):
    """Rejects the same verb in another form, another verb of the caption, or one that says nearly what it replaces.

    Nearly the same is what the package's table of near verbs lists ("describe", "explain"); antonyms are exempt.
    """

    name = "lemma"

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """No score."""
        excluded = original.own
        if original.phrase.tag.startswith("VB") and not candidate.antonym:
            excluded |= near(original.phrase.lemma)
        return Verdict(excluded.isdisjoint(candidate.lemmas or ()))
