"""What a generator of contrasts is. Generators propose and never reject: that is the constraints' part."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from numpy.random import Generator as Random

from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.edit import Edit


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


@dataclass(frozen=True, slots=True)
class ClipCaptions:
    """All captions of a clip: `captions` may be contrasted, `siblings` are further true captions of the same video."""

    id: str
    captions: Sequence[str]
    siblings: Sequence[str] = ()


class RankedEdit(NamedTuple):
    """An edit of the clip's caption number `caption`; a higher `score` means a surer contrast."""

    caption: int
    edit: Edit
    score: float


class ClipGenerator(Protocol):
    """Proposes whole edits, knowing all captions of the clip: it may choose the caption and the phrase itself.

    Attributes:
        name: stands in every edit.
    """

    name: str

    def propose(self, clips: Sequence[ClipCaptions], randoms: Sequence[Random]) -> list[list[RankedEdit]]:
        """Returns the edits of each clip, the best first; each random stream belongs to one clip."""
