"""The evidence of one side: of a run of ours, of a log of another harness, or of a certificate.

And what two sides have in common: items, traces, and the raw scores of the same captions.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import Json, JsonObject, read_json
from video_contrast.metrics.ranks import first_chance
from video_contrast.reports.foreign_logs import is_foreign, named_by_text, read_logs
from video_contrast.reports.foreign_logs.log import ForeignLog
from video_contrast.reports.foreign_logs.mteb import predicted
from video_contrast.reports.runs import hit, load_runs
from video_contrast.storage import RunFolder
from video_contrast.storage.certificates import read_certificate
from video_contrast.storage.run_figures import ACCURACY
from video_contrast.storage.run_file_fields import Numbers, SimilarityMatrix

CERTIFICATE = "certificate"  # the key by which a certificate is known: its version


@dataclass(frozen=True)
class ItemEvidence:
    """The evidence of an item."""

    label: int | None = None  # number of the true candidate; None where that is not known
    hit: float | None = None  # its contribution to the figure, 0..1; None in retrieval
    choice: int | None = None  # the candidate that was chosen, where one was
    scores: tuple[float, ...] = ()  # one a candidate; () of logs and in retrieval
    parts: tuple[Mapping[str, float], ...] = ()  # raw parts of the scores, one dict a candidate
    texts: tuple[str, ...] = ()  # a digest a candidate or caption
    tokens: tuple[str, ...] = ()  # a digest of the token ids of each
    numbers: tuple[int, ...] = ()  # of the frames that were shown
    frames: str = ""  # a digest of their pixels; "" where they were not looked at
    unread: bool = False  # whether an answer could not be read


@dataclass(frozen=True)
class Side:
    """One side of a comparison, for one config."""

    name: str  # for the reader
    source: str  # "run", "certificate", or the harness of a log
    config: str = ""  # of the set, or the log's task; "" of a certificate
    # facts of the model, its kind, options, weights, dtype, device.
    model: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)  # of the libraries
    sampling: Mapping[str, Json] = field(default_factory=dict)  # frames, policy, fps
    prompts: Mapping[str, str] = field(default_factory=dict)  # prompts that the run recorded, by what they are for
    fingerprint: str = ""  # of the rows of the set
    missing: Mapping[str, str] = field(default_factory=dict)  # clip -> why it was not scored
    items: Mapping[str, ItemEvidence] = field(default_factory=dict)  # item -> what is known of it
    # (clip, caption) -> what the model was given and returned.
    traces: Mapping[tuple[str, str], Json] = field(default_factory=dict)
    numbers: Numbers = field(default_factory=dict)  # the figures
    matrix: SimilarityMatrix | None = None  # similarities, in retrieval
    log: ForeignLog | None = None  # of a side that is one

    @property
    def options(self) -> Mapping[str, Json]:
        """The options of the model's kind."""
        return self.model.get("options") or {}


def pairs_of(
    first: str | Path, second: str | Path, config: str | None = None, metric: str | None = None
) -> list[tuple[Side, Side]]:
    """The two sides, config by config: of folders of runs, logs of other harnesses, or certificates.

    Args:
        first, second: their paths.
        config: one that both have; all where None.
        metric: which figure, where a log has several.

    Raises UsageError: no run, log or certificate; or no config in common; VideoContrastError: a file is damaged.
    """
    pairs = []
    for a, b in _pairs(first, second, config, metric):
        if "run" in (a.source, b.source):  # predictions without a key have the run's
            a, b = _keyed(a, b), _keyed(b, a)
        if not a.items.keys() & b.items.keys():  # a log has the ids of a run's set, found by its texts
            a, b = (_like(a, b) if b.source == "run" else a), (_like(b, a) if a.source == "run" else b)
        pairs.append((a, b))
    # Of the configs of a run, a log is of those with whose items it has some in common.
    with_logs = [pair for pair in pairs if {side.source for side in pair} - {"run", CERTIFICATE}]
    return [(a, b) for a, b in with_logs if a.items.keys() & b.items.keys()] or pairs


def _pairs(first: str | Path, second: str | Path, config: str | None, metric: str | None) -> list[tuple[Side, Side]]:
    sides = [_sides(Path(path).expanduser(), metric) for path in (first, second)]
    single = [next(iter(side.values())) for side in sides if len(side) == 1]
    if len(single) == 2 and config is None:
        return [(single[0], single[1])]
    for whole, other in ((0, 1), (1, 0)):  # a certificate or a lone log stands for every config of a run
        entry, *more = sides[whole].values()
        if not more and entry.source != "run":
            sides[whole] = dict.fromkeys(sides[other], entry)
    both = [name for name in sides[0] if name in sides[1]]
    if not both or (config is not None and config not in both):
        raise unknown_name(f"config of both {first} and {second}:", config or "(none)", both)
    return [(sides[0][name], sides[1][name]) for name in ([config] if config else both)]


def _keyed(side: Side, run: Side) -> Side:
    """A side with raw scores and no key, with the key of a run."""
    items = {}
    for name, item in side.items.items():
        label = run.items[name].label if name in run.items else None
        if item.label is None and item.scores and label is not None:
            items[name] = replace(item, label=label, hit=first_chance(item.scores, label))
    return replace(side, items=items, numbers=_mean(items)) if items else side


def _mean(items: Mapping[str, ItemEvidence]) -> Numbers:
    return {ACCURACY.key: float(np.mean([item.hit or 0.0 for item in items.values()])), "n": len(items)}


def _like(side: Side, run: Side) -> Side:
    if side.log is None or not side.log.asked:
        return side
    try:
        rows = next(one.set_rows for one in load_runs([Path(run.name)]) if one.key.config == run.config)
    except VideoContrastError:  # the set was moved: ids stay as they are, and the stage "set" says so
        return side
    rows_of_run = (row for name, row in rows.items() if name in run.items and "candidates" in row)
    return _of_log(named_by_text(side.log, rows_of_run))


def _sides(path: Path, metric: str | None) -> dict[str, Side]:
    if path.is_file() and path.suffix == ".json":
        value = read_json(path)
        if isinstance(value, Mapping) and CERTIFICATE in value:
            return {"": certificate_side(read_certificate(str(path)), str(path))}
        if isinstance(value, Mapping) and (scores := predicted(value)):
            items = {name: ItemEvidence(scores=own, choice=int(np.argmax(own))) for name, own in scores.items()}
            task = path.stem.removesuffix("_predictions")
            return {task: Side(name=str(path), source="MTEB", config=task, items=items)}
    if is_foreign(path):
        return {log.task: _of_log(log) for log in read_logs(path, metric)}
    if not path.is_dir():
        raise UsageError(f"{path}: no folder of a run, no log and no certificate")
    run = RunFolder.open(path)
    return {config: _of_run(run, config) for config in run.configs}


def certificate_side(certificate: Mapping[str, Json], name: str) -> Side:
    """The evidence that a certificate holds. Raises VideoContrastError: it lacks a part."""
    try:
        traces = {(trace["clip"], trace["caption"]): trace for trace in certificate["traces"]}
        facts = {part: certificate[part] for part in ("model", "versions", "sampling")}
        return Side(name, CERTIFICATE, traces=traces, **facts)
    except (KeyError, TypeError) as error:
        raise VideoContrastError(f"{name} is no whole certificate: it lacks {error}") from error


def _of_log(log: ForeignLog) -> Side:
    if not log.hits:
        raise UsageError(f"{log.path}: holds no samples ({log.harness}), so there is nothing to compare")
    items = {name: ItemEvidence(hit=value, choice=log.choices.get(name)) for name, value in log.hits.items()}
    numbers = {**_mean(items), "unanswered": log.failed}
    return Side(str(log.path), log.harness, log.task, {"name": log.model}, items=items, numbers=numbers, log=log)


def _of_run(run: RunFolder, config: str) -> Side:
    record, evidence = run.record, run.evidence
    condition = next(iter(run.conditions(config)))
    digests = evidence.get("items", {}).get(config, {})
    is_retrieval = run.layout(config) == "retrieval"
    matrix = run.matrix(config, condition) if is_retrieval and run.has_matrix(config, condition) else None
    items = {}
    if matrix is not None:
        for at, name in enumerate(matrix.rows):
            numbers = tuple(matrix.frames[at]) if matrix.frames else ()
            items[name] = ItemEvidence(numbers=numbers, **_digests(digests.get(name, {})))
    for name, row in run.tables.get((config, condition), {}).items():
        parts = json.loads(row["parts"]) if row["parts"] else []
        items[name] = ItemEvidence(
            row["label"], hit(row), int(np.argmax(row["scores"])), tuple(row["scores"]), tuple(parts),
            numbers=tuple(row["frames"]), unread=any(part.get("unparseable") for part in parts),
            **_digests(digests.get(name, {})),
        )  # fmt: skip
    network = evidence.get("network", {})
    whole: JsonObject = {**record["model"], **network, "dtype": record["dtype"], "device": record.get("device", "")}
    prompts = {name: "\n".join(texts) for name, texts in record["set"].get("prompts", {}).items() if name == config}
    prompt = record.get("input", {}).get("prompt")
    return Side(
        str(run.path), "run", config, model=whole, versions=record["versions"], sampling=record["sampling"],
        prompts=prompts | ({"first item": str(prompt)} if prompt else {}),
        fingerprint=record["set"]["fingerprints"].get(config, ""), missing=run.missing, items=items,
        traces={(trace["clip"], trace["caption"]): trace for trace in evidence.get("traces", [])},
        numbers=run.numbers(config, condition), matrix=matrix,
    )  # fmt: skip


def _digests(entry: Mapping[str, Json]) -> dict[str, Json]:
    """The arguments of `ItemEvidence` that `evidence.json` has of an item."""
    texts, tokens = (tuple(entry.get(name, ())) for name in ("texts", "tokens"))
    return {"texts": texts, "tokens": tokens, "frames": entry.get("frames", "")}


def common(a: Side, b: Side) -> list[str]:
    """The items that both sides have, in the order of the first."""
    return [name for name in a.items if name in b.items]


def item_pairs(a: Side, b: Side) -> list[tuple[str, ItemEvidence, ItemEvidence]]:
    """The items that both sides have: name, evidence of the first, evidence of the second."""
    return [(name, a.items[name], b.items[name]) for name in common(a, b)]


def both_traces(a: Side, b: Side, part: str = "") -> list[tuple[Json, Json]]:
    """The traces of the same clips and captions. `part`: of a trace, where both have it; "" for whole traces."""
    pairs = [(trace, b.traces[name]) for name, trace in a.traces.items() if name in b.traces]
    return [(x[part], y[part]) for x, y in pairs if part in x and part in y] if part else pairs


def aligned_scores(a: Side, b: Side) -> tuple[np.ndarray, np.ndarray]:
    """The raw scores of the same items and captions of both sides, flat; captions are told by their digests."""
    if a.matrix is not None and b.matrix is not None:
        return _aligned_matrices(a.matrix, b.matrix)
    scores = [(x.scores[at], y.scores[other]) for _, x, y in item_pairs(a, b) for at, other in candidate_places(x, y)]
    return np.array([first for first, _ in scores]), np.array([second for _, second in scores])


def candidate_places(x: ItemEvidence, y: ItemEvidence) -> list[tuple[int, int]]:
    """The places of the same candidates in an item of both sides."""
    if not x.scores or not y.scores:
        return []
    if not x.texts or not y.texts:
        return [(n, n) for n in range(len(x.scores))] if len(x.scores) == len(y.scores) else []
    place = {text: n for n, text in enumerate(y.texts)}
    return [(n, place[text]) for n, text in enumerate(x.texts) if text in place]


def _aligned_matrices(a: SimilarityMatrix, b: SimilarityMatrix) -> tuple[np.ndarray, np.ndarray]:
    if a.best is not None or b.best is not None:
        first, second = _known(a), _known(b)
        both = [pair for pair in first if pair in second]
        return np.array([first[pair] for pair in both]), np.array([second[pair] for pair in both])
    rows = [name for name in a.rows if name in set(b.rows)]
    columns = [name for name in a.columns if name in set(b.columns)]
    parts = []
    for matrix in (a, b):
        at_row, at_column = ({name: n for n, name in enumerate(names)} for names in (matrix.rows, matrix.columns))
        places = np.ix_([at_row[name] for name in rows], [at_column[name] for name in columns])
        parts.append(np.asarray(matrix.values[places], np.float64).ravel())
    return parts[0], parts[1]


def _known(matrix: SimilarityMatrix) -> dict[tuple[str, str], float]:
    """(row, column) -> the similarities of each caption with its own clip and of each clip with its best captions."""
    columns, rows = matrix.columns, matrix.rows
    own, best = list(enumerate(matrix.relevant)), matrix.best
    if best is None:
        return {(rows[r], columns[c]): float(value) for (r, c), value in np.ndenumerate(matrix.values)}
    value_of = {(rows[row], columns[column]): float(best.own[column]) for column, row in own}
    for row, (places, values) in enumerate(zip(best.columns, best.values, strict=True)):
        value_of |= {(rows[row], columns[c]): float(value) for c, value in zip(places, values, strict=True)}
    return value_of
