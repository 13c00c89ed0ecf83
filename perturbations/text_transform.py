"""A text perturbation as a transform for `Dataset.map`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.perturbations.english import PARSER
from video_contrast.perturbations.text import PROFILES, perturb_captions, text_spec
from video_contrast.perturbations.text.checkpoints import produced_by
from video_contrast.rows import Columns, TextRecipe
from video_contrast.seeds import check_seed

Cell = Any  # of a table of the user: text or texts, in lists or arrays, until it is checked


@dataclass(frozen=True)
class TextPerturbation:
    """Perturbs the captions of a table: `ds.map(TextPerturbation("keyboard", seed=0))`, batched or not.

    Beside the changed columns every row gets `text_perturbation` (name, profile, seed), the column by which the sets of
    `build perturbed` say the same, with the `version` below: who reads the table later, or pushes it, finds what was
    done. The result does not depend on batch size or number of processes, and an `IterableDataset` is changed as it is
    read.

    `version` is that of the rule, with the parser's where it reads parses, and with "rules" or the checkpoints and
    their revisions where models make the text; since `Dataset.map` names its cache by the transform's fields, a text
    made by something else never meets an old cache. Raises UsageError: unknown name or profile; VideoContrastError: on
    a call, a column is missing or holds no text, a row was perturbed before, or two candidates become the same.

    >>> swap = TextPerturbation("gender_male", columns=("captions",))
    >>> changed = swap({"id": "a", "captions": ["a girl sings", "she sings"]})
    >>> changed["captions"]
    ['a boy sings', 'he sings']
    >>> changed["text_perturbation"]
    {'name': 'gender_male', 'profile': 'paper', 'seed': 0, 'version': '8+captions-2'}
    """

    name: str  # one of the 35 (`video-contrast list perturbations`)
    seed: int = 0  # any integer
    # the columns to change: text, or lists of text. Captions of one row are counted through all of them. In a
    # multiple-choice set `("candidates",)` changes all candidates, and the spans in `edits` with them.
    columns: tuple[str, ...] = ("captions",)
    id_column: str = "id"  # the column that names the item
    profile: str = "paper"  # "paper" or "released"
    # checkpoints in place of the named ones, as `perturb_captions` takes them.
    models: Mapping[str, str | Sequence[str]] | None = None
    allow_equal: bool = False  # let candidates of an item become the same text (by default such an item is refused)
    version: str = field(init=False)

    def __post_init__(self) -> None:
        """Checks name and profile; takes the version from the registry."""
        check_seed(self.seed)
        if self.profile not in PROFILES:
            raise UsageError(f"unknown profile {self.profile!r} for text: choose {' or '.join(PROFILES)}")
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", (self.columns,))
        object.__setattr__(self, "columns", tuple(self.columns))
        spec = text_spec(self.name)
        parts = [spec.version]
        if "parse" in spec.requirements:
            parts.append(PARSER)
        if spec.batched:
            parts.append(produced_by(self.name, (self.models or {}).get(self.name)))
        object.__setattr__(self, "version", "+".join(parts))

    def __call__(self, rows: Columns) -> Columns:
        """The changed columns of one row, or of a batch of rows."""
        self._check_columns(rows)
        of_candidates = ("label", "edits") if "candidates" in self.columns and "edits" in rows else ()
        # The rows of a group of pairs share their candidates, so these are drawn once for all of them.
        group_column = ("group",) if self.id_column == "id" and "candidates" in self.columns and "group" in rows else ()
        rows = {name: _plain(rows[name]) for name in (self.id_column, *group_column, *self.columns, *of_candidates)}
        if not isinstance(rows[self.id_column], list):
            batch = self({name: [value] for name, value in rows.items()})
            return {name: values[0] for name, values in batch.items()}
        texts = self._changed_captions(rows, drawn_by=rows["group" if group_column else self.id_column])
        columns: dict[str, list[Cell]] = {name: [] for name in self.columns}
        for row in range(len(rows[self.id_column])):
            for name in self.columns:
                value = rows[name][row]
                columns[name].append(next(texts) if isinstance(value, str) else [next(texts) for _ in value])
        if "candidates" in self.columns:
            self._settle_candidates(rows, columns)
        recipe: TextRecipe = {"name": self.name, "profile": self.profile, "seed": self.seed, "version": self.version}
        columns["text_perturbation"] = [dict(recipe) for _ in rows[self.id_column]]
        return columns

    def _changed_captions(self, rows: Columns, drawn_by: Sequence[Cell]) -> Iterator[str]:
        """The changed captions of a batch, row by row and column by column."""
        captions: list[tuple[str, str, int]] = []  # text, what names its draws, its place in the row
        for row, item in enumerate(rows[self.id_column]):
            if item is None:
                raise VideoContrastError(f"row {row} of the batch has no {self.id_column!r}: every item needs an id")
            own = [text for name in self.columns for text in _texts(rows[name][row], name, item)]
            captions += [(text, str(drawn_by[row]), place) for place, text in enumerate(own)]
        texts, ids = [text for text, _, _ in captions], [name for _, name, _ in captions]
        places = [place for _, _, place in captions]
        return iter(
            perturb_captions(
                texts, self.name, ids=ids, caption_indices=places, seed=self.seed, profile=self.profile,
                models=self.models,
            )
        )  # fmt: skip

    def _settle_candidates(self, rows: Columns, columns: dict[str, list[Cell]]) -> None:
        """Refuses items whose candidates became the same text, and brings the spans of `edits` up to date."""
        for item, before, after in zip(rows[self.id_column], rows["candidates"], columns["candidates"], strict=True):
            if not self.allow_equal and isinstance(after, list) and len(set(after)) < len(set(before)):
                text = next(text for text in after if after.count(text) > 1)
                raise VideoContrastError(
                    f"item {str(item)!r}: two candidates become the same text under {self.name} ({text!r}), so it has "
                    "no answer: leave such items out, or set allow_equal=True"
                )
        if "edits" in rows:
            columns["edits"] = [
                edits and [e and e | _difference(texts[label], text) for e, text in zip(edits, texts, strict=True)]
                for edits, texts, label in zip(rows["edits"], columns["candidates"], rows["label"], strict=True)
            ]

    def _check_columns(self, rows: Columns) -> None:
        present = ", ".join(rows.keys())
        if self.id_column not in rows:
            raise VideoContrastError(
                f"no column {self.id_column!r} to take item ids from (there are: {present}): name it with id_column=, "
                "or add one, since each caption's change is drawn by its id"
            )
        for name in self.columns:
            if name not in rows:
                raise VideoContrastError(f"no column {name!r} to perturb (there are: {present}): name it with columns=")
        recipes = rows.get("text_perturbation")  # `Dataset.map` gives rows that are no plain dict
        of_rows = [recipes] if isinstance(recipes, Mapping) else list(recipes if recipes is not None else [])
        former = {str(recipe["name"]) for recipe in of_rows if recipe and recipe.get("name")}
        if former:
            raise VideoContrastError(
                f"these rows hold what {', '.join(sorted(former))} made of them, and 'text_perturbation' names one: "
                "perturb the original captions, or remove that column and say elsewhere what was done"
            )
        if "candidates" in self.columns and "edits" in rows and "label" not in rows:
            raise VideoContrastError("the spans in 'edits' need the column 'label' to be brought up to date")


def _difference(true: str, text: str) -> JsonObject:
    """The difference between `text` and the true candidate, in whole words: the span of an edit record.

    >>> _difference("a girl sings a song", "a girl hums a song")
    {'old': 'sings', 'new': 'hums', 'start': 7, 'end': 11}
    """
    before, after = true.split(" "), text.split(" ")
    shortest = min(len(before), len(after))
    first = next((n for n in range(shortest) if before[n] != after[n]), shortest)
    most = shortest - first
    last = next((n for n in range(most) if before[-1 - n] != after[-1 - n]), most)
    start = len("".join(f"{word} " for word in after[:first]))
    new = " ".join(after[first : len(after) - last])
    return {"old": " ".join(before[first : len(before) - last]), "new": new, "start": start, "end": start + len(new)}


def _plain(value: Cell) -> Cell:
    """A column as lists, also where the table is formatted as numpy arrays."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _texts(value: object, column: str, item: object) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise VideoContrastError(f"column {column!r} of item {item!r} must hold text or a list of texts, not {value!r}")
    return list(texts)
