"""Footage: the frames of a clip under one numbering and one clock, whether it is a span of a file or an edit.

Whatever looks at a clip (scoring, perturbing, strips of frames) asks its footage which frames to sample, and for their
pixels; nothing else knows how an edited clip is put together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.files import resolve_under, state
from video_contrast.video.clock import VideoIndex, index_of
from video_contrast.video.container import regular
from video_contrast.video.decode import Counter, decode
from video_contrast.video.sampling import Frames, Numbers, Policy, Seconds, Span
from video_contrast.video.segments import Clip
from video_contrast.video.timeline import Picture, SourceFrame, Timeline, timeline_of

GREY = 127  # of a pause
SEEN_AT_LEAST = 2  # frames that a sampling must show of every segment


class UnseenEdit(VideoContrastError):
    """A clip some segment of which a sampling does not show: no model can be blamed for what it does not say."""


@dataclass(frozen=True, eq=False)
class Footage:
    """The frames of a span of a file."""

    times: Seconds  # float64[n], seconds at which each frame that can be numbered is shown: those of the file
    fps: float  # frames a second, on average
    span: Span  # first and one past the last frame of the clip
    index: VideoIndex  # of the file

    @property
    def size(self) -> tuple[int, int]:
        """Height and width of the frames, as they are stored."""
        return self.index.height, self.index.width

    def sample(self, count: int, policy: Policy, fps: float | None = None) -> Numbers:
        """The numbers of `count` frames of the clip, int64[count].

        Args:
            count, policy, fps: how many, where they lie, and frames a second of the policy "steps".
        """
        return self.index.sample(self.span, count, policy, fps)

    def middle(self, numbers: Numbers) -> int:
        """The number of the frame that stands for the clip, where `numbers` are sampled."""
        return (self.span[0] + self.span[1] - 1) // 2

    def decode(self, numbers: Sequence[int], counter: Counter | None = None, *, accept_damaged: bool = False) -> Frames:
        """Frames by number, uint8[len(numbers), H, W, 3].

        Args:
            numbers, counter, accept_damaged: as of `video.decode`.
        """
        return decode(self.index.path, numbers, counter, accept_damaged=accept_damaged)


@dataclass(frozen=True, eq=False)
class EditedFootage:
    """The pictures of an edited clip, in the size of its smallest video; larger ones are scaled to fit, on black."""

    times: Seconds  # float64[n], seconds at which each picture is shown
    fps: float  # pictures a second, on average
    span: Span  # of all pictures
    timeline: Timeline  # when which source frame is shown
    files: tuple[str, ...]  # the file of each segment; "" for a pause

    @cached_property
    def size(self) -> tuple[int, int]:
        """Height and width of the pictures: of the smallest video."""
        return min((upright_size(file) for file in self.files if file), key=lambda size: (size[0] * size[1], size))

    def sample(self, count: int, policy: Policy, fps: float | None = None) -> Numbers:
        """The numbers of `count` pictures, int64[count]; every segment has its share, whatever the rate.

        Raises UnseenEdit: a segment is seen less than twice in them.

        Args:
            count, policy, fps: as of `Footage.sample`.
        """
        numbers = self.timeline.sample(count, "starts" if policy == "steps" else policy)
        for number, times in self._unseen(numbers)[:1]:
            raise UnseenEdit(
                f"unseen at this sampling: segment {number} of {len(self.files)} is in {times} of {count} frames, "
                f"where {SEEN_AT_LEAST} are needed; more --frames show it"
            )
        return numbers

    def shows_all(self, count: int) -> bool:
        """Whether `count` pictures show every segment."""
        return not self._unseen(self.timeline.sample(count))

    def _unseen(self, numbers: Numbers) -> list[tuple[int, int]]:
        """The segments, counted from 1, that too few of some pictures show, each with how many do."""
        times_of_files = zip(self.files, self.timeline.seen(numbers.tolist()), strict=True)
        return [(at, times) for at, (file, times) in enumerate(times_of_files, 1) if file and times < SEEN_AT_LEAST]

    def middle(self, numbers: Numbers) -> int:
        """The sampled picture in the middle that is no pause."""
        pictures = [int(n) for n in numbers if self.timeline.pictures[n].first.number >= 0] or [int(numbers[0])]
        return pictures[(len(pictures) - 1) // 2]

    def decode(self, numbers: Sequence[int], counter: Counter | None = None, *, accept_damaged: bool = False) -> Frames:
        """Pictures by number, uint8[len(numbers), H, W, 3]; each file is opened once.

        Args:
            numbers, counter, accept_damaged: as of `video.decode`.
        """
        pictures = [self.timeline.pictures[number] for number in numbers]
        sources = {source for picture in pictures for source in (picture.first, picture.second) if source}
        frames = self._frames(sources, counter, accept_damaged)
        return np.stack([_mixture(picture, frames) for picture in pictures])

    def _frames(
        self, sources: set[SourceFrame], counter: Counter | None, accept_damaged: bool
    ) -> dict[SourceFrame, Frames]:
        """The frame of each source, as its segment shows it."""
        grey = np.full((*self.size, 3), GREY, np.uint8)
        frames: dict[SourceFrame, Frames] = {source: grey for source in sources if source.number < 0}
        for file in sorted({self.files[source.segment] for source in sources} - {""}):
            own = [source for source in sources if self.files[source.segment] == file]
            numbers = sorted({source.number for source in own})
            pictures = decode(file, numbers, counter, accept_damaged=accept_damaged)
            for source in own:
                frame = fitted(pictures[numbers.index(source.number)], self.size)
                frames[source] = mirrored_picture(frame) if self.timeline.segments[source.segment].mirrored else frame
        return frames


def footage_of(root: Path, clip: Clip) -> Footage | EditedFootage:
    """The footage of a clip. Raises BrokenVideo: a file is missing or broken, or a span begins after its end."""
    if not clip.segments:
        index = index_of(resolve_under(root, clip.video_path))
        return Footage(index.times, index.fps, index.span(clip.start, clip.end), index)
    files = [str(resolve_under(root, part.video_path)) if part.video_path else "" for part in clip.segments]
    indices = [index_of(file) if file else None for file in files]
    timeline = timeline_of(clip.segments, indices)
    n = len(timeline.times)
    return EditedFootage(timeline.times, min(1000.0, n / timeline.end), (0, n), timeline, tuple(files))


def mirrored_picture(picture: Frames) -> Frames:
    """A picture with left and right swapped, uint8[H, W, 3]."""
    return np.ascontiguousarray(picture[:, ::-1])


def fitted(frame: Frames, size: tuple[int, int]) -> Frames:
    """A frame scaled to fit into a height and a width with its proportions kept, in the middle of a black picture."""
    if frame.shape[:2] == size:
        return frame
    import cv2

    scale = min(size[0] / frame.shape[0], size[1] / frame.shape[1])
    height, width = (max(1, round(side * scale)) for side in frame.shape[:2])
    out = np.zeros((*size, 3), np.uint8)
    top, left = (size[0] - height) // 2, (size[1] - width) // 2
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    out[top : top + height, left : left + width] = cv2.resize(frame, (width, height), interpolation=interpolation)
    return out


def _mixture(picture: Picture, frames: dict[SourceFrame, Frames]) -> Frames:
    first = frames[picture.first]
    if picture.second is None:
        return first
    mixture = (1 - picture.weight) * first.astype(np.float64) + picture.weight * frames[picture.second]
    return np.rint(mixture).astype(np.uint8)


def upright_size(file: str) -> tuple[int, int]:
    """Returns the height and width of a file's pictures as they are shown: phones store them turned.

    Raises BrokenVideo: the file cannot be read.
    """
    return _upright_size_of(file, state(regular(file)))


@lru_cache(maxsize=4096)
def _upright_size_of(file: str, state: tuple[int, int, int]) -> tuple[int, int]:
    height, width = decode(file, [0], accept_damaged=True).shape[1:3]
    return height, width
