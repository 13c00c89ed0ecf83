"""Groups of n videos and n captions: chance, ties and sizes."""

from itertools import chain, permutations, product

import numpy as np
import pytest

from video_contrast import metrics
from video_contrast.metrics.group_score import group_chance, group_hits


def orders(matrix: np.ndarray) -> dict[str, float]:
    """The three scores by trying every order of the equal scores of a small matrix."""
    equal = [[(int(c), int(v)) for c, v in np.argwhere(matrix == value)] for value in np.unique(matrix)]
    hits = {"text_score": 0, "video_score": 0, "group_score": 0}
    count = 0
    for order in product(*map(permutations, equal)):
        keyed = {place: rank for rank, place in enumerate(chain.from_iterable(order))}
        k = range(len(matrix))
        text = all(keyed[v, v] > keyed[c, v] for v in k for c in k if c != v)
        video = all(keyed[c, c] > keyed[c, v] for c in k for v in k if c != v)
        hits["text_score"] += text
        hits["video_score"] += video
        hits["group_score"] += text and video
        count += 1
    return {name: value / count for name, value in hits.items()}


def test_ties_count_as_if_equal_scores_were_ordered_at_random() -> None:
    rng = np.random.default_rng(0)
    for matrix in rng.integers(0, 2, (40, 2, 2)).astype(float):
        assert {n: v[0] for n, v in group_hits([matrix]).items()} == pytest.approx(orders(matrix), abs=1e-12)
    for matrix in (np.eye(3), np.array([[2, 1, 0], [2, 2, 1], [0, 1, 1.0]])):
        assert {n: v[0] for n, v in group_hits([matrix]).items()} == pytest.approx(orders(matrix), abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 12])
def test_a_constant_scorer_of_any_size_gets_chance(k: int) -> None:
    result = metrics.group_score([np.zeros((k, k))] * 3)
    for name, chance in group_chance(k).items():
        assert result[name] == pytest.approx(chance, rel=1e-12) and result[f"chance_{name}"] == chance


def test_random_scores_of_three_get_chance() -> None:
    result = metrics.group_score(np.random.default_rng(0).random((40_000, 3, 3)))
    for name, chance in group_chance(3).items():
        assert result[name] == pytest.approx(chance, abs=0.003)


def test_groups_of_several_sizes_stand_together() -> None:
    result = metrics.group_score([np.eye(2), np.eye(3)], clusters=["a", "b"], interval=True)
    assert result["group_score"] == 1 and result["n"] == 2 and result["n_ties"] == 0
    assert result["chance_text_score"] == pytest.approx((1 / 4 + 1 / 27) / 2)


def test_captions_prefer_videos_along_the_rows() -> None:
    result = metrics.group_score([[[0.9, 0.95], [0.1, 0.97]]])  # caption 0 prefers video 1
    assert (result["text_score"], result["video_score"]) == (1, 0)
