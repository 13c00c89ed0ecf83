"""Logs of other harnesses: lmms-eval, VLMEvalKit, MTEB, inspect_ai; each read into the same `ForeignLog`.

`read_logs` tells the format from the content. A log with samples can be compared and X-rayed; MTEB writes means alone.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json
from video_contrast.reports.foreign_logs import inspect_ai, lmms_eval, mteb, vlmevalkit
from video_contrast.reports.foreign_logs.log import ForeignLog, LogItem, named_by_text
from video_contrast.reports.runs import hit
from video_contrast.storage import RunFolder
from video_contrast.storage.run_figures import ACCURACY
from video_contrast.storage.run_folder import CLEAN
from video_contrast.storage.table_file import read_table_file

__all__ = ["ForeignLog", "is_foreign", "named_by_text", "read_logs"]

_SUFFIXES = (".jsonl", ".eval", ".xlsx", ".tsv", ".csv", ".json")
HARNESSES = "lmms-eval (samples jsonl), VLMEvalKit (xlsx, tsv), MTEB (json), inspect_ai (.eval, .json)"


def is_foreign(path: Path) -> bool:
    """Whether a path is to be read as logs of another harness: a file, or a folder without a run of ours."""
    return path.is_file() or (path.is_dir() and not RunFolder.find(path) and any(_files(path)))


def read_logs(path: str | Path, metric: str | None = None) -> list[ForeignLog]:
    """Reads a log, the logs of a folder, or a run of ours.

    Raises UsageError: no such path, or no log in it; VideoContrastError: a log is damaged, of another version or
    without samples; names file and row. `path`: a file; a folder with such files at any depth; or a run's folder, whose
    multiple-choice configs are taken as tasks. `metric`: which figure, where a log has several.
    """
    source = Path(path).expanduser()
    if source.is_file():
        return _read(source, metric)
    if not source.is_dir():
        raise UsageError(f"no such file or folder: {source}")
    run = RunFolder(source)
    if run.is_finished:
        logs = []
        for (config, condition), rows in run.tables.items():
            if condition == CLEAN:
                items = {n: LogItem(hit(row), row["cluster"], int(np.argmax(row["scores"]))) for n, row in rows.items()}
                logs.append(ForeignLog(source, "video-contrast", Path(run.model).name, config, ACCURACY.key, items))
        if not logs:
            raise UsageError(f"{source} has no multiple-choice config")
        return logs
    logs = [log for file in _files(source) for log in _read(file, metric)]
    if not logs:
        raise UsageError(f"{source} holds no run and no log of {HARNESSES}")
    return logs


def _files(folder: Path) -> Iterator[Path]:
    """The files of a folder that look like logs: samples, judged tables, evals; and results of MTEB.

    Results of lmms-eval too where no samples stand beside them, so that they are refused by name.
    """
    for path in sorted(folder.rglob("*")):
        judged = path.suffix in (".xlsx", ".tsv") and path.stem.endswith(("_score", "_result"))
        if (path.suffix == ".jsonl" and "samples_" in path.name) or path.suffix == ".eval" or judged:
            yield path
        elif path.suffix == ".json" and path.name != "model_meta.json" and path.stat().st_size < 1 << 26:
            value = None
            with suppress(ValueError):  # some other file of the folder
                value = json.loads(path.read_text(encoding="utf-8"))
            if not isinstance(value, dict):
                continue
            alone = lmms_eval.is_results(value) and not any(path.parent.glob("*samples_*.jsonl"))
            if "mteb_version" in value or inspect_ai.is_log(value) or alone:
                yield path


def _read(path: Path, metric: str | None) -> list[ForeignLog]:
    suffix = path.suffix.lower()
    if suffix not in _SUFFIXES:
        raise UsageError(f"{path}: no log of {HARNESSES}")
    if suffix in (".eval", ".json") and (log := inspect_ai.load(path)) is not None:
        return [inspect_ai.read(path, log, metric)]
    if suffix == ".json" and isinstance(value := read_json(path), dict):
        lmms_eval.refuse_json(path, value)
        if mteb.is_result(value):
            return mteb.read(path, value, metric)
    rows = read_table_file(path).rows
    first = next(iter(rows.values()))
    if lmms_eval.is_samples(first):
        return [lmms_eval.read(path, list(rows.values()), metric)]
    if vlmevalkit.is_table(first):
        return [vlmevalkit.read(path, rows)]
    raise VideoContrastError(f"{path}: is no log of {HARNESSES}: its first row holds {', '.join(list(first)[:8])}")
