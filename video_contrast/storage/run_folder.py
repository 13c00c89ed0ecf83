"""A run on disk, as `score` writes it.

run.json              the record, written last: where it exists the run is finished
metrics.json          config -> layout, the conditions' metrics, robustness
scores.parquet        a line a multiple-choice config, condition and item
retrieval/<config>/<condition>.npy or .npz, .json    similarities, or the best of each clip; ids of rows and columns
videos.json           video path -> sha256, size and time of change
identity.json         what the directory was made for
evidence.json         what `why-differ` compares: digests of the items' inputs, traces of a few items
self_test.json        the self-test of the model, kept so that a run that goes on is not tested again
texts/                perturbed texts
answers/              what pair scorers have answered
RESULTS.md, model-index.yaml, .eval_results/  the results in the Hub's formats
run.lock              held while a run writes
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import Json, JsonObject, atomic_path, read_json, write_json, write_text
from video_contrast.rows import Layout
from video_contrast.sealed_files import sealed_line, sealed_records
from video_contrast.storage.run_file_fields import (
    BestMatches,
    Numbers,
    RunMetrics,
    RunRecord,
    ScoreRow,
    SimilarityMatrix,
    VideoFile,
)

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

RECORD = "run.json"
METRICS = "metrics.json"
SCORES = "scores.parquet"
FINISHED = (RECORD, METRICS, SCORES)
VIDEOS = "videos.json"
NOTED = "videos"  # a file a process: what goes into VIDEOS once the run is whole
IDENTITY = "identity.json"
SELF_TEST = "self_test.json"
EVIDENCE = "evidence.json"
LOCK = "run.lock"
TEXTS = "texts"
ANSWERS = "answers"
MATRICES = "retrieval"
ROWS = 10_000  # of scores that become columns at a time
BEST = ".npz"  # of the best similarities of each clip, where all would be too many
CLEAN = "clean"
Recorded = TypeVar("Recorded", bound=Mapping[str, object])


@dataclass(frozen=True)
class RunFolder:
    """A run on disk.

    run = video_contrast.open_run("runs/temporal")
    run.metrics["configs"]["verb_mc"]["conditions"]["clean"]["accuracy"]
    run.scores()                               # a pandas table, a line an item and condition
    run.matrix("retrieval").values             # clips against captions
    """

    path: Path  # the folder

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """Opens a finished run. Raises UsageError: the folder holds none."""
        run = cls(Path(path).expanduser())
        if absent := [name for name in FINISHED if not (run.path / name).is_file()]:
            raise UsageError(
                f"{run.path} holds no finished run (no {absent[0]}); give the --output folder of `video-contrast score`"
            )
        return run

    @classmethod
    def find(cls, path: str | Path) -> list[RunFolder]:
        """The finished runs of a folder: itself, or those in it at any depth, sorted."""
        own = cls(Path(path))
        return [own] if own.is_finished else sorted((cls(p.parent) for p in own.path.rglob(RECORD)), key=str)

    @property
    def is_finished(self) -> bool:
        """Whether all files of a run are there."""
        return all((self.path / name).is_file() for name in FINISHED)

    @cached_property
    def record(self) -> RunRecord:
        """The content of `run.json`: model, set, request, versions, counters."""
        return cast(RunRecord, read_json(self.path / RECORD))

    @cached_property
    def metrics(self) -> RunMetrics:
        """The content of `metrics.json`: under `configs`, the metrics of every config and condition."""
        return cast(RunMetrics, read_json(self.path / METRICS))

    @property
    def model(self) -> str:
        """The model's name, as `score` was told it."""
        return str(self.record["model"]["name"])

    @property
    def missing(self) -> dict[str, str]:
        """Path -> why, of videos that could not be read."""
        return self.record.get("missing", {})

    def _stored(self, name: str) -> Json:
        """The content of a JSON file that not every run has; {} where there is none."""
        return read_json(self.path / name) if (self.path / name).exists() else {}

    @property
    def videos(self) -> dict[str, VideoFile]:
        """Path -> sha256, size and time of change of the videos that were read; {} where none were."""
        return cast(dict[str, VideoFile], self._stored(VIDEOS))

    @property
    def evidence(self) -> Json:
        """The content of `evidence.json`; {} where there is none. Raises VideoContrastError: it is damaged."""
        content = self._stored(EVIDENCE)
        if not isinstance(content, dict):
            raise _damaged(self.path / EVIDENCE, "no JSON object")
        return content

    @property
    def configs(self) -> list[str]:
        """The configs that were scored."""
        return list(self.metrics["configs"])

    def layout(self, config: str) -> Layout:
        """The layout of the items of a config."""
        return self.metrics["configs"][config]["layout"]

    def numbers(self, config: str, condition: str) -> Numbers:
        """The numbers of a config under a condition in `metrics.json`."""
        return self.metrics["configs"][config]["conditions"][condition]

    def conditions(self, config: str) -> list[str]:
        """The conditions under which a config was scored. Raises UsageError: the run has no such config."""
        if config not in self.metrics["configs"]:
            raise unknown_name(f"config of {self.path}:", config, self.configs)
        return list(self.metrics["configs"][config]["conditions"])

    def scores(self) -> pandas.DataFrame:
        """The scores of multiple-choice items as a table: a row a config, condition and item.

        Returns the columns of `ScoreRow`: config, condition, id, video_id, cluster, label, kinds, scores (float64, one
        a candidate, higher is better), replaced_score, parts (JSON), frames, and group in runs on pairs. Retrieval has
        matrices: see `matrix`.
        """
        table: pandas.DataFrame = self.score_table().to_pandas()
        return table

    def score_rows(self) -> list[ScoreRow]:
        """The lines of `scores`, as dicts."""
        return cast(list[ScoreRow], self.score_table().to_pylist())

    def columns_of(self, config: str, condition: str, columns: Sequence[str]) -> pa.Table:
        """The lines of a condition as columns of Arrow; none where it was not scored.

        Args:
            config, condition, columns: what was scored, and what the lines have.
        """
        import pyarrow as pa

        schema = pa.schema([_schema().field(name) for name in columns])
        return pa.Table.from_batches(self.batches(config, condition, columns), schema)

    def batches(self, config: str, condition: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The columns, a few lines at a time.

        Args:
            config, condition, columns: as of `columns_of`.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path / SCORES
        try:
            # by their codes: to filter, pyarrow.compute and pandas are imported, which takes as long as a small table
            with pq.ParquetFile(path, read_dictionary=["config", "condition"]) as file:
                for batch in file.iter_batches(ROWS, columns=["config", "condition", *columns]):
                    own = _equal(batch["config"], config) & _equal(batch["condition"], condition)
                    edges = np.flatnonzero(np.diff(own, prepend=False, append=False))
                    for begin, end in edges.reshape(-1, 2).tolist():
                        yield batch.slice(begin, end - begin).select(list(columns))
        except (OSError, pa.ArrowException) as error:
            raise _damaged(path, error) from error

    @cached_property
    def tables(self) -> dict[tuple[str, str], dict[str, ScoreRow]]:
        """(config, condition) -> item id -> its line of `scores`."""
        tables: dict[tuple[str, str], dict[str, ScoreRow]] = {}
        for row in self.score_rows():
            tables.setdefault((row["config"], row["condition"]), {})[row["id"]] = row
        return tables

    def has_matrix(self, config: str, condition: str = CLEAN) -> bool:
        """Whether a condition of a retrieval config was scored: its similarities, or the best of them, are there."""
        path = self._matrix_path(config, condition)
        return path.is_file() or path.with_suffix(BEST).is_file()

    def has_scores(self, config: str, condition: str = CLEAN) -> bool:
        """Whether a condition was scored, and its scores or similarities were kept."""
        return self.has_matrix(config, condition) or any(map(len, self.batches(config, condition, ("id",))))

    def matrix(self, config: str, condition: str = CLEAN) -> SimilarityMatrix:
        """The similarities of a retrieval config under a condition, memory-mapped; of large ones the best alone.

        Raises UsageError: there are none; VideoContrastError: the file is damaged.
        """
        path = self._matrix_path(config, condition)
        if not self.has_matrix(config, condition):
            raise UsageError(f"{self.path} keeps no similarities of {config} ({condition})")
        ids = read_json(path.with_suffix(".json"))
        path = path if path.is_file() else path.with_suffix(BEST)
        try:
            if path.suffix != BEST:
                return SimilarityMatrix(**ids, all_values=np.load(path, mmap_mode="r", allow_pickle=False))
            with np.load(path, allow_pickle=False) as arrays:
                return SimilarityMatrix(**ids, best=BestMatches(**arrays))
        except (OSError, EOFError, ValueError, TypeError, zipfile.BadZipFile) as error:
            raise _damaged(path, error) from error

    # Writing: every file appears whole, and the record last.

    def write_evidence(self, evidence: JsonObject, items: Mapping[str, Iterable[tuple[str, JsonObject]]]) -> None:
        """Writes `evidence.json`; digests of frames that this start of the run did not look at are kept.

        `evidence`: all but the items. `items`: config -> its items with their digests, sorted.
        """
        encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode
        former = self.evidence.get("items", {}) if (self.path / VIDEOS).exists() else {}  # else no frames were seen
        with atomic_path(self.path / EVIDENCE) as temporary, open(temporary, "w", encoding="utf-8") as handle:
            handle.write('{"items":{')
            for number, config in enumerate(sorted(items)):
                handle.write(f"{',' * (number > 0)}{encode(config)}:{{")
                for place, (name, entry) in enumerate(items[config]):
                    old = former.get(config, {}).get(name, {})
                    if "frames" in old and old["texts"] == entry["texts"]:
                        entry.setdefault("frames", old["frames"])
                    handle.write(f"{',' * (place > 0)}{encode(name)}:{encode(entry)}")
                handle.write("}")
            handle.write(f"}},{encode(evidence).removeprefix('{')}")

    def begin(self) -> None:
        """Takes the record away: until it is written again, the run is not finished.

        The matrices go, too: those that are no longer asked for would stay, of videos that may have been replaced.
        """
        (self.path / RECORD).unlink(missing_ok=True)
        shutil.rmtree(self.path / MATRICES, ignore_errors=True)
        for name in ("record", "metrics", "tables"):
            self.__dict__.pop(name, None)

    def write_scores(self, rows: Iterable[ScoreRow], *, pairs: bool = False) -> None:
        """Writes `scores.parquet` of rows sorted by config, condition and id, as they come; of `pairs` with groups."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        schema, rest = _schema(), iter(rows)
        schema = schema if pairs else schema.remove(schema.get_field_index("group"))
        with atomic_path(self.path / SCORES) as path, pq.ParquetWriter(path, schema, compression="zstd") as writer:
            while part := list(islice(rest, ROWS)):
                writer.write_table(pa.Table.from_pylist(part, schema))

    def write_matrix(self, config: str, condition: str, matrix: SimilarityMatrix) -> None:
        """Writes the similarities of a retrieval config under a condition, or the best ones, and the ids beside them.

        Args:
            config, condition, matrix: what was scored, and the similarities.
        """
        path = self._matrix_path(config, condition)
        if matrix.all_values is not None:
            with atomic_path(path) as temporary, open(temporary, "wb") as handle:
                np.save(handle, np.ascontiguousarray(matrix.all_values))
        if matrix.best is not None:
            with atomic_path(path.with_suffix(BEST)) as temporary, open(temporary, "wb") as handle:
                np.savez(handle, **vars(matrix.best))
        ids = {name: list(getattr(matrix, name)) for name in ("rows", "videos", "columns", "relevant", "frames")}
        write_json(path.with_suffix(".json"), ids)

    def write_metrics(self, metrics: RunMetrics) -> None:
        """Writes `metrics.json`."""
        write_json(self.path / METRICS, metrics)

    def finish(self, record: RunRecord) -> None:
        """Writes `run.json`: from now on the run is finished."""
        write_json(self.path / RECORD, plain(record))

    def write_videos(self, videos: Mapping[str, VideoFile]) -> None:
        """Adds to `videos.json`. Where a video was replaced, the record goes first: its numbers no longer hold."""
        former = self.videos
        if any(former.get(path, file).get("sha256") != file.get("sha256") for path, file in videos.items()):
            self.begin()
        write_json(self.path / VIDEOS, {**former, **videos})
        shutil.rmtree(self.path / NOTED, ignore_errors=True)

    def note_videos(self, process: int, videos: Mapping[str, VideoFile]) -> None:
        """Notes what a process found video files to hold, so that a run that was killed need not read them again."""
        if videos:
            (self.path / NOTED).mkdir(exist_ok=True)
            with open(self.path / NOTED / f"{process}.jsonl", "a", encoding="utf-8") as handle:
                handle.write(sealed_line({"videos": dict(videos)}))

    @property
    def known_videos(self) -> dict[str, VideoFile]:
        """`videos`, and what killed runs noted."""
        videos = self.videos
        for path in sorted((self.path / NOTED).glob("*.jsonl")):
            for _, record in sealed_records(path):
                videos |= record["videos"]
        return videos

    def write_results(self, name: str, eval_results: str, model_index: str, card: str) -> list[Path]:
        """Writes the results in the Hub's formats; returns the files, that of `.eval_results` first.

        Args:
            name, eval_results, model_index, card: of the set; YAML; YAML; markdown.
        """
        return [
            write_text(self.path / ".eval_results" / f"{name}.yaml", eval_results),
            write_text(self.path / "model-index.yaml", model_index),
            write_text(self.path / "RESULTS.md", card),
        ]

    @property
    def identity(self) -> Json:
        """The run that the directory was made for; None where no run began in it."""
        return self._stored(IDENTITY) or None

    def write_identity(self, identity: JsonObject) -> None:
        """Writes `identity.json`."""
        write_json(self.path / IDENTITY, plain(identity))

    def clear_if_unscored(self) -> None:
        """Lets another run have a directory in which nothing was scored: identity and lock go.

        So does the list of videos where none could be read; one with digests took time, and holds for all models.
        """
        answers = self.path / ANSWERS
        if set(self.foreign_files()) - {IDENTITY, ANSWERS} or any(path.is_file() for path in answers.rglob("*")):
            return
        any_digest = any("sha256" in video for video in self.known_videos.values())
        for name in (IDENTITY, LOCK) if any_digest else (IDENTITY, LOCK, VIDEOS):
            (self.path / name).unlink(missing_ok=True)
        for folder in (answers,) if any_digest else (answers, self.path / NOTED):
            shutil.rmtree(folder, ignore_errors=True)

    def read_self_test(self, key: str) -> JsonObject | None:
        """The stored self-test; None where there is none, or one of another model, set or sampling than `key` names."""
        entry = self._stored(SELF_TEST)
        return cast(JsonObject, entry["test"]) if entry.get("key") == key else None

    def write_self_test(self, key: str, test: Mapping[str, object]) -> None:
        """Writes `self_test.json`; `key` names what it holds for."""
        write_json(self.path / SELF_TEST, {"key": key, "test": plain(test)})

    def foreign_files(self) -> list[str]:
        """Names of files that a run that has not begun cannot have left."""
        return [p.name for p in self.path.iterdir() if p.name not in (LOCK, "store", TEXTS, VIDEOS, NOTED)]

    @property
    def lock(self) -> Path:
        """The file that is held while a run writes."""
        return self.path / LOCK

    def answers(self, space: str) -> Path:
        """The folder in which pair scorers of a model keep their answers."""
        return self.path / ANSWERS / space

    def read_texts(self, config: str, perturbation: str, key: str) -> tuple[tuple[str, ...], ...] | None:
        """Returns the stored perturbed texts of a config, a tuple an item; None where there are none of this key.

        Args:
            config, perturbation, key: whose texts, and what they must have been made from.
        """
        entry = self._stored(f"{TEXTS}/{config}.{perturbation}.json")
        return tuple(tuple(texts) for texts in entry["texts"]) if entry.get("key") == key else None

    def write_texts(self, config: str, perturbation: str, key: str, texts: Sequence[Sequence[str]]) -> None:
        """Stores the perturbed texts of a config.

        Args:
            config, perturbation, key, texts: whose texts, what they were made from, and a sequence an item.
        """
        write_json(self.path / TEXTS / f"{config}.{perturbation}.json", {"key": key, "texts": texts})

    def _matrix_path(self, config: str, condition: str) -> Path:
        # visual:jumble@3+text:ocr -> visual.jumble@3+text.ocr.npy
        return self.path / MATRICES / config / f"{condition.replace(':', '.')}.npy"

    def score_table(self) -> pa.Table:
        """The scores as columns of Arrow."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        path = self.path / SCORES
        try:
            return pq.ParquetFile(path).read()
        except (OSError, pa.ArrowException) as error:
            raise _damaged(path, error) from error


def _equal(column: pa.DictionaryArray, text: str) -> np.ndarray:
    texts = column.dictionary.to_pylist()
    codes: np.ndarray = np.from_dlpack(column.indices)
    return np.asarray(codes == (texts.index(text) if text in texts else -1))


def _damaged(path: Path, why: object) -> VideoContrastError:
    return VideoContrastError(f"{path} is damaged ({why}); copy the run again, or score into another folder")


def plain(value: Recorded) -> Recorded:
    """A mapping as it is read back from JSON: tuples as lists, paths as texts."""
    return cast(Recorded, json.loads(json.dumps(dict(value), sort_keys=True, default=str)))


def _schema() -> pa.Schema:
    import pyarrow as pa

    text, number = pa.string(), pa.float64()
    return pa.schema(
        {
            "config": text, "condition": text, "id": text, "video_id": text, "cluster": text, "label": pa.int64(),
            "kinds": pa.list_(text), "scores": pa.list_(number), "replaced_score": number, "parts": text,
            "frames": pa.list_(pa.int64()), "group": text,
        }
    )  # fmt: skip
