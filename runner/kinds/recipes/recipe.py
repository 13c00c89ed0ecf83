"""What a recipe is, and whether a checkpoint's config contradicts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from video_contrast.files import Json, JsonObject


@dataclass(frozen=True)
class Line:
    """One line of a recipe.

    Attributes:
        value: what is done, in words or as a number.
        source: where it was read.
        config: the place in `config.json` ("text_config.max_position_embeddings") that must hold the same value; "".
    """

    value: str | int
    source: str
    config: str = ""


def read_in(source: str, **values: str | int | Line) -> dict[str, Line]:
    """Lines that were read in one place; those that are lines already name their own."""
    return {name: value if isinstance(value, Line) else Line(value, source) for name, value in values.items()}


@dataclass(frozen=True)
class Recipe:
    """How a family of models is to be asked.

    Attributes:
        family: its name.
        classes: class names of `config.architectures[0]`.
        model_types: names of `config.model_type`.
        lines: what -> how, with the source.
        reads_times: whether the times of frames reach the model; None where it is unknown.
        parity: the test that holds our scores against the card's own lines of code; "" for an untested recipe.
    """

    family: str
    classes: tuple[str, ...]
    lines: Mapping[str, Line]
    model_types: tuple[str, ...] = ()
    reads_times: bool | None = None
    parity: str = ""
    notes: str = field(default="")

    def record(self) -> JsonObject:
        """What `run.json` says of it."""
        return {
            "family": self.family,
            "parity": self.parity or "untested recipe",
            "lines": {name: {"value": line.value, "source": line.source} for name, line in self.lines.items()},
        }

    def contradictions(self, config: Mapping[str, Json]) -> list[str]:
        """The lines that the checkpoint's config contradicts, in words; what it does not name it cannot contradict."""
        differences = []
        for name, line in self.lines.items():
            named: Json = config
            for part in line.config.split(".") if line.config else ():
                named = named.get(part) if isinstance(named, Mapping) else None
            if line.config and named is not None and named != line.value:
                differences.append(f"{name} is {named} in its {line.config}, {line.value} in {line.source}")
        return differences
