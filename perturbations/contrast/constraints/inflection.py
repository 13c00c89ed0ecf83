"""The replacement must have the form of what it replaces. An option of ours, not the paper's."""

from dataclasses import dataclass

from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.perturbations.english.forms import inflect


@dataclass
class Inflection(Constraint):
    """Rejects a verb whose form cannot be that of the original ("is sings")."""

    name = "inflection"

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """No score."""
        form = original.phrase.tag
        if not candidate.lemmas:
            return Verdict(False)
        return Verdict(candidate.tag == form or inflect(candidate.lemmas[0], form) in candidate.new.lower().split())
