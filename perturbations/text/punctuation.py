"""ChangeChar: marks around the caption."""

from numpy.random import Generator

from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import pick

PAIRS = ('""', "{}", "[]", "()", "``", "【】")
MARKS = ("...", ".", ",", ";")


@text_perturbation("punctuation", category="ChangeChar", origin="natural")
def punctuation(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """The caption stands between quotes or brackets, with a mark before the closing one."""
    inner = caption.strip().rstrip(".,;:!?… ")
    pair = pick(PAIRS, rng)
    return f"{pair[0]}{inner}{pick(MARKS, rng)}{pair[1]}"
