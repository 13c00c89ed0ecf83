"""The views of a clip: the frames that a model sees, under every condition that asks for it.

All views of a clip share one decoding: each says which frames it needs, their union is decoded once, and only what
touches pixels is computed. A temporal perturbation is an index map, so it costs nothing but other frame numbers; a
per-frame one acts on the sampled frames only; a codec on the groups of pictures that hold them.
"""

import math
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from video_contrast import seeds
from video_contrast.files import state
from video_contrast.perturbations.video import VideoCondition, video_spec
from video_contrast.perturbations.video.codecs import codec_and_quantiser
from video_contrast.runner.conditions import Visual
from video_contrast.sealed_files import read_tensors, write_tensors
from video_contrast.storage.run_file_fields import VideoFile
from video_contrast.video import Clip, Counter, EditedFootage, Footage, Policy, Rounding, footage_of

AnyFootage = Footage | EditedFootage
KEPT_FREE = 0.5  # of the room that the disk has in the beginning


@dataclass
class FrameStore:
    """Frames of clips, by what they are decoded from; several threads and processes may use it at once."""

    folder: Path  # holds one file a clip and choice of frames
    root: Path  # the folder that the clips' video paths are relative to
    reserve: int  # bytes of the disk that are left free
    videos: dict[str, VideoFile] = field(default_factory=dict)  # of the files that were read, for all runs

    @classmethod
    def on(cls, folder: Path, root: Path) -> "FrameStore":
        """A store of the videos under `root` in a folder, which is made; it takes half of the room on its disk."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, root, int(shutil.disk_usage(folder).free * KEPT_FREE))

    def remove(self) -> None:
        """Removes the frames."""
        shutil.rmtree(self.folder, ignore_errors=True)


def decoded(
    clip: Clip,
    footage: AnyFootage,
    numbers: Sequence[int],
    store: FrameStore | None,
    *,
    counter: Counter | None = None,
    accept_damaged: bool = False,
) -> np.ndarray:
    """Frames of a clip, uint8[len(numbers), H, W, 3], from the store or else decoded and put there.

    `counter` is told of decoded frames. `accept_damaged`: whether frames of damaged files are decoded all the same;
    they are not kept, so that every run records the damage. Stored frames that are not those that were stored are
    decoded again. Raises BrokenVideo: as `Footage.decode`.
    """
    if store is None:
        return footage.decode(numbers, counter, accept_damaged=accept_damaged)
    # the files as they are now, how the clip is put together, and the frames
    files = [f"{path} {state((store.root / path).stat())}" for path in clip.paths]
    segments = [repr(segment) for segment in clip.segments]
    key = seeds.digest(str(store.root), *files, *segments, accept_damaged, *map(int, numbers)).hex()[:32]
    path = store.folder / f"{key}.safetensors"
    with suppress(FileNotFoundError, ValueError):
        return read_tensors(path)["frames"]
    mine = Counter()
    try:
        frames = footage.decode(numbers, mine, accept_damaged=accept_damaged)
    finally:
        if counter is not None:
            counter.add(mine)
    with suppress(FileNotFoundError):  # another watch over the same runs has ended, and removed the frames
        store.folder.mkdir(parents=True, exist_ok=True)
        if not mine.damaged and shutil.disk_usage(store.folder).free - frames.nbytes > store.reserve:
            write_tensors(path, {"frames": frames})
    return frames


BLANK_SIZE = 224


@dataclass(frozen=True)
class Sampling:
    """The rule by which frames of a clip are sampled."""

    frames: int = 8  # how many
    policy: Policy = "uniform"  # where they lie
    accept_damaged: bool = False  # whether frames of damaged files are looked at all the same
    fps: float | None = None  # frames a second, `frames` at most; None takes `frames` of every clip
    least: int = 4  # of a rate: the fewest
    multiple: int = 2  # of a rate: what the number of frames is rounded down to a multiple of
    rounding: Rounding = "down"  # of a rate: how the seconds times the rate become a whole number

    def count(self, seconds: float, length: int) -> int:
        """The number of sampled frames of a clip; of a rate as `smart_nframes` of qwen-vl-utils counts them.

        `length`: how many frames it has. One with fewer than `multiple` repeats them.

        >>> [Sampling(768, fps=2.0).count(seconds, int(25 * seconds)) for seconds in (1, 3.7, 10, 1000)]
        [4, 6, 20, 768]
        """
        if self.fps is None:
            return self.frames
        number = seconds * self.fps
        steps = {  # 10 seconds of times in floating point are 9.9999999 at times
            "down": math.floor(number + 1e-6),
            "nearest": round(number),
            "up": math.ceil(number - 1e-6),
            "ends": math.ceil(number * (length - 1) / max(1, length) - 1e-6) + 1,
        }
        count = min(max(steps[self.rounding], self.least), self.frames, length)
        return max(self.multiple, count // self.multiple * self.multiple)


@dataclass(frozen=True)
class View:
    """The frames of a clip under one visual treatment."""

    visual: Visual
    frames: np.ndarray  # uint8[T, H, W, 3]; the view's before where both show the same (codecs)
    numbers: np.ndarray  # int64[T], the frame of the file behind each; -1 where there is none (blind)
    times: tuple[float, ...]  # seconds from the clip's beginning, of the sampled positions
    seconds: float  # how long the clip lasts


@dataclass(frozen=True)
class _Need:
    """The frames that one view needs."""

    visual: Visual
    positions: np.ndarray  # numbers of the clip's sampled frames
    numbers: np.ndarray  # the frame of the file behind each (for a perturbation of pixels: the one that is changed)
    sources: np.ndarray  # frames of the file that must be decoded


def views_of(
    root: Path,
    clip: Clip,
    visuals: Sequence[Visual],
    sampling: Sampling,
    counter: Counter | None = None,
    *,
    store: FrameStore | None = None,
    perturb_on: str | None = None,
) -> Iterator[View]:
    """The views of a clip, in the order of `visuals`.

    Raises BrokenVideo: a file is missing, damaged, or has no frame in the clip's span; UnseenEdit: the sampling does
    not show every segment of an edit. `store`: holds frames that were decoded before, and keeps those that are decoded
    now. `perturb_on`: the torch device of perturbations that have a kernel there; None: numpy.
    """
    footage = footage_of(root, clip)
    needs = [need_of(visual, clip, footage, sampling) for visual in visuals]
    numbers = np.unique(np.concatenate([need.sources for need in needs]))
    pictures, accept = blank(0), sampling.accept_damaged
    if len(numbers):
        pictures = decoded(clip, footage, numbers.tolist(), store, counter=counter, accept_damaged=accept)
    former, first = None, footage.span[0]
    for need in needs:
        times = tuple((footage.times[first + need.positions] - footage.times[first]).tolist())
        coding, visual = None, need.visual
        if visual.name is not None and not visual.is_control and _acts(visual) == "codec":
            # what it does to the clip: severities past the largest quantiser do the same
            quantiser = codec_and_quantiser(video_spec(visual.name), visual.severity, visual.profile)
            coding = (*quantiser, visual.scope, visual.order)
        if coding is None or coding != former:
            frames = _frames(need, clip, pictures, numbers, footage=footage, perturb_on=perturb_on)
        former = coding
        yield View(need.visual, frames, need.numbers, times, _seconds(footage))


def held_bytes(root: Path, clip: Clip, visuals: Sequence[Visual], sampling: Sampling) -> int:
    """The bytes of frames that the views of a clip (as of `views_of`) hold at once, however long it is."""
    footage = footage_of(root, clip)
    sources = [need_of(visual, clip, footage, sampling).sources for visual in visuals]
    return 3 * footage.size[0] * footage.size[1] * len(np.unique(np.concatenate(sources)))


def need_of(visual: Visual, clip: Clip, footage: AnyFootage, sampling: Sampling) -> _Need:
    """The frames of a clip that a view samples, shows, and takes decoding."""
    first = footage.span[0]
    count = sampling.count(_seconds(footage), footage.span[1] - footage.span[0])
    numbers = footage.sample(count, sampling.policy, sampling.fps)
    positions = numbers - first
    if visual.name is None:
        return _Need(visual, positions, numbers, numbers)
    if visual.is_control:
        numbers = _control(visual, clip, numbers, footage.middle(numbers))
        return _Need(visual, positions, numbers, numbers[numbers >= 0])
    condition, origin, length = _condition(visual, footage)
    places = origin + condition.needed(numbers - origin, length, video_id=clip.video_id, start=clip.start, end=clip.end)
    return _Need(visual, positions, places if _acts(visual) == "temporal" else numbers, np.unique(places))


def _seconds(footage: AnyFootage) -> float:
    """The seconds of a clip, its last frame included."""
    first, stop = footage.span
    seconds = float(footage.times[stop - 1] - footage.times[first])
    return seconds * (stop - first) / (stop - first - 1) if stop - first > 1 else 0.0


def _condition(visual: Visual, footage: AnyFootage) -> tuple[VideoCondition, int, int]:
    """The condition, the frame of the file that its numbers begin at, and how many there are."""
    condition = VideoCondition.from_recipe(asdict(visual))
    first, stop = footage.span
    return (condition, 0, len(footage.times)) if visual.scope == "video" else (condition, first, stop - first)


def _control(visual: Visual, clip: Clip, numbers: np.ndarray, middle: int) -> np.ndarray:
    if visual.name in ("blind", "one_frame"):
        return np.full(len(numbers), -1 if visual.name == "blind" else middle, np.int64)
    if visual.name == "reversed":
        return numbers[::-1].copy()
    stream = seeds.stream(visual.seed, "control:shuffled", "1", clip.video_id, clip.start, clip.end)
    return numbers[stream.permutation(len(numbers))]


def _acts(visual: Visual) -> str:
    return video_spec(visual.name or "").acts


def blank(count: int) -> np.ndarray:
    """Mid-grey frames: what an encoder is shown when it is to see nothing."""
    return np.full((count, BLANK_SIZE, BLANK_SIZE, 3), 127, np.uint8)


def _frames(
    need: _Need, clip: Clip, pictures: np.ndarray, numbers: np.ndarray, *, footage: AnyFootage, perturb_on: str | None
) -> np.ndarray:
    visual = need.visual
    if visual.name == "blind":
        return blank(len(need.numbers))
    if visual.name is None or visual.is_control:
        return pictures[np.searchsorted(numbers, need.numbers)]
    condition, origin, length = _condition(visual, footage)
    frames = condition.frames(
        pictures[np.searchsorted(numbers, need.sources)], need.sources - origin,
        footage.span[0] + need.positions - origin, length,
        video_id=clip.video_id, start=clip.start, end=clip.end, device=perturb_on,
    )  # fmt: skip
    return np.asarray(frames)
