"""The items of a set in columns, since there may be millions: what several of them share is kept once."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from video_contrast.question_text import Question
from video_contrast.video import Clip

BLOCK = 4096  # items that are put together at a time


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
        """What names the random draws of its texts: the rows of a group of pairs share their candidates."""
        return self.group or self.id


class Texts:
    """Lists of texts, one an item, as the places of their texts among those that differ."""

    def __init__(self, values: np.ndarray, places: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> None:
        self._values, self._places = values, places
        self._begins, self._ends = begins, ends  # of each list among the places

    @classmethod
    def of(cls, lists: Iterable[Sequence[str]]) -> "Texts":
        """The same lists."""
        draft = ItemsDraft({})
        for texts in lists:
            draft.add_texts(texts)
        return draft.whole().texts

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, n: int) -> tuple[str, ...]:
        return tuple(self._values[self._places[self._begins[n] : self._ends[n]]].tolist())

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        for first in range(0, len(self), BLOCK):
            begins, ends = self._begins[first : first + BLOCK], self._ends[first : first + BLOCK]
            texts = self._values[self._places[begins[0] : ends[-1]]].tolist()
            for begin, end in zip((begins - begins[0]).tolist(), (ends - begins[0]).tolist(), strict=True):
                yield tuple(texts[begin:end])

    def taken(self, rows: Sequence[int] | np.ndarray) -> "Texts":
        """The lists of some items, by their places in ascending order."""
        at = np.asarray(rows, dtype=np.intp)  # a tuple would be one index
        return Texts(self._values, self._places, self._begins[at], self._ends[at])


class Items:
    """Items of a set; each is put together when it is asked for."""

    def __init__(self, values: np.ndarray, ids: np.ndarray, parts: np.ndarray, texts: Texts) -> None:
        self._values, self._parts = values, parts  # int32[n, 5]: places of clip, kinds, cluster and rest; the label
        self.ids = ids
        self.texts = texts

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, n: int) -> Item:
        clip, kinds, cluster, rest, label = self._parts[n].tolist()
        of = self._values
        return Item(self.ids[n], of[clip], self.texts[n], label, of[kinds], of[cluster], *of[rest])

    def __iter__(self) -> Iterator[Item]:
        texts = iter(self.texts)
        for first in range(0, len(self), BLOCK):
            ids, parts = self.ids[first : first + BLOCK].tolist(), self._parts[first : first + BLOCK]
            whole = zip(ids, self._values[parts[:, :4]].tolist(), texts, parts[:, 4].tolist(), strict=False)
            for name, (clip, kinds, cluster, rest), own, label in whole:
                yield Item(name, clip, own, label, kinds, cluster, *rest)

    @property
    def clips(self) -> list[Clip]:
        """The clip of each."""
        return self._column(0)

    @property
    def kinds(self) -> list[tuple[str, ...]]:
        """The kinds of the candidates of each."""
        return self._column(1)

    @property
    def clusters(self) -> list[str]:
        """The cluster of each."""
        return self._column(2)

    @property
    def labels(self) -> np.ndarray:
        """The label of each, int32[n]."""
        return self._parts[:, 4]

    def rest(self, name: str) -> list[Any]:
        """One of the parts of `Item` from `replaced` on, of each."""
        at = Item._fields.index(name) - Item._fields.index("replaced")
        return [rest[at] for rest in self._column(3)]

    def taken(self, rows: Sequence[int] | np.ndarray) -> "Items":
        """Some of the items, by their places in ascending order."""
        if len(rows) == len(self):
            return self
        at = np.asarray(rows, dtype=np.intp)
        return Items(self._values, self.ids[at], self._parts[at], self.texts.taken(at))

    def _column(self, part: int) -> list[Any]:
        return self._values[self._parts[:, part]].tolist()  # type: ignore[no-any-return]


class ItemsDraft:
    """Items as they come. `places`: of the values that differ, which several drafts may share."""

    def __init__(self, places: dict[object, int]) -> None:
        self._of_value = places
        self._ids: list[str] = []
        self._parts, self._texts, self._ends = array("i"), array("i"), array("q")

    def add(self, item: Item) -> None:
        """Adds an item."""
        self._ids.append(item.id)
        clip, texts, label, kinds, cluster, *rest = item[1:]
        self._parts.extend([*map(self._place, (clip, kinds, cluster, tuple(rest))), label])
        self.add_texts(texts)

    def add_texts(self, texts: Sequence[str]) -> None:
        """Adds the texts of an item."""
        self._texts.extend(map(self._place, texts))
        self._ends.append(len(self._texts))

    def whole(self) -> Items:
        """All that were added."""
        values = np.fromiter(self._of_value, object, len(self._of_value))
        ends = np.array(self._ends, np.int64)
        texts = Texts(values, np.array(self._texts, np.int32), np.concatenate([[0], ends[:-1]]), ends)
        ids = np.array(self._ids, np.dtypes.StringDType())
        return Items(values, ids, np.array(self._parts, np.int32).reshape(-1, 5), texts)

    def _place(self, value: object) -> int:
        return self._of_value.setdefault(value, len(self._of_value))
