"""Temporal perturbations: index maps, no pixel is touched.

Each takes the number of frames T, a severity and the clip's stream, and gives int64[T]: for every frame of the
perturbed clip, the frame of the clean clip that is shown. T stays the same.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from video_contrast.perturbations.registry import video_perturbation

IndexMap = npt.NDArray[np.int64]


@video_perturbation(
    "jumble",
    category="Temporal",
    acts="temporal",
    # The paper's segments shrink as severity rises, so its damage falls: 10.7 frames of displacement down to 0.5.
    profiles={"released": {"lengths": (4, 8, 16, 32, 64)}, "monotone": {"lengths": (2, 4, 8, 16, 32)}},
)
def jumble(
    length: int, severity: int, rng: np.random.Generator, lengths: Sequence[int] = (32, 16, 8, 4, 2)
) -> IndexMap:
    """Shuffles the frames inside each segment of 32, 16, 8, 4, 2 frames (robustness paper, appendix A.1)."""
    index = np.arange(length)
    for first in range(0, length, lengths[severity - 1]):
        rng.shuffle(index[first : first + lengths[severity - 1]])
    return index


@video_perturbation(
    "box_jumble",
    category="Temporal",
    acts="temporal",
    # Shuffling all segments moves frames by a third of the clip whatever their length; `monotone` therefore keeps
    # the length and moves a growing share of the segments.
    profiles={"released": {"lengths": (2, 4, 8, 16, 32)}, "monotone": {"lengths": (9,) * 5, "moved": (2, 4, 6, 8, 10)}},
)
def box_jumble(
    length: int,
    severity: int,
    rng: np.random.Generator,
    lengths: Sequence[int] = (4, 9, 16, 25, 36),
    moved: Sequence[int] | None = None,
) -> IndexMap:
    """Shuffles whole segments of 4, 9, 16, 25, 36 frames (robustness paper, appendix A.1).

    With `moved`, that many tenths of the segments change places in a ring, so that every one of them moves.
    """
    starts = np.arange(0, length, lengths[severity - 1])
    boxes = np.split(np.arange(length), starts[1:])
    order = rng.permutation(len(boxes))
    if moved is not None:
        ring = order[: -(-len(boxes) * moved[severity - 1] // 10)]
        order = np.arange(len(boxes))
        order[ring] = np.roll(ring, 1)
    return np.concatenate([boxes[box] for box in order])


@video_perturbation(
    "freeze", category="Temporal", acts="temporal", profiles={"released": {"shares": (0.4, 0.2, 0.1, 0.05, 0.1)}}
)
def freeze(
    length: int, severity: int, rng: np.random.Generator, shares: Sequence[float] = (0.4, 0.2, 0.1, 0.05, 0.025)
) -> IndexMap:
    """Keeps 40, 20, 10, 5, 2.5 % of the frames and holds each until the next (robustness paper, appendix A.1).

    Frame 0 is always kept. The frames that a higher severity keeps are among those of a lower one.
    """
    sources = np.zeros(length, dtype=np.int64)
    keep = rng.permutation(length)[: int(shares[severity - 1] * length)]
    sources[keep] = keep
    return np.maximum.accumulate(sources)


@video_perturbation("reverse_sampling", category="Temporal", acts="temporal")
def reverse_sampling(
    length: int, severity: int, rng: np.random.Generator, rates: Sequence[int] = (2, 4, 8, 16, 32)
) -> IndexMap:
    """Shows every 2nd, 4th, 8th, 16th, 32nd frame, as often, last one first (robustness paper, appendix A.1)."""
    rate = rates[severity - 1]
    return np.repeat(np.arange(0, length, rate)[::-1], rate)[:length]


@video_perturbation("sampling", category="Temporal", acts="temporal")
def sampling(
    length: int, severity: int, rng: np.random.Generator, rates: Sequence[int] = (2, 4, 8, 16, 32)
) -> IndexMap:
    """Shows every 2nd, 4th, 8th, 16th, 32nd frame, as often: a slow show (robustness paper, appendix A.1)."""
    rate = rates[severity - 1]
    return np.repeat(np.arange(0, length, rate), rate)[:length]
