"""Reads logs of inspect_ai: `.eval` (a zip) and `.json`, version 2."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from video_contrast.errors import VideoContrastError, check_names
from video_contrast.files import Json, read_json
from video_contrast.question_text import LETTERS
from video_contrast.reports.foreign_logs.log import ForeignLog, Sample, items_of, video_of
from video_contrast.storage.table_file import open_zip, zip_member

VERSION = 2
_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}


def is_log(value: Mapping[str, Json]) -> bool:
    """Whether a JSON value is a log of inspect_ai."""
    return isinstance(value.get("eval"), Mapping) and "version" in value


def load(path: Path) -> dict[str, Json] | None:
    """The content of a log with its samples; None of a JSON file that is none.

    `path`: `.eval` or `.json`. Raises VideoContrastError: a `.eval` file that is damaged or has not ended.
    """
    if path.suffix.lower() != ".eval":
        value = read_json(path)
        return value if isinstance(value, dict) and is_log(value) else None
    with open_zip(path) as archive:
        names = archive.namelist()
        if "header.json" not in names:
            has_begun = "_journal/start.json" in names
            why = "the evaluation has not ended" if has_begun else "it is no log of inspect_ai"
            raise VideoContrastError(f"{path}: holds no header.json: {why}")
        header = _json(path, "header.json", zip_member(archive, path, "header.json"))
        if "summaries.json" in names:
            samples = _json(path, "summaries.json", zip_member(archive, path, "summaries.json"))
        else:
            files = sorted(n for n in names if n.startswith("samples/") and n.count("/") == 1 and n.endswith(".json"))
            samples = [_json(path, name, zip_member(archive, path, name)) for name in files]
    return {**header, "samples": samples}


def read(path: Path, log: Mapping[str, Json], metric: str | None = None) -> ForeignLog:
    """Reads a log that was parsed.

    `metric`: which scorer; the first where None. Raises UsageError: no such scorer; VideoContrastError: another
    version, no samples, or a sample whose score cannot be read; names the sample.
    """
    if log["version"] != VERSION:
        raise VideoContrastError(
            f"{path}: is a log of inspect_ai in version {log['version']}; this version reads {VERSION} (`inspect log "
            "convert` writes it)"
        )
    samples = log.get("samples")
    if not isinstance(samples, Sequence) or not samples:
        raise VideoContrastError(f"{path}: holds no samples; run the evaluation without --no-log-samples")
    scorers = list(dict.fromkeys(name for sample in samples for name in sample.get("scores") or {}))
    if not scorers:
        raise VideoContrastError(f"{path}: none of its {len(samples)} samples was scored; run `inspect score` on it")
    check_names(f"scorer of {path}:", [metric] if metric is not None else [], scorers)
    scorer = metric or scorers[0]
    own_samples = [_sample(sample, scorer, f"{path}: sample {number}") for number, sample in enumerate(samples)]
    status, notes = log.get("status"), []
    if status not in (None, "success"):
        notes.append(f"the evaluation ended as {status!r}: these are the samples until then")
    if scorers[1:]:
        notes.append(f"further scorers: {', '.join(scorers[1:])} (--metric)")
    model, task = (str(log["eval"].get(name, path.stem)) for name in ("model", "task"))
    return ForeignLog(
        path, "inspect_ai", model, task, scorer, items_of(own_samples), sum(sample.failed for sample in own_samples),
        mean=_reported(log, scorer, "accuracy", "mean"), standard_error=_reported(log, scorer, "stderr"),
        asked_whole=not any(sample.get("choices") for sample in samples), notes=tuple(notes),
    )  # fmt: skip


def _sample(sample: Mapping[str, Json], scorer: str, place: str) -> Sample:
    if "id" not in sample:
        raise VideoContrastError(f"{place} has no id")
    item, metadata = str(sample["id"]), sample.get("metadata")
    score = (sample.get("scores") or {}).get(scorer)
    return Sample(
        item, 0.0 if score is None else _value(score, scorer, f"{place} (id {item!r})"), place,
        video=video_of(metadata if isinstance(metadata, Mapping) else None), answer=(score or {}).get("answer", ""),
        reply=(score or {}).get("explanation"), key=sample.get("target"), asked=_asked(sample),
        epoch=sample.get("epoch", 1), failed=score is None,
    )  # fmt: skip


def _asked(sample: Mapping[str, Json]) -> str:
    """The text that the sample began with, and its choices."""
    value = sample.get("input")
    messages = value if isinstance(value, list) else [{"content": value}]
    contents = [message.get("content") for message in messages if isinstance(message, Mapping)]
    parts = [part for content in contents for part in (content if isinstance(content, list) else [{"text": content}])]
    texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
    choices = sample.get("choices")
    options = map("{}. {}".format, LETTERS, choices) if isinstance(choices, list) else ()
    return "\n".join([*(text for text in texts if isinstance(text, str)), *options])


def _value(score: Mapping[str, Json], scorer: str, place: str) -> float:
    value = score.get("value")
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, str) and (value in _WORDS or value.lower() in _WORDS):
        return _WORDS.get(value, _WORDS.get(value.lower(), 0.0))
    try:
        return float(str(value))
    except ValueError as error:
        raise VideoContrastError(f"{place}: the score of {scorer} is {value!r}, no single number") from error


def _reported(log: Mapping[str, Json], scorer: str, *names: str) -> float | None:
    for score in (log.get("results") or {}).get("scores") or ():
        if score.get("name") == scorer:
            for name in names:
                if name in score.get("metrics", {}):
                    return float(score["metrics"][name]["value"])
    return None


def _json(path: Path, name: str, content: bytes) -> Json:
    try:
        return json.loads(content)
    except ValueError as error:
        raise VideoContrastError(f"{path}: {name} is not JSON: {error}") from error
