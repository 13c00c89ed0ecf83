"""The batches of a training: which captions stand together in one (at random, or hard videos side by side), and what
it holds: clips, captions with all their negatives, and which belong together."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import torch

from video_contrast.errors import UsageError
from video_contrast.row_parts import AnyRow
from video_contrast.seeds import stream
from video_contrast.teacher.caption_rows import TaughtCaption
from video_contrast.teacher.stored_frames import StoredFrames

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
    """What is learned from, and what is stopped by."""

    train: Part
    validation: Part
    tokens: Tokenizer  # captions and a device to the text tower's arguments


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
    """The share of a process in a batch.

    `picked`: numbers of the captions in the whole batch. `tokens`: captions and a device to the text tower's arguments.
    """
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


class Batches:
    """Batches of caption numbers for a data loader: each time they are gone through is the next epoch.

    The library's samplers draw from a state that goes on; here an epoch's order is a function of seed and epoch alone,
    so a run that is resumed in any epoch, by any number of processes, has the batches that it would have had.
    """

    def __init__(
        self, clips: Sequence[int], groups: Sequence[str] | None, size: int, *, epoch: int = 0, seed: int = 0
    ) -> None:
        self.clips, self.groups, self.size, self.epoch, self.seed = clips, groups, size, epoch, seed

    def __len__(self) -> int:
        return -(-len(self.clips) // self.size)

    def __iter__(self) -> Iterator[list[int]]:
        epoch, self.epoch = self.epoch, self.epoch + 1
        return batches(self.clips, self.groups, self.size, self.seed, epoch=epoch)


def batches(
    clips: Sequence[int], groups: Sequence[str] | None, size: int, seed: int, *, epoch: int = 0
) -> Iterator[list[int]]:
    """Batches of caption numbers of one epoch, `size` in each; what they hold depends on the seed and the epoch only.

    `groups`: each caption's; captions of different clips of one group follow each other, one caption a clip: in such a
    batch each clip's hardest rivals are there, as videos and as captions. A batch's end may cut a group. None draws all
    captions at random.

    >>> list(batches([0, 1, 2, 3], ["a", "b", "a", "b"], 2, seed=0))
    [[0, 2], [3, 1]]
    """
    order = [int(n) for n in stream("teach", seed, "epoch", epoch).permutation(len(clips))]
    if groups is not None:
        order = _side_by_side(order, clips, groups)
    for begin in range(0, len(order), size):
        yield order[begin : begin + size]


def _side_by_side(order: Sequence[int], clips: Sequence[int], groups: Sequence[str]) -> list[int]:
    """The same numbers: those that are the n-th caption of their clip in `order` stand by their group."""
    turns: Counter[int] = Counter()
    together: dict[tuple[str, int], list[int]] = {}
    for number in order:
        together.setdefault((groups[number], turns[clips[number]]), []).append(number)
        turns[clips[number]] += 1
    return [number for members in together.values() for number in members]


def groups_of(rows: Sequence[AnyRow], field: str) -> list[str]:
    """Each row's group: a column of the set ("video_id"), or a field of its `meta` ("cluster" of the shapes sets).

    Raises UsageError: a row has no such field; the message names what there is.
    """
    groups = []
    for row in rows:
        meta = json.loads(row.get("meta") or "{}")
        value = row.get(field, meta.get(field))
        if value is None:
            known = sorted({name for name, entry in row.items() if isinstance(entry, str)} - {"meta"} | set(meta))
            raise UsageError(f"--group {field!r}: row {row['id']!r} has no such field; it has {', '.join(known)}")
        groups.append(str(value))
    return groups
