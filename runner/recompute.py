"""A stored run checked against itself and its set: every figure is computed again from the stored scores."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeGuard, cast

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.metrics.retrieval_counts import ranks_of
from video_contrast.runner import table_metrics
from video_contrast.runner.conditions import Condition, Visual, parse
from video_contrast.runner.items import Item
from video_contrast.runner.plan import PlannedTable
from video_contrast.runner.sets import Group, LoadedSet, Questions, load_set
from video_contrast.runner.table_metrics import TableScores
from video_contrast.runner.table_scores import caption_columns, pack
from video_contrast.runner.views import Sampling, views_of
from video_contrast.storage import RunFolder
from video_contrast.storage.run_figures import CLIP_MAP, PAIR_SCORES
from video_contrast.storage.run_file_fields import Numbers, ScoreRow
from video_contrast.storage.run_folder import CLEAN
from video_contrast.version import __version__

TRACED = 0.1  # of the standard deviation of the scores: half precision, another batch
TRIED = 8  # missing clips that are looked for
# Stand in a run beside its scores, and cannot be computed from them.
_NOT_IN_SCORES = {"captions_changed"}
_NOT_IN_MATRICES = _NOT_IN_SCORES | {"unparseable"}


def contradictions(run: RunFolder, dataset: str | Path | None = None) -> list[str]:
    """The claims of a finished run that its stored scores or its set deny; [] for a run that is whole.

    Labels, kinds and source videos must be those of the set, an item without a score must be of a clip that the run
    lists as missing, and every figure of `metrics.json` must come out of the scores again. Conditions of retrieval
    whose similarities were not kept are not checked. `dataset`: the set; where the run says that it lies by default.
    Raises UsageError: no such set; VideoContrastError: the set cannot be read, or the run's files are damaged.
    """
    record = run.record
    limit = record.get("request", {}).get("limit")
    questions = cast(Questions, next(iter(record["set"].get("questions", {}).values()), "joined"))
    fingerprints = record["set"]["fingerprints"]
    source = load_set(
        dataset or record["set"]["dataset"], run.configs, record["set"]["split"],
        limit=limit if isinstance(limit, int) else None, questions=questions,
    )  # fmt: skip
    lines = [
        f"{config}: the set has other rows than those that were scored (fingerprint {source.fingerprints[config]}, the "
        f"run's is {fingerprints.get(config)})"
        for config in run.configs
        if fingerprints.get(config) != source.fingerprints[config]
    ]
    if lines:
        return lines
    try:
        figures = [*_denied_by_set(run, source), *_denied_by_scores(run, source)]
        return figures or [*_denied_by_traces(run, source), *_denied_by_clips(run, source), *_denied_by_card(run)]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise VideoContrastError(f"{run.path}: its scores cannot be read as those of its set: {error!r}") from error


def _tables(run: RunFolder, dataset: LoadedSet) -> Iterator[tuple[Group, Condition]]:
    for group in dataset.groups:
        names = run.conditions(group.config)
        yield from ((group, own) for own in ([group.own] if group.own.group != "clean" else parse(names)))


def _denied_by_set(run: RunFolder, dataset: LoadedSet) -> Iterator[str]:
    """Scores of items that the set does not have, items that it has and the run left out, and labels of its own."""
    rows_of = run.tables
    n_rows = len(run.score_rows())
    if n_rows != sum(map(len, rows_of.values())):
        yield "scores.parquet holds an item twice"
    ids_of: dict[tuple[str, str], set[str]] = {}
    for group, condition in _tables(run, dataset):
        place = (group.config, condition.name)
        where = f"{group.config}, {condition.name}"
        rows = rows_of.get(place, {})
        ids_of.setdefault(place, set()).update(group.items.column("id"))
        if group.layout == "retrieval":
            if not run.has_matrix(*place):
                if condition.name == CLEAN:
                    yield f"{where}: the similarities are missing, which every run keeps"
                continue
            scored_ids = set(run.matrix(*place).rows)
        else:
            scored_ids = set(rows)
        for item in group.items:
            if item.id not in scored_ids and item.clip.name not in run.missing:
                yield f"{where}: {item.id} has no score, and its clip is not among the missing ones"
            if item.id in rows and (field := _changed_field(item, rows[item.id])):
                yield f"{where}: {item.id} is not scored as the set has it (its {field})"
    for place, rows in rows_of.items():
        for name in rows.keys() - ids_of.get(place, set()):
            yield f"{place[0]}, {place[1]}: {name} is no item of the set"


def _changed_field(item: Item, row: ScoreRow) -> str | None:
    same = {
        "label": row["label"] == item.label,
        "kinds": tuple(row["kinds"]) == item.kinds,
        "cluster": row["cluster"] == item.cluster,
        "number of candidates": len(row["scores"]) == len(item.texts),
    }
    return next((field for field, is_same in same.items() if not is_same), None)


def _denied_by_scores(run: RunFolder, dataset: LoadedSet) -> Iterator[str]:
    """Figures of `metrics.json` that are not those of the stored scores."""
    rows_of = run.tables
    metrics, hits = {}, {}
    for group, condition in _tables(run, dataset):
        table = PlannedTable(group, condition, group.joined(group.items.texts))
        config, name = table.name
        numbers_of_run = run.numbers(config, name)
        scores = _scores(run, table, rows_of.get(table.name, {}), numbers_of_run)
        if scores is None:  # the matrix was not kept: these figures stand as they are
            metrics[table.name] = (table, dict(numbers_of_run))
            continue
        metrics[table.name] = (table, table_metrics.metrics_of(scores, seed=run.record["seed"]))
        hits[table.name] = table_metrics.item_hits(scores)
    if any(config.endswith(table_metrics.PROFICIENCY) for config, _ in hits):
        for place, numbers in table_metrics.with_proficiency(hits).items():
            metrics[place][1].update(numbers)
    again = table_metrics.summary(metrics)["configs"]
    for config, entry in run.metrics["configs"].items():
        for name, numbers in entry["conditions"].items():
            retrieval = entry["layout"] == "retrieval"
            left_out = _NOT_IN_MATRICES if retrieval else _NOT_IN_SCORES
            yield from _differences(f"{config}, {name}", numbers, again[config]["conditions"][name], left_out)
        for score, robust in entry.get("robustness", {}).items():
            for group_name, gammas in robust.items():
                own = again[config].get("robustness", {}).get(score, {}).get(group_name)
                if _rounded(gammas) != _rounded(own):
                    yield f"{config}: the robustness of {score} ({group_name}) is not that of the scores"


def _denied_by_traces(run: RunFolder, dataset: LoadedSet) -> Iterator[str]:
    """Scores of an encoder that are not those of its self-test, and frames of another number than the record's."""
    clip_traces = [trace for trace in run.evidence.get("traces", []) if "video" in trace]
    traces = {(trace["clip"], trace["caption"]): trace["scores"][0] for trace in clip_traces}
    sampling = run.record["sampling"]
    for group in dataset.groups:
        rows = run.tables.get((group.config, CLEAN), {})
        spread = float(np.std([score for row in rows.values() for score in row["scores"]])) if rows else 0.0
        for item in group.items:
            trace_score = traces.get((item.clip.name, group.with_question(item, item.texts[item.label])))
            if trace_score is None or item.id not in rows:
                continue
            score = rows[item.id]["scores"][item.label]
            if abs(score - trace_score) > TRACED * spread:
                yield f"{group.config}: {item.id} has the score {score:.4g}, its self-test gave {trace_score:.4g}"
        counts = {len(row["frames"]) for row in rows.values()} - {0}
        if counts and sampling.get("fps") is None and max(counts) != sampling["frames"]:
            yield f"{group.config}: {max(counts)} frames were shown, the record says {sampling['frames']}"


def _denied_by_clips(run: RunFolder, dataset: LoadedSet) -> Iterator[str]:
    """Clips that the run lists as missing, and that can be read here."""
    if dataset.root is None or not run.missing:
        return
    clips = {clip.name: clip for group in dataset.groups for clip in group.items.clips}
    for clip in [clips[name] for name in run.missing if name in clips][:TRIED]:
        try:
            next(views_of(dataset.root, clip, (Visual(),), Sampling(1)))
        except (VideoContrastError, OSError):
            continue
        yield f"{clip.name} is listed as missing, and it can be read"


def _denied_by_card(run: RunFolder) -> Iterator[str]:
    """Numbers of RESULTS.md that are not those of the figures, where this version wrote it."""
    from video_contrast.hub_cards.results import result_card, results_of

    path = run.path / "RESULTS.md"
    if run.record["version"] != __version__ or not path.is_file():
        return
    texts = (path.read_text(encoding="utf-8"), result_card(results_of(run.path), run.record))
    if not set.issubset(*(set(re.findall(r"\d+\.\d+", text)) for text in texts)):
        yield "RESULTS.md holds numbers that are not the run's"


def _scores(run: RunFolder, table: PlannedTable, rows: Mapping[str, ScoreRow], numbers: Numbers) -> TableScores | None:
    """The stored scores of a table as the engine had them; None where its matrix was not kept."""
    items = table.group.items
    if not table.is_retrieval:
        places = tuple(n for n, item in enumerate(items) if item.id in rows)
        own = [rows[items[n].id] for n in places]
        parts = tuple(None if row["parts"] is None else json.loads(row["parts"]) for row in own)
        return TableScores(
            table,
            places,
            rows=pack(np.asarray(row["scores"]) for row in own),
            replaced_scores=[row["replaced_score"] for row in own],
            parts_of=parts.__getitem__,
            unparseable=tuple(float(any(part.get("unparseable") for part in each or ())) for each in parts),
            comparable=any(score.key in numbers for score in (PAIR_SCORES[1], CLIP_MAP)),
        )
    if not run.has_matrix(*table.name):
        return None
    matrix = run.matrix(*table.name)
    place_of = {item.id: n for n, item in enumerate(items)}
    places = tuple(place_of[name] for name in matrix.rows)
    columns = caption_columns(table, places)
    if [name for name, _, _ in columns] != list(matrix.columns):
        raise ValueError(f"the columns of {table.name[0]} are not the captions of its rows")
    return TableScores(table, places, columns=columns, ranks=ranks_of(matrix))


def _differences(where: str, numbers: Numbers, again: Numbers, left_out: set[str]) -> Iterator[str]:
    for key in sorted((numbers.keys() | again.keys()) - left_out):
        old, new = numbers.get(key), again.get(key)
        same = old == new
        if _is_number(old) and _is_number(new):
            same = math.isclose(old, new, rel_tol=1e-6, abs_tol=1e-9)
        if not same:
            yield f"{where}: {key} is {old} in metrics.json, the scores give {new}"


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _rounded(value: object) -> object:
    return json.loads(json.dumps(value), parse_float=lambda text: float(f"{float(text):.9g}"))
