"""Encoding: the missing views and texts of a plan, chunk by chunk, into the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.runner.conditions import Visual
from video_contrast.runner.feed import feed
from video_contrast.runner.kinds.base import ClipFrames, Encoder
from video_contrast.runner.plan import Plan, visual_key
from video_contrast.runner.store import Store
from video_contrast.runner.views import Sampling, blank, held_bytes, views_of
from video_contrast.video.clip import Clip
from video_contrast.video.decode import Counter

T = TypeVar("T")
VERSION = "1"  # of decoding and sampling: raise it when equal inputs may give other pixels
TEXTS_A_CHUNK = 1024
FRAMES_HELD = 4 << 30  # bytes; 91 views of a clip at 1920x1080 hold up to 1.9 GB
Progress = Callable[[int], None]


@dataclass
class RunCounts:
    """What this run did. Merged over processes."""

    decode: Counter = field(default_factory=Counter)
    visual_encodings: int = 0
    text_encodings: int = 0
    batches: int = 0
    notes: list[str] = field(default_factory=list)
    broken: dict[Clip, str] = field(default_factory=dict)

    def add(self, other: RunCounts) -> None:
        """Adds what another process did."""
        self.decode.add(other.decode)
        self.visual_encodings += other.visual_encodings
        self.text_encodings += other.text_encodings
        self.batches += other.batches
        self.notes += [note for note in other.notes if note not in self.notes]
        self.broken.update(other.broken)


@dataclass(frozen=True)
class Keys:
    """Names rows by what they were made from.

    Attributes:
        contents: video path -> sha256 of the file; "" where it cannot be read.
        sampling: frames and policy.
    """

    contents: dict[str, str]
    sampling: Sampling

    def video(self, clip: Clip, visual: Visual) -> str:
        """The key of one view of one clip. Seeing nothing is the same for all clips."""
        if visual.name == "blind":
            return seeds.digest("video", VERSION, "blind", self.sampling.frames).hex()[:32]
        return seeds.digest(
            "video", VERSION, self.contents[clip.video_path], clip.start, clip.end,
            self.sampling.frames, self.sampling.policy, *visual_key(visual, clip),
        ).hex()[:32]  # fmt: skip

    @staticmethod
    def text(text: str) -> str:
        """The key of a text."""
        return seeds.digest("text", VERSION, text).hex()[:32]


class Batcher:
    """Passes batches to the model, and halves them when the memory does not suffice."""

    def __init__(self, size: int, counts: RunCounts) -> None:
        self.size = size
        self.counts = counts

    def __call__(self, encode: Callable[[Sequence[Any]], np.ndarray], things: Sequence[Any]) -> np.ndarray:
        """`encode(things)` in batches of at most `size`."""
        found: list[np.ndarray] = []
        begin = 0
        while begin < len(things):
            part = things[begin : begin + self.size]
            rows: np.ndarray | None = None
            try:
                rows = np.asarray(encode(part), np.float32)
            except (RuntimeError, MemoryError) as error:
                if not out_of_memory(error):
                    raise
                if self.size <= 1 or len(part) <= 1:
                    raise VideoContrastError(NO_ROOM) from error
            if rows is None:  # out of the except clause, since the error's frames hold what is to be freed
                self.size = max(1, len(part) // 2)
                self.counts.notes.append(f"out of memory: the batch was halved to {self.size}")
                free_memory()
                continue
            self.counts.batches += 1
            found.append(rows)
            begin += len(part)
        return np.concatenate(found)


NO_ROOM = (
    "out of memory with one clip or text at a time; give --dtype bfloat16, --device-map auto, fewer --frames, or "
    "another --device"
)


def out_of_memory(error: BaseException) -> bool:
    """Whether an error, of whichever device, says that the memory does not suffice."""
    words = ("out of memory", "can't allocate memory", "not enough memory", "alloc_cpu")
    return isinstance(error, MemoryError) or any(word in str(error).lower() for word in words)


def free_memory() -> None:
    """Gives back what a failed pass held."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def todo_chunks(plan: Plan, store: Store, keys: Keys, size: int) -> list[tuple[Clip, ...]]:
    """The chunks of which a view is not in the store."""
    return [
        chunk
        for chunk in plan.chunks(size)
        if any(keys.video(clip, visual) not in store for clip in chunk for visual in plan.seen(clip))
    ]


def todo_texts(plan: Plan, store: Store) -> list[tuple[str, ...]]:
    """The runs of texts of which one is not in the store."""
    runs = [plan.texts[begin : begin + TEXTS_A_CHUNK] for begin in range(0, len(plan.texts), TEXTS_A_CHUNK)]
    return [run for run in runs if any(Keys.text(text) not in store for text in run)]


def encode_texts(
    model: Encoder, runs: Sequence[Sequence[str]], store: Store, batcher: Batcher, progress: Progress
) -> None:
    """Encodes runs of texts; each becomes one shard."""
    for run in runs:
        todo = [text for text in run if Keys.text(text) not in store]
        rows = batcher(model.encode_texts, todo)
        _finite(rows, [repr(text) for text in todo])
        batcher.counts.text_encodings += len(todo)
        store.put([Keys.text(text) for text in todo], rows)
        progress(len(todo))


def encode_blank(model: Encoder, plan: Plan, keys: Keys, store: Store, counts: RunCounts) -> None:
    """Encodes what an encoder sees when it is to see nothing: mid-grey frames, once, so that all clips tie exactly."""
    clip = next(iter(plan.views))
    key = keys.video(clip, Visual("blind"))
    if not plan.blind or key in store:
        return
    frames = blank(keys.sampling.frames)
    rows = model.encode_prepared([model.prepare(ClipFrames(frames, tuple(float(n) for n in range(len(frames)))))])
    _finite(rows, ["blank frames"])
    counts.visual_encodings += 1
    store.put([key], rows, np.full((1, len(frames)), -1))


def encode_videos(
    model: Encoder,
    chunks: Sequence[Sequence[Clip]],
    plan: Plan,
    keys: Keys,
    store: Store,
    batcher: Batcher,
    *,
    paths: dict[str, Path],
    workers: int,
    progress: Progress,
) -> None:
    """Encodes the missing views of chunks of clips; each chunk becomes one shard.

    A clip that cannot be decoded is recorded in the counts with its reason, and the others go on.
    """
    missing = {
        clip: tuple(visual for visual in plan.seen(clip) if keys.video(clip, visual) not in store)
        for chunk in chunks
        for clip in chunk
    }
    counts = batcher.counts

    def work(clip: Clip) -> Iterator[tuple[str, np.ndarray, Any]]:
        counter = Counter()
        former: np.ndarray | None = None
        try:
            for view in views_of(paths[clip.video_path], clip, missing[clip], keys.sampling, counter):
                if view.frames is not former:
                    ready = model.prepare(ClipFrames(view.frames, view.times, clip.video_id))
                former = view.frames
                yield keys.video(clip, view.visual), view.numbers, ready
        finally:
            counts.decode.add(counter)

    jobs = [clip for chunk in chunks for clip in chunk if missing[clip]]
    most = max((len(missing[clip]) for clip in jobs), default=1)
    if jobs:
        workers = affordable(workers, paths[jobs[0].video_path], jobs[0], missing[jobs[0]], keys.sampling)
    ahead = workers + -(-2 * batcher.size // most)
    source = feed(jobs, work, workers=workers, ahead=ahead, depth=max(2, min(batcher.size, most)))
    for chunk in chunks:
        names: list[str] = []
        numbers: list[np.ndarray] = []
        waiting: list[Any] = []
        rows: list[np.ndarray] = []
        for clip in chunk:
            if not missing[clip]:
                continue
            _, views = next(source)
            for name, number, ready in until_broken(views, clip, counts):
                names.append(name)
                numbers.append(number)
                waiting.append(ready)
                if len(waiting) >= batcher.size:
                    rows.append(batcher(model.encode_prepared, waiting))
                    waiting = []
            progress(len(missing[clip]))
        if waiting:
            rows.append(batcher(model.encode_prepared, waiting))
        if names:
            made = np.concatenate(rows)
            _finite(made, names)
            counts.visual_encodings += len(names)
            store.put(names, made, np.stack(numbers))


def affordable(workers: int, path: Path, clip: Clip, visuals: Sequence[Visual], sampling: Sampling) -> int:
    """How many decoding threads hold no more than `FRAMES_HELD` bytes of frames, if all clips are like this one."""
    try:
        held = held_bytes(path, clip, visuals, sampling)
    except VideoContrastError:  # it is recorded when its turn comes
        return workers
    return min(workers, max(1, FRAMES_HELD // max(1, held)))


# What a broken clip may raise from decoding, perturbing or preparing. If every clip does, the run fails with it.
_BROKEN = (VideoContrastError, ValueError, OSError)


def until_broken(views: Iterator[T], clip: Clip, counts: RunCounts) -> Iterator[T]:
    """The views of a clip; where they break off, the counts says why.

    What the consumer raises (the model, a full disk) is no fault of the clip, and passes.
    """
    try:
        yield from views
    except _BROKEN as error:
        counts.broken[clip] = str(error)


def _finite(rows: np.ndarray, names: Sequence[str]) -> None:
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        raise VideoContrastError(
            f"the model gave NaN or infinite numbers for {len(bad)} of {len(rows)} inputs (first: {names[bad[0]]}); "
            "give --dtype float32, or check the checkpoint"
        )
