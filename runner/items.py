"""Clips, texts and items in columns, since there may be millions: each is put together when it is asked for."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from video_contrast.question_text import Question
from video_contrast.video import Clip

BLOCK = 512  # rows that become columns, or columns rows, at a time
Rows = Sequence[int] | np.ndarray
STRINGS = np.dtypes.StringDType(na_object=None)


class Item(NamedTuple):
    """A row of a set."""

    id: str
    clip: Clip
    texts: tuple[str, ...]
    label: int = 0
    kinds: tuple[str, ...] = ()
    cluster: str = ""
    replaced: str | None = None
    group: str = ""  # of pairs
    question: Question | None = None
    grades: tuple[int, ...] = ()  # of the candidates, from 1 (true); () where they are not graded
    gallery: str = ""  # names the clips that share its candidates; "" where captions do not choose among clips
    verb: str = ""  # of the true caption, that its contrast replaces; "" where the row does not tell it

    @property
    def drawn_by(self) -> str:
        """The name of the random draws of its texts: the rows of a group of pairs share their candidates."""
        return self.group or self.id


def each(column: np.ndarray) -> Iterator[Any]:
    """The values of a column as those of Python, a few at a time."""
    for first in range(0, len(column), BLOCK):
        yield from column[first : first + BLOCK].tolist()


class Strings(Sequence[str]):
    """Texts of a column, in an order of their own: `places` among `values`."""

    def __init__(self, values: np.ndarray, places: np.ndarray) -> None:
        self._values, self._places = values, places

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, n: Any) -> Any:  # a number or a slice
        texts = self._values[self._places[n]]
        return texts.tolist() if isinstance(n, slice) else texts


class Clips(Sequence[Clip]):
    """Clips; `columns`: their fields, in the order of `Clip`, NaN for None."""

    def __init__(self, columns: Sequence[np.ndarray]) -> None:
        self.columns = columns

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, n: Any) -> Any:  # a number
        return next(iter(self.taken(np.array([n]))))

    def __iter__(self) -> Iterator[Clip]:
        for name, path, start, end, segments in zip(*map(each, self.columns), strict=True):
            yield Clip(name, path, None if start != start else start, None if end != end else end, segments)

    def taken(self, rows: np.ndarray | slice) -> "Clips":
        """Some of the clips, by their places."""
        return Clips([column[rows] for column in self.columns])

    def distinct(self) -> tuple["Clips", np.ndarray]:
        """The clips that differ, in the order of `sort_key` and then as they come, and which of these each clip is."""
        name, path = (np.unique(column, return_inverse=True)[1] for column in self.columns[:2])
        start, end = (np.nan_to_num(column, nan=-1.0) for column in self.columns[2:4])
        numbers: dict[object, int] = {}
        segments = np.array([numbers.setdefault(of_clip, len(numbers)) for of_clip in each(self.columns[4])], np.int32)
        fields = (segments, end, start, name, path)
        alike = np.lexsort(fields)
        begins = np.any([np.diff(field[alike], prepend=np.nan) != 0 for field in fields], axis=0)
        first = alike[begins]
        order = np.lexsort((first, end[first], start[first].clip(0), name[first], path[first]))
        which = np.empty(len(self), np.int32)
        which[alike] = np.argsort(order)[np.cumsum(begins) - 1]
        return self.taken(first[order]), which

    def repeated(self) -> "Clips":
        """The clips of which another, of another name, shows the same; of clips that differ."""
        names = np.zeros(len(self), STRINGS)
        which = Clips([names, *self.columns[1:]]).distinct()[1]
        return self.taken(np.bincount(which)[which] > 1)


class Texts(Sequence[tuple[str, ...]]):
    """Lists of texts, one an item, as the places of their texts among those that differ."""

    def __init__(self, values: np.ndarray, places: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> None:
        self.values, self._places = values, places
        self._begins, self._ends = begins, ends  # of each list among the places

    @classmethod
    def of(cls, lists: Iterable[Sequence[str]]) -> "Texts":
        """The lists as columns: each text is held once."""
        place_of: dict[str, int] = {}
        places, sizes = array("i"), array("i")
        for texts in lists:
            places.extend([place_of.setdefault(text, len(place_of)) for text in texts])
            sizes.append(len(texts))
        ends = np.cumsum(np.array(sizes, np.int64))
        return cls(np.array(list(place_of), STRINGS), np.array(places, np.int32), ends - sizes, ends)

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, n: Any) -> Any:  # a number
        return tuple(map(self.values.__getitem__, self._places[self._begins[n] : self._ends[n]].tolist()))

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        value = self.values.__getitem__
        for begin, end in zip(each(self._begins), each(self._ends), strict=True):
            yield tuple(map(value, self._places[begin:end].tolist()))

    @property
    def sizes(self) -> np.ndarray:
        """The number of texts in each list."""
        return np.asarray(self._ends - self._begins)

    @property
    def used(self) -> np.ndarray:
        """The texts that some list holds, each once."""
        sizes = self.sizes
        shift = np.repeat(self._begins - np.cumsum(sizes) + sizes, sizes)
        in_use = np.zeros(len(self.values), bool)
        in_use[self._places[shift + np.arange(len(shift))]] = True
        return self.values if in_use.all() else self.values[in_use]

    def taken(self, rows: Rows | slice) -> "Texts":
        """The lists of some items, by their places."""
        at = rows if isinstance(rows, slice) else np.asarray(rows, dtype=np.intp)
        return Texts(self.values, self._places, self._begins[at], self._ends[at])


# The columns of items, besides texts: what is read of an item, and how it is kept.
_CLIP = {"clip.video_id": STRINGS, "clip.video_path": STRINGS, "clip.start": float, "clip.end": float}
_COLUMNS: dict[str, Any] = {
    **_CLIP, "clip.segments": object, "id": STRINGS, "label": np.int32, "kinds": object, "cluster": STRINGS,
    "replaced": STRINGS, "group": STRINGS, "question": object, "grades": object, "gallery": STRINGS, "verb": STRINGS,
}  # fmt: skip


class Items:
    """Items of a set; `columns`: those of `_COLUMNS`."""

    def __init__(self, columns: Mapping[str, np.ndarray], texts: Texts) -> None:
        self._columns = columns
        self.texts = texts

    @classmethod
    def of(cls, items: Iterable[Item]) -> "Items":
        """The items as columns, read in blocks."""
        parts: dict[str, list[np.ndarray]] = {name: [np.empty(0, dtype)] for name, dtype in _COLUMNS.items()}
        equal_values: dict[object, object] = {}
        rest = iter(items)

        def lists() -> Iterator[tuple[str, ...]]:
            while block := list(islice(rest, BLOCK)):
                for name, dtype in _COLUMNS.items():
                    values = map(attrgetter(name), block)
                    alike = (equal_values.setdefault(value, value) for value in values) if dtype is object else values
                    parts[name].append(np.fromiter(alike, object, len(block)).astype(dtype))
                yield from (item.texts for item in block)

        texts = Texts.of(lists())
        return cls({name: _joined(parts.pop(name)) for name in _COLUMNS}, texts)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, n: int) -> Item:
        return next(iter(self._taken(np.array([n]))))

    def __iter__(self) -> Iterator[Item]:
        ids, *rest = (each(column) for name, column in self._columns.items() if not name.startswith("clip."))
        return map(Item._make, zip(ids, self.clips, self.texts, *rest, strict=True))

    @property
    def clips(self) -> Clips:
        """The clip of each."""
        return Clips([column for name, column in self._columns.items() if name.startswith("clip.")])

    def column(self, name: str) -> np.ndarray:
        """One of the parts of `Item`, besides clip and texts, of each."""
        return self._columns[name]

    def by_id(self) -> Iterator[tuple[int, Item]]:
        """The items in the order of their ids, each with its place."""
        order = np.argsort(self._columns["id"], kind="stable")
        for first in range(0, len(self), BLOCK):
            places = order[first : first + BLOCK]
            yield from zip(places.tolist(), self._taken(places), strict=True)

    def taken(self, rows: Rows) -> "Items":
        """Some of the items, by their places in ascending order."""
        return self if len(rows) == len(self) else self._taken(np.asarray(rows, dtype=np.intp))

    def _taken(self, rows: np.ndarray) -> "Items":
        return Items({name: column[rows] for name, column in self._columns.items()}, self.texts.taken(rows))


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """A column of its parts; of texts that are all equal it holds one."""
    whole = np.concatenate(parts)
    is_one = whole.dtype == STRINGS and (whole == whole[:1]).all()
    return np.broadcast_to(whole[:1], whole.shape) if is_one else whole
