"""What is said of a published set, and its checked fields: errors name the file and the row."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json
from video_contrast.seeds import stream

KIND = "contrast"


@dataclass(frozen=True)
class Release:
    """What a card says of a published set.

    Attributes:
        builder: its name.
        title, summary: for the card.
        licence, licence_id: in words, and as the Hub calls it ("" for another one).
        citation: of its paper.
        fetch: the command that fetches the annotations, from the set's own place.
        videos: where the videos come from, with the command of their owner.
        paper: config -> how many items the paper, or the release itself, speaks of.
    """

    builder: str
    title: str
    summary: str
    licence: str
    licence_id: str
    citation: str
    fetch: str
    videos: str
    paper: Mapping[str, int] = field(default_factory=dict)


def read_entries(path: Path, release: Release) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields (place, key, object) of a JSON file: of an object of objects by their keys, of a list by numbers.

    Raises:
        UsageError: no such file; the message says how to fetch it.
        VideoContrastError: not JSON, or entries that are no objects; names file and entry.
    """
    content = read_json(present(path, release))
    if not isinstance(content, dict | list):
        raise VideoContrastError(f"{path.name}: must hold a JSON object or list")
    pairs: Iterable[tuple[Any, Any]] = content.items() if isinstance(content, dict) else enumerate(content)
    for key, entry in pairs:
        place = f"{path.name}, {'key' if isinstance(content, dict) else 'row'} {key!r}"
        if not isinstance(entry, dict):
            raise VideoContrastError(f"{place}: must be an object, not {type(entry).__name__}")
        yield place, str(key), entry


def present(path: Path, release: Release) -> Path:
    """Returns the path of a file or folder of a release.

    Raises:
        UsageError: there is none; the message says how to fetch it.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file; fetch {release.title} by `{release.fetch}`")
    return path


def text_of(row: Mapping[str, Any], name: str, place: str) -> str:
    """Returns the text of a field.

    Args:
        row: of the release.
        name: of the field.
        place: of the row, for messages.

    Raises:
        VideoContrastError: there is no such field, or no text or number in it; names the place.
    """
    if name not in row:
        raise VideoContrastError(f"{place}: no field {name!r}; it has {', '.join(map(str, row))}")
    value = row[name]
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise VideoContrastError(f"{place}: {name!r} must be a text, not {value!r}")
    return str(value)


def texts_of(row: Mapping[str, Any], name: str, place: str) -> list[str]:
    """Returns the texts of a field that holds a list.

    Args:
        row: of the release.
        name: of the field.
        place: of the row, for messages.

    Raises:
        VideoContrastError: there is no such field, or no list in it; names the place.
    """
    value = row.get(name)
    if not isinstance(value, list | tuple):
        raise VideoContrastError(f"{place}: {name!r} must be a list of texts, not {value!r}")
    return [str(text) for text in value]


def number_of(row: Mapping[str, Any], name: str, place: str) -> float | None:
    """Returns the number of a field; None where there is none.

    Args:
        row: of the release.
        name: of the field.
        place: of the row, for messages.

    Raises:
        VideoContrastError: another thing than a number stands there; names the place.
    """
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise VideoContrastError(f"{place}: {name!r} must be a number, not {value!r}") from None


def lettered(text: str, place: str) -> tuple[str, list[str], str]:
    """Splits a question that holds its options ("A. ...", a line each): the question, the options, what follows them.

    Raises:
        VideoContrastError: there are no two options; names the place.

    >>> lettered("What?\\nA. this\\nB. that \\nAnswer directly.", "row 1")
    ('What?', ['this', 'that '], 'Answer directly.')
    """
    found = list(re.finditer(r"^([A-Z])\. ?(.*)$", text, re.M))
    letters = [match[1] for match in found]
    if len(found) < 2 or letters != [chr(ord("A") + n) for n in range(len(found))]:
        raise VideoContrastError(f"{place}: the question holds no options A., B. ... a line each: {text!r}")
    rest = text[found[-1].end() :].strip("\n")
    return text[: found[0].start()].rstrip("\n"), [match[2] for match in found], rest


def as_kind(name: str, place: str) -> str:
    """A kind as tables hold it: lower case, words joined by "_".

    Raises:
        VideoContrastError: nothing is left of it, or it is reserved.

    >>> as_kind("Velocity & Frequency", "row 1")
    'velocity_frequency'
    """
    kind = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    kind = f"kind_{kind}" if kind[:1].isdigit() else kind or KIND
    if kind in ("true", "random", "best", "worst", "low", "high"):
        raise VideoContrastError(f"{place}: the kind {kind!r} is reserved")
    return kind


def flipped(seed: int, *names: str) -> bool:
    """A seeded toss of a coin, the same for equal names."""
    return bool(stream(seed, "published", *names).integers(2))
