"""True captions beat those of other clips more often than chance: what a wrong prompt or a turned sign breaks first."""

from dataclasses import replace

import numpy as np

from video_contrast.metrics import sign_flip
from video_contrast.runner.doctor.probe import Probe
from video_contrast.runner.doctor.result import Outcome

LEVEL = 0.05
WRONG, LOST = 0.01, 1 / 3  # a p-value and a share of pairs that are won, from which on a sign is turned
EXCHANGED = 0.02  # and one from which on channels are exchanged: seven of eight items, where exchanging them also helps


def check_truth(probe: Probe) -> Outcome:
    """The verdict "truth".

    Every clip contributes the score of its own caption less the mean of the other captions that it was scored with; how
    much clips like a caption in general is taken away first. The p-value is of the sign-flip test.

    Returns "doubt" where the eight items do not show it: a model may be right at chance (untrained, or on hard
    captions); "fail" where true captions lose.
    """
    n = len(probe.clips)
    if not is_testable(probe.clean):
        return Outcome("truth", "fact", "not tested: it takes three items with scores")
    gain = _gain(probe, probe.clean)
    p_value = sign_flip(gain)
    wins = float(np.mean([np.mean(probe.clean[row, 0] > probe.clean[row, 1:]) for row in range(n)]))
    numbers = {"wins": wins, "p_value": p_value, "items": n}
    says = f"true captions beat {100 * wins:.0f} % of those of other clips (n = {n}, p = {p_value:.3g})"
    if gain.mean() > 0 and p_value < LEVEL:
        return Outcome("truth", "pass", says, numbers)
    if gain.mean() < 0 and p_value < WRONG and wins < LOST:
        return Outcome("truth", "fail", f"{says}: they lose, is a score a distance?", numbers)
    return Outcome("truth", "doubt", f"{says}: not more than chance would", numbers)


def check_channels(probe: Probe) -> Outcome:
    """The verdict "channels": whether true captions win by more with red and blue exchanged, and then win for sure."""
    clips = [replace(clip, frames=clip.frames[..., ::-1].copy()) for clip in probe.clips]
    scores = probe.own_scores(clips)
    if not is_testable(probe.clean) or not is_testable(scores):
        return Outcome("channels", "fact", "not tested: it takes three items with scores")
    exchanged = _gain(probe, scores)
    change = exchanged - _gain(probe, probe.clean)
    p_value = sign_flip(change)
    numbers = {"change_sd": probe.in_units(float(change.mean())), "p_value": p_value, "items": len(clips)}
    if change.mean() > 0 and p_value < LEVEL and exchanged.mean() > 0 and sign_flip(exchanged) < LEVEL:
        says = f"true captions win by {numbers['change_sd']:.2g} sd more once red and blue are exchanged"
        says = f"{says} (p = {p_value:.3g}): are the channels in the wrong order?"
        return Outcome("channels", "fail" if p_value < EXCHANGED else "doubt", says, numbers)
    if change.mean() < 0 and p_value < LEVEL:
        return Outcome("channels", "pass", "true captions win by less once red and blue are exchanged", numbers)
    return Outcome("channels", "fact", "true captions fare the same with red and blue exchanged", numbers)


def is_testable(scores: np.ndarray) -> bool:
    """Whether there are three items at least, and all of their scores are numbers."""
    return scores.shape[0] >= 3 and scores.shape[1] >= 2 and bool(np.isfinite(scores).all())


def _gain(probe: Probe, shown: np.ndarray) -> np.ndarray:
    """By how much each clip's own caption beats the mean of the others that it was scored with: float64[n]."""
    n = len(shown)
    scores = np.full((n, n), np.nan)
    for row in range(n):
        scores[row, probe.shown(row)] = shown[row]
    centred = scores - np.nanmean(scores, axis=0, keepdims=True)
    return np.array([centred[row, row] - np.nanmean(np.delete(centred[row], row)) for row in range(n)])
