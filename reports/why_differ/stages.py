"""The stages of a figure, in order; those from the network on: model, raw scores, reading, joining, and the figure.

A stage "differs" where its own settings or inputs differ, and "follows" where what differs came from another stage:
other frames make other pixels and other scores, which are no causes of their own.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from video_contrast.console import counted
from video_contrast.files import Json
from video_contrast.reports.why_differ.evidence import (
    CERTIFICATE,
    SHOWN,
    ItemEvidence,
    Side,
    StageResult,
    aligned_scores,
    both_traces,
    few,
    fitted_line,
    item_pairs,
    other_options,
    summary_gap,
    tolerance,
    unknown,
)
from video_contrast.reports.why_differ.inputs import PROMPT, compare_frames, compare_pixels, compare_prompt, compare_set

JOINING = ("pooling", "query_temperature", "norm", "alpha", "prefilter")  # options that act on raw scores
NO_NUMBERS = ("share_prefix", "parallel")  # ... on no number
# Facts that say which network computed. Another commit of the same weights is no other model.
NETWORK = ("weights", "kind", "kind_version", "class", "attention", "dtype")
EQUAL = 1e-9  # of figures


def compare_model(a: Side, b: Side) -> StageResult:
    """Which network computed: weights, dtype, attention, options; revision and libraries beside it."""
    silent = [side for side in (a, b) if not side.model.get("kind")]
    if silent:
        return unknown("model", *silent)
    weighed = bool(a.model.get("weights") and b.model.get("weights"))
    says = _facts(a, b, NETWORK if weighed else ("revision", *NETWORK))
    rest = {*a.options, *b.options} - {*JOINING, *PROMPT, *NO_NUMBERS}
    says += other_options(a, b, sorted(rest))
    beside = _facts(a, b, ("revision", "device")) if weighed else _facts(a, b, ("device",))
    shared = [name for name in a.versions if name in b.versions]
    beside += [f"{n} {a.versions[n]} and {b.versions[n]}" for n in shared if a.versions[n] != b.versions[n]]
    if says:
        return StageResult("model", "differs", "; ".join([*says, *beside]), {"beside": beside})
    same = f"the same weights and options ({a.model['kind']} in {a.model.get('dtype', '')})"
    return StageResult("model", "equal", "; ".join([same, *beside]), {"beside": beside})


def _facts(a: Side, b: Side, names: tuple[str, ...]) -> list[str]:
    """The facts of the model that both sides have and that differ."""
    shared = [name for name in names if a.model.get(name) and b.model.get(name)]
    return [f"{n} {a.model[n]} and {b.model[n]}" for n in shared if a.model[n] != b.model[n]]


def compare_scores(a: Side, b: Side) -> StageResult:
    """Raw scores and embeddings: largest difference, rank correlation, and how many choices change."""
    x, y = aligned_scores(a, b)
    if not len(x):
        return _traced_scores(a, b)
    from scipy.stats import spearmanr

    gap, spread = float(np.abs(x - y).max()), max(float(np.std(x)), 1e-12)
    ranks = float(spearmanr(x, y).statistic) if np.ptp(x) > 0 and np.ptp(y) > 0 else None
    moved = sum(u.choice != v.choice for _, u, v in item_pairs(a, b))
    numbers: dict[str, Json] = {"largest_difference": gap, "in_sd": gap / spread, "rank_correlation": ranks}
    numbers |= {"other_choices": moved, "scores": len(x)}
    if gap <= tolerance(a, b) * spread:
        return StageResult("scores", "equal", f"{len(x):,} raw scores, within {gap / spread:.2g} sd", numbers)
    correlation = "" if ranks is None else f", rank correlation {ranks:.4f}"
    says = f"raw scores differ by up to {gap:.3g} ({gap / spread:.2g} sd){correlation}"
    return StageResult("scores", "differs", says, numbers, measured=True)


def _traced_scores(a: Side, b: Side) -> StageResult:
    """Embeddings and scores of the traces alone, as certificates have them."""
    if not both_traces(a, b):
        return StageResult("scores", "unknown", "no raw scores on both sides")
    worst = {
        name: max((summary_gap(x, y) / max(x["std"], 1e-9) for x, y in both_traces(a, b, name)), default=0.0)
        for name in ("video", "text")
    }
    pairs = both_traces(a, b, "scores")
    x, y = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    # log-probabilities round by their size, and cosines as their embeddings do
    size = max(float(np.std(x)), 0.1 * float(np.abs(x).max(initial=0.0)), 1e-9)
    worst["scores"] = float(np.abs(x - y).max(initial=0.0)) / size if len(x) == len(y) else float("inf")
    limit, differences = tolerance(a, b), ", ".join(f"{name} {value:.2g} sd" for name, value in worst.items())
    differs = max(worst.values()) > limit
    says = f"{differences} of {counted(len(pairs), 'item')} (at most {limit:g})"
    return StageResult("scores", "differs" if differs else "equal", says, dict(worst), measured=differs)


def compare_reading(a: Side, b: Side) -> StageResult:
    """How answers were read: unparseable ones, and letters that a log counts otherwise than the key does."""
    pairs = item_pairs(a, b)
    if not pairs:
        return StageResult("reading", "unknown", "no item on both sides")
    unread = [name for name, x, y in pairs if x.unread != y.unread]
    against = [name for name, x, y in pairs if _read_otherwise(x, y) or _read_otherwise(y, x)]
    unanswered = int(a.numbers.get("unanswered", 0)) + int(b.numbers.get("unanswered", 0))
    numbers: dict[str, Json] = {"unparseable_in_one": len(unread), "read_otherwise": len(against)}
    numbers["unanswered"] = unanswered
    says = []
    if unread:
        says.append(f"unparseable in one side only: {counted(len(unread), 'item')} ({few(unread)})")
    if against:
        says.append(f"a letter counts otherwise than by the key: {counted(len(against), 'item')} ({few(against)})")
    if unanswered:
        says.append(f"{counted(unanswered, 'item')} without an answer that the log could read")
    if says:
        return StageResult("reading", "differs", "; ".join(says), numbers, measured=not (against or unanswered))
    return StageResult("reading", "equal", "answers were read alike", numbers)


def _read_otherwise(own: ItemEvidence, logged: ItemEvidence) -> bool:
    """Whether a log's item counts a choice otherwise than our key does; ties are the joining's."""
    if own.label is None or logged.label is not None or logged.choice is None or logged.hit not in (0.0, 1.0):
        return False
    return (logged.choice == own.label) != (logged.hit == 1.0)


def compare_joining(a: Side, b: Side) -> StageResult:
    """Pooling, norms, the scale of scores, and how ties count."""
    says = other_options(a, b, JOINING)
    if says:
        return StageResult("joining", "differs", "; ".join(says))
    x, y = aligned_scores(a, b)
    if not len(x):
        return _ties(a, b)
    slope, offset, rest = fitted_line(x, y)
    spread = max(float(np.std(x)), 1e-12)
    if max(abs(slope - 1), abs(offset) / spread) > 1e-2 and slope > 0 and rest <= 1e-4 * slope * spread:
        numbers = {"slope": slope, "offset": offset}
        return StageResult("joining", "differs", f"the scale of scores: {slope:.4g} x {offset:+.3g}", numbers)
    return StageResult("joining", "equal", "the same pooling, norm and scale")


def _ties(a: Side, b: Side) -> StageResult:
    """Whether ties count alike, where no raw scores are on both sides."""
    if CERTIFICATE in (a.source, b.source):
        return StageResult("joining", "equal", "the same options")
    ties = [name for name, x, y in item_pairs(a, b) if ((x.hit or 0) % 1 > 0) != ((y.hit or 0) % 1 > 0)]
    if ties:
        says = f"a tie counts as a share in one side only: {counted(len(ties), 'item')} ({few(ties)})"
        return StageResult("joining", "differs", says, {"ties_in_one": len(ties)})
    return StageResult("joining", "unknown", "no raw scores on both sides")


def compare_figure(a: Side, b: Side) -> StageResult:
    """The figures that both sides have."""
    shared = [name for name in a.numbers if name in b.numbers and not name.endswith(("_low", "_high"))]
    names = [name for name in shared if all(isinstance(side.numbers[name], int | float) for side in (a, b))]
    if not names:
        return StageResult("figure", "unknown", "no figure on both sides")
    changed = [name for name in names if abs(a.numbers[name] - b.numbers[name]) > EQUAL]
    numbers = {name: b.numbers[name] - a.numbers[name] for name in names}
    if changed:
        says = ", ".join(f"{name} {a.numbers[name]:.4g} and {b.numbers[name]:.4g}" for name in _main(changed))
        return StageResult("figure", "differs", says, numbers, measured=True)
    return StageResult("figure", "equal", ", ".join(f"{name} {a.numbers[name]:.4g}" for name in _main(names)), numbers)


def _main(names: list[str]) -> list[str]:
    first = [n for n in names if n.endswith("accuracy") or n in ("t2v_R@1", "v2t_R@1", "t2v_R@5", "v2t_R@5")]
    return (first or names)[:SHOWN]


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
