"""The runs of a report: their records, their stored scores, the rows of their sets, and what they got right.

A run's folder holds one model on one split of one set, with one or several configs; a `ConfigRun` is one config of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, reduce
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json
from video_contrast.metrics import sign_flip
from video_contrast.metrics.ranks import choice_ranks, first_chance
from video_contrast.metrics.retrieval_counts import ranks_of
from video_contrast.reports.figures import SERIES, elided
from video_contrast.rows import Layout, Row
from video_contrast.seeds import digest
from video_contrast.storage import RunFolder, SetFolder
from video_contrast.storage.run_figures import ACCURACY, FigureKey, Gamma, RunFigure, RunNumbers, Score, leading
from video_contrast.storage.run_file_fields import RunRecord, ScoreRow, SimilarityMatrix, perturbed_configs
from video_contrast.storage.run_folder import CLEAN
from video_contrast.storage.set_folder import Facts, SetRecord

if TYPE_CHECKING:
    import pyarrow as pa

SIGNIFICANT = 0.05
HIT_COLUMNS = ("id", "cluster", "label", "scores")


class ItemHits(NamedTuple):
    """The hits of a model, in columns, since there may be millions of items."""

    names: pa.Array  # of the items
    values: np.ndarray  # float64[n] in 0..1
    clusters: pa.Array  # the source video of each

    @classmethod
    def of(cls, names: Iterable[str], values: Iterable[float], clusters: Iterable[str]) -> ItemHits:
        """The hits of items."""
        from pyarrow.lib import StringBuilder  # `array` imports pandas, which takes longer than a small table

        texts = StringBuilder(), StringBuilder()
        for builder, column in zip(texts, (names, clusters), strict=True):
            builder.append_values(column)
        return cls(texts[0].finish(), np.array(list(values), np.float64), texts[1].finish())

    def common(self, *others: ItemHits) -> list[np.ndarray]:
        """The places of the items that all have, in the columns of each; in the order of these.

        >>> ItemHits.of("abc", [1, 0, 1], "abc").common(ItemHits.of("ca", [1, 1], "ca"))
        [array([0, 2], dtype=int32), array([1, 0], dtype=int32)]
        """
        if all(own.names.equals(self.names) for own in others):  # as usual
            return [np.arange(len(self.names))] * (1 + len(others))
        import pyarrow.compute as pc

        places = [pc.index_in(self.names, own.names) for own in (self, *others)]
        of_all = reduce(pc.and_, map(pc.is_valid, places))
        return [np.from_dlpack(own.filter(of_all)) for own in places]


def hit(row: ScoreRow) -> float:
    """1 if the true candidate scores highest, its share on a tie, else 0."""
    return first_chance(row["scores"], row["label"])


def padded(lists: pa.ListArray, fill: float, values: pa.Array | None = None) -> np.ndarray:
    """Lists as rows of a matrix; shorter ones end in `fill`. `values`: stand in the place of those in the lists."""
    sizes = np.diff(np.from_dlpack(lists.offsets))
    inside = np.arange(sizes.max()) < sizes[:, None]
    flat = np.from_dlpack(lists.flatten() if values is None else values)
    matrix = np.full(inside.shape, fill, flat.dtype)
    matrix[inside] = flat
    return matrix


def choice_hits(batches: Iterable[pa.RecordBatch]) -> ItemHits | None:
    """The hits of multiple-choice items, from the columns `HIT_COLUMNS`; None without items."""
    import pyarrow as pa

    parts = []
    for part in filter(len, batches):
        labels: np.ndarray = np.from_dlpack(part["label"])
        parts.append((part["id"], choice_ranks(padded(part["scores"], -np.inf), labels).hit(1), part["cluster"]))
    if not parts:
        return None
    names, values, clusters = zip(*parts, strict=True)
    return ItemHits(pa.concat_arrays(names), np.concatenate(values), pa.concat_arrays(clusters))


def kind_hits(run: RunFolder, config: str, condition: str = CLEAN) -> dict[str, tuple[ItemHits, float]]:
    """Kind of wrong candidates -> the hits against these alone, of items that have some, and their chance; "" of all.

    `config, condition`: of multiple choice, what was scored; {} where it has no item.
    """
    import pyarrow as pa

    table = run.columns_of(config, condition, ("id", "cluster", "label", "kinds", "scores")).combine_chunks()
    if not len(table):
        return {}
    names, clusters, labels, of_items, scores = (column.chunk(0) for column in table.columns)
    label: np.ndarray = np.from_dlpack(labels)
    codes = of_items.flatten().dictionary_encode()
    kinds, padded_scores = padded(of_items, -1, codes.indices), padded(scores, -np.inf)
    wrong = (kinds >= 0) & (np.arange(kinds.shape[1]) != label[:, None])
    rivals = {"": wrong}
    rivals |= {codes.dictionary[code].as_py(): wrong & (kinds == code) for code in np.unique(kinds[wrong]).tolist()}
    hits = {}
    for kind, among in rivals.items():
        has = np.flatnonzero(among.any(axis=1))
        values = choice_ranks(padded_scores[has], label[has], among[has]).hit(1)
        chance = float(np.mean(1 / (1 + among[has].sum(axis=1))))
        hits[kind] = ItemHits(names.take(pa.array(has)), values, clusters.take(pa.array(has))), chance
    return hits


def caption_hits(matrix: SimilarityMatrix, k: int = 1) -> ItemHits:
    """The hits of captions: 1 where the own clip is among the first `k`, a share on a tie; their mean is R@k."""
    hits = ranks_of(matrix).text_to_video.hit(k)
    return ItemHits.of(matrix.columns, hits, [matrix.videos[row] for row in matrix.relevant])


def run_hits(run: RunFolder, config: str, condition: str = CLEAN) -> ItemHits | None:
    """The hits of a config's items, or of retrieval those of captions; None where the scores were not kept.

    `config, condition`: what was scored.
    """
    if run.has_matrix(config, condition):
        return caption_hits(run.matrix(config, condition))
    return choice_hits(run.batches(config, condition, HIT_COLUMNS))


def is_better(first: ItemHits, second: ItemHits) -> bool:
    """Whether the first model is right more often on the common items, by the sign-flip test over clusters."""
    here, there = first.common(second)
    change = first.values[here] - second.values[there]
    sources = np.from_dlpack(first.clusters.dictionary_encode().indices)[here]
    return bool(change.sum() > 0) and sign_flip(change, sources) < SIGNIFICANT


def best_of(models: Mapping[str, ItemHits]) -> str | None:
    """The model that is better than every other one; None where no test says so, or there is only one."""
    for name, hits in models.items() if len(models) > 1 else ():
        if all(is_better(hits, others) for other, others in models.items() if other != name):
            return name
    return None


def differing(figures: Sequence[RunFigure | None]) -> list[str]:
    """The marks of figures over numbers of items that differ between models: "n = 38", or "" where all are equal.

    >>> first, second = (RunFigure("verb_mc", "clean", ACCURACY, 0.5, n=n) for n in (40, 38))
    >>> differing([first, second, None]), differing([first, first])
    (['n = 40', 'n = 38', ''], ['', ''])
    """
    counts = [figure.n if figure else None for figure in figures]
    several = len({count for count in counts if count is not None}) > 1
    return [f"n = {count:,}" if several and count is not None else "" for count in counts]


@dataclass(frozen=True)
class SetKey:
    """The items that a run was scored on. Two runs are compared only where config, split and fingerprint are equal."""

    dataset: str = field(compare=False)  # their folder for the run; copies of a set in several places are one set
    config: str
    split: str
    fingerprint: str
    # label that tells the set from others of the same config in one report; empty where there are none.
    mark: str = field(default="", compare=False)

    @property
    def short(self) -> str:
        """For rows and columns: the config (of a robustness set, its folder), and the mark if there is one."""
        name = elided(Path(self.dataset).name if self.config == "clean" else self.config)
        return f"{name} ({self.mark})" if self.mark else name

    @property
    def name(self) -> str:
        """For headings: the folder's or repository's name, the config, the split if it is not `test`, the mark."""
        marks = dict.fromkeys(["" if self.split == "test" else self.split, self.mark])
        place = elided(Path(self.dataset).name)
        end = ", ".join(mark for mark in marks if mark and mark != place)
        return f"{place} / {elided(self.config)}" + (f" ({end})" if end else "")

    @property
    def stem(self) -> str:
        """For names of files; those of two sets may be equal (`layout.with_own_names`)."""
        return re.sub(r"[^\w.-]+", "-", self.short).strip("-")


@dataclass
class ConfigRun:
    """One model on one config of a set."""

    folder: RunFolder  # the run's folder
    model: str  # a short name, unique in a report
    key: SetKey  # the items
    layout: Layout  # of the table
    # The conditions that were scored, the clean one first. Those of a robustness set, which are configs of their own,
    # are conditions of its config `clean`.
    conditions: list[str]
    figures: dict[FigureKey, RunFigure]
    gammas: list[Gamma]  # of groups of perturbations, then of single conditions, score by score
    # condition -> item id -> its scores, label, kinds, cluster ...
    choices: dict[str, dict[str, ScoreRow]] = field(default_factory=dict)
    root: Path | None = None  # folder of the clips, or None
    # condition -> the config that holds it, where that is another one.
    config_of: dict[str, str] = field(default_factory=dict)
    number: int = 0  # of the model in the report: its colour on every plot

    @property
    def path(self) -> Path:
        """The run's folder."""
        return self.folder.path

    @property
    def record(self) -> RunRecord:
        """The record of how the run's numbers were made."""
        return self.folder.record

    @property
    def main(self) -> str:
        """The condition that tables show: the clean one, or the only one there is."""
        return self.conditions[0]

    def figure(self, score: Score = ACCURACY, condition: str | None = None) -> RunFigure | None:
        """A figure; None where it was not measured. `condition`: the main one where None."""
        return self.figures.get(FigureKey(self.key.config, condition or self.main, score))

    @property
    def accuracy(self) -> RunFigure:
        """The accuracy of a multiple-choice config under the main condition."""
        accuracy = self.figure()
        assert accuracy is not None
        return accuracy

    @property
    def kinds(self) -> list[str]:
        """The kinds of candidates that there is an accuracy of."""
        scores = (place.score for place in self.figures if place.condition == self.main)
        return [score.kind for score in scores if score.name == ACCURACY.name and score.kind]

    def in_groups(self, *groups: str) -> dict[str, Json]:
        """The conditions of some groups by name, as the record has them."""
        facts = self.record["conditions"]
        return {name: facts[name] for name in self.conditions if facts[name]["group"] in groups}

    def hardest(self, conditions: Iterable[str]) -> str | None:
        """The condition of retrieval with the lowest text-to-video R@1, among some."""
        figures = ((name, self.figure(leading("retrieval"), name)) for name in conditions)
        recalls = {name: figure.value for name, figure in figures if figure is not None}
        return min(recalls, key=lambda name: recalls[name], default=None)

    def hits(self, condition: str = CLEAN, k: int = 1) -> ItemHits:
        """The hits of items, or of captions among the first `k` clips; none where the scores were not kept."""
        if self.layout != "retrieval" or not self.has_matrix(condition):
            rows = self.choices.get(condition, {}).values()
            return ItemHits.of((row["id"] for row in rows), map(hit, rows), (row["cluster"] for row in rows))
        hits = caption_hits(self.matrix(condition), k)
        if condition in self.config_of:  # ITEM@CONDITION#NUMBER
            parts = (name.rpartition("#") for name in hits.names.to_pylist())
            names = [f"{self._clean_id(item)}#{n}" for item, _, n in parts]
            hits = ItemHits.of(names, hits.values, hits.clusters.to_pylist())
        return hits

    def join(self, perturbed: ConfigRun) -> None:
        """Takes the conditions of a config of a robustness set, of which this is the config `clean`, as its own."""
        self.conditions += perturbed.conditions
        self.figures |= {place._replace(config=self.key.config): row for place, row in perturbed.figures.items()}
        self.config_of |= dict.fromkeys(perturbed.conditions, perturbed.key.config)
        for condition, rows in perturbed.choices.items():
            ids = {name: self._clean_id(name) for name in rows}
            self.choices[condition] = {ids[name]: {**row, "id": ids[name]} for name, row in rows.items()}

    def _clean_id(self, name: str) -> str:
        """The id of an item; one that stands under several conditions has theirs after it: "item@jpeg_3"."""
        return name if name in self.set_rows else name.rpartition("@")[0]

    @property
    def is_baseline(self) -> bool:
        """Whether the model knows nothing of videos: random, constant, blind."""
        return self.model in ("random", "constant", "blind")

    @cached_property
    def set_rows(self) -> dict[str, Row]:
        """The rows of the set by id, in the set's order."""
        return {row["id"]: row for row in read_rows(self.key)}

    @cached_property
    def captions(self) -> list[str]:
        """The captions that the columns of `matrix` stand for."""
        matrix = self.matrix(self.main)
        rows = (self.set_rows[name] for name in matrix.rows)
        texts = [text for row in rows if "captions" in row for text in row["captions"]]
        if len(texts) != len(matrix.relevant):
            raise VideoContrastError(f"{self.path}: the set's captions are not those that were scored; was it rebuilt?")
        return texts

    def matrix(self, condition: str = CLEAN) -> SimilarityMatrix:
        """The similarities of a retrieval run under a condition; memory-mapped."""
        return self.folder.matrix(self.config_of.get(condition, self.key.config), condition)

    def has_matrix(self, condition: str = CLEAN) -> bool:
        """Whether the matrix of a condition was kept (large runs keep the clean one only)."""
        return self.folder.has_matrix(self.config_of.get(condition, self.key.config), condition)


def load_runs(
    paths: Sequence[Path], *, video_root: str | Path | None = None, dataset: str | Path | None = None
) -> list[ConfigRun]:
    """Every run below the given paths: a run directory itself, or a folder that holds some at any depth.

    `video_root` and `dataset` override where the runs say that clips and set lie. Raises UsageError: a path holds no
    run; VideoContrastError: a run cannot be read.
    """
    runs: list[ConfigRun] = []
    known_paths: set[Path] = set()
    for path in paths:
        if not path.is_dir():
            raise UsageError(f"{path} is not a folder; give the --output folder of `video-contrast score`")
        folders = RunFolder.find(path)
        if not folders:
            raise UsageError(f"{path} holds no finished run (no run.json); give the --output of `video-contrast score`")
        for folder in folders:
            if folder.path.resolve() not in known_paths:
                known_paths.add(folder.path.resolve())
                runs += _load(folder, video_root, dataset)
    for of_set in by_set(runs):  # a set that was found in several places is taken from one, which is there
        here = next((run for run in of_set if set_on_disk(run.key.dataset) is not None), of_set[0])
        for run in of_set:
            run.key, run.root = here.key, run.root or here.root
    _tell_apart(runs)
    _mark_sets(runs)
    # Baselines come last, in tables and in the order of colours.
    runs.sort(key=lambda run: run.is_baseline)
    numbers = series_numbers(model for _, model in sorted({(run.is_baseline, run.model) for run in runs}))
    for run in runs:
        run.number = numbers[run.model]
    return runs


def by_set(runs: Iterable[ConfigRun]) -> list[list[ConfigRun]]:
    """The runs on each set, in the order in which the sets come first."""
    of_set: dict[SetKey, list[ConfigRun]] = {}
    for run in runs:
        of_set.setdefault(run.key, []).append(run)
    return list(of_set.values())


def series_numbers(models: Iterable[str]) -> dict[str, int]:
    """A number a model, which is its colour and marker: that of its name, so that it is the same in all reports.

    Where the colour of a name is taken by an earlier model, the next free one stands in.
    """
    count = len(SERIES)
    wishes = {model: digest("report colour", model)[0] % count for model in models}
    numbers = {wish: model for model, wish in reversed(wishes.items())}
    for model, wish in wishes.items():
        if model not in numbers.values():
            turns = ((wish + step) % count + count * turn for turn in range(len(wishes)) for step in range(count))
            numbers[next(number for number in turns if number not in numbers)] = model
    return {model: number for number, model in numbers.items()}


def read_rows(key: SetKey) -> list[Row]:
    """The rows of a split of a set, from its folder (without the datasets library) or from the Hub's cache.

    Raises VideoContrastError: the set is not where the run's record says.
    """
    folder = set_on_disk(key.dataset)
    if folder is not None:
        return folder.rows(key.config, key.split)
    from video_contrast.hub import set_of_hub
    from video_contrast.runner.sets import hub_rows

    try:
        with set_of_hub(key.dataset):
            return hub_rows(key.dataset, key.config, key.split)
    except Exception as error:  # the library raises many kinds; all mean that the set is not to be had
        raise VideoContrastError(
            f"the set {key.dataset!r} of the run is neither a folder nor loadable; give its folder with --dataset"
        ) from error


def _load(folder: RunFolder, video_root: str | Path | None, dataset: str | Path | None) -> list[ConfigRun]:
    if not folder.is_finished:
        raise VideoContrastError(f"{folder.path} is not finished; run the same `score` command again")
    set_record = folder.record["set"]
    name = str(dataset if dataset is not None else set_record["dataset"])
    if dataset is None and set_on_disk(name) is None and not Path(name).is_absolute():
        # a relative folder as the run saw it, also when the report is made from elsewhere: looked for above the run
        above = (str(parent / name) for parent in folder.path.resolve().parents if SetFolder(parent / name).is_built)
        name = next(above, name)
    root = None if video_root is None else Path(video_root)
    if root is None:
        set_folder, root_of_run = set_on_disk(name), folder.record["request"].get("video_root")
        place = Path(str(root_of_run)) if root_of_run else None if set_folder is None else set_folder.video_root
        root = place if place is not None and place.is_dir() else None
    runs: dict[str, ConfigRun] = {}
    for config, entry in sorted(folder.metrics["configs"].items()):
        numbers = RunNumbers.of({config: entry})
        runs[config] = ConfigRun(
            folder=folder,
            # a folder's name instead of its whole path; a Hub id as it is
            model=Path(folder.model).name if re.match(r"^(/|\.|~|[A-Za-z]:)", folder.model) else folder.model,
            key=SetKey(name, config, set_record["split"], set_record["fingerprints"].get(config) or name),
            layout=entry["layout"], figures=numbers.figures, gammas=numbers.gammas, root=root,
            conditions=sorted(entry["conditions"], key=lambda condition: condition != CLEAN),
            choices={condition: rows for (of, condition), rows in folder.tables.items() if of == config},
        )  # fmt: skip
    for config in perturbed_configs(folder.metrics["configs"]):
        runs["clean"].join(runs.pop(config))
    return list(runs.values())


def set_on_disk(name: str) -> SetFolder | None:
    """A set: its folder, or the cached one of a builder that needs no data; None for one on the Hub."""
    path = Path(name).expanduser()
    if path.is_dir():
        return SetFolder(path)
    if "/" not in name:
        from video_contrast.builders import dataset_dir, names

        if name in names():
            return SetFolder(dataset_dir(name))
    return None


@cache
def set_record(dataset: str) -> SetRecord | None:
    """The record of a set on disk; None for one on the Hub."""
    folder = set_on_disk(dataset)
    return folder.record if folder is not None and folder.is_built else None


def config_facts(key: SetKey) -> Facts:
    """The facts of a config in the record of its set; empty for a set on the Hub."""
    record = set_record(key.dataset)
    entry = record.get("configs", {}).get(key.config) if record else None
    return entry["facts"] if entry else {}


def _tell_apart(runs: Sequence[ConfigRun]) -> None:
    """Gives models that share a name, but not a record, the name of their run's directory too."""
    for run in runs:
        same = {other.path for other in runs if other.model == run.model and other.key == run.key}
        for other in runs if len(same) > 1 else ():
            if other.path in same and other.model == run.model and not other.model.endswith(")"):
                other.model = f"{other.model} ({other.path.name})"


def _mark_sets(runs: Sequence[ConfigRun]) -> None:
    """Marks sets that share a config: by split, else by the set's name, else by the fingerprint."""
    for config in dict.fromkeys(run.key.config for run in runs):
        keys = list(dict.fromkeys(run.key for run in runs if run.key.config == config))
        if len(keys) < 2:
            continue
        places = [elided(Path(k.dataset).name) for k in keys]
        ways = ([k.split for k in keys], places, [k.fingerprint[:6] for k in keys])
        # the shortest way that tells all of them apart; the fingerprint always does, beside the place
        distinct = next((way for way in ways if len(set(way)) == len(keys)), None)
        marks = distinct or [f"{place} {k.split} {n}" for n, (k, place) in enumerate(zip(keys, places, strict=True), 1)]
        new_keys = {key: replace(key, mark=mark) for key, mark in zip(keys, marks, strict=True)}
        for run in runs:
            run.key = new_keys.get(run.key, run.key)
