"""Reading a set to score: a folder, a packaged builder or the Hub; its rows become items, grouped by their recipe.

A perturbed set holds rows under several recipes (`text_perturbation`, `video_perturbation`). Every recipe is a
condition of its own, so a config's rows are split into groups, and every group is scored as one set.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from video_contrast.errors import UsageError, unknown_name
from video_contrast.hub import set_of_hub
from video_contrast.question_text import question_of
from video_contrast.rows import Layout, MultipleChoiceRow, Row, checked_rows, layout_of
from video_contrast.runner.conditions import CLEAN, Condition, from_recipe
from video_contrast.runner.items import Item, Items, Texts
from video_contrast.storage import SetFolder
from video_contrast.storage.plain_table import completed_rows
from video_contrast.storage.set_folder import FileSet, Fingerprint, without_played
from video_contrast.storage.table_columns import TableColumns
from video_contrast.video import Clip

# How the questions of a set are used: asked by models that answer, put before the candidate, left out; "" without any.
Questions = Literal["", "asked", "joined", "left out"]


@dataclass(frozen=True, eq=False)
class Group:
    """The rows of one config that share a recipe."""

    config: str
    layout: Layout
    own: Condition
    items: Items
    questions: Questions = ""

    def joined(self, texts: Texts) -> Texts:
        """The texts that are scored for the candidates `texts`: with the questions before them, where they are."""
        if self.questions != "joined":
            return texts
        pairs = zip(self.items, texts, strict=True)
        return Texts.of([self.with_question(item, text) for text in own] for item, own in pairs)

    def with_question(self, item: Item, text: str) -> str:
        """A candidate of an item as it is scored: behind the item's question, where the two are joined."""
        return f"{item.question.text} {text}" if self.questions == "joined" and item.question else text


@dataclass(frozen=True)
class LoadedSet:
    """The configs of a set that are to be scored."""

    name: str
    split: str
    root: Path | None  # under which its videos lie by default; None for the Hub
    groups: tuple[Group, ...]
    fingerprints: dict[str, str]  # config -> digest of the rows' content


def load_set(
    dataset: str | Path,
    configs: Sequence[str] | None,
    split: str,
    *,
    limit: int | None = None,
    folder: Path | None = None,
    questions: Questions = "joined",
    columns: TableColumns | None = None,
) -> LoadedSet:
    """Loads configs of a set, a folder laid out as a builder writes it or a Hub id; all that have the split where None.

    `limit`: keep the first so many clips of each config (a trial run). `folder`: where the set lies; `dataset` is then
    only its name. `questions`: how the questions of a set that has some are used. `columns`: which column is what, of a
    table made elsewhere. Raises UsageError: no such folder, config or split; VideoContrastError: a row is invalid.
    """
    name = str(dataset)
    root = folder if folder is not None else _root(name)
    table = None if root is None else FileSet.of(root, columns) if root.is_file() else SetFolder(root, columns)
    groups: list[Group] = []
    fingerprints: dict[str, str] = {}
    with nullcontext() if table is not None else set_of_hub(name, "--dataset"):
        all_configs = _configs(name, table, split)
        for config in configs or ():
            if all_configs and config not in all_configs:
                raise unknown_name(f"config of {name} with a split {split!r}:", config, all_configs)
        for config in configs or all_configs:
            rows = table.streamed_rows(config, split) if table else hub_rows(name, config, split, columns)
            valid_rows = checked_rows(rows, f"{name}, config {config}, split {split}", any_path=True)
            mark = Fingerprint()
            groups.extend(_grouped(config, _first(mark.passing(valid_rows), limit), questions))
            fingerprints[config] = str(mark)
    if not groups:
        raise UsageError(f"--dataset {name}: has no rows in the split {split!r}")
    root = table.video_root if table is not None else None
    return LoadedSet(name, split, root, groups=tuple(groups), fingerprints=fingerprints)


def _root(name: str) -> Path | None:
    path = Path(name).expanduser()
    if path.exists():
        return path
    if name.startswith((".", "/", "~")) or name.count("/") != 1:
        raise UsageError(f"--dataset {name}: no such folder")
    return None


def _configs(name: str, folder: SetFolder | None, split: str) -> list[str]:
    if folder is None:
        import datasets

        return list(datasets.get_dataset_config_names(name))
    if not folder.is_built:
        return folder.configs
    splits = {config: folder.splits(config) for config in folder.configs}
    configs = [config for config in splits if split in splits[config]]
    if not configs:
        raise unknown_name(f"split of {name}", split, sorted({s for names in splits.values() for s in names}))
    return configs


def hub_rows(name: str, config: str, split: str, columns: TableColumns | None = None) -> list[Row]:
    """The rows of a split of a data set of the Hub, without the column of its videos."""
    import datasets

    rows = list(without_played(datasets.load_dataset(name, config, split=split)))
    return completed_rows(rows, f"{name}, {config}, {split}", columns=columns)


def _first(rows: Iterable[Row], limit: int | None) -> Iterator[Row]:
    """The first rows; of pairs, all rows of the groups that begin among them. The others pass by."""
    groups = set()
    for number, row in enumerate(rows):
        if limit is None or number < limit or row.get("group") in groups:
            if limit is not None and "group" in row:
                groups.add(row["group"])
            yield row


def _grouped(config: str, rows: Iterable[Row], questions: Questions) -> list[Group]:
    columns: set[str] = set()
    numbers: dict[Condition, int] = {}
    number_of = array("i")  # a row

    def items() -> Iterator[Item]:
        for row in rows:
            columns.update(() if columns else row)
            own = from_recipe(row.get("video_perturbation"), row.get("text_perturbation")) or CLEAN
            number_of.append(numbers.setdefault(own, len(numbers)))
            yield _item(row)

    whole = Items.of(items())
    how: Questions = questions if "question" in columns else ""
    own_rows = {own: np.flatnonzero(np.frombuffer(number_of, np.int32) == number) for own, number in numbers.items()}
    return [Group(config, layout_of(columns), own, whole.taken(rows), how) for own, rows in own_rows.items()]


def _item(row: Row) -> Item:
    clip = Clip.of(row)
    if "captions" in row:
        return Item(row["id"], clip, tuple(row["captions"]), cluster=clip.video_id)
    text = row["meta"] or ""
    meta = json.loads(text) if '"grades"' in text or '"gallery"' in text else {}
    return Item(
        row["id"],
        clip,
        tuple(row["candidates"]),
        label=row["label"],
        kinds=tuple(row["kinds"]),
        cluster=row["cluster"],
        replaced=row["replaced"],
        group=row.get("group", ""),
        question=question_of(row),
        grades=tuple(meta.get("grades", ())),
        gallery=str(meta.get("gallery", "")),
        verb=_replaced_verb(row),
    )


def _replaced_verb(row: MultipleChoiceRow) -> str:
    """The verb of the true caption that the row's only verb contrast replaces, in dictionary form; "" without one."""
    edits = [e for e, kind in zip(row["edits"], row["kinds"], strict=True) if e is not None and kind.startswith("verb")]
    if len(edits) != 1 or not edits[0]["old"]:
        return ""
    from video_contrast.perturbations.english.forms import main_verb

    return main_verb(edits[0]["old"])
