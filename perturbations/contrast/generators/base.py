"""What a generator of contrasts is. Generators propose and never reject: that is the constraints' part."""

from collections.abc import Sequence
from typing import Protocol

from numpy.random import Generator as Random

from video_contrast.perturbations.contrast.candidate import Candidate, Original


class CaptionGenerator(Protocol):
    """Proposes replacements for one phrase of a caption, knowing that caption only.

    Attributes:
        name: stands in every edit.
        draw: how one of the accepted candidates is taken: "first" in the order of the proposals, or "uniform".
    """

    name: str
    draw: str

    def propose(self, originals: Sequence[Original], randoms: Sequence[Random]) -> list[list[Candidate]]:
        """Returns the candidates of each original; each random stream belongs to one original."""
