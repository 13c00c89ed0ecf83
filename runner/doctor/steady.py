"""Scores depend on a clip and its candidates alone: not on company, order, position, repetition or process."""

from collections.abc import Iterator, Sequence

import numpy as np

from video_contrast.runner.doctor.probe import Probe, difference, finite
from video_contrast.runner.doctor.result import Outcome
from video_contrast.runner.kinds.base import Encoder, PairScorer

LONG = "and then, after a while, everything in this scene happens once more from the beginning"


def check_steadiness(probe: Probe) -> Iterator[Outcome]:
    """The verdicts "repeat", "batch", "order", "candidates", "padding" and "position"."""
    yield _verdict(probe, "repeat", probe.noise, "asked twice")
    yield _batch(probe)
    yield _order(probe)
    if probe.together:
        yield Outcome("candidates", "fact", "candidates are scored together: a score means something among them only")
    else:
        yield _candidates(probe)
        yield _padding(probe)
    if isinstance(probe.model, PairScorer):
        yield _position(probe)


def same_in_all(probe: Probe, others: Sequence[np.ndarray]) -> Outcome:
    """The verdict "process", from what every process computed for the first clip."""
    return _verdict(probe, "process", max(difference(other, others[0]) for other in others), f"{len(others)} processes")


def _verdict(probe: Probe, check: str, change: float, what: str) -> Outcome:
    if probe.is_steady(change):
        return Outcome(check, "pass", f"{what}: the same scores", probe.numbers(change))
    says = f"{what}: scores differ by {probe.in_units(change):.2g} sd"
    return Outcome(check, "fail", says, probe.numbers(change))


def check_finite(probe: Probe) -> Outcome:
    """The verdict "finite"."""
    missing = int(probe.clean.size - len(finite(probe.clean)))
    if not missing:
        return Outcome("finite", "pass", "all scores are finite numbers")
    answers = "" if isinstance(probe.model, Encoder) else "answers that are no candidate, "
    says = f"{missing} of {probe.clean.size} scores are no numbers ({answers}NaN or infinite)"
    doubt = bool(answers) and missing < probe.clean.size
    return Outcome("finite", "doubt" if doubt else "fail", says, {"missing": missing})


def _batch(probe: Probe) -> Outcome:
    """One clip alone against all in a batch; of a pair scorer, pairs one by one."""
    model, captions = probe.model, probe.captions_of(0)
    if isinstance(model, Encoder):
        return _verdict(probe, "batch", probe.reaction(probe.clips[0]), "a clip alone and in a batch")
    size, model.batch_size = model.batch_size, 1
    try:
        alone = probe.scores(probe.clips[:1], captions, again=True)
    finally:
        model.batch_size = size
    return _verdict(probe, "batch", difference(alone, probe.clean[:1]), "pairs one by one and in a batch")


def _order(probe: Probe) -> Outcome:
    """The clips in another order, and of a pair scorer the captions in another one."""
    if isinstance(probe.model, Encoder):
        turned = probe.scores(probe.clips[::-1], probe.captions)[::-1]
        again = np.stack([turned[n, probe.shown(n)] for n in range(len(probe.clips))])
        return _verdict(probe, "order", difference(again, probe.clean), "clips in reversed order")
    captions = probe.captions_of(0)
    again = probe.scores(probe.clips[:1], captions[::-1])[:, ::-1]
    change = difference(again, probe.clean[:1])
    if probe.together and not probe.is_steady(change):
        return Outcome(
            "order", "fact", f"the order of candidates shows: {probe.in_units(change):.2g} sd (rotations take it away)"
        )
    return _verdict(probe, "order", change, "candidates in reversed order")


def _candidates(probe: Probe) -> Outcome:
    captions = probe.captions_of(0)
    few = captions if isinstance(probe.model, Encoder) else captions[:2]
    alone = np.concatenate([probe.scores(probe.clips[:1], [caption]) for caption in few], axis=1)
    # with the clip alone in its batch too, so that this check is about captions
    among = probe.scores(probe.clips[:1], captions)[:, : len(few)]
    return _verdict(probe, "candidates", difference(alone, among), "a caption alone and among others")


def _padding(probe: Probe) -> Outcome:
    captions = sorted(probe.captions_of(0), key=len)[:2]
    longer = [*captions, f"{captions[-1]} {LONG}"]
    change = difference(
        probe.scores(probe.clips[:1], longer)[:, : len(captions)], probe.scores(probe.clips[:1], captions)
    )
    return _verdict(probe, "padding", change, "a caption beside a much longer one")


def _position(probe: Probe) -> Outcome:
    change = difference(probe.scores(probe.clips[:1], probe.captions_of(0), position=1), probe.clean[:1])
    if probe.together and not probe.is_steady(change):
        return Outcome("position", "fact", "candidates are rotated by the item's number")
    return _verdict(probe, "position", change, "another number of the item")
