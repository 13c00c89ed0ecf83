"""Which captions stand together in a batch: at random, or hard videos side by side."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence

from video_contrast.errors import UsageError
from video_contrast.row_parts import AnyRow
from video_contrast.seeds import stream


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
        return batches(self.clips, self.groups, self.size, epochs=1, seed=self.seed, first=epoch)


def batches(
    clips: Sequence[int], groups: Sequence[str] | None, size: int, epochs: int, seed: int, *, first: int = 0
) -> Iterator[list[int]]:
    """Batches of caption numbers, epoch after epoch; what they hold depends on the seed and their place only.

    With groups, captions of different clips of one group follow each other, one caption a clip: in such a batch each
    clip's hardest rivals are there, as videos and as captions. A batch's end may cut a group.

    Args:
        clips: each caption's clip.
        groups: each caption's group; None draws all captions at random.
        size: captions in a batch; the last of an epoch may have fewer.
        epochs: passes over the captions.
        seed: of every draw.
        first: the number of the first pass.

    >>> list(batches([0, 1, 2, 3], ["a", "b", "a", "b"], 2, 1, seed=0))
    [[0, 2], [3, 1]]
    """
    for epoch in range(first, first + epochs):
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

    Raises:
        UsageError: a row has no such field; the message names what there is.
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
