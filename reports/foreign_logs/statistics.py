"""Intervals and tests of logs: by source video where a log names it, and beside it as if clips were independent."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.metrics import Interval, cluster_bootstrap, interval_keys, paired_difference, share_interval
from video_contrast.reports.compare import Comparison, PairedTest, add_mcnemar, correct_for_family, paired_row
from video_contrast.reports.foreign_logs.log import ForeignLog
from video_contrast.reports.hits import Hits, best_of
from video_contrast.reports.terminal import Place
from video_contrast.storage.run_figures import figure
from video_contrast.storage.run_folder import CLEAN
from video_contrast.storage.run_records import ConfigMetrics, Numbers

INDEPENDENT = "accuracy_independent"  # the accuracy as if clips of one video were independent
LogMetrics = dict[str, ConfigMetrics]  # task -> its numbers, under the condition `CLEAN`


def log_metrics(logs: Sequence[ForeignLog]) -> dict[str, LogMetrics]:
    """Metrics of logs as those of runs: model -> task -> `{"conditions": {CLEAN: numbers}}`.

    Returns numbers: `accuracy`, `accuracy_low`, `accuracy_high` (by source video where the log names it),
    `accuracy_independent_low`, `accuracy_independent_high` (where it names one and the two differ), `n`, `n_clusters`,
    `harness`, `reported` and `reported_standard_error` (the harness's own), `reread`, `reread_n` and `read_otherwise`
    (our reading of answers in letters, and the items on which the two differ), `notes`. Without samples there is the
    mean alone. Raises VideoContrastError: two logs of one model and task.
    """
    tables: dict[str, LogMetrics] = {}
    for log in logs:
        numbers: Numbers = {"harness": log.harness, "notes": list(log.notes)}
        if log.hits:
            numbers |= {"n": len(log.hits), **_interval_numbers(log)}
        else:
            numbers["accuracy"] = log.mean
        if log.reread:
            numbers |= {
                "reread": float(np.mean(list(log.reread.values()))),
                "reread_n": len(log.reread),
                "read_otherwise": log.read_otherwise,
            }
        if log.mean is not None:
            values = np.array(list(log.hits.values()) or [log.mean])
            numbers |= {
                "reported": _as_share(log.mean, float(values.mean())),
                "reported_standard_error": _as_share(log.standard_error, float(values.std() / len(values) ** 0.5)),
            }
        tasks = tables.setdefault(log.model, {})
        if log.task in tasks:
            raise VideoContrastError(f"{log.path}: a second log of {log.model} on {log.task}; give one of them")
        tasks[log.task] = {"layout": "multiple_choice", "conditions": {CLEAN: numbers}}
    return tables


def _as_share(value: float | None, of_samples: float) -> float | None:
    """A harness's own figure on the scale of its samples: tasks aggregate to percent or to shares, as they like.

    >>> _as_share(58.5556, 0.5856), _as_share(0.5856, 0.5856)
    (0.585556, 0.5856)
    """
    return value if value is None else min(value, value / 100, key=lambda scaled: abs(scaled - of_samples))


def best_logs(logs: Sequence[ForeignLog]) -> dict[Place, str]:
    """The model that is better than every other one on a task, by the paired test, as `terminal.best_models` says it.

    Returns place of the accuracy -> model; nothing where no test says so.
    """
    tasks: dict[str, dict[str, Hits]] = {}
    for log in logs:
        hits = {item: (value, log.clusters.get(item, item)) for item, value in log.hits.items()}
        tasks.setdefault(log.task, {})[log.model] = hits
    best = {task: best_of(models) for task, models in tasks.items() if all(models.values())}
    return {(task, CLEAN, "", "accuracy"): model for task, model in best.items() if model is not None}


def _interval_numbers(log: ForeignLog) -> Numbers:
    values = np.array(list(log.hits.values()))
    clusters = [log.clusters[item] for item in log.hits] if log.clusters else None
    interval = _interval(values, clusters)
    numbers = {"accuracy": interval.estimate, "n_clusters": interval.n_clusters, **interval_keys("accuracy", interval)}
    if clusters is not None:
        alone = _interval(values, None)
        if len(set(clusters)) < len(values):
            numbers |= {INDEPENDENT: alone.estimate, **interval_keys(INDEPENDENT, alone)}
    return numbers


def _interval(values: NDArray[np.float64], clusters: Sequence[str] | None) -> Interval:
    if values.min() >= 0 and values.max() <= 1:
        return share_interval(values, clusters)
    return cluster_bootstrap(values, clusters)


def notes_of(tables: Mapping[str, LogMetrics]) -> list[str]:
    """What stands below a table of logs: intervals that differ, figures that differ from the harness's own, notes."""
    lines = []
    for model, tasks in tables.items():
        for task, entry in tasks.items():
            numbers = entry["conditions"][CLEAN]
            where = f"{model}, {task} ({numbers['harness']}, n {numbers.get('n', 'unknown')})"
            own, alone = figure(numbers), figure(numbers, INDEPENDENT)
            if own and own.low is not None and alone and alone.low is not None:
                lines.append(
                    f"{where}: [{own.low:.3f}, {own.high:.3f}] over {numbers['n_clusters']} source videos; if its "
                    f"clips were independent [{alone.low:.3f}, {alone.high:.3f}]"
                )
            error = numbers.get("reported_standard_error")
            if error is not None:
                low, high = numbers["reported"] - 1.96 * error, numbers["reported"] + 1.96 * error
                lines.append(f"{where}: its own interval is [{low:.3f}, {high:.3f}]")
            reported = numbers.get("reported")
            if "n" in numbers and reported is not None and abs(reported - numbers["accuracy"]) > 5e-4:
                lines.append(f"{where}: its own figure is {reported:.4f}, its samples give {numbers['accuracy']:.4f}")
            if otherwise := numbers.get("read_otherwise"):
                shown = ", ".join(otherwise[:5]) + (", ..." if len(otherwise) > 5 else "")
                lines.append(
                    f"{where}: letters read by our rules give {numbers['reread']:.4f} of {numbers['reread_n']} items; "
                    f"{counted(len(otherwise), 'item')} read otherwise: {shown} (--json lists all)"
                )
            lines += [f"{where}: {note}" for note in numbers["notes"]]
    return lines


def harness_notes(logs: Sequence[ForeignLog], *, beside_own: bool) -> list[str]:
    """What stands below a table of figures of several harnesses; [] for one.

    `beside_own`: whether runs of `score` stand in the table, too.
    """
    names = sorted({log.harness for log in logs}) + (["video-contrast"] if beside_own else [])
    if not logs or len(names) < 2:
        return []
    return [
        f"figures of {', '.join(names)}: each asks and reads answers by rules of its own, so they are not of one "
        "measure (docs/xray.md, logs of other harnesses)"
    ]


def compare_logs(
    first: Sequence[ForeignLog],
    second: Sequence[ForeignLog],
    tasks: Sequence[str] | None = None,
    *,
    points: float | None = None,
    seed: int = 0,
) -> list[Comparison]:
    """Compares two models task by task on the items that both logs have.

    Returns rows as of `reports.compare.compare_runs`. `independent_low`, `independent_high` and `independent_p_value`
    are None where the log names no video, or one an item. Raises UsageError: no such task in both, or logs without
    samples; VideoContrastError: logs that disagree about the source videos, or have no item in common.

    `tasks`: all that both have where None; two single logs are compared whatever their tasks are called. `points`,
    `seed`: as of `compare_runs`.
    """
    by_task = {log.task: log for log in first}, {log.task: log for log in second}
    shared = [task for task in by_task[0] if task in by_task[1]]
    pairs = [(by_task[0][task], by_task[1][task]) for task in shared]
    if len(first) == len(second) == 1 and not shared:
        pairs = [(first[0], second[0])]
    for task in tasks or ():
        if task not in shared:
            raise unknown_name("task of both logs:", task, shared)
    if tasks:
        pairs = [pair for pair in pairs if pair[0].task in tasks]
    if not pairs:
        names = f"{', '.join(by_task[0])} and {', '.join(by_task[1])}"
        raise UsageError(f"{first[0].path} and {second[0].path} have no task in common: {names}")
    rows = [_compared(a, b, points, seed) for a, b in pairs]
    correct_for_family(rows)
    return rows


def _compared(a: ForeignLog, b: ForeignLog, points: float | None, seed: int) -> Comparison:
    for log in (a, b):
        if not log.hits:
            raise UsageError(f"{log.path}: holds no samples ({log.harness}), so there is nothing to pair")
    ids = [item for item in a.hits if item in b.hits]
    if not ids:
        names = f"{next(iter(a.hits))!r} and {next(iter(b.hits))!r}"
        raise VideoContrastError(f"{a.path} and {b.path} have no item in common: their ids differ, as in {names}")
    clusters = _clusters(a, b, ids)
    values = [np.array([log.hits[item] for item in ids]) for log in (a, b)]
    models = (a.model, b.model) if a.model != b.model else (f"{a.model} ({a.path})", f"{b.model} ({b.path})")
    task = a.task if a.task == b.task else f"{a.task} / {b.task}"
    figure = a.metric if a.metric == b.metric else f"{a.metric}/{b.metric}"
    test = PairedTest(task, CLEAN, models, seed=seed, points=points)
    row = paired_row(test, figure, values, clusters, left_out=len(a.hits) + len(b.hits) - 2 * len(ids))
    several = clusters is not None and len(set(clusters)) < len(ids)
    alone = paired_difference(values[0], values[1], seed=seed) if several else None
    row |= {f"independent_{name}": alone and alone[name] for name in ("low", "high", "p_value")}
    if all(set(np.unique(part)) <= {0.0, 1.0} for part in values):
        add_mcnemar(row, values[0], values[1])
    return row


def _clusters(a: ForeignLog, b: ForeignLog, ids: Sequence[str]) -> list[str] | None:
    """The source video of each item; that of either log where only one names it."""
    if a.clusters and b.clusters:
        for item in ids:
            if a.clusters[item] != b.clusters[item]:
                raise VideoContrastError(
                    f"{b.path}: item {item!r} is of the video {b.clusters[item]!r}, in {a.path} of "
                    f"{a.clusters[item]!r}: these are different sets"
                )
    named = a.clusters or b.clusters
    return [named[item] for item in ids] if named else None
