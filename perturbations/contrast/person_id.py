"""Character-id contrasts: a name swapped for another of the same movie and gender (contrast-set paper, 3.1, A.2)."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from numpy.random import Generator

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.edit import Edit, replace_spans
from video_contrast.seeds import Streams

VERSION = "1"
Cast = Mapping[str, str]  # name -> gender, of one movie
_GENDERS = {"m": "male", "f": "female", "unknown": "", "?": "", "n/a": ""}  # as tables write them


def swap(caption: str, cast: Cast, rng: Generator) -> Edit | None:
    """The caption with its first character swapped, and each later one kept or swapped with equal chance.

    A character keeps one new name through the whole caption. The new name has the same gender, is not named in the
    caption, is not used twice, and is no longer or shorter form of a name there ("Harry" for "Harry Potter"). Returns
    None if the caption names nobody, or there is nobody to swap the first one for (`contrasts` counts the reasons).
    `caption`: any text; names match as they are written, as whole words, the longest first. Possessive endings stay.
    `cast`: name -> gender of the movie's characters; an empty gender means unknown, and is never swapped. `rng`: draws
    the substitutes and the coins.

    >>> import numpy as np
    >>> cast = {"Jenko": "male", "Schmidt": "male", "Zach": "male"}
    >>> swap("Jenko lowers his gun.", {"Jenko": "male", "Schmidt": "male"}, np.random.default_rng(0)).text
    'Schmidt lowers his gun.'
    """
    edit, _ = _swap(caption, cast, rng)
    return edit


def contrasts(
    captions: Sequence[str], ids: Sequence[str], casts: Sequence[Cast], *, seed: int = 0
) -> tuple[list[Edit | None], Counter[str]]:
    """`swap` for many captions, each with the cast of its movie and the stream of its id.

    Returns one edit or None a caption, and counts: "edited", "no_id", "unknown_gender", "no_other_character". `ids`:
    one a caption; with the seed it names the caption's random stream. `casts`: one a caption, as of `swap`.
    """
    streams, edits, counts = Streams(), [], Counter[str]()
    for caption, identifier, cast in zip(captions, ids, casts, strict=True):
        edit, reason = _swap(caption, cast, streams.at(seed, "person_id", VERSION, identifier))
        edits.append(edit)
        counts[reason] += 1
    return edits, counts


def named(caption: str, cast: Cast) -> list[str]:
    """The characters that the caption names, in the order of their first appearance.

    >>> named("Harry Potter's owl sees Ron", {"Harry": "m", "Harry Potter": "m", "Ron": "m", "Ro": "m"})
    ['Harry Potter', 'Ron']
    """
    return list(dict.fromkeys(match.group() for match in _matches(caption, cast)))


def read_casts(rows: Sequence[Mapping[str, str]], where: str = "the cast table") -> dict[str, dict[str, str]]:
    """Movie -> name -> gender, from rows with `movie`, `name` and `gender`.

    Genders are compared in lower case, "m" and "f" as "male" and "female"; "unknown", "?" and nothing are none. Raises
    UsageError: a column is missing or a name is empty or has two genders; the message names the row.
    """
    casts: dict[str, dict[str, str]] = {}
    for number, row in enumerate(rows):
        absent = [column for column in ("movie", "name", "gender") if row.get(column) is None]
        if absent:
            raise UsageError(f"{where}: row {number} lacks {', '.join(absent)} (needed: movie, name, gender)")
        movie, name, gender = (str(row[column]).strip() for column in ("movie", "name", "gender"))
        gender = _GENDERS.get(gender.lower(), gender.lower())
        if not name:
            raise UsageError(f"{where}: row {number} has an empty name")
        if casts.setdefault(movie, {}).setdefault(name, gender) != gender:
            raise UsageError(f"{where}: row {number} gives {name!r} of {movie!r} a second gender")
    return casts


def _swap(caption: str, cast: Cast, rng: Generator) -> tuple[Edit | None, str]:
    matches = _matches(caption, cast)
    if not matches:
        return None, "no_id"
    present = list(dict.fromkeys(match.group() for match in matches))
    names_in_use = list(present)
    new_name_of: dict[str, str] = {}
    for name in present:
        # The coin is tossed also where nobody can take the part, so that one draw does not shift the others.
        keep = name != present[0] and bool(rng.integers(2))
        gender = cast[name]
        alike = [other for other in sorted(cast) if gender and cast[other] == gender]
        others = [other for other in alike if not _alike(other, names_in_use)]
        if others and not keep:
            new_name_of[name] = others[int(rng.integers(len(others)))]
            names_in_use.append(new_name_of[name])
        elif name == present[0]:
            return None, "no_other_character" if gender else "unknown_gender"
    changes = [(*match.span(), new_name_of[match.group()]) for match in matches if match.group() in new_name_of]
    return replace_spans(caption, changes, 0, generator="cast"), "edited"


def _alike(name: str, names_in_use: list[str]) -> bool:
    """Whether `name` is, contains or is part of one of the names, word by word."""
    words = set(name.split())
    return any(words <= set(other.split()) or words >= set(other.split()) for other in names_in_use)


def _matches(caption: str, cast: Cast) -> list[re.Match[str]]:
    return list(_pattern(tuple(sorted(cast))).finditer(caption)) if cast else []


@lru_cache(4096)
def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted((name for name in names if name), key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w)")
