"""The word tables of text perturbations (data/LICENSES.md says where they come from)."""

import json

from video_contrast.files import Json
from video_contrast.perturbations.english import tables

_PACKAGE = "video_contrast.perturbations.text"


def lines(name: str) -> tuple[str, ...]:
    """The lines of a table that are neither empty nor a comment."""
    return tables.lines(_PACKAGE, "data", name)


def parsed(name: str) -> Json:
    """A JSON table."""
    return json.loads("\n".join(lines(name)))
