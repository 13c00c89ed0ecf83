"""Reading run directories: the record, the stored scores, and the rows of the set they belong to.

This is the only place that knows how a run directory is laid out; everything else in the reports works on `Run`.

    run.json            the record: model, dataset, config, split, fingerprint, seeds, versions, counters
    metrics.json        the numbers the runner computed
    scores.parquet      multiple choice: one row an item and condition: id, condition, scores
    similarity/*.npy    retrieval: one matrix a condition (texts x videos), with ids in similarity/ids.json
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json

Row = dict[str, Any]
CLEAN = "clean"


@dataclass(frozen=True)
class SetKey:
    """Which items a run was scored on. Two runs are compared only where all of this is equal."""

    dataset: str
    config: str
    split: str
    fingerprint: str

    @property
    def name(self) -> str:
        """For headings: the folder's or repository's name and the config."""
        return f"{Path(self.dataset).name} / {self.config}"


@dataclass(frozen=True)
class Matrix:
    """Similarities of one condition: float[texts, videos], with the ids of both, and whose caption each text is."""

    values: npt.NDArray[np.floating]
    text_ids: Sequence[str]
    video_ids: Sequence[str]


@dataclass
class Run:
    """One model on one config of one set."""

    path: Path
    record: dict[str, Any]
    metrics: dict[str, Any]
    model: str
    key: SetKey
    layout: str
    choices: dict[str, dict[str, npt.NDArray[np.float64]]] = field(default_factory=dict)
    matrices: dict[str, Path] = field(default_factory=dict)

    @cached_property
    def all_rows(self) -> list[Row]:
        """The rows of the set, in the set's order."""
        return set_rows(self.key)

    def scored(self, condition: str = CLEAN) -> tuple[list[Row], list[npt.NDArray[np.float64]]]:
        """The multiple-choice rows that were scored under a condition, and their scores, in the set's order."""
        scores = self.choices.get(condition, {})
        rows = [row for row in self.all_rows if row["id"] in scores]
        return rows, [scores[row["id"]] for row in rows]

    @cached_property
    def texts(self) -> list[tuple[str, str]]:
        """The texts of a retrieval set: (id of the row they describe, caption), row by row."""
        return [(row["id"], caption) for row in self.all_rows for caption in row["captions"]]

    def matrix(self, condition: str = CLEAN) -> Matrix:
        """The similarities of a retrieval run under a condition; memory-mapped."""
        ids = read_json(self.path / "similarity" / "ids.json")
        values = np.load(self.matrices[condition], mmap_mode="r", allow_pickle=False)
        return Matrix(values, ids["texts"], ids["videos"])

    @property
    def conditions(self) -> list[str]:
        """The conditions that were scored, the clean one first."""
        names = list(self.choices or self.matrices)
        return sorted(names, key=lambda name: name != CLEAN)

    @property
    def video_root(self) -> Path | None:
        """Where the clips lie, or None where the record does not say and the set is not a folder."""
        root = Path(self.record.get("video_root") or self.key.dataset)
        return root if root.is_dir() else None


def load_runs(
    paths: Sequence[Path], *, video_root: str | Path | None = None, dataset: str | Path | None = None
) -> list[Run]:
    """Every run below the given paths: a run directory itself, or a folder that holds some at any depth.

    Args:
        paths: run directories or folders of them.
        video_root: overrides where the runs say that the clips lie.
        dataset: overrides where the runs say that the set lies.

    Raises:
        UsageError: a path holds no run.
        VideoContrastError: a run cannot be read.
    """
    runs: list[Run] = []
    seen: set[Path] = set()
    for path in paths:
        found = [path] if (path / "run.json").exists() else sorted(p.parent for p in path.rglob("run.json"))
        if not found:
            raise UsageError(
                f"{path} holds no run (no run.json in it); give the --output folder of `video-contrast score`"
            )
        for folder in found:
            if folder.resolve() not in seen:
                seen.add(folder.resolve())
                run = load_run(folder)
                if video_root is not None:
                    run.record["video_root"] = str(video_root)
                if dataset is not None:
                    run.key = replace(run.key, dataset=str(dataset))
                runs.append(run)
    return runs


def load_run(path: Path) -> Run:
    """One run directory.

    Raises:
        VideoContrastError: a file is missing or broken; the message names it.
    """
    record = read_json(path / "run.json")
    metrics = read_json(path / "metrics.json")
    key = SetKey(
        str(record["dataset"]), str(record["config"]), str(record["split"]), str(record.get("fingerprint", ""))
    )
    run = Run(path, record, metrics, _model_name(record), key, str(record.get("layout", "multiple_choice")))
    scores = path / "scores.parquet"
    if run.layout == "multiple_choice":
        if not scores.exists():
            raise VideoContrastError(
                f"{scores} is missing: the run is not finished; run the same `score` command again"
            )
        run.choices = _choices(scores)
    else:
        run.matrices = {file.stem: file for file in sorted((path / "similarity").glob("*.npy"))}
    return run


def set_rows(key: SetKey) -> list[Row]:
    """The rows of a split of a set, from its folder (without the datasets library) or from the Hub's cache.

    Raises:
        VideoContrastError: the set is not where the run's record says.
    """
    root = Path(key.dataset)
    if root.is_dir():
        files = sorted((root / key.config).glob(f"{key.split}-*.parquet"))
        if files:
            return [row for file in files for row in pq.read_table(file).to_pylist()]
        raise VideoContrastError(f"{root} holds no {key.config}/{key.split}-*.parquet: was the set moved or rebuilt?")
    import datasets

    try:
        return datasets.load_dataset(key.dataset, key.config, split=key.split).to_list()
    except Exception as error:
        raise VideoContrastError(
            f"the set {key.dataset!r} of the run is neither a folder nor loadable: {error}; give its folder with --set"
        ) from error


def _model_name(record: dict[str, Any]) -> str:
    name = str(record["model"])
    return Path(name).name if Path(name).is_absolute() or name.startswith(".") else name


def _choices(file: Path) -> dict[str, dict[str, npt.NDArray[np.float64]]]:
    table = pq.read_table(file).to_pydict()
    found: dict[str, dict[str, npt.NDArray[np.float64]]] = {}
    for condition, name, scores in zip(table["condition"], table["id"], table["scores"], strict=True):
        found.setdefault(condition, {})[name] = np.asarray(scores, np.float64)
    return found
