"""Classes of words that no parse tells: `words.tsv` holds each word once, with all of its classes."""

from functools import cache
from importlib.resources import files


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
