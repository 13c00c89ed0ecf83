"""Two runs, or logs, on the same items: paired differences with their intervals, McNemar's test, and Holm over all.

Figures of logs have intervals by source video where a log names it, and beside it as if clips were independent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from video_contrast.console import aligned, counted
from video_contrast.errors import UsageError, VideoContrastError, check_names
from video_contrast.files import AnyPath, Json
from video_contrast.metrics import cluster_bootstrap, interval_keys, mcnemar, paired_difference, share_interval
from video_contrast.metrics.checks import Values
from video_contrast.metrics.group_score import group_hits
from video_contrast.metrics.paired import ALPHA, pilot_power
from video_contrast.metrics.ranks import Ranks, exact_mean
from video_contrast.metrics.retrieval_counts import BothWays, matrix_ranks, ranks_of
from video_contrast.reports.foreign_logs.log import ForeignLog
from video_contrast.reports.runs import ItemHits, best_of, kind_hits
from video_contrast.storage import RunFolder
from video_contrast.storage.run_figures import ACCURACY, MAIN, PAIR_SCORES, TIES, FigureKey, against, figure
from video_contrast.storage.run_file_fields import ConfigMetrics, Numbers, ScoreRow, SimilarityMatrix
from video_contrast.storage.run_folder import CLEAN
from video_contrast.teacher.gate import correct_for_family

_ALIKE = 1e-9  # a difference that a sample without any variance shows

# One figure of two runs or logs on the items that both scored:
#   config, condition, figure, first_model, second_model
#   first, second, difference     of the figure; second less first
#   low, high                     of the difference, 95 %; None below five videos
#   p_value, p_holm               sign flips of videos; p_holm over all rows that have a p-value
#   n, n_clusters, n_left_out     items of both, their videos, and items that one run alone has
#   power                         as `metrics.power.PairedPower`, or None
#   mcnemar_p, only_first, only_second, n_ties    of multiple choice, items as independent; items in which a model ties
#                                 for the first place are wrong for McNemar's test, and a share elsewhere
#   independent_low, independent_high, independent_p_value    of logs: as if items of one video were independent
Comparison = Json  # an object with these keys


@dataclass(frozen=True)
class PairedTest:
    """The configs and condition of a paired test, its models and its seed."""

    config: str  # of both runs
    condition: str
    models: tuple[str, str]  # names of the first and the second
    seed: int  # as in `compare_runs`
    points: float | None


def compare_runs(
    first: AnyPath, second: AnyPath, configs: Sequence[str] | None = None, *, points: float | None = None, seed: int = 0
) -> list[Comparison]:
    """Compares two runs config by config and condition by condition, from their scores alone.

    Returns one row a config, condition and figure ("accuracy", "accuracy_<kind>" against the contrasts of one kind
    alone, "t2v R@1", "v2t R@1", and of pairs "text_score", "video_score", "group_score", a group counting once). Raises
    UsageError: a config that is not in both; VideoContrastError: not a finished run, other sets, or nothing in common.

    `configs`: all that both have where None. `points`: the difference for the power, in percentage points; the one that
    was seen where None. `seed`: of the signs that the test draws where it cannot be exact.
    """
    runs = RunFolder.open(first), RunFolder.open(second)
    marks = [run.record["set"]["fingerprints"] for run in runs]
    where = " and ".join(str(run.path) for run in runs)
    both = [config for config in marks[0] if config in marks[1]]
    check_names("config of both runs:", configs or (), both)
    names = runs[0].model, runs[1].model
    if names[0] == names[1]:
        names = f"{names[0]} ({runs[0].path})", f"{names[1]} ({runs[1].path})"
    rows: list[Comparison] = []
    for config in configs or both:
        if marks[0][config] != marks[1][config]:
            raise VideoContrastError(
                f"{where} scored different states of the config {config} (their fingerprints differ); score both on "
                "one copy of the set"
            )
        compare_config = _retrieval if runs[0].layout(config) == "retrieval" else _choice
        for condition in runs[0].conditions(config):
            if all(run.has_scores(config, condition) for run in runs):
                rows += compare_config(runs, PairedTest(config, condition, names, seed=seed, points=points))
    if not rows:
        raise VideoContrastError(f"{where} have no config and condition in common")
    correct_for_family(rows)
    return rows


def _mcnemar_figures(first: np.ndarray, second: np.ndarray) -> Comparison:
    """The columns that McNemar's test adds to a row; `[n]`, 1 where a model is right, else 0."""
    exact = mcnemar(first, second)
    counts = {name: int(exact[name]) for name in ("only_first", "only_second")}
    return {"mcnemar_p": exact["p_value"], **counts}


def _choice(runs: tuple[RunFolder, RunFolder], test: PairedTest) -> list[Comparison]:
    """The row of all candidates, and one a kind of contrast where other candidates stand beside it.

    A row is about the true candidate against some others, over the items that have one of those.
    """
    first, second = (kind_hits(run, test.config, test.condition) for run in runs)
    others = sorted((first.keys() & second.keys()) - {"", "random"}) if len(first) > 2 else []
    rows: list[Comparison] = []
    left_out = 0
    for kind in ("", *others):
        a, b = first[kind][0], second[kind][0]
        here, there = a.common(b)
        if not kind:
            left_out = len(a.names) + len(b.names) - 2 * len(here)
        if len(here):
            hits = [a.values[here], b.values[there]]
            clusters = np.array(a.clusters.take(here).to_pylist())
            rows.append(paired_row(test, against(kind).key, hits, clusters, left_out=left_out))
            # McNemar's test has no half right: a tie counts as wrong for both models.
            rows[-1] |= _mcnemar_figures(*map(np.floor, hits))
            rows[-1][TIES.key] = int(np.any([own % 1 > 0 for own in hits], axis=0).sum())
    if not rows:
        raise VideoContrastError(f"config {test.config}: the runs have no item in common")
    return rows + (_pair_rows(runs, test) if runs[0].layout(test.config) == "pairs" else [])


def _pair_rows(runs: tuple[RunFolder, RunFolder], test: PairedTest) -> list[Comparison]:
    """The rows of comparisons of pairs: the scores that both runs have, over the groups that both scored whole."""
    groups: list[dict[str, list[ScoreRow]]] = []
    for run in runs:
        of_run: dict[str, list[ScoreRow]] = {}
        for row in run.columns_of(test.config, test.condition, ("group", "cluster", "label", "scores")).to_pylist():
            of_run.setdefault(row["group"], []).append(row)
        whole = {name: rows for name, rows in of_run.items() if len(rows) == len(rows[0]["scores"])}
        groups.append({name: sorted(rows, key=lambda row: row["label"]) for name, rows in whole.items()})
    names = [name for name in groups[0] if name in groups[1]]
    if not names:
        return []
    left_out = len(groups[0]) + len(groups[1]) - 2 * len(names)
    # Of each group a matrix of captions and videos, caption j true for video j.
    hits = [group_hits([np.array([row["scores"] for row in of[name]]).T for name in names]) for of in groups]
    clusters = [groups[0][name][0]["cluster"] for name in names]
    numbers_of = [run.numbers(test.config, test.condition) for run in runs]
    return [
        paired_row(test, score.key, [hits[0][score.key], hits[1][score.key]], clusters, left_out=left_out)
        for score in PAIR_SCORES
        if all(figure(numbers, score) for numbers in numbers_of)
    ]


def _retrieval(runs: tuple[RunFolder, RunFolder], test: PairedTest) -> list[Comparison]:
    a, b = (run.matrix(test.config, test.condition) for run in runs)
    of_both = set(b.rows)
    rows = [name for name in a.rows if name in of_both]
    if not rows:
        raise VideoContrastError(f"config {test.config}: the runs have no clip in common")
    left_out = len(a.rows) + len(b.rows) - 2 * len(rows)
    (first, _), (second, caption_to_video) = (ranks_among(matrix, rows) for matrix in (a, b))
    captions = [ranks.text_to_video.hit(1) for ranks in (first, second)]
    clips = [ranks.video_to_text.hit(1) for ranks in (first, second)]
    t2v, v2t = (f"{score.kind} {score.name}" for score in MAIN["retrieval"])
    return [
        paired_row(test, t2v, captions, caption_to_video, left_out=left_out),
        paired_row(test, v2t, clips, second.videos, left_out=left_out),
    ]


def ranks_among(matrix: SimilarityMatrix, rows: Sequence[str]) -> tuple[BothWays, np.ndarray]:
    """The ranks among some clips and their captions, by clip and name, and the clip of each caption."""
    at = {name: n for n, name in enumerate(matrix.rows)}
    places = [at[name] for name in rows]
    new = {old: n for n, old in enumerate(places)}
    columns = [c for c, row in enumerate(matrix.relevant) if row in new]
    caption_to_video = np.array([new[matrix.relevant[c]] for c in columns], np.int64)
    order = np.lexsort((np.array([matrix.columns[c] for c in columns]), caption_to_video))
    if matrix.best is not None and rows == list(matrix.rows):
        ranks = ranks_of(matrix)
        ranks = ranks._replace(text_to_video=Ranks(*(counts[order] for counts in ranks.text_to_video)))
    else:
        values = np.ascontiguousarray(matrix.values[np.ix_(places, [columns[n] for n in order])])
        ranks = matrix_ranks(values, caption_to_video[order])
    return ranks, caption_to_video[order]


def paired_row(test: PairedTest, figure: str, hits: list[np.ndarray], clusters: Values, *, left_out: int) -> Comparison:
    """The row of a figure from the hits of both models on the same items, and the source videos of these, if known."""
    paired = paired_difference(hits[0], hits[1], clusters, seed=test.seed)
    return {
        "config": test.config,
        "condition": test.condition,
        "first_model": test.models[0],
        "second_model": test.models[1],
        "figure": figure,
        "first": exact_mean(hits[0]),
        "second": exact_mean(hits[1]),
        **{name: paired[name] for name in ("difference", "low", "high", "p_value", "n", "n_clusters")},
        "n_left_out": left_out,
        "power": pilot_power(hits[1] - hits[0], clusters, points=test.points),
    }


def lines(rows: Sequence[Comparison]) -> list[str]:
    """The rows as a table of text, below the names of the two models."""
    grid = [["config", "condition", "figure", "first", "second", "difference", "p (Holm)", "McNemar", "n"]]
    for row in rows:
        interval = "" if row["low"] is None else f" [{row['low']:+.3f}, {row['high']:+.3f}]"
        p_values = ("-" if p is None else f"{p:.2g}" for p in (row.get("p_holm"), row.get("mcnemar_p")))
        grid.append(
            [row["config"], row["condition"], row["figure"], f"{row['first']:.3f}", f"{row['second']:.3f}",
             f"{row['difference']:+.3f}{interval}", *p_values, str(row["n"])]
        )  # fmt: skip
    models = f"first: {rows[0]['first_model']}, second: {rows[0]['second_model']}"
    table = [f"{models}; difference: second less first", *aligned(grid, left=3)]
    few = [row["n_clusters"] for row in rows if row["low"] is None]
    if few:
        table.append(f"no interval where there are fewer than five videos (here {min(few)})")
    least = min(row["n_clusters"] for row in rows)
    if 0.5 ** (least - 1) > ALPHA:
        videos = counted(least, "video")
        table.append(f"at {videos} no difference can reach {ALPHA:g}: the least p-value is {0.5 ** (least - 1):.2g}")
    ties = max(row.get(TIES.key, 0) for row in rows)
    if ties:
        several = " at most" if len(rows) > 1 else ""
        table.append(f"McNemar's test takes a tie as wrong, all else as its share: {counted(ties, 'item')}{several}")
    left = sum({(row["config"], row["condition"]): row["n_left_out"] for row in rows}.values())
    if left:
        table.append(f"{counted(left, 'item')} left out: scored by one run alone")
    return table


def power_lines(rows: Sequence[Comparison]) -> list[str]:
    """A sentence a row: what its test can show, and both intervals where they differ."""
    lines = []
    for row in rows:
        several = any(row["config"] == other["config"] and row is not other for other in rows)
        name = f"{row['config']}, {row['figure']}" if several else row["config"]
        if row.get("independent_low") is not None and row["low"] is not None:
            lines.append(
                f"{name}: by source video {row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}], "
                f"p {row['p_value']:.2g}; as if clips were independent [{row['independent_low']:+.3f}, "
                f"{row['independent_high']:+.3f}], p {row['independent_p_value']:.2g}"
            )
        facts = row["power"]
        if facts is None:
            continue
        points, floor = 100 * facts["difference"], facts["detectable_with_more_items"]
        unit = "items" if floor is None else "source videos"
        if facts["detectable"] < _ALIKE:
            lines.append(f"{name}: differs alike in all {facts['n_clusters']:,} {unit}: too few to tell the power")
            continue
        clusters = f"{facts['clusters_needed']:,} {unit}"
        text = f"{name}: to tell {points:.1f} points apart (80 % power) you need {clusters}"
        if floor and not facts["enough"]:
            more = f"more items of these videos reach {100 * floor:.1f} points at best"
            if floor >= 1:
                text += ", not more items"
            else:
                text += f", not more items: {more}" if floor > facts["difference"] else f", or more items: {more}"
        lines.append(f"{text}; there are {facts['n_clusters']:,}, {shown(facts['detectable'])}")
    return lines


def shown(detectable: float) -> str:
    """The size of difference that a sample shows, as the end of a sentence.

    >>> shown(0.123), shown(1.2)
    ('which show 12.3 points or more', 'too few to show any difference')
    """
    return "too few to show any difference" if detectable >= 1 else f"which show {100 * detectable:.1f} points or more"


Logs = Sequence[ForeignLog]
INDEPENDENT = against("independent")  # the accuracy as if clips of one video were independent
LogMetrics = dict[str, ConfigMetrics]  # task -> its numbers, under the condition `CLEAN`


def log_metrics(logs: Logs) -> dict[str, LogMetrics]:
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
            values, clusters = np.array(list(log.hits.values())), list(log.clusters.values()) or None
            interval_of = share_interval if values.min() >= 0 and values.max() <= 1 else cluster_bootstrap
            interval, key = interval_of(values, clusters), ACCURACY.key
            numbers |= {"n": len(log.hits), key: interval.estimate, "n_clusters": interval.n_clusters}
            numbers |= interval_keys(key, interval)
            if clusters is not None and len(set(clusters)) < len(values):
                alone = interval_of(values, None)
                numbers |= {INDEPENDENT.key: alone.estimate, **interval_keys(INDEPENDENT.key, alone)}
        else:
            numbers[ACCURACY.key] = log.mean
        if log.reread:
            numbers |= {"reread": float(np.mean(list(log.reread.values()))), "reread_n": len(log.reread)}
            numbers["read_otherwise"] = log.read_otherwise
        if log.mean is not None:
            values = np.array(list(log.hits.values()) or [log.mean])
            numbers["reported"] = _as_share(log.mean, float(values.mean()))
            of_samples = float(values.std() / len(values) ** 0.5)
            numbers["reported_standard_error"] = _as_share(log.standard_error, of_samples)
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


def best_logs(logs: Logs) -> dict[FigureKey, str]:
    """The model that is better than every other one on a task, by the paired test, as `best_models` says it.

    Returns place of the accuracy -> model; nothing where no test says so.
    """
    tasks: dict[str, dict[str, ItemHits]] = {}
    for log in logs:
        hits = ItemHits.of(log.hits, log.hits.values(), (log.clusters.get(item, item) for item in log.hits))
        tasks.setdefault(log.task, {})[log.model] = hits
    best = {task: best_of(of) for task, of in tasks.items() if all(len(hits.names) for hits in of.values())}
    return {FigureKey(task, CLEAN, ACCURACY): model for task, model in best.items() if model is not None}


def notes_of(tables: Mapping[str, LogMetrics]) -> list[str]:
    """The lines below a table of logs: intervals that differ, figures that differ from the harness's own, notes."""
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
            if own and own.n and reported is not None and abs(reported - own.value) > 5e-4:
                lines.append(f"{where}: its own figure is {reported:.4f}, its samples give {own.value:.4f}")
            if otherwise := numbers.get("read_otherwise"):
                names = ", ".join(otherwise[:5]) + (", ..." if len(otherwise) > 5 else "")
                lines.append(
                    f"{where}: letters read by our rules give {numbers['reread']:.4f} of {numbers['reread_n']} items; "
                    f"{counted(len(otherwise), 'item')} read otherwise: {names} (--json lists all)"
                )
            lines += [f"{where}: {note}" for note in numbers["notes"]]
    return lines


def harness_notes(logs: Logs, *, beside_own: bool) -> list[str]:
    """The lines below figures of several harnesses; [] for one. `beside_own`: whether runs of `score` are there."""
    names = sorted({log.harness for log in logs}) + (["video-contrast"] if beside_own else [])
    if not logs or len(names) < 2:
        return []
    return [
        f"figures of {', '.join(names)}: each asks and reads answers by rules of its own, so they are not of one "
        "measure (docs/xray.md, logs of other harnesses)"
    ]


def compare_logs(
    first: Logs, second: Logs, tasks: Sequence[str] | None = None, *, points: float | None = None, seed: int = 0
) -> list[Comparison]:
    """Compares two models task by task on the items that both logs have.

    Returns rows as of `reports.compare.compare_runs`. `independent_low`, `independent_high` and `independent_p_value`
    are None where the log names no video, or one an item. Raises UsageError: no such task in both, or logs without
    samples; VideoContrastError: logs that disagree about the source videos, or have no item in common.

    `tasks`: all that both have where None; two single logs are compared whatever their tasks are called. `points`,
    `seed`: as of `compare_runs`.
    """
    by_task = {log.task: log for log in first}, {log.task: log for log in second}
    both = [task for task in by_task[0] if task in by_task[1]]
    pairs = [(by_task[0][task], by_task[1][task]) for task in both]
    if len(first) == len(second) == 1 and not both:
        pairs = [(first[0], second[0])]
    check_names("task of both logs:", tasks or (), both)
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
        row |= _mcnemar_figures(values[0], values[1])
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
    clusters = a.clusters or b.clusters
    return [clusters[item] for item in ids] if clusters else None
