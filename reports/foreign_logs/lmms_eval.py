"""Reads the samples of lmms-eval (`DATE_samples_TASK.jsonl`, written with --log_samples)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from video_contrast.errors import UsageError, VideoContrastError, check_names
from video_contrast.files import Json, read_json
from video_contrast.reports.foreign_logs.log import ForeignLog, Sample, items_of, video_of

# Fields of a sample that are no metric.
_FIELDS = {
    "doc_id", "doc", "target", "arguments", "input", "resps", "filtered_resps", "token_counts", "doc_hash",
    "prompt_hash", "target_hash", "input_media", "submission",
}  # fmt: skip
_SCORES = ("score", "acc", "accuracy", "correct", "rating", "exact_match", "right")
# Fields with the model's answer and with the right one: tasks that leave the comparison to their aggregation.
_PAIRS = [("pred_answer", "answer"), ("pred_answer", "gt_answer"), ("parsed_pred", "answer"), ("pred", "ground_truth")]
_NAME = re.compile(r"(?:(.*)_)?samples_(.+)$")


def is_samples(row: Mapping[str, Json]) -> bool:
    """Whether the first line of a file is a sample of lmms-eval."""
    return "doc_id" in row and "target" in row


def read(path: Path, rows: Sequence[Mapping[str, Json]], metric: str | None = None) -> ForeignLog:
    """Reads the samples of one task.

    `path`: the file; its folder is called as the model. `metric`: which metric; the first that has a score for every
    sample where None. Raises UsageError: no such metric; VideoContrastError: a line is no sample, or no metric has a
    score for every sample; names file and line.
    """
    metrics = [name for name in rows[0] if name not in _FIELDS]
    check_names(f"metric of {path}:", [metric] if metric is not None else [], metrics)
    usable = [name for name in ([metric] if metric else metrics) if value_of(rows[0].get(name)) is not None]
    if not usable:
        raise VideoContrastError(
            f"{path}: line 1 holds no score of its own: the metrics of this task ({', '.join(metrics) or 'none'}) are "
            "made of all samples together"
        )
    name = usable[0]
    samples = [_sample(row, name, f"{path}: line {number}") for number, row in enumerate(rows, 1)]
    match = _NAME.match(path.stem)
    date, task = match.groups() if match else (None, path.stem)
    # the mean and the standard error that the harness wrote beside the samples, where it did
    source, figures = path.with_name(f"{date}_results.json"), {}
    if date is not None and source.is_file() and isinstance(results := read_json(source), dict):
        entry = results.get("results", {}).get(task, {})
        figures = {key.partition(",")[0]: value for key, value in entry.items() if isinstance(value, int | float)}
    error = figures.get(f"{name}_stderr_clt", figures.get(f"{name}_stderr"))
    model, n_failed = path.resolve().parent.name, sum(sample.failed for sample in samples)
    return ForeignLog(
        path, "lmms-eval", model, task, name, items_of(samples), n_failed, figures.get(name), error, asked_whole=True,
        notes=(f"further metrics: {', '.join(usable[1:])} (--metric)",) if usable[1:] else (),
    )  # fmt: skip


def _sample(row: Mapping[str, Json], metric: str, place: str) -> Sample:
    if not is_samples(row):
        raise VideoContrastError(f"{place} is no sample of lmms-eval: it lacks doc_id or target")
    value = value_of(row.get(metric))
    if value is None:
        raise VideoContrastError(f"{place}: {metric} holds no score: {row.get(metric)!r}")
    fields = row[metric] if isinstance(row[metric], Mapping) else {}
    own = {"id", "right"} <= fields.keys()  # of a task that `export` wrote: the id is the row's in its set
    media = row.get("input_media")
    file = media[0] if isinstance(media, list) and len(media) == 1 else None  # the only one that the sample shows
    return Sample(
        str(fields["id"] if own else row["doc_id"]), value, place,
        video=video_of(fields, row) or (file if isinstance(file, str) else None),
        answer=_reply(row) if own else _answer(fields, 0), reply=_reply(row), key=row["target"],
        asked=row.get("input"), failed=row.get("filtered_resps") in ([], "", [""], None),
    )  # fmt: skip


def value_of(metric: object) -> float | None:
    """The contribution of a sample to a metric: a number, the score in it, or whether its answer is the right one.

    >>> value_of(1), value_of({"score": 0.5}), value_of({"pred": 2, "ground_truth": "2"}), value_of({"pred": "A"})
    (1.0, 0.5, 1.0, None)
    """
    if isinstance(metric, bool | int | float):
        return float(metric)
    if not isinstance(metric, Mapping):
        return None
    for name in _SCORES:
        if isinstance(metric.get(name), bool | int | float):
            return float(metric[name])
    pred, truth = _answer(metric, 0), _answer(metric, 1)
    return None if truth is None else float(str(pred).strip().lower() == str(truth).strip().lower())


def _answer(metric: Mapping[str, Json], which: int) -> object:
    return next((metric[pair[which]] for pair in _PAIRS if pair[0] in metric and pair[1] in metric), None)


def _reply(row: Mapping[str, Json]) -> object:
    """The model's answer, before the task's own filter where the log holds it."""
    answers = row.get("resps") or row.get("filtered_resps")
    while isinstance(answers, list) and answers:
        answers = answers[0]
    return answers


def is_results(value: Mapping[str, Json]) -> bool:
    """Whether a JSON object holds the results of lmms-eval, which have no samples."""
    return isinstance(value.get("results"), Mapping) and "n-samples" in value


def refuse_json(path: Path, value: Mapping[str, Json]) -> None:
    """Refuses the results of lmms-eval, and the one JSON file in which it kept samples up to its version 0.2.

    Raises UsageError: the file is one.
    """
    if is_results(value):
        raise UsageError(
            f"{path}: lmms-eval's results without samples; run it with --log_samples and give DATE_samples_TASK.jsonl"
        )
    if isinstance(value.get("logs"), list) and "model_configs" in value:
        raise UsageError(f"{path} is of lmms-eval up to version 0.2; DATE_samples_TASK.jsonl of 0.3 and later is read")
