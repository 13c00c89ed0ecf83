"""NDCG of graded candidates: as scikit-learn has it, with the tie rule, and min-max as its benchmark has it."""

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from video_contrast.metrics import multiple_choice, ndcg


def graded(n=60, k=4, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    grades = [[1, *rng.integers(2, 5, k - 1)] for _ in range(n)]
    scores = rng.integers(0, 3, (n, k)).astype(float) if ties else rng.normal(size=(n, k))
    return scores, [list(map(int, rng.permutation(of_item))) for of_item in grades]


@pytest.mark.parametrize("ties", [False, True])
def test_as_scikit_learn(ties):
    scores, grades = graded(ties=ties)
    expected = np.mean([
        ndcg_score([[max(of_item) + 1 - n for n in of_item]], [row])
        for row, of_item in zip(scores, grades, strict=True)
    ])  # fmt: skip
    assert ndcg(scores, grades)["ndcg"] == pytest.approx(expected, abs=1e-12)


def test_best_order_worst_order_and_a_constant_scorer():
    _, grades = graded()
    best = ndcg(-np.array(grades, float), grades)
    worst = ndcg(np.array(grades, float), grades)
    assert best["ndcg"] == best["ndcg_min_max"] == 1.0 and worst["ndcg_min_max"] == pytest.approx(0.0)
    constant = ndcg(np.ones((60, 4)), grades, clusters=range(60), interval=True)
    for name in ("ndcg", "ndcg_min_max"):
        assert constant[name] == constant[f"chance_{name}"] and constant[f"{name}_low"] < constant[name]
    # of three captions the benchmark's own figure for the order 1, 3, 2: DCGs 3 + 1 / 1.585 + 2 / 2, against the ends
    gains = {order: sum((4 - n) / np.log2(at + 2) for at, n in enumerate(order)) for order in ((1, 3, 2), (1, 2, 3))}
    lowest = sum((4 - n) / np.log2(at + 2) for at, n in enumerate((3, 2, 1)))
    expected = (gains[1, 3, 2] - lowest) / (gains[1, 2, 3] - lowest)
    assert ndcg([[0.9, 0.1, 0.5]], [[1, 2, 3]])["ndcg_min_max"] == pytest.approx(expected)


def test_grades_that_do_not_fit_are_refused():
    for grades in ([[1, 2]], [[1, 1, 1]], [[0, 1, 2]], [[1, 2.5, 3]]):
        with pytest.raises(ValueError, match="grades: item 0 has 3 candidates"):
            multiple_choice([[0.1, 0.2, 0.3]], [0], grades=grades)
    with pytest.raises(ValueError, match="1 items need 1 lists of grades"):
        ndcg([[0.1, 0.2, 0.3]], [])
    ragged = multiple_choice([[3, 2, 1], [1, 2]], [0, 0], grades=[[1, 2, 3], [1, 2]], ragged=True)
    assert ragged["ndcg_min_max"] == 0.5
