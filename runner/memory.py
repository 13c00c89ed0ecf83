"""The counts of a run, added up where processes meet; batches that are halved where memory does not suffice."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.pretrained import is_out_of_memory
from video_contrast.runner.kinds.base import Prepared
from video_contrast.runner.kinds.late_interaction import stacked
from video_contrast.storage.run_file_fields import VideoFile
from video_contrast.video import Clip
from video_contrast.video import Counter as DecodeCounter

ChunkDone = Callable[[int], None]  # called with the number of each chunk that is done
_LOCK = threading.Lock()  # decoding threads count, too
COUNTED = ("visual_encodings", "visual_encodings_planned", "text_encodings", "text_encodings_planned", "batches")


@dataclass
class RunCounts:
    """The counts of this run."""

    decode: DecodeCounter = field(default_factory=DecodeCounter)  # frames decoded, converted, and the least needed
    # by their names in the record: views, frames of edited clips and texts that went through the model, and how many
    # were found missing ("_planned"); forward passes of encoders
    counters: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(COUNTED, 0)))
    notes: list[str] = field(default_factory=list)  # for the user, each once
    broken: dict[Clip, str] = field(default_factory=dict)  # clip -> why it could not be read, or is not shown whole
    unseen: set[Clip] = field(default_factory=set)  # edited clips of which the sampling does not show every segment
    frames_seen: dict[Clip, str] = field(default_factory=dict)  # clip -> digest of its frames, unperturbed
    videos: dict[str, VideoFile] = field(default_factory=dict)  # as in `videos.json`, of files that were looked at

    def add(self, other: "RunCounts") -> None:
        """Adds what another process did."""
        self.decode.add(other.decode)
        self.notes += [note for note in other.notes if note not in self.notes]
        for name in ("broken", "unseen", "frames_seen", "videos", "counters"):
            getattr(self, name).update(getattr(other, name))

    def read(self, clip: Clip, decode: DecodeCounter, n_planned: int, digest: str) -> None:
        """Counts what reading a clip took; in decoding threads. `digest`: of its frames, where they are unperturbed."""
        with _LOCK:
            self.decode.add(decode)
            self.counters["visual_encodings_planned"] += n_planned
            if digest:
                self.frames_seen[clip] = digest

    def look_at(self, path: str, entry: VideoFile) -> None:
        """Notes what is known of a video file; called in decoding threads."""
        with _LOCK:
            self.videos[path] = entry

    def taken(self) -> "RunCounts":
        """The counts since the last call."""
        with _LOCK:
            counts = RunCounts(**vars(self))
            vars(self).update(vars(RunCounts()))
        return counts


T = TypeVar("T")
NO_ROOM = (
    "out of memory with one clip or text at a time; give --dtype bfloat16, --device-map auto, fewer --frames, or "
    "another --device"
)
ELSEWHERE = (
    "out of memory; what is done is kept. Give --perturb-on cpu, fewer --workers or --frames, --dtype bfloat16 or "
    "another --device, and run the command again"
)


@contextmanager
def enough_memory(advice: str = ELSEWHERE) -> Iterator[None]:
    """Turns an error that no smaller batch mends (as where frames are perturbed on a GPU) into `advice`, a sentence."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            raise VideoContrastError(advice) from error
        raise


def unless_out_of_memory(call: Callable[[], T]) -> T | None:
    """The result of `call`; None where memory did not suffice: freed after this returns, since the error holds it."""
    try:
        return call()
    except (RuntimeError, MemoryError) as error:
        if is_out_of_memory(error):
            return None
        raise


def halved(size: int, counts: RunCounts) -> int:
    """Half of a batch size, noted, after freeing memory. Raises VideoContrastError: there is nothing to halve."""
    import gc

    import torch

    if size <= 1:
        raise VideoContrastError(NO_ROOM)
    counts.notes.append(f"out of memory: the batch was halved to {size // 2}")
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    return size // 2


@dataclass
class Batcher:
    """Passes batches to an encoder."""

    size: int
    counts: RunCounts

    def __call__(self, encode: Callable[[Sequence[Prepared]], np.ndarray], inputs: Sequence[Prepared]) -> np.ndarray:
        """Rows of `inputs` in batches of at most `size`: float32[len(inputs), D]."""
        rows: list[np.ndarray] = []
        begin = 0
        while begin < len(inputs):
            batch = inputs[begin : begin + self.size]
            new_rows = unless_out_of_memory(lambda batch=batch: np.asarray(encode(batch), np.float32))  # type: ignore[misc]
            if new_rows is None:
                self.size = halved(len(batch), self.counts)
                continue
            self.counts.counters["batches"] += 1
            rows.append(new_rows)
            begin += len(batch)
        return stacked(rows)
