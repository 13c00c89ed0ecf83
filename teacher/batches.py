"""The batches of a training, and the frame store that they are made from.

A batch holds clips, captions with all their negatives, and which belong together; captions stand in it at random, or
hard videos side by side. Every clip is decoded once, resized by the model's own processor, and kept as bytes.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import torch
from tqdm import tqdm

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import atomic_path, read_json, resolve_under, write_json
from video_contrast.rows import AnyRow, RetrievalRow
from video_contrast.runner.video_files import contents
from video_contrast.seeds import digest, stream
from video_contrast.teacher.negative_recipe import ClipRows, TaughtCaption
from video_contrast.untyped import Processor
from video_contrast.video import decode, index_of


@dataclass
class StoredFrames:
    """Clips as uint8[N, T, 3, H, W], and how their numbers become what the model sees."""

    frames: np.ndarray  # an array on disk, mapped into memory
    missing: dict[int, str]  # numbers of the clips that could not be read, and why
    key: str  # digest of what the frames were made from
    scale: torch.Tensor
    offset: torch.Tensor

    def pixels(self, clips: Sequence[int], device: str | torch.device = "cpu") -> torch.Tensor:
        """float32[B, T, 3, H, W], scaled and normalised as the processor does it."""
        raw = torch.from_numpy(np.ascontiguousarray(self.frames[list(clips)])).to(device)
        return raw.float() * self.scale.to(device) + self.offset.to(device)


def open_store(
    path: Path,
    rows: ClipRows,
    root: Path,
    images: Processor,
    frames: int,
    *,
    accept_damaged: bool = False,
    progress: bool = True,
) -> StoredFrames:
    """The store of these rows, made on first use; videos that were replaced under the same name are another store.

    `path`: where the file begins: `PATH-KEY.npy`, with the name of the split at its end ("frames-train"); what it holds
    is recorded beside it, and the digests of the videos in `videos.json` of its folder, so that unchanged ones are not
    read again. `frames`: a clip, sampled as the runner does. `accept_damaged`: take frames of damaged videos as the
    decoder makes them. Raises VideoContrastError: no clip could be read; the message names the first that failed;
    UsageError: the processor does not give pictures, or a row is an edited clip.
    """
    if first := next((row["id"] for row in rows if row.get("segments")), None):
        raise UsageError(f"row {first!r} is an edited clip (column 'segments'); teach learns from spans of files only")
    videos, at = path.parent / "videos.json", str(root.resolve())
    entries = read_json(videos) if videos.exists() else {}
    entry_of = contents(list(dict.fromkeys(row["video_path"] for row in rows)), root, entries.get(at, {}))
    write_json(videos, entries | {at: {**entries.get(at, {}), **entry_of}})
    texts = {name: str(of_video.get("sha256") or of_video["error"]) for name, of_video in entry_of.items()}
    parts = [digest(texts[row["video_path"]], row["start"], row["end"]).hex()[:12] for row in rows]
    key = digest(3, frames, str(images.to_dict()), "damaged" if accept_damaged else "", *parts).hex()
    scale, offset = _affine(images)
    part = path.name.rpartition("-")[2]
    path = path.with_name(f"{path.name}-{key[:12]}.npy")
    record = path.with_suffix(".json")
    if not (path.exists() and record.exists()):
        unread: dict[int, str] = {}

        def readable() -> Iterator[tuple[int, np.ndarray]]:
            clips = _clips(rows, root, images, frames, accept_damaged=accept_damaged)
            bar = tqdm(clips, total=len(rows), desc="frames", unit="clip", disable=not progress)
            for number, clip in enumerate(bar):
                if isinstance(clip, VideoContrastError):
                    unread[number] = str(clip)
                else:
                    yield number, clip
            if len(unread) == len(rows):
                raise none_readable(len(rows), part, unread[0])

        write_array(path, len(rows), readable())
        write_json(record, {"unread": unread})
    store = np.load(path, mmap_mode="r")
    missing = {int(number): why for number, why in read_json(record)["unread"].items()}
    return StoredFrames(store, missing, key, scale=scale, offset=offset)


def none_readable(clips: int, part: str, first: str) -> VideoContrastError:
    """The error where no clip of a part ("train", "validation") can be read; `first`: the fault of the first one."""
    none = f"none of the {clips} clips" if clips > 1 else "the only clip"
    return VideoContrastError(
        f"{none} of the {part} part can be read{'; the first' if clips > 1 else ''}: {first} (--video-root says where "
        "paths start)"
    )


def _affine(images: Processor) -> tuple[torch.Tensor, torch.Tensor]:
    """The processor's scale and offset of a channel, float[3, 1, 1] each, read off a black and a white picture."""
    pictures = [np.full((256, 256, 3), value, np.uint8) for value in (0, 255)]
    values = np.asarray(images(images=pictures, return_tensors="np")["pixel_values"], np.float64)
    values = values[0] if values.ndim == 5 else values
    if values.ndim != 4:
        raise UsageError(
            f"teach needs a processor that gives pictures [frames, 3, height, width]; {type(images).__name__} gives "
            f"{list(values.shape)}"
        )
    black, white = values[:, :, values.shape[2] // 2, values.shape[3] // 2]
    scale, offset = torch.tensor(np.stack([(white - black) / 255, black]), dtype=torch.float32).view(2, 3, 1, 1)
    return scale, offset


def write_array(path: Path, count: int, parts: Iterable[tuple[int | slice, np.ndarray]]) -> None:
    """Writes an array of `count` rows as they come, so that memory holds one part; rows that never come are zeros."""
    array: np.ndarray | None = None
    with atomic_path(path) as temporary:
        for place, values in parts:
            if array is None:
                shape = (count, *(values.shape[1:] if isinstance(place, slice) else values.shape))
                array = np.lib.format.open_memmap(temporary, mode="w+", dtype=values.dtype, shape=shape)
            array[place] = values
        assert isinstance(array, np.memmap)
        array.flush()


def _clips(
    rows: ClipRows, root: Path, images: Processor, frames: int, *, accept_damaged: bool
) -> Iterator[np.ndarray | VideoContrastError]:
    """The rows' clips in their order, decoded by several threads, of which none runs far ahead."""
    plain = {name: False for name in ("do_rescale", "do_normalize", "include_top") if hasattr(images, name)}

    def clip(row: RetrievalRow) -> np.ndarray | VideoContrastError:
        try:
            video = resolve_under(root, row["video_path"])
            index = index_of(video)
            numbers = index.sample(index.span(row["start"], row["end"]), frames).tolist()
            pictures = decode(video, numbers, accept_damaged=accept_damaged)
        except VideoContrastError as error:
            return error
        pixels = np.asarray(images(images=list(pictures), return_tensors="np", **plain)["pixel_values"])
        pixels = pixels[0] if pixels.ndim == 5 else pixels
        return np.asarray(np.clip(np.rint(pixels), 0, 255).astype(np.uint8))

    workers = min(8, os.cpu_count() or 1)
    with ThreadPoolExecutor(workers) as pool:
        for begin in range(0, len(rows), 16 * workers):
            yield from pool.map(clip, rows[begin : begin + 16 * workers])


Key = TypeVar("Key", int, str)  # a clip, or a text
Device: TypeAlias = "str | torch.device"
Tokenizer = Callable[[Sequence[str], Device], Mapping[str, torch.Tensor]]


@dataclass
class Part:
    """A split to learn from: captions with their clip's number in the store, negatives and teacher's similarities."""

    store: StoredFrames
    clips: list[int]
    rows: list[TaughtCaption]
    videos: tuple[np.ndarray, dict[int, int]] | None = None  # float32[n, S, H] of a frozen tower, a clip's row
    texts: tuple[np.ndarray, dict[str, int]] | None = None  # float32[n, H] of a frozen tower, a text's row
    groups: list[str] | None = None  # each caption's group (`batches`); None where captions meet at random


class TrainingData(NamedTuple):
    """The parts of a set that a training learns from, and is stopped by."""

    train: Part
    validation: Part
    tokens: Tokenizer  # captions and a device to the text tower's arguments
    counts: Mapping[str, dict[str, int]] = {}  # of negatives, by split
    unread: Mapping[str, str] = {}  # ids of clips that are left out, each with the reason
    encoded: Mapping[str, int] = {}  # clips and captions that a frozen tower encoded now


@dataclass
class Batch:
    """One process's share of a batch; the first four are the arguments of `Pairs.forward`."""

    videos: torch.Tensor
    texts: Mapping[str, torch.Tensor] | torch.Tensor
    own: torch.Tensor
    everyone: torch.Tensor | None
    mask: torch.Tensor  # bool[B, 1 + k], False where a caption has no such negative
    teacher: torch.Tensor  # float[B, 1 + k], the teacher's cosines
    same: torch.Tensor  # bool[N, N] over the whole batch: equal captions, or captions of one clip
    count: int  # how many of the rows count; the last ones may only fill up a share to the length of the others
    weight: float  # of a mean over those rows, so that the mean over processes is that of the whole batch
    names: list[str]  # ids of the clips


def collate(
    part: Part, picked: Sequence[int], tokens: Tokenizer, device: Device, process: int = 0, processes: int = 1
) -> Batch:
    """The share of a process in a batch; `picked`: numbers of the captions in the whole batch."""
    shares = [list(picked[n::processes]) for n in range(processes)]
    count, longest = len(shares[process]), len(shares[0])
    full = [share + list(picked[: longest - len(share)]) for share in shares]
    real = [n * longest + place for n, share in enumerate(shares) for place in range(len(share))]
    rows = [part.rows[n] for n in full[process]]
    captions = [row["caption"] for row in rows]
    texts = [*captions, *dict.fromkeys(text for row in rows for text in row["negatives"])]
    own, mask, teacher = _candidates(rows, {text: n for n, text in enumerate(texts)})
    whole = [full[n // longest][n % longest] for n in real]
    words = np.unique([part.rows[n]["caption"] for n in whole], return_inverse=True)[1]
    clips = np.array([part.clips[n] for n in whole])
    clips_here = [part.clips[n] for n in full[process]]
    return Batch(
        videos=part.store.pixels(clips_here, device)
        if part.videos is None
        else _stored(part.videos, clips_here, device),
        texts=tokens(texts, device) if part.texts is None else _stored(part.texts, texts, device),
        own=torch.from_numpy(own).to(device),
        everyone=None if processes == 1 else torch.tensor(real, device=device),
        mask=torch.from_numpy(mask).to(device),
        teacher=torch.from_numpy(teacher).to(device),
        same=torch.from_numpy((words[:, None] == words) | (clips[:, None] == clips)).to(device),
        count=count,
        weight=count * processes / len(picked),
        names=[row["id"] for row in rows[:count]],
    )


def _candidates(rows: Sequence[TaughtCaption], place: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each caption, padded: the places of its candidates, which of them are there, and the teacher's cosines."""
    shape = (len(rows), 1 + max(len(row["negatives"]) for row in rows))
    own, mask, teacher = np.zeros(shape, np.int64), np.zeros(shape, bool), np.zeros(shape, np.float32)
    for number, row in enumerate(rows):
        candidates = 1 + len(row["negatives"])
        own[number, :candidates] = [number, *(place[text] for text in row["negatives"])]
        mask[number, :candidates] = True
        teacher[number, :candidates] = row["teacher"]
    return own, mask, teacher


def _stored(outputs: tuple[np.ndarray, dict[Key, int]], keys: Sequence[Key], device: Device) -> torch.Tensor:
    rows, at = outputs
    return torch.from_numpy(np.ascontiguousarray(rows[[at[key] for key in keys]])).to(device)


@dataclass
class Batches:
    """Batches of caption numbers for a data loader, `size` in each: each time they are gone through is the next epoch.

    The library's samplers draw from a state that goes on; here an epoch's order is a function of seed and epoch alone,
    so a run that is resumed in any epoch, by any number of processes, has the batches that it would have had.

    >>> list(Batches([0, 1, 2, 3], ["a", "b", "a", "b"], 2, seed=0))
    [[0, 2], [3, 1]]
    """

    clips: Sequence[int]
    # Each caption's; captions of different clips of one group follow each other, one caption a clip: in such a batch
    # each clip's hardest rivals are there, as videos and as captions. A batch's end may cut a group. None draws all
    # captions at random.
    groups: Sequence[str] | None
    size: int
    seed: int
    epoch: int = 0  # the next one

    def __len__(self) -> int:
        return -(-len(self.clips) // self.size)

    def __iter__(self) -> Iterator[list[int]]:
        order = [int(n) for n in stream("teach", self.seed, "epoch", self.epoch).permutation(len(self.clips))]
        self.epoch += 1
        if self.groups is not None:
            # The n-th captions of the clips of a group stand together.
            turns: Counter[int] = Counter()
            together: dict[tuple[str, int], list[int]] = {}
            for number in order:
                clip = self.clips[number]
                together.setdefault((self.groups[number], turns[clip]), []).append(number)
                turns[clip] += 1
            order = [number for members in together.values() for number in members]
        return (order[begin : begin + self.size] for begin in range(0, len(order), self.size))


def groups_of(rows: Sequence[AnyRow], field: str) -> list[str]:
    """Each row's group: a column of the set ("video_id"), or a field of its `meta` ("cluster" of the shapes sets).

    Raises UsageError: a row has no such field; the message names what there is.
    """
    groups = []
    for row in rows:
        meta = json.loads(row.get("meta") or "{}")
        if (value := row.get(field, meta.get(field))) is None:
            columns = sorted({name for name, entry in row.items() if isinstance(entry, str)} - {"meta"} | set(meta))
            raise UsageError(f"--group {field!r}: row {row['id']!r} has no such field; it has {', '.join(columns)}")
        groups.append(str(value))
    return groups
