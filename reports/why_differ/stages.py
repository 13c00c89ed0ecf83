"""The stages of a figure, in order: set, frames, pixels, prompt, model, raw scores, reading, joining, and the figure.

A stage "differs" where its own settings or inputs differ, and "follows" where what differs came from another stage:
other frames make other pixels and other scores, which are no causes of their own.
"""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from video_contrast.console import counted
from video_contrast.files import Json
from video_contrast.reports.why_differ.sides import (
    CERTIFICATE,
    ItemEvidence,
    Side,
    aligned_scores,
    both_traces,
    common,
    item_pairs,
)
from video_contrast.reports.why_differ.tolerances import GREY_LEVELS, PIXELS, summary_gap, tolerance
from video_contrast.runner.embedding_store import digest
from video_contrast.storage.run_figures import ACCURACY, ROBUST

State = Literal["equal", "differs", "follows", "unknown"]

SHOWN = 4  # items or lines that are named


@dataclass(frozen=True)
class StageResult:
    """The result of comparing a stage."""

    stage: str  # its name
    state: State  # "equal", "differs", "follows" (from another stage) or "unknown" (one side does not record it)
    says: str  # one line
    numbers: dict[str, Json] = field(default_factory=dict)  # evidence for it
    measured: bool = False  # whether it was seen in what came out, and not in a setting or an input

    def __str__(self) -> str:
        return f"{self.state:8} {self.stage:8} {self.says}"


def fitted_line(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Slope and offset of the line that maps x to y best, and the largest distance from it."""
    if np.ptp(x) == 0:
        return 1.0, float(np.mean(y) - np.mean(x)), float(np.abs(y - y.mean()).max())
    slope, offset = np.polyfit(x, y, 1)
    return float(slope), float(offset), float(np.abs(slope * x + offset - y).max())


def few(names: list[str]) -> str:
    """The first of some names."""
    return ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")


def unknown(stage: str, *sides: Side) -> StageResult:
    """The result of a stage that a side does not record; it names the last of `sides`."""
    return StageResult(stage, "unknown", f"{sides[-1].name} ({sides[-1].source}) does not record it")


def other_options(a: Side, b: Side, names: tuple[str, ...] | list[str]) -> list[str]:
    """The options of the kind that both sides have and that differ."""
    both = [name for name in names if name in a.options and name in b.options]
    return [f"{n} {a.options[n]!r} and {b.options[n]!r}" for n in both if a.options[n] != b.options[n]]


MARKS = r"<[^<>]*>|\[/?INST\]"  # of chat templates
REPEATED = rf"({MARKS})(?:\s*\1)+"
ROLES = ("system", "user", "assistant", "model")
# Options on what is asked.
PROMPT = ("scoring", "rotations", "option_seed", "letter_prompt", "prompt_text", "prompt_video", "thinking")


def compare_set(a: Side, b: Side) -> StageResult:
    """Items that both have, their captions, their order, and which is true."""
    if not a.items or not b.items:
        return StageResult("set", "unknown", "a certificate stands on clips of its own")
    pairs = item_pairs(a, b)
    if not pairs:
        return StageResult("set", "differs", "no item is in both: their ids differ")
    alone, changes = len(a.items) + len(b.items) - 2 * len(pairs), _changed_items(pairs)
    numbers: dict[str, Json] = {"items": len(pairs), "items_of_one": alone}
    numbers |= {what.split()[-1]: len(names) for what, names in changes.items()}
    says = [f"{what} in {counted(len(names), 'item')} ({few(names)})" for what, names in changes.items() if names]
    if alone:
        clips = sorted(set(a.missing) ^ set(b.missing))
        says.insert(0, f"{counted(alone, 'item')} in one side only" + (f" (missing: {few(clips)})" if clips else ""))
    other = bool(a.fingerprint and b.fingerprint and a.fingerprint != b.fingerprint)
    if other and not says and not all(x.texts and y.texts for _, x, y in pairs):
        says = ["other rows (fingerprint); their captions are not recorded"]
    if says:
        return StageResult("set", "differs", "; ".join(says), numbers)
    beside = "; other columns differ (fingerprint)" if other else ""
    return StageResult("set", "equal", f"{counted(len(pairs), 'item')}{beside}", numbers)


def _changed_items(pairs: list[tuple[str, ItemEvidence, ItemEvidence]]) -> dict[str, list[str]]:
    """The changes in the rows of the set -> the items."""
    with_texts = [(name, x, y) for name, x, y in pairs if x.texts and y.texts]
    return {
        "other captions": [name for name, x, y in with_texts if sorted(x.texts) != sorted(y.texts)],
        "another key": [name for name, x, y in pairs if _other_key(x, y)],
        "another order of candidates": [
            name for name, x, y in with_texts if x.texts != y.texts and sorted(x.texts) == sorted(y.texts)
        ],
    }


def _other_key(x: ItemEvidence, y: ItemEvidence) -> bool:
    if x.label is None or y.label is None:
        return False
    if sorted(x.texts) == sorted(y.texts) and x.texts:
        return x.texts[x.label] != y.texts[y.label]
    return not (x.texts and y.texts) and x.label != y.label


def compare_frames(a: Side, b: Side) -> StageResult:
    """The frames: how they were sampled, their numbers, and their pixels."""
    if not a.sampling or not b.sampling:
        return unknown("frames", *(side for side in (a, b) if not side.sampling))
    names = [name for name in a.sampling if name in b.sampling]  # an earlier record may know fewer settings
    settings = ((name, a.sampling[name], b.sampling[name]) for name in names)
    says = [f"{name} {first} and {second}" for name, first, second in settings if first != second]
    pairs = [(x, y) for _, x, y in item_pairs(a, b)]
    other = [(x.numbers, y.numbers) for x, y in pairs if x.numbers and y.numbers and x.numbers != y.numbers]
    if other:
        first, second = other[0]
        says.append(f"other frames in {counted(len(other), 'item')}, as {list(first)} and {list(second)}")
    if says:
        return StageResult("frames", "differs", "; ".join(says), {"items_with_other_frames": len(other)})
    return _same_numbers(a, b, sum(x.frames != y.frames for x, y in pairs if x.frames and y.frames))


def _same_numbers(a: Side, b: Side, other_digests: int) -> StageResult:
    """Frames of the same numbers: whether their pixels and times are the same, too."""
    pairs = both_traces(a, b, "frames")
    unlike = [(x, y) for x, y in pairs if x["hash"] != y["hash"]]
    levels = max((summary_gap(x, y) for x, y in unlike), default=0.0)
    times = sum(x != y for x, y in both_traces(a, b, "times"))
    numbers = {"items_with_other_pixels": other_digests, "traces": len(pairs), "grey_levels": levels, "times": times}
    if levels > GREY_LEVELS or times or (other_digests and not unlike):
        says = f"other pixels in {max(other_digests, len(unlike))} of the same frames, by up to {levels:g} grey levels"
        says = f"other times of the same frames in {counted(times, 'clip')}" if times and not unlike else says
        return StageResult("frames", "differs", says, numbers)
    within = f", within {levels:g} grey levels" if unlike else ""
    where = f"pixels of {len(pairs)} clips" if pairs else "numbers alone: no clip is traced in both"
    return StageResult("frames", "equal", f"the same frames ({where}{within})", numbers)


def compare_pixels(a: Side, b: Side) -> StageResult:
    """The pixels that reached the network: size, resize or crop, normalisation."""
    pairs = both_traces(a, b, "pixels")
    if not pairs:
        return StageResult("pixels", "unknown", "no clip whose pixels both sides record")
    shapes = ["x".join(map(str, side["shape"])) for pair in pairs for side in pair]
    if any(x["shape"] != y["shape"] for x, y in pairs):
        at = next(n for n, (x, y) in enumerate(pairs) if x["shape"] != y["shape"])
        says = f"arrays of {shapes[2 * at]} and {shapes[2 * at + 1]}: another size or number of frames"
        return StageResult("pixels", "differs", says, measured=True)
    spread = max(float(np.mean([x["std"] for x, _ in pairs])), 1e-6)
    gap = max(summary_gap(x, y) for x, y in pairs)
    numbers = {"largest_difference": gap, "in_sd": gap / spread}
    if gap <= PIXELS * spread:
        return StageResult("pixels", "equal", f"arrays of {shapes[0]}, within {gap / spread:.2g} sd", numbers)
    x, y = (np.concatenate([side["sample"] for side in sides]) for sides in zip(*pairs, strict=True))
    slope, offset, rest = fitted_line(x, y)
    says = f"values differ by up to {gap:.3g} ({gap / spread:.2g} sd): another resize, crop or order of frames"
    if rest < 0.25 * spread * abs(slope):  # channels have means of their own
        says = f"values differ by up to {gap:.3g}: another normalisation (about {slope:.3g} x {offset:+.3g})"
    return StageResult("pixels", "differs", says, numbers | {"slope": slope, "offset": offset}, measured=True)


def compare_prompt(a: Side, b: Side) -> StageResult:
    """The question that is asked and its tokens."""
    if result := _compare_logs(a, b):
        return result
    silent = [side for side in (a, b) if not side.traces and not side.options]
    if silent:
        return unknown("prompt", *silent)
    facts = [name for name in ("prompt_text", "prompt_video") if a.model.get(name) != b.model.get(name)]
    says = other_options(a, b, PROMPT)
    says += [f"{name}: {a.model.get(name)!r} and {b.model.get(name)!r}" for name in facts if name not in a.options]
    same_texts = all(a.items[name].texts == b.items[name].texts for name in common(a, b))
    says += [f"prompts differ: {_text_difference(x, y)}" for x, y in _prompts(a, b, same_texts) if x != y][:1]
    return StageResult("prompt", "differs", "; ".join(says)) if says else _tokens(a, b, same_texts)


def _prompts(a: Side, b: Side, same_texts: bool) -> list[tuple[str, str]]:
    """The prompts of both sides about the same; of marks for pictures, whose number follows from the frames, one."""
    prompts = [(x.get("prompt", ""), y.get("prompt", "")) for x, y in both_traces(a, b)]
    if same_texts and list(a.traces)[:1] == list(b.traces)[:1]:
        prompts += [(a.prompts[name], b.prompts[name]) for name in a.prompts if name in b.prompts]
    return [(re.sub(REPEATED, r"\1", x), re.sub(REPEATED, r"\1", y)) for x, y in prompts]


def _compare_logs(a: Side, b: Side) -> StageResult | None:
    """Prompts of logs: beside those of another log, or of the items that a run has traced; None where none is known."""
    first, second = _prompts_of(a), _prompts_of(b)
    both = [name for name in first if name in second]
    if CERTIFICATE in (a.source, b.source) or not both or (a.log is None and b.log is None):
        return None
    apart = {name: own for name in both if any(own := _lines_apart(a, first[name], b, second[name]))}
    numbers = {"prompts": len(both), "other_prompts": len(apart)}
    if not apart:
        return StageResult("prompt", "equal", f"the same prompts in {counted(len(both), 'item')}", numbers)
    lines = next(iter(apart.values()))
    says = " and ".join(repr(" / ".join(own)[:120]) if own else "nothing" for own in lines)
    return StageResult("prompt", "differs", f"prompts differ: {says} in one side only", numbers)


def _prompts_of(side: Side) -> dict[str, str]:
    """Item -> its prompt: of a log all that hold the whole prompt, of a run those of its traces."""
    if side.log is not None:
        return dict(side.log.asked) if side.log.asked_whole else {}
    of_caption: dict[str, list[str]] = {}
    for name, item in side.items.items():
        if item.texts and item.label is not None:
            of_caption.setdefault(item.texts[item.label], []).append(name)
    traces = [(of_caption.get(digest(caption)[:8], []), trace) for (_, caption), trace in side.traces.items()]
    return {names[0]: trace["prompt"] for names, trace in traces if len(names) == 1 and "prompt" in trace}


def _lines_apart(a: Side, x: str, b: Side, y: str) -> list[list[str]]:
    """The lines of the prompts of both sides that the other lacks; marks and roles of a chat are none.

    What a run has before the first shared line belongs to the system and the video, which logs leave out.
    """
    sides = [(a, re.sub(MARKS, "\n", x).splitlines()), (b, re.sub(MARKS, "\n", y).splitlines())]
    lines = [(side, [text for line in own if (text := line.strip()) and text not in ROLES]) for side, own in sides]
    both = set(lines[0][1]) & set(lines[1][1])
    starts = [next((n for n, text in enumerate(own) if side.log is None and text in both), 0) for side, own in lines]
    return [[text for text in own[start:] if text not in both] for (_, own), start in zip(lines, starts, strict=True)]


def _tokens(a: Side, b: Side, same_texts: bool) -> StageResult:
    pairs = [(x, y) for _, x, y in item_pairs(a, b) if same_texts and x.tokens and y.tokens]
    items = sum(x.tokens != y.tokens for x, y in pairs)
    ids = both_traces(a, b, "tokens")
    unlike = [(x, y) for x, y in ids if x["hash"] != y["hash"]]
    numbers = {"items_with_other_tokens": items, "traces": len(ids), "traces_with_other_tokens": len(unlike)}
    if items or unlike:
        example = ""
        if unlike:  # the ids of both sides from the first that differs
            (x, u), (y, v) = ((side, side["ids"]) for side in unlike[0])
            at = next((n for n, pair in enumerate(zip(u, v, strict=False)) if pair[0] != pair[1]), min(len(u), len(v)))
            where = f"from token {at} ({x['n']} and {y['n']} tokens)"
            example = f", as {u[at : at + SHOWN]} and {v[at : at + SHOWN]} {where}"
        says = f"other token ids of the same texts in {counted(max(items, len(unlike)), 'item')}{example}"
        return StageResult("prompt", "differs", says, numbers, measured=True)
    if not ids and not pairs:
        return StageResult("prompt", "unknown", "no item whose tokens both sides record", numbers)
    return StageResult("prompt", "equal", f"the same prompts and token ids ({len(ids)} items traced)", numbers)


def _text_difference(x: str, y: str) -> str:
    changes = difflib.SequenceMatcher(None, x, y, autojunk=False).get_opcodes()
    return ", ".join(f"{x[i:j][:60]!r} and {y[k:m][:60]!r}" for tag, i, j, k, m in changes if tag != "equal")[:300]


JOINING = ("pooling", "query_temperature", "norm", "alpha", "prefilter")  # options that act on raw scores
NO_NUMBERS = ("share_prefix", "parallel")  # ... on no number
# Facts that say which network computed. Another commit of the same weights is no other model.
NETWORK = ("weights", "kind", "kind_version", "class", "attention", "dtype")
EQUAL = 1e-9  # of figures


def compare_model(a: Side, b: Side) -> StageResult:
    """The network that computed: weights, dtype, attention, options; revision and libraries beside it."""
    silent = [side for side in (a, b) if not side.model.get("kind")]
    if silent:
        return unknown("model", *silent)
    have_weights = bool(a.model.get("weights") and b.model.get("weights"))
    says = _facts(a, b, NETWORK if have_weights else ("revision", *NETWORK))
    says += other_options(a, b, sorted({*a.options, *b.options} - {*JOINING, *PROMPT, *NO_NUMBERS}))
    beside = _facts(a, b, ("revision", "device")) if have_weights else _facts(a, b, ("device",))
    both = [name for name in a.versions if name in b.versions]
    beside += [f"{n} {a.versions[n]} and {b.versions[n]}" for n in both if a.versions[n] != b.versions[n]]
    if says:
        return StageResult("model", "differs", "; ".join([*says, *beside]), {"beside": beside})
    same = f"the same weights and options ({a.model['kind']} in {a.model.get('dtype', '')})"
    return StageResult("model", "equal", "; ".join([same, *beside]), {"beside": beside})


def _facts(a: Side, b: Side, names: tuple[str, ...]) -> list[str]:
    both = [name for name in names if a.model.get(name) and b.model.get(name)]
    return [f"{n} {a.model[n]} and {b.model[n]}" for n in both if a.model[n] != b.model[n]]


def compare_scores(a: Side, b: Side) -> StageResult:
    """Raw scores and embeddings: largest difference, rank correlation, and how many choices change."""
    x, y = aligned_scores(a, b)
    if not len(x):
        return _traced_scores(a, b)
    from scipy.stats import spearmanr

    gap, spread = float(np.abs(x - y).max()), max(float(np.std(x)), 1e-12)
    ranks = float(spearmanr(x, y).statistic) if np.ptp(x) > 0 and np.ptp(y) > 0 else None
    other_choices = sum(u.choice != v.choice for _, u, v in item_pairs(a, b))
    numbers: dict[str, Json] = {"largest_difference": gap, "in_sd": gap / spread, "rank_correlation": ranks}
    numbers |= {"other_choices": other_choices, "scores": len(x)}
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
    """The reading of answers: unparseable ones, and letters that a log counts otherwise than the key does."""
    pairs = item_pairs(a, b)
    if not pairs:
        return StageResult("reading", "unknown", "no item on both sides")
    unread = [name for name, x, y in pairs if x.unread != y.unread]
    against = [name for name, x, y in pairs if _read_otherwise(x, y) or _read_otherwise(y, x)]
    n_unanswered = int(a.numbers.get("unanswered", 0)) + int(b.numbers.get("unanswered", 0))
    numbers: dict[str, Json] = {"unparseable_in_one": len(unread), "read_otherwise": len(against)}
    numbers["unanswered"] = n_unanswered
    says = []
    if unread:
        says.append(f"unparseable in one side only: {counted(len(unread), 'item')} ({few(unread)})")
    if against:
        says.append(f"a letter counts otherwise than by the key: {counted(len(against), 'item')} ({few(against)})")
    if n_unanswered:
        says.append(f"{counted(n_unanswered, 'item')} without an answer that the log could read")
    if says:
        return StageResult("reading", "differs", "; ".join(says), numbers, measured=not (against or n_unanswered))
    return StageResult("reading", "equal", "answers were read alike", numbers)


def _read_otherwise(own: ItemEvidence, of_log: ItemEvidence) -> bool:
    """Whether a log's item counts a choice otherwise than our key does; ties are the joining's."""
    if own.label is None or of_log.label is not None or of_log.choice is None or of_log.hit not in (0.0, 1.0):
        return False
    return (of_log.choice == own.label) != (of_log.hit == 1.0)


def compare_joining(a: Side, b: Side) -> StageResult:
    """Pooling, norms, the scale of scores, and how ties count."""
    says = other_options(a, b, JOINING)
    if says:
        return StageResult("joining", "differs", "; ".join(says))
    if CERTIFICATE in (a.source, b.source):
        return StageResult("joining", "equal", "the same options")
    x, y = aligned_scores(a, b)
    if not len(x):
        ties = [name for name, x, y in item_pairs(a, b) if ((x.hit or 0) % 1 > 0) != ((y.hit or 0) % 1 > 0)]
        if ties:
            one = f"a tie counts as a share in one side only: {counted(len(ties), 'item')} ({few(ties)})"
            return StageResult("joining", "differs", one, {"ties_in_one": len(ties)})
        return StageResult("joining", "unknown", "no raw scores on both sides")
    slope, offset, rest = fitted_line(x, y)
    spread = max(float(np.std(x)), 1e-12)
    if max(abs(slope - 1), abs(offset) / spread) > 1e-2 and slope > 0 and rest <= 1e-4 * slope * spread:
        numbers = {"slope": slope, "offset": offset}
        return StageResult("joining", "differs", f"the scale of scores: {slope:.4g} x {offset:+.3g}", numbers)
    return StageResult("joining", "equal", "the same pooling, norm and scale")


def compare_figure(a: Side, b: Side) -> StageResult:
    """The figures that both sides have."""
    both = [name for name in a.numbers if name in b.numbers and not name.endswith(("_low", "_high"))]
    names = [name for name in both if all(isinstance(side.numbers[name], int | float) for side in (a, b))]
    if not names:
        return StageResult("figure", "unknown", "no figure on both sides")
    unequal = [name for name in names if abs(a.numbers[name] - b.numbers[name]) > EQUAL]
    numbers = {name: b.numbers[name] - a.numbers[name] for name in names}
    if unequal:
        says = ", ".join(f"{name} {a.numbers[name]:.4g} and {b.numbers[name]:.4g}" for name in _main(unequal))
        return StageResult("figure", "differs", says, numbers, measured=True)
    return StageResult("figure", "equal", ", ".join(f"{name} {a.numbers[name]:.4g}" for name in _main(names)), numbers)


def _main(names: list[str]) -> list[str]:
    first = [n for n in names if n.endswith(ACCURACY.key) or n in [score.key for score in ROBUST["retrieval"]]]
    return (first or names)[:SHOWN]


STAGES = (
    compare_set, compare_frames, compare_pixels, compare_prompt, compare_model, compare_scores, compare_reading,
    compare_joining, compare_figure,
)  # fmt: skip
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
    results = {result.stage: result for result in (function(a, b) for function in STAGES)}
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
