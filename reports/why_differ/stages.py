"""The stages of a figure, in order.

A stage "differs" where its own settings or inputs differ, and "follows" where what differs came from another stage:
other frames make other pixels and other scores, which are no causes of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from video_contrast.reports.why_differ.aligned import StageResult, few
from video_contrast.reports.why_differ.evidence import Side
from video_contrast.reports.why_differ.inputs import compare_frames, compare_pixels, compare_prompt, compare_set
from video_contrast.reports.why_differ.outcomes import (
    compare_figure,
    compare_joining,
    compare_model,
    compare_reading,
    compare_scores,
)

STAGES: tuple[tuple[str, Callable[[Side, Side], StageResult]], ...] = (
    ("set", compare_set),
    ("frames", compare_frames),
    ("pixels", compare_pixels),
    ("prompt", compare_prompt),
    ("model", compare_model),
    ("scores", compare_scores),
    ("reading", compare_reading),
    ("joining", compare_joining),
    ("figure", compare_figure),
)
CERTIFIED = ("frames", "pixels", "prompt", "scores", "joining")
# Stage whose difference may be a consequence -> the stages that it may come from.
SOURCES = {
    "pixels": ("frames",),
    "prompt": ("frames", "pixels"),  # the tokens that stand for pixels
    "scores": ("set", "frames", "pixels", "prompt", "model", "joining"),
    "reading": ("set", "frames", "pixels", "prompt", "model", "scores"),
    "figure": ("set", "frames", "pixels", "prompt", "model", "scores", "reading", "joining"),
}


def compare(a: Side, b: Side) -> list[StageResult]:
    """All stages in order; what follows from another stage is marked."""
    results = {name: function(a, b) for name, function in STAGES}
    return [_resolved(result, results) for result in results.values()]


def first_different(results: Sequence[StageResult]) -> StageResult | None:
    """The first stage that differs by itself; None where nothing does."""
    return next((result for result in results if result.state == "differs"), None)


def failed_stage(results: Sequence[StageResult]) -> StageResult | None:
    """The stage in which a certificate fails: the first that differs, where a number does; None where it passes.

    Another dtype, device or library is no failure while frames, pixels, token ids and scores stay within tolerance.
    """
    if not any(r.state in ("differs", "follows") for r in results if r.stage in CERTIFIED):
        return None
    return first_different(results)


def _resolved(result: StageResult, results: Mapping[str, StageResult]) -> StageResult:
    """A measured difference with the stage that it came from."""
    if not result.measured or result.state != "differs":
        return result
    sources = [name for name in SOURCES.get(result.stage, ()) if results[name].state == "differs"]
    if sources:
        return replace(result, state="follows", says=f"{result.says} (from {sources[0]})")
    beside = results["model"].numbers.get("beside") if result.stage == "scores" else None
    return replace(result, says=f"{result.says}; {few(beside)}") if beside else result
