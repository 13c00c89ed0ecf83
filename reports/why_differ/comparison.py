"""Two sides compared in full: what screen, JSON and the page show; and which share each stage explains.

Shares come of exchanging one stage after the other. From the figure of the first side to that of the second: its items
without those that the other lacks, then the other's key, norm and reading of answers on its own raw scores, then the
other's raw scores, then the other's own items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from video_contrast.files import AnyPath
from video_contrast.metrics.ranks import first_chance
from video_contrast.reports.compare import ranks_among
from video_contrast.reports.layout import Cell, Section, Table, Tone, columns, row
from video_contrast.reports.runs import ConfigRun
from video_contrast.reports.why_differ.sides import ItemEvidence, Side, candidate_places, common, pairs_of
from video_contrast.reports.why_differ.stages import StageResult, compare, first_different
from video_contrast.storage.run_figures import ACCURACY, MAIN, Score
from video_contrast.storage.run_file_fields import SimilarityMatrix

Results = Sequence[StageResult]  # of `compare`
UPSTREAM = ("frames", "pixels", "prompt", "model", "joining", "scores")  # stages on which scores depend


@dataclass(frozen=True)
class Share:
    """The change of a figure when a stage is exchanged."""

    figure: str  # "accuracy", "t2v_R@1" or "v2t_R@1"
    stage: str  # the exchanged one; stages among which the change cannot be divided stand with "+" between them
    change: float  # of the figure, 0..1 (second less first)
    of: float  # the whole difference

    @property
    def part(self) -> str:
        """The share in the whole difference, in percent; "" where the figures are equal."""
        return f"{100 * self.change / self.of:.0f} %" if abs(self.of) > 1e-12 else ""

    def __str__(self) -> str:
        whole = f" ({self.part} of the difference)" if self.part else ""
        return f"{self.stage}: {self.change:+.4f} {self.figure}{whole}"


def shares(a: Side, b: Side, results: Results) -> list[Share]:
    """The changes of the figures by stage, which add up to their differences; [] where no item is in both.

    Args:
        a, b, results: both sides, and what `compare` says of them.
    """
    both = common(a, b)
    if not both:
        return []
    if a.matrix is not None and b.matrix is not None:
        return [share for score in MAIN["retrieval"] for share in _retrieval(a.matrix, b.matrix, both, score, results)]
    if any(item.hit is None for side in (a, b) for item in side.items.values()):
        return []
    first, second = _mean([*a.items.values()]), _mean([*b.items.values()])
    here, there = [a.items[name] for name in both], [b.items[name] for name in both]
    steps = {"set (missing items)": _mean(here) - first + second - _mean(there)}
    if all(item.scores for item in (*here, *there)):
        steps |= _exchanged(here, there, b.options if a.options.get("norm") != b.options.get("norm") else {}, results)
    else:
        steps[_cause(results, (*UPSTREAM, "reading"))] = _mean(there) - _mean(here)
    return _listed(ACCURACY.key, steps, second - first)


def _exchanged(
    here: Sequence[ItemEvidence], there: Sequence[ItemEvidence], norm: Mapping[str, object], results: Results
) -> dict[str, float]:
    """Stage -> change, on the items of both sides, each with raw scores; `norm`: options where the norms differ."""
    pairs = list(zip(here, there, strict=True))
    start = _mean(here)
    keyed = _over(first_chance(x.scores, _label(x, y)) for x, y in pairs)
    normed = _over(first_chance(_renormed(x, norm), _label(x, y)) for x, y in pairs)
    own = any(result.stage == "reading" and result.state == "differs" for result in results)  # no consequence
    read = _over(
        0.0 if own and y.unread and not x.unread else first_chance(_renormed(x, norm), _label(x, y)) for x, y in pairs
    )
    rest = [name for name in UPSTREAM if not norm or name != "joining"]
    return {
        "set (key)": keyed - start,
        "joining (norm)": normed - keyed,
        "reading": read - normed,
        _cause(results, rest): _mean(there) - read,
    }


def _renormed(item: ItemEvidence, norm: Mapping[str, object]) -> Sequence[float]:
    """The scores of an item under another norm of likelihoods, from their parts."""
    if not norm or not item.parts or any("sum" not in part for part in item.parts):
        return item.scores
    if norm["norm"] == "pmi" and any("unconditional" not in part for part in item.parts):
        return item.scores
    divisor = {"token": "n_tokens", "char": "n_chars"}.get(str(norm["norm"]))
    alpha = float(str(norm.get("alpha", 1.0))) if norm["norm"] == "pmi" else 0.0
    sums = [part["sum"] / (part[divisor] if divisor else 1.0) for part in item.parts]
    return [own - alpha * part.get("unconditional", 0.0) for own, part in zip(sums, item.parts, strict=True)]


def _retrieval(
    a: SimilarityMatrix, b: SimilarityMatrix, both: Sequence[str], score: Score, results: Results
) -> list[Share]:
    whole = [_recall(matrix, matrix.rows, score.kind) for matrix in (a, b)]
    difference = whole[1] - whole[0]
    if any(matrix.best is not None and len(both) < len(matrix.rows) for matrix in (a, b)):
        # ranks among some of the clips need similarities that were not kept
        return _listed(score.key, {_cause(results, ("set", *UPSTREAM)): difference}, difference)
    recalls = [_recall(matrix, both, score.kind) for matrix in (a, b)]
    missing = recalls[0] - whole[0] + whole[1] - recalls[1]
    steps = {"set (missing items)": missing, _cause(results, UPSTREAM): recalls[1] - recalls[0]}
    return _listed(score.key, steps, difference)


def _recall(matrix: SimilarityMatrix, rows: Sequence[str], way: str) -> float:
    """R@1 among some rows of a matrix and their captions."""
    ranks, _ = ranks_among(matrix, matrix.rows if len(rows) == len(matrix.rows) else rows)
    return float((ranks.text_to_video if way == "t2v" else ranks.video_to_text).hit(1).mean())


def _label(x: ItemEvidence, y: ItemEvidence) -> int:
    """The place in the first side's candidates of what is true for the second; its own where that is not there."""
    assert x.label is not None and y.label is not None
    place = {other: own for own, other in candidate_places(x, y)}
    return place.get(y.label, x.label)


def _cause(results: Results, among: Sequence[str]) -> str:
    """The stages that differ by themselves, of some; before them what of the set changes scores."""
    names = [r.stage for r in results if r.stage in among and r.state == "differs"]
    numbers = next((r.numbers for r in results if r.stage == "set" and "set" not in among), {})
    of_set = [what for what, counted in (("captions", "captions"), ("order", "candidates")) if numbers.get(counted)]
    return "+".join([*(f"set ({what})" for what in of_set), *names]) or "scores"


def _listed(figure: str, steps: Mapping[str, float], difference: float) -> list[Share]:
    return [Share(figure, stage, change, difference) for stage, change in steps.items() if abs(change) > 1e-12]


def _mean(items: Sequence[ItemEvidence]) -> float:
    return _over(item.hit or 0.0 for item in items)


def _over(hits: Iterable[float]) -> float:
    return float(np.mean(list(hits)))


@dataclass(frozen=True)
class StageComparison:
    """Two sides compared for one config."""

    config: str  # its name; "" of two certificates
    first: str | None  # the stage that differs first by itself; None where none does
    stages: list[StageResult]  # all of them, in order
    shares: list[Share]  # of the difference that each stage explains

    @property
    def verdict(self) -> str:
        """The first stage that differs, or that nothing does."""
        whole = all(result.state == "equal" for result in self.stages)
        return self.first or ("equal" if whole else "nothing differs that both sides record")


def compared(
    first: AnyPath, second: AnyPath, config: str | None = None, metric: str | None = None
) -> list[StageComparison]:
    """Two runs, logs or certificates compared, config by config; arguments and errors as of `pairs_of`."""
    comparisons = []
    for a, b in pairs_of(first, second, config, metric):
        stages = compare(a, b)
        stage = cause.stage if (cause := first_different(stages)) else None
        comparisons.append(StageComparison(a.config or b.config, stage, stages, shares(a, b, stages)))
    return comparisons


def differences(runs: list[ConfigRun]) -> Section:
    """The section of a report of two runs that have a config in common: stages and shares; else without parts."""
    section = Section("why-differ", "Why the two runs differ")
    folders = list(dict.fromkeys(run.path for run in runs))
    configs = [{run.key.config for run in runs if run.path == folder} for folder in folders]
    if len(folders) != 2 or not configs[0] & configs[1]:
        return section
    names = [next(run.model for run in runs if run.path == folder) for folder in folders]
    section.lead = f"From {names[0]} to {names[1]}, stage by stage: what differs by itself, and what follows from it."
    for comparison in compared(folders[0], folders[1]):
        tones: dict[str, Tone] = {"differs": "bad", "equal": "good"}
        stages = [
            [Cell(result.stage), Cell(result.state, tone=tones.get(result.state, "quiet")), Cell(result.says)]
            for result in comparison.stages
        ]
        heads = columns("stage", "state", "what was compared", words=3)
        title = f"{comparison.config}: {comparison.verdict}"
        tables = [Table(f"why-differ-{comparison.config}", title, heads, stages)]
        if comparison.shares:
            rows = [row(s.figure, s.stage, f"{s.change:+.4f}", s.part) for s in comparison.shares]
            heads = columns("figure", "stage", "change", "of the difference", words=2)
            tables.append(Table(f"why-differ-shares-{comparison.config}", "What each stage explains", heads, rows))
        section.add(tables, comparison.config)
    return section
