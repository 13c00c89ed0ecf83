"""A text perturbation as a transform for `Dataset.map`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.language.taggers import edition
from video_contrast.perturbations.registry import text_spec


@dataclass(frozen=True)
class TextPerturbation:
    """Perturbs the captions of a table: `ds.map(TextPerturbation("keyboard", seed=0))`, batched or not.

    The result does not depend on batch size or number of processes, and an `IterableDataset` is changed as it is read.
    `version` is the version of the rule and, where it reads tags, the tagger's; since `Dataset.map` names its cache by
    the transform's fields, a new version never meets an old cache.

    Attributes:
        name: one of the 35 (`video-contrast list perturbations`).
        seed: any integer.
        columns: the columns to change: text, or lists of text. Captions of one row are counted through all of them.
            In a multiple-choice set `("candidates",)` changes all options.
        id_column: the column that names the item.
        profile: "paper" or "released".
        models: checkpoints in place of the named ones, as `perturb_captions` takes them.

    Raises:
        UsageError: unknown name or profile.
        VideoContrastError: on a call, a column is missing or holds no text.

    >>> swap = TextPerturbation("gender_male", columns=("captions",))
    >>> swap({"id": "a", "captions": ["a girl sings", "she sings"]})
    {'captions': ['a boy sings', 'he sings']}
    """

    name: str
    seed: int = 0
    columns: tuple[str, ...] = ("captions",)
    id_column: str = "id"
    profile: str = "paper"
    models: Mapping[str, str | Sequence[str]] | None = None
    version: str = field(init=False)

    def __post_init__(self) -> None:
        """Checks name and profile; takes the version from the registry."""
        from video_contrast.perturbations.text import PROFILES

        if self.profile not in PROFILES:
            raise UsageError(f"unknown profile {self.profile!r} for text: choose {' or '.join(PROFILES)}")
        if isinstance(self.columns, str):
            object.__setattr__(self, "columns", (self.columns,))
        object.__setattr__(self, "columns", tuple(self.columns))
        spec = text_spec(self.name)
        tagger = f"+{edition()}" if "tags" in spec.needs else ""
        object.__setattr__(self, "version", spec.version + tagger)

    def __call__(self, rows: Mapping[str, Any]) -> dict[str, Any]:
        """The changed columns of one row, or of a batch of rows."""
        self._check_columns(rows)
        rows = {name: _plain(rows[name]) for name in (self.id_column, *self.columns)}
        if not isinstance(rows[self.id_column], list):
            batch = self({name: [value] for name, value in rows.items()})
            return {name: values[0] for name, values in batch.items()}
        captions: list[str] = []
        ids: list[str] = []
        indices: list[int] = []
        for row, item in enumerate(rows[self.id_column]):
            if item is None:
                raise VideoContrastError(f"row {row} of the batch has no {self.id_column!r}: every item needs an id")
            count = 0
            for name in self.columns:
                for caption in _texts(rows[name][row], name, item):
                    captions.append(caption)
                    ids.append(str(item))
                    indices.append(count)
                    count += 1
        from video_contrast.perturbations.text import perturb_captions

        changed = iter(
            perturb_captions(
                captions,
                self.name,
                ids=ids,
                caption_indices=indices,
                seed=self.seed,
                profile=self.profile,
                models=self.models,
            )
        )
        done: dict[str, Any] = {name: [] for name in self.columns}
        for row in range(len(rows[self.id_column])):
            for name in self.columns:
                value = rows[name][row]
                done[name].append(next(changed) if isinstance(value, str) else [next(changed) for _ in value])
        return done

    def _check_columns(self, rows: Mapping[str, Any]) -> None:
        present = ", ".join(rows.keys())
        if self.id_column not in rows:
            raise VideoContrastError(
                f"no column {self.id_column!r} to take item ids from (there are: {present}): name it with id_column=, "
                "or add one, since each caption's change is drawn by its id"
            )
        for name in self.columns:
            if name not in rows:
                raise VideoContrastError(f"no column {name!r} to perturb (there are: {present}): name it with columns=")


def _plain(value: Any) -> Any:
    """A column as lists, also where the table is formatted as numpy arrays."""
    value = value.tolist() if hasattr(value, "tolist") else value
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _texts(value: Any, column: str, item: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise VideoContrastError(f"column {column!r} of item {item!r} must hold text or a list of texts, not {value!r}")
    return list(texts)
