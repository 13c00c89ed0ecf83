"""What is kept between runs, and checked when it is read: what was damaged since is named and made anew."""

import json
import os
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from video_contrast.console import counted, note
from video_contrast.files import Json, JsonObject


def set_aside(path: Path, what: str) -> None:
    """Renames a damaged file to `NAME.damaged` and says so; nothing where another process did it before."""
    aside = path.with_name(f"{path.name}.damaged")
    try:
        path.replace(aside)
    except FileNotFoundError:
        return
    note(f"{path}: {what}; it was set aside as {aside.name}, and what it held is made anew")


def sealed_line(record: JsonObject) -> str:
    """A record as a line of JSON that begins with a digest of the rest."""
    return json.dumps({"digest": _digest(record), **record}) + "\n"


def sealed_records(path: str | os.PathLike[str]) -> Iterator[tuple[int, Json]]:
    """Yields the records of a file of `sealed_line` that are as they were written, each with the byte where it begins.

    Says how many are not. A last line without an end was torn by a kill and is left out.
    """
    damaged = begin = 0
    with open(path, "rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            try:
                record = json.loads(line)
                sound = record.pop("digest") == _digest(record)
            except (ValueError, KeyError, TypeError, AttributeError):
                sound = False
            if sound:
                yield begin, record
            else:
                damaged += len(line) > 1
            begin += len(line)
    if damaged:
        note(f"{path}: {counted(damaged, 'damaged line')} left out, and made anew")


def _digest(record: JsonObject) -> str:
    return blake2b(json.dumps(record, sort_keys=True).encode(), digest_size=16).hexdigest()
