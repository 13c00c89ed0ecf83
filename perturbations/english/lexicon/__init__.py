"""Classes of words that no parse tells: `words.tsv` holds each word once, with all of its classes.

Tables of words that travel with the package are a text file each; `LICENSES.md` beside one says where it is from.
"""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files


@cache
def lines(package: str, *path: str) -> tuple[str, ...]:
    """The lines of a table below a package that are neither empty nor a comment."""
    text = files(package).joinpath(*path).read_text(encoding="utf-8")
    return tuple(line for raw in text.splitlines() if (line := raw.strip()) and not line.startswith("#"))


def both_ways(pairs: Iterable[tuple[str, ...]]) -> dict[str, frozenset[str]]:
    """Each word of some pairs -> those that it is paired with.

    >>> sorted(both_ways([("sit", "stand"), ("sit", "lie")])["sit"])
    ['lie', 'stand']
    """
    partners: dict[str, set[str]] = {}
    for first, second in pairs:
        partners.setdefault(first, set()).add(second)
        partners.setdefault(second, set()).add(first)
    return {word: frozenset(others) for word, others in partners.items()}


@cache
def _classes() -> dict[str, frozenset[str]]:
    lines = files(__package__).joinpath("words.tsv").read_text(encoding="utf-8").splitlines()
    table = {}
    for line in lines[1:]:
        word, classes = line.split("\t")
        table[word] = frozenset(classes.split())
    return table


def has_class(word: str, name: str) -> bool:
    """Whether a word (lower case) has a class.

    >>> has_class("man", "person"), has_class("slice", "quantity"), has_class("table", "person")
    (True, True, False)
    """
    return name in _classes().get(word, ())


@cache
def words_of(name: str) -> frozenset[str]:
    """Returns all words of a class. Raises KeyError: there is no such class."""
    members = frozenset(word for word, classes in _classes().items() if name in classes)
    if not members:
        raise KeyError(name)
    return members
