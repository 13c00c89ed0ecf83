"""Tables of words that travel with the package, a text file each; `LICENSES.md` beside a file says where it is from."""

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
