"""The judge, trained further by votes of the builder of a set.

The weights of the shipped judge are the mean of a Gaussian prior, as narrow as the one that it was trained with; words
that are put in get weights of their own, which a few votes can move. So with few votes it stays near to what it was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from video_contrast.perturbations.contrast.edit import Edit
from video_contrast.perturbations.contrast.generate import given_proposals
from video_contrast.perturbations.contrast.judge import INTERCEPT, PUTS_IN, REPLACES, Judge, load_judge
from video_contrast.perturbations.contrast.proposal import Features, Target

_SHIPPED = 50.0  # precision of the prior of shipped weights: 1 / `STRENGTH` of benchmarks/judge.py
_OWN = 1.0  # of the intercept, which says how strict a reader is, and of words that are put in


class ContrastVote(NamedTuple):
    """A person's vote on a contrast; both answers None: it is not natural and surely false, whichever it lacks."""

    caption: str
    edit: Edit
    natural: bool | None
    surely_false: bool | None  # if it is natural


def trained_judges(votes: Sequence[ContrastVote]) -> dict[Target, Judge]:
    """The judge of each target on which there are votes, trained further by them.

    Votes on anything but one verb or one thing are left aside.
    """
    of_target: dict[Target, list[tuple[Features, ContrastVote]]] = {}
    proposals = given_proposals([vote.caption for vote in votes], [vote.edit for vote in votes])
    for vote, target_and_proposal in zip(votes, proposals, strict=True):
        if target_and_proposal is not None:
            target, proposal = target_and_proposal
            features = {**proposal.features, INTERCEPT: 1.0}
            of_target.setdefault(target, []).append((features, vote))
    return {target: _trained(load_judge(target), rows) for target, rows in of_target.items()}


def _trained(judge: Judge, rows: Sequence[tuple[Mapping[str, float], ContrastVote]]) -> Judge:
    from scipy.optimize import minimize

    names = sorted({name for features, _ in rows for name in features})
    table = np.array([[features.get(name, 0.0) for name in names] for features, _ in rows])
    before = np.array([judge.weights.get(name, (0.0, 0.0)) for name in names]).T
    own = [name == INTERCEPT or name.startswith((PUTS_IN, REPLACES)) for name in names]
    precision = np.where(own, _OWN, _SHIPPED)
    votes = [(vote.natural, vote.surely_false) for _, vote in rows]
    answers = np.array([[0 if answer is None else 1 if answer else -1 for answer in pair] for pair in votes]).T
    answers[1, answers[0] < 0] = 0  # truth is asked of natural contrasts only
    neither = ~answers.any(axis=0)

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Minus the log-probability of votes and weights, and its gradient."""
        weight_changes = flat.reshape(before.shape) - before
        logits = (before + weight_changes) @ table.T
        yes = 1.0 / (1.0 + np.exp(-logits.clip(-30.0, 30.0)))
        usable = yes.prod(axis=0).clip(0.0, 1.0 - 1e-9)
        has_answer = answers != 0
        likelihood = np.where(answers > 0, yes, 1.0 - yes).clip(1e-12)
        value = -np.log(likelihood[has_answer]).sum() - np.log(1.0 - usable[neither]).sum()
        value += (precision * weight_changes**2).sum() / 2
        slope = np.where(has_answer, yes - (answers > 0), neither * usable / (1.0 - usable) * (1.0 - yes))
        return float(value), (slope @ table + precision * weight_changes).ravel()

    weights = minimize(loss, before.ravel(), jac=True, method="L-BFGS-B").x.reshape(before.shape).round(4)
    new_weights = {name: (float(first), float(other)) for name, first, other in zip(names, *weights, strict=True)}
    good = sum(bool(natural and surely_false) for natural, surely_false in votes)
    return replace(judge, weights={**judge.weights, **new_weights}, votes=len(rows), good_votes=good)
