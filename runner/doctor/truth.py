"""True captions beat those of other clips more often than chance: what a wrong prompt or a turned sign breaks first."""

from __future__ import annotations

import numpy as np

from video_contrast.runner.doctor.probe import Probe
from video_contrast.runner.doctor.verdict import Verdict

LEVEL = 0.05
WRONG = 0.01  # a p-value from which on a sign is turned


def check_truth(probe: Probe) -> Verdict:
    """The verdict "truth".

    Every clip contributes the score of its own caption less the mean of the other captions that it was scored with; how
    much clips like a caption in general is taken away first. The p-value is of the sign-flip test.

    Returns:
        "doubt" where the eight items do not show it: a model may be right at chance (untrained, or on hard captions).
        "fail" where true captions lose.
    """
    from video_contrast.metrics import sign_flip

    n, k = probe.clean.shape
    if n < 3 or k < 2 or not np.isfinite(probe.clean).all():
        return Verdict("truth", "fact", "not tested: it takes three items with scores")
    scores = np.full((n, n), np.nan)
    for row in range(n):
        scores[row, probe.shown(row)] = probe.clean[row]
    centred = scores - np.nanmean(scores, axis=0, keepdims=True)
    gain = np.array([centred[row, row] - np.nanmean(np.delete(centred[row], row)) for row in range(n)])
    p_value = sign_flip(gain)
    wins = float(np.mean([np.mean(probe.clean[row, 0] > probe.clean[row, 1:]) for row in range(n)]))
    numbers = {"wins": wins, "p_value": p_value, "items": n}
    says = f"true captions beat {100 * wins:.0f} % of those of other clips (n = {n}, p = {p_value:.3g})"
    if gain.mean() > 0 and p_value < LEVEL:
        return Verdict("truth", "pass", says, numbers)
    if gain.mean() < 0 and p_value < WRONG:
        return Verdict("truth", "fail", f"{says}: they lose, is a score a distance?", numbers)
    return Verdict("truth", "doubt", f"{says}: not more than chance would", numbers)
