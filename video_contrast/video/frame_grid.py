"""The grid of a file: the frames among which every edit of the file takes its own, so that edits share them.

The grid begins with the frames at which the whole file would be sampled. A part of an edit takes its frames evenly from
those that lie in it. Where it needs more, the gaps between frames of the grid are halved in time, again and again,
until enough frames lie in the part; of the last halves as many are taken as are needed, evenly. So neighbours in a part
are at most twice as far apart as others, a part shows different frames as long as it has any, and two parts that
overlap show the same ones where they can. Nothing but the file, the span and the number of frames decides.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from video_contrast.video.sampling import frame_indices

RULE = "grid"  # how frames of edited clips are chosen, as records say it
VERSION = "2"  # of the rule: raise it when an edit shows other frames. 1: each part by itself
_TINY = 1e-9


def grid_frames(
    times: npt.NDArray[np.float64], coarse: npt.NDArray[np.int64], span: tuple[int, int], count: int
) -> list[int]:
    """The frames of a span of a file that an edit shows.

    Returns `count` frame numbers, non-decreasing; different ones unless the span has fewer frames.

    Args:
        times: float64[n], seconds at which each frame of the file is shown, increasing.
        coarse: int64[N], the frames at which the whole file is sampled, non-decreasing.
        span: first and one past the last frame of the part, 0 <= first < stop <= n.

    >>> grid_frames(np.arange(100) / 25, np.array([12, 37, 62, 87]), (0, 100), 4)
    [12, 37, 62, 87]
    >>> grid_frames(np.arange(100) / 25, np.array([12, 37, 62, 87]), (30, 70), 2)
    [37, 62]
    >>> grid_frames(np.arange(100) / 25, np.array([12, 37, 62, 87]), (30, 70), 3)
    [37, 49, 62]
    """
    first, stop = span
    if count >= stop - first:
        return (first + frame_indices(stop - first, count)).tolist() if count else []
    known = sorted({int(number) for number in coarse})
    inside = [number for number in known if first <= number < stop]
    if len(inside) >= count:
        return [inside[n] for n in inner(len(inside), count)]
    known = _near(sorted({0, *known, len(times) - 1}), span)
    more = [number for number in known if first <= number < stop and number not in inside]  # an end of the file
    while len(inside) + len(more) < count:
        inside = sorted({*inside, *more})
        halves = _halves(times, known)
        known = _near(sorted({*known, *halves}), span)
        more = [number for number in halves if first <= number < stop]
    return sorted([*inside, *(more[n] for n in inner(len(more), count - len(inside)))])


def inner(count: int, share: int) -> npt.NDArray[np.int64]:
    """Which `share` of `count` evenly sampled frames lie evenly themselves, and away from both ends: int64[share].

    >>> inner(8, 4).tolist(), inner(8, 2).tolist(), inner(6, 6).tolist()
    ([1, 3, 4, 6], [2, 5], [0, 1, 2, 3, 4, 5])
    """
    steps = np.arange(share)
    half = -((share - (2 * steps + 1) * count) // (2 * share))  # the middles of equal parts, rounded up
    half = np.minimum(half, (count - share) // 2 + steps)
    return np.where(steps < (share + 1) // 2, half, count - 1 - half[::-1])


def _near(known: Sequence[int], span: tuple[int, int]) -> list[int]:
    """The frames of the grid in a span, and the last before and the first behind it."""
    first, stop = span
    before = [number for number in known if number < first][-1:]
    behind = [number for number in known if number >= stop][:1]
    return [*before, *(number for number in known if first <= number < stop), *behind]


def _halves(times: npt.NDArray[np.float64], known: Sequence[int]) -> list[int]:
    """The frame in the middle, in time, of each gap between neighbours that has frames in between."""
    halves = []
    for a, b in pairwise(known):
        if b - a > 1:
            middle = int(np.searchsorted(times, (times[a] + times[b]) / 2 + _TINY, side="right")) - 1
            halves.append(min(max(middle, a + 1), b - 1))
    return halves
