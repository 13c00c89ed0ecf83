"""Decoded frames kept on disk while several models look at the same clips, so that each clip is decoded once.

Memory holds one clip a decoding thread, as without it; the disk holds the frames of the clips until the last of the
models has seen them. Where the disk is short of room, further clips are decoded again for every model.
"""

import hashlib
import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from video_contrast import seeds
from video_contrast.files import atomic_path, state
from video_contrast.storage.run_records import VideoFile
from video_contrast.video import Clip, Counter, EditedFootage, Footage

AnyFootage = Footage | EditedFootage
_SHAPE = "<i8"
_HEAD = 4 * 8 + hashlib.sha256().digest_size  # bytes before the pixels
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
    path = store.folder / f"{_key(store.root, clip, numbers, accept_damaged)}.rgb"
    with suppress(FileNotFoundError, ValueError):
        return _read(path)
    mine = Counter()
    try:
        frames = footage.decode(numbers, mine, accept_damaged=accept_damaged)
    finally:
        if counter is not None:
            counter.add(mine)
    with suppress(FileNotFoundError):  # another watch over the same runs has ended, and removed the frames
        store.folder.mkdir(parents=True, exist_ok=True)
        if not mine.damaged and shutil.disk_usage(store.folder).free - frames.nbytes > store.reserve:
            with atomic_path(path) as part, open(part, "wb") as handle:
                handle.write(_head(frames))
                handle.write(np.ascontiguousarray(frames).data)
    return frames


def _head(frames: np.ndarray) -> bytes:
    """The shape, and the sha256 of shape and pixels."""
    shape = np.array(frames.shape, _SHAPE).tobytes()
    digest = hashlib.sha256(shape)
    digest.update(np.ascontiguousarray(frames).data)
    return shape + digest.digest()


def _read(path: Path) -> np.ndarray:
    """The pixels. `np.load` parses a header, which Python 3.11 does not bear in several threads.

    Raises ValueError: they are not those that were written.
    """
    with open(path, "rb") as handle:
        head = handle.read(_HEAD)
        shape = np.frombuffer(head[: 4 * np.dtype(_SHAPE).itemsize], _SHAPE)
        frames = np.fromfile(handle, np.uint8).reshape(tuple(map(int, shape)))
    if _head(frames) != head:
        raise ValueError(f"{path} is damaged")
    return frames


def _key(root: Path, clip: Clip, numbers: Sequence[int], accept_damaged: bool) -> str:
    """A digest of the files as they are now, of how the clip is put together, and of the frames."""
    files = [f"{path} {state((root / path).stat())}" for path in clip.paths]
    segments = [repr(segment) for segment in clip.segments]
    return seeds.digest(str(root), *files, *segments, accept_damaged, *map(int, numbers)).hex()[:32]
