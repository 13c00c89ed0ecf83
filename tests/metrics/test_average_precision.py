"""Mean average precision and R@1 of captions over clips, against scikit-learn and against all orders of ties."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from video_contrast.metrics import average_precision


def test_without_ties_it_is_that_of_scikit_learn() -> None:
    draw = np.random.default_rng(0)
    scores = [draw.permutation(n).astype(float) for n in (2, 3, 7, 40)]
    true = [np.arange(len(row)) < 1 + n for n, row in enumerate(scores)]
    expected = np.mean([average_precision_score(truth, row) for truth, row in zip(true, scores, strict=True)])
    assert average_precision(scores, true)["clip_mAP"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("row", [[0.5, 0.5, 0.5, 0.5], [0.9, 0.5, 0.5, 0.1], [0.5, 0.5, 0.9, 0.9]])
@pytest.mark.parametrize("true", [[True, False, False, False], [True, False, True, False], [False, True, True, True]])
def test_a_tie_counts_its_mean_over_all_orders(row: list[float], true: list[bool]) -> None:
    orders = [order for order in permutations(range(4)) if list(order) == sorted(order, key=lambda n: -row[n])]
    truths = np.array([[true[n] for n in order] for order in orders])
    precision = truths.cumsum(axis=1) / np.arange(1, 5)
    result = average_precision([row], [true])
    assert result["clip_mAP"] == pytest.approx(((precision * truths).sum(axis=1) / sum(true)).mean())
    assert result["clip_R@1"] == pytest.approx(truths[:, 0].mean())


def test_a_constant_scorer_gets_exactly_chance() -> None:
    result = average_precision(np.zeros((6, 4)), [[True, False, False, True]] * 6, interval=True)
    for name in ("clip_mAP", "clip_R@1"):
        assert result[name] == result[f"chance_{name}"]
        assert result[f"{name}_low"] < result[name] < result[f"{name}_high"]


@pytest.mark.parametrize(
    ("scores", "true"), [([], []), ([[1, 2]], [[True, True]]), ([[1, np.nan]], [[True, False]]), ([[1, 2]], [[True]])]
)
def test_captions_without_a_choice_are_refused(scores: list[list[float]], true: list[list[bool]]) -> None:
    with pytest.raises(ValueError, match="caption"):
        average_precision(scores, true)
