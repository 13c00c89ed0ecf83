"""The clock of an edited clip: when each of its pictures is shown, and which source frames it is made of.

Every source frame keeps its own time; nothing is resampled. Frames are sampled a segment at a time: the clip's clock
says how many of the sampled moments each segment gets, and as many frames are taken of the grid of its file, whatever
its place, direction and speed. So of two edits of a file only the order of the frames differs, and they share them.

The grid of a file begins with the frames at which the whole file would be sampled. A part of an edit takes its frames
evenly from those that lie in it. Where it needs more, the gaps between frames of the grid are halved in time, again and
again, until enough lie in the part; of the last halves as many are taken as are needed, evenly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from video_contrast.errors import UsageError
from video_contrast.video.clock import VideoIndex
from video_contrast.video.sampling import Numbers, Policy, Seconds, Span, frame_indices
from video_contrast.video.segments import Segment

# How frames of edited clips are chosen, as records say it; raise it when an edit shows other frames.
RULE, VERSION = "grid", "2"  # 1: each part by itself
_TINY = 1e-9
PAUSE_RATE = 25.0  # pictures a second of a pause; all of them are grey


def grid_frames(times: Seconds, coarse: Numbers, span: Span, count: int) -> list[int]:
    """The frames of a span of a file that an edit shows: `count` numbers, non-decreasing, different where there are.

    `times`: float64[n], seconds at which each frame of the file is shown, increasing. `coarse`: int64[N], the frames at
    which the whole file is sampled, non-decreasing. `span`: first and one past the last, 0 <= first < stop <= n.

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
    numbers = sorted({int(number) for number in coarse})
    inside = [number for number in numbers if first <= number < stop]
    if len(inside) >= count:
        return [inside[n] for n in inner(len(inside), count)]
    numbers = _near(sorted({0, *numbers, len(times) - 1}), span)
    more = [number for number in numbers if first <= number < stop and number not in inside]  # an end of the file
    while len(inside) + len(more) < count:
        inside = sorted({*inside, *more})
        halves = []  # the frames in the middle, in time, of the gaps that have frames in between
        for a, b in pairwise(numbers):
            if b - a > 1:
                middle = int(np.searchsorted(times, (times[a] + times[b]) / 2 + _TINY, side="right")) - 1
                halves.append(min(max(middle, a + 1), b - 1))
        numbers = _near(sorted({*numbers, *halves}), span)
        more = [number for number in halves if first <= number < stop]
    return sorted([*inside, *(more[n] for n in inner(len(more), count - len(inside)))])


def inner(count: int, share: int) -> Numbers:
    """The numbers of `share` of `count` evenly sampled frames that lie evenly, and away from both ends: int64[share].

    >>> inner(8, 4).tolist(), inner(8, 2).tolist(), inner(6, 6).tolist()
    ([1, 3, 4, 6], [2, 5], [0, 1, 2, 3, 4, 5])
    """
    steps = np.arange(share)
    half = -((share - (2 * steps + 1) * count) // (2 * share))  # the middles of equal parts, rounded up
    half = np.minimum(half, (count - share) // 2 + steps)
    return np.where(steps < (share + 1) // 2, half, count - 1 - half[::-1])


def _near(numbers: Sequence[int], span: Span) -> list[int]:
    """The frames of the grid in a span, and the last before and the first behind it."""
    first, stop = span
    before = [number for number in numbers if number < first][-1:]
    behind = [number for number in numbers if number >= stop][:1]
    return [*before, *(number for number in numbers if first <= number < stop), *behind]


@dataclass(frozen=True, order=True)
class SourceFrame:
    """A frame of a source: the segment that shows it, and its number in the file (-1: grey)."""

    segment: int
    number: int


@dataclass(frozen=True)
class Picture:
    """The picture at a time: a frame, or a mixture of two; `weight` is the share of the second."""

    first: SourceFrame
    second: SourceFrame | None = None
    weight: float = 0.0


@dataclass(frozen=True)
class _Shown:
    """A source frame in its segment: from when to when it is shown, in seconds from the segment's beginning."""

    begin: float
    end: float
    number: int


@dataclass(frozen=True, eq=False)
class Timeline:
    """The pictures of an edited clip."""

    segments: tuple[Segment, ...]  # of the recipe
    times: Seconds  # float64[n], seconds at which each picture is shown, increasing, first 0
    end: float  # seconds at which the last one stops being shown
    pictures: tuple[Picture, ...]  # n of them
    offsets: tuple[float, ...]  # seconds at which each segment begins
    frames_of: tuple[tuple[_Shown, ...], ...]  # the frames of each segment, as it shows them
    indices: tuple[VideoIndex | None, ...]  # of the file of each segment; None for a pause

    def sample(self, count: int, policy: Policy = "uniform") -> Numbers:
        """The numbers of `count` pictures (at least 1), int64[count]; by any of `sampling.POLICIES` but "steps"."""
        if policy == "head":
            return frame_indices(len(self.times), count, policy)
        numbers: list[int] = []
        for at, share in enumerate(self.shares(count, policy)):
            numbers += self._in_segment(at, share, count, policy)
        return np.array(numbers, np.int64)

    def shares(self, count: int, policy: Policy = "uniform") -> list[int]:
        """The numbers of `count` moments of a policy in each segment; a cross-fade is halved between its two."""
        if count < 1:
            raise UsageError(f"cannot sample {count} frames")
        steps = np.arange(count)
        middle, last = 0.5 if policy == "uniform" else 0.0, policy == "linspace" and count > 1
        moments = (steps + middle) / (count - last) * self.end
        borders = [self.offsets[k] + self.segments[k].fade / 2 for k in range(1, len(self.segments))]
        # The second half is the mirror image of the first, so that two segments of one length share evenly.
        early = steps < (count + 1) // 2
        later = np.searchsorted(borders, moments + _TINY, side="right")
        at = np.where(early, later, np.searchsorted(borders, moments - _TINY, side="left"))
        return [int(n) for n in np.bincount(at, minlength=len(self.segments))]

    def seen(self, numbers: Sequence[int]) -> list[int]:
        """The number of times that each segment is seen unmixed in the pictures `numbers`."""
        pictures = [self.pictures[number] for number in numbers]
        segments = [picture.first.segment for picture in pictures if picture.second is None]
        return [segments.count(segment) for segment in range(len(self.segments))]

    def _in_segment(self, at: int, share: int, count: int, policy: Policy) -> list[int]:
        """The numbers of a segment's pictures that are sampled, int[share], where `count` are of the clip."""
        if not share:
            return []
        frames, index = self._unmixed(at), self.indices[at]
        if index is None:
            sample = [frames[k] for k in frame_indices(len(frames), share)]
        else:
            place = {frame.number: frame for frame in frames}
            coarse = index.sample((0, index.n_frames), count, policy)
            numbers = grid_frames(index.times, coarse, (min(place), max(place) + 1), share)
            sample = [place[number] for number in (numbers[::-1] if self.segments[at].reversed else numbers)]
        middles = [self.offsets[at] + (frame.begin + frame.end) / 2 for frame in sample]
        return [int(np.searchsorted(self.times, middle + _TINY, side="right")) - 1 for middle in middles]

    def _unmixed(self, at: int) -> tuple[_Shown, ...]:
        """The frames of a segment outside of cross-fades; all of them where none would be left.

        As much is left out at both ends, so that a segment shows the same frames wherever it stands.
        """
        frames = self.frames_of[at]
        fade = max(segment.fade for segment in self.segments[at : at + 2])
        low, high = fade - _TINY, frames[-1].end - fade + _TINY
        return tuple(frame for frame in frames if low <= (frame.begin + frame.end) / 2 <= high) or frames


def timeline_of(segments: Sequence[Segment], indices: Sequence[VideoIndex | None]) -> Timeline:
    """The timeline of a recipe.

    `indices`: of the file of each segment; None for a pause. Raises BrokenVideo: a segment begins after the end of its
    file.
    """
    frames_of = [_shown(*pair) for pair in zip(segments, indices, strict=True)]
    seconds = [frames[-1].end for frames in frames_of]
    offsets = [0.0]
    for before, segment in zip(seconds, segments[1:], strict=False):
        offsets.append(offsets[-1] + before - segment.fade)
    times: list[float] = []
    pictures: list[Picture] = []
    for at, segment in enumerate(segments):
        for begin, picture in _mixed(at, offsets, frames_of, segment.fade) if segment.fade else ():
            times.append(begin)
            pictures.append(picture)
        last = seconds[at] - (segments[at + 1].fade if at + 1 < len(segments) else 0.0)
        for frame in frames_of[at]:
            begin = max(frame.begin, segment.fade)
            if min(frame.end, last) - begin > _TINY:
                times.append(offsets[at] + begin)
                pictures.append(Picture(SourceFrame(at, frame.number)))
    end, frames = offsets[-1] + seconds[-1], tuple(map(tuple, frames_of))
    return Timeline(tuple(segments), np.array(times), end, tuple(pictures), tuple(offsets), frames, tuple(indices))


def _shown(segment: Segment, index: VideoIndex | None) -> list[_Shown]:
    """The frames of a segment in the order and at the times at which it shows them; -1 are those of a pause."""
    if index is None:
        count = max(1, round(segment.seconds * PAUSE_RATE))
        times, until, first = np.arange(count) * segment.seconds / count, segment.seconds, -1
    else:
        first, stop = index.span(segment.start, segment.end)
        times, until = index.times[first:stop], float(index.times[stop]) if stop < index.n_frames else index.end
    begin, end = segment.start, min(segment.end, until)
    length = (end - begin) / segment.speed
    borders = [0.0, *((float(time) - begin) / segment.speed for time in times[1:]), length]
    pairs = enumerate(pairwise(borders))
    frames = [_Shown(a, b, number=-1 if first < 0 else first + k) for k, (a, b) in pairs]
    if segment.reversed:
        frames = [_Shown(length - frame.end, length - frame.begin, frame.number) for frame in frames[::-1]]
    return frames


def _mixed(
    at: int, offsets: Sequence[float], frames_of: Sequence[Sequence[_Shown]], fade: float
) -> list[tuple[float, Picture]]:
    """The pictures of the cross-fade into segment `at`: a new one whenever either side changes."""
    begin = offsets[at]
    before = [(offsets[at - 1] + frame.begin, frame.number) for frame in frames_of[at - 1]]
    after = [(begin + frame.begin, frame.number) for frame in frames_of[at]]
    inside = {time for time, _ in (*before, *after) if begin + _TINY < time < begin + fade - _TINY}
    pictures = []
    for a, b in pairwise([begin, *sorted(inside), begin + fade]):
        middle = (a + b) / 2
        old = [number for time, number in before if time <= middle][-1]
        new = [number for time, number in after if time <= middle][-1]
        if b - a > _TINY:
            pictures.append((a, Picture(SourceFrame(at - 1, old), SourceFrame(at, new), (middle - begin) / fade)))
    return pictures
