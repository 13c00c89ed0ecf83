"""The replacement must hold a word of the right kind (contrast-set paper, 3.2, criterion 1)."""

from dataclasses import dataclass

from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict


@dataclass
class HasVerb(Constraint):
    """Rejects a replacement in which the parser sees no verb."""

    name = "has_verb"
    targets = ("verb",)

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """No score."""
        return Verdict(bool(candidate.lemmas))


@dataclass
class HasNoun(HasVerb):
    """Rejects a replacement in which the parser sees no noun that names a thing."""

    name = "has_noun"
    targets = ("object",)
