"""Which candidate the label of a row names: by its text, its name, its letter, or its place from 0 or from 1."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import prod

from video_contrast.errors import VideoContrastError
from video_contrast.files import Json
from video_contrast.storage.table_candidates import Candidates, Fault, as_text
from video_contrast.storage.table_columns import ColumnRoles, TableRow

# Text may follow a letter only behind a mark: "a dog runs" is no letter A.
_LETTER = re.compile(r"\(?([A-Za-z])(?:[).:](\s.*)?)?", re.S)
_NUMBER = re.compile(r"\d+(\.0*)?")
_BY_WORD = ("text", "name", "letter")  # ways of reading a label that may stand beside each other in a column
_SURE = 0.01  # below, it is no accident that 0 is no label of a table
_WAYS = {
    "text": "texts of candidates",
    "name": "keys or columns of candidates",
    "letter": "letters from A",
    "place0": "places, counted from 0",
    "place1": "places, counted from 1",
}


def true_places(
    rows: Sequence[TableRow], candidates: Sequence[Candidates | Fault], roles: ColumnRoles, where: str
) -> list[int | Fault]:
    """The place of the true candidate of each row, or why there is none; what was taken for what joins the guesses.

    A column is read in one way: that which names a candidate in most rows. A label may be the text of a candidate, its
    key, its letter, or its place; where a text is a number too, the text counts, unless places fit more rows. `where`:
    what to call the table in messages. Raises VideoContrastError: nothing says which candidate is true.
    """
    if roles.constant is not None:
        outside = Fault("a label outside the candidates", f"the label {roles.constant} is outside the candidates")
        return [
            outside if isinstance(entry, Fault) or roles.constant >= len(entry.texts) else roles.constant
            for entry in candidates
        ]
    if roles.labels:
        return _read_labels(rows, candidates, roles)
    marked = [None if isinstance(entry, Fault) else entry.true for entry in candidates]
    if any(place is not None for place in marked):
        return [Fault("no true candidate", "none is marked as true") if n is None else n for n in marked]
    raise VideoContrastError(
        f"{where}: needs which candidate is true; none of its columns ({', '.join(rows[0])}) looks like it: "
        "name it with --label, or call it label"
    )


def _read_labels(
    rows: Sequence[TableRow], candidates: Sequence[Candidates | Fault], roles: ColumnRoles
) -> list[int | Fault]:
    """The labels of the column that fits most rows; others that say something else join the guesses."""
    columns = {name: _Column([row.get(name) for row in rows], candidates, roles) for name in roles.labels}
    name = max(roles.labels, key=lambda name: sum(map(bool, columns[name].ways)))  # the first of equal ones
    column = columns[name]
    labels: list[int | Fault] = []
    for row, entry, place in zip(rows, candidates, column.places, strict=True):
        among = "" if isinstance(entry, Fault) else f"{len(entry.texts)} "
        what = f"the label {row.get(name)!r} is outside the {among}candidates ({name} holds {_WAYS[column.way]})"
        labels.append(Fault("a label outside the candidates", what) if place is None else place)
    if name != "label":
        roles.guesses.append(f"label: {name}")
    roles.guesses.append(f"labels of {name}: {_WAYS[column.way]}{column.doubt()}")
    for other in roles.labels:
        pairs = zip(columns[other].places, column.places, strict=True)
        known = [(first, second) for first, second in pairs if first is not None and second is not None]
        differ = sum(first != second for first, second in known)
        if len(known) > len(rows) / 2 > differ > 0:
            roles.guesses.append(f"{other} names another candidate than {name} in {differ:,} rows")
    return labels


class _Column:
    """A column of labels, and the way in which it is read.

    Attributes:
        ways: of each row: way -> place of the candidate that the label then names.
        fits: way -> rows in which it names one.
        way: that is taken.
        places: that the labels name, None where they name none.
    """

    def __init__(self, values: Sequence[Json], candidates: Sequence[Candidates | Fault], roles: ColumnRoles) -> None:
        pairs = list(zip((as_text(value).strip() for value in values), candidates, strict=True))
        self.ways = [{} if isinstance(entry, Fault) else _ways(text, entry) for text, entry in pairs]
        self.fits = Counter(way for ways in self.ways for way in ways)
        numbers = [
            (int(float(text)), len(entry.texts))
            for text, entry in pairs
            if isinstance(entry, Candidates) and _NUMBER.fullmatch(text)
        ]
        base, self.why = _base(numbers, roles.first)
        # A number in JSON is a place rather than a text; "3" may be either.
        typed = any(isinstance(value, int | float) for value in values)
        order = ("name", base, "text", "letter") if typed else ("text", "name", "letter", base)
        self.order = order if roles.label_is is None else (roles.label_is,)
        self.way = max(self.order, key=lambda way: self.fits[way])
        words = _BY_WORD if self.way in _BY_WORD and roles.label_is is None else ()
        self.places = [next((ways[w] for w in (self.way, *words) if w in ways), None) for ways in self.ways]

    def doubt(self) -> str:
        """What speaks against the way that is taken, in brackets."""
        doubts = [self.why] if self.why and self.way == "place1" and len(self.order) > 1 else []
        for other in self.order:
            differ = sum(other in ways and ways[other] != ways.get(self.way, ways[other]) for ways in self.ways)
            if differ:
                doubts.append(
                    f"they fit {self.fits[self.way]:,} of {len(self.ways):,} rows; {_WAYS[other]} fit "
                    f"{self.fits[other]:,} and would give {differ:,} another key: --label-is decides"
                )
        return f" ({'; '.join(doubts)})" if doubts else ""


def _base(numbers: Sequence[tuple[int, int]], first: int | None) -> tuple[str, str]:
    """Whether places count from 0 or from 1, and what that was told from where the labels do not settle it.

    `numbers`: label and number of candidates of each row whose label is a number. `first`: the number of the first of
    numbered columns of candidates.
    """
    if not numbers or any(number == 0 for number, _ in numbers):
        return "place0", ""
    last = sum(number == size for number, size in numbers)
    accident = prod(1 - 1 / size for _, size in numbers if size)  # that no label is 0, if they counted from 0
    if last <= 1 and first != 1 and accident >= _SURE:
        return "place0", ""
    ends = "neither 0 nor the last place ever stands there"
    return "place1", "" if last else f"{ends}; --label-is place0 if they count from 0"


def _ways(text: str, entry: Candidates) -> dict[str, int]:
    """Way of reading a label -> the place of the candidate that it then names."""
    ways: dict[str, int] = {}
    size = len(entry.texts)
    for form in (str, lambda t: " ".join(t.split()), lambda t: " ".join(t.lower().split()).rstrip(" .")):
        for texts in (entry.texts, entry.without_letters().texts if entry.lettered else []):
            same = [n for n, candidate in enumerate(texts) if form(candidate) == form(text)]
            if len(same) == 1:
                ways.setdefault("text", same[0])
    if entry.names.count(text) == 1:
        ways["name"] = entry.names.index(text)
    letter = _LETTER.fullmatch(text)
    if letter and (place := ord(letter.group(1).upper()) - ord("A")) < size:
        ways["letter"] = place
    if _NUMBER.fullmatch(text):
        number = int(float(text))
        ways |= {way: number - base for base, way in enumerate(("place0", "place1")) if base <= number < size + base}
    return ways
