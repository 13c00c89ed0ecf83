"""How models of a family are to be asked, line by line and with where it was read, and which classes can be scored.

families.tsv    families: class names, model types, the test that holds our scores against the card's own lines of code
lines.tsv       what is done -> how, with the source, and the place in `config.json` that must hold the same value
owners.tsv      what the owners look at: so many frames, or a rate with its bounds; the size of frames; their prompt
coverage.tsv    generative types of the library without a recipe: expected to work or not, and why

Types that nobody has classified are an error of the test that walks the library's mapping, so a newer library cannot
bring classes that go unnoticed.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from video_contrast.files import Json, JsonObject
from video_contrast.runner.kinds.base import ModelSource
from video_contrast.video import Policy, Rounding


class Line(NamedTuple):
    """One line of a recipe."""

    value: str | int  # the setting in words or as a number
    source: str  # where it was read
    config: str  # the place in `config.json` ("text_config.max_position_embeddings") that must hold the same value; ""


class OwnerFrames(NamedTuple):
    """The frames of a clip that a family's owners look at, their size, and the question that they ask.

    >>> OwnerFrames(768, 2.0, 4, 2, "linspace", "").words, OwnerFrames(8, None, 1, 1, "uniform", "").words
    ('2 fps, 4 to 768 frames, linspace', '8 frames, uniform')
    """

    frames: int  # how many; of a rate the most
    fps: float | None  # frames a second; None takes `frames` of every clip
    least: int  # of a rate: the fewest
    multiple: int  # of a rate: what their number is rounded down to a multiple of
    policy: Policy  # where they lie
    source: str  # where it was read
    side: int = 0  # of a token, in pixels; 0 where the size of frames is the checkpoint's
    least_tokens: int = 0  # of a frame; smaller ones are enlarged
    most_tokens: int = 0  # of a frame
    clip_tokens: int = 0  # of a clip, where two frames share a token
    rounding: Rounding = "down"  # of a rate: how the seconds times the rate become a whole number
    prompt: str = ""  # with `{question}`, `{options}` and `{letters}`; "" where it is not known
    option: str = ""  # a line of the options, with `{letter}` and `{text}`; "": as of `Question`

    @property
    def bounds(self) -> tuple[float | None, int, int, Rounding]:
        """The fields of `Sampling` that count the frames of a rate."""
        return self.fps, self.least, self.multiple, self.rounding

    def pixels(self, frames: int) -> tuple[int, int]:
        """The smallest and the largest number of pixels of each of so many frames.

        >>> [n // 32**2 for n in OwnerFrames(768, 2.0, 4, 2, "linspace", "", 32, 128, 768, 115200).pixels(600)]
        [128, 384]
        """
        least, area = self.least_tokens * self.side**2, self.side**2
        most = min(self.most_tokens * area, self.clip_tokens * area / frames * 2)
        return least, max(int(most), int(1.05 * least))

    @property
    def words(self) -> str:
        """The setting in a few words."""
        rate = f"{self.fps:g} fps, {self.least} to " if self.fps else ""
        return f"{rate}{self.frames} frames, {self.policy}"


@dataclass(frozen=True)
class Recipe:
    """The recipe by which a family of models is to be asked."""

    family: str  # its name
    classes: tuple[str, ...]  # class names of `config.architectures[0]`
    model_types: tuple[str, ...]  # names of `config.model_type`
    # the kind whose models are a folder of sentence-transformers, whatever the model inside; "" for others.
    saved_as: str
    lines: Mapping[str, Line]  # setting -> value, with the source
    reads_times: bool | None  # whether the times of frames reach the model; None where it is unknown
    parity: str  # the test that holds our scores against the card's own lines of code; "" for an untested recipe
    owner: OwnerFrames | None = None  # None where it is not known, or stands in the checkpoint's config

    def record(self) -> JsonObject:
        """The entry of `run.json`."""
        return {
            "family": self.family,
            "parity": self.parity or "untested recipe",
            "lines": {name: {"value": line.value, "source": line.source} for name, line in self.lines.items()},
            **({"owner": {**self.owner._asdict(), "words": self.owner.words}} if self.owner else {}),
        }

    def contradictions(self, config: Mapping[str, Json]) -> list[str]:
        """The lines that the checkpoint's config contradicts, in words; what it does not name it cannot contradict."""
        differences = []
        for name, line in self.lines.items():
            value: Json = config
            for part in line.config.split(".") if line.config else ():
                value = value.get(part) if isinstance(value, Mapping) else None
            if line.config and value is not None and value != line.value:
                differences.append(f"{name} is {value} in its {line.config}, {line.value} in {line.source}")
        return differences


class Coverage(NamedTuple):
    """Whether a type can be scored."""

    # "tested" (parity with its card's own lines), "expected" (its processor takes clips or several images; the
    # self-test decides), "generated" (by the letters that it generates alone), "cannot".
    state: str
    why: str  # in a few words


def _table(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))


@cache
def all_recipes() -> tuple[Recipe, ...]:
    """The recipes of all families."""
    lines: dict[str, dict[str, Line]] = {}
    for row in _table("lines.tsv"):
        value = int(row["value"]) if row["value"].isdigit() else row["value"]
        lines.setdefault(row["family"], {})[row["line"]] = Line(value, row["source"], row["config"])
    owners = {}
    for row in _table("owners.tsv"):
        cells: dict[str, Any] = {name: int(cell) if cell.isdigit() else cell for name, cell in row.items() if cell}
        cells = {"least": 1, "multiple": 1} | cells | {"prompt": row["prompt"].replace(r"\n", "\n")}
        cells["fps"] = float(row["fps"]) if row["fps"] else None
        family = cells.pop("family")
        owners[family] = OwnerFrames(**cells)
    recipes = []
    for row in _table("families.tsv"):
        family, reads = row["family"], {"yes": True, "no": False}.get(row["reads_times"])
        classes, types = tuple(row["classes"].split()), tuple(row["model_types"].split())
        own = lines[family], reads, row["parity"], owners.get(family)
        recipes.append(Recipe(family, classes, types, row["saved_as"], *own))
    return tuple(recipes)


def recipe_of(source: ModelSource, kind: str) -> Recipe | None:
    """The recipe by which a model is asked; None where no one has written one."""
    by_saved_name = next((recipe for recipe in all_recipes() if recipe.saved_as == kind), None)
    if by_saved_name is not None and (source.modules is not None or kind != "late_interaction"):
        return by_saved_name
    by_class = (recipe for recipe in all_recipes() if source.architecture and source.architecture in recipe.classes)
    by_type = (recipe for recipe in all_recipes() if source.model_type and source.model_type in recipe.model_types)
    return next(by_class, None) or next(by_type, None)


@cache
def generative_types() -> dict[str, Coverage]:
    """Type of a generative model -> whether it can be scored."""
    recipes = [recipe for recipe in all_recipes() if recipe.parity and "prompt" in recipe.lines]
    names = sorted(name for recipe in recipes for name in recipe.model_types)
    types = dict.fromkeys(names, Coverage("tested", "parity with its card's own lines"))
    return types | {row["model_type"]: Coverage(row["state"], row["why"]) for row in _table("coverage.tsv")}


def types_in(*states: str) -> tuple[str, ...]:
    """All types that are in one of some states of `Coverage`."""
    return tuple(name for name, coverage in generative_types().items() if coverage.state in states)
