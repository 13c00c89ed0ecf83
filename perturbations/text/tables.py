"""The word tables that travel with the package (data/LICENSES.md says where they come from)."""

import json
from functools import cache
from importlib.resources import files

from video_contrast.files import Json


def text(name: str) -> str:
    """The content of one table."""
    return (files("video_contrast.perturbations.text") / "data" / name).read_text(encoding="utf-8")


@cache
def lines(name: str) -> tuple[str, ...]:
    """The lines of a table that are neither empty nor a comment."""
    return tuple(line for raw in text(name).splitlines() if (line := raw.strip()) and not line.startswith("#"))


def parsed(name: str) -> Json:
    """A JSON table."""
    return json.loads(text(name))
