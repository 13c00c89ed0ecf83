"""Names of kinds: each has figures of its own in a result, and some names would take the place of others."""

from collections.abc import Set

ENDINGS = ("best", "high", "low", "worst")  # accuracy_low is the lower end of the interval of accuracy


def clash(kinds: Set[str]) -> tuple[str, str] | None:
    """The first kind, in alphabetical order, whose figure is one of something else.

    Returns the kind and the name of the figure; None where every kind has figures of its own. `kinds`: all kinds of a
    table of contrasts.

    >>> clash({"noun", "noun_low"}), clash({"noun_low"}), clash({"ties"})
    (('noun_low', 'accuracy_noun_low'), None, ('ties', 'n_ties'))
    """
    for kind in sorted(kinds):
        other, _, ending = kind.rpartition("_")
        if ending in ENDINGS and (not other or other in kinds):
            return kind, f"accuracy_{kind}"
        if kind == "ties":
            return kind, "n_ties"
    return None
