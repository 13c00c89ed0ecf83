"""The frame store of a training: every clip is decoded once, resized by the model's own processor, kept as bytes."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import atomic_path, read_json, resolve_under, write_json
from video_contrast.rows import RetrievalRow
from video_contrast.runner.video_files import contents
from video_contrast.seeds import digest
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
    rows: Sequence[RetrievalRow],
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
    if edited := next((row["id"] for row in rows if row.get("segments")), None):
        raise UsageError(f"row {edited!r} is an edited clip (column 'segments'); teach learns from spans of files only")
    known = _contents(path.parent / "videos.json", rows, root)
    parts = [digest(known[row["video_path"]], row["start"], row["end"]).hex()[:12] for row in rows]
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
    """What is said where no clip of a part can be read.

    `part`: "train" or "validation". `first`: the first clip and what is wrong with it.
    """
    none = f"none of the {clips} clips" if clips > 1 else "the only clip"
    return VideoContrastError(
        f"{none} of the {part} part can be read{'; the first' if clips > 1 else ''}: {first} (--video-root says where "
        "paths start)"
    )


def _contents(path: Path, rows: Sequence[RetrievalRow], root: Path) -> dict[str, str]:
    """Video path -> sha256 of its file, or why it cannot be read."""
    at = str(root.resolve())
    stored = read_json(path) if path.exists() else {}
    of_videos = contents(list(dict.fromkeys(row["video_path"] for row in rows)), root, stored.get(at, {}))
    write_json(path, stored | {at: {**stored.get(at, {}), **of_videos}})
    return {name: str(known.get("sha256") or known["error"]) for name, known in of_videos.items()}


def _affine(images: Processor) -> tuple[torch.Tensor, torch.Tensor]:
    """What the processor does to a channel's value, float[3, 1, 1] each: value * scale + offset.

    Read off a black and a white picture, for processors rescale and normalise in several ways.
    """
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
    """Writes an array of `count` rows as they come, so that memory holds one part.

    `count`: rows in all; those of which nothing comes are zeros. `parts`: the place of a row or of several, and what
    stands there.
    """
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
    rows: Sequence[RetrievalRow], root: Path, images: Processor, frames: int, *, accept_damaged: bool
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
