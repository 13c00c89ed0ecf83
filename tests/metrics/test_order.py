"""What holds for every metric: the order of items and options changes nothing, a constant scorer gets chance."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from video_contrast import metrics


def chosen(values: Any, order: np.ndarray) -> Any:
    return [values[i] for i in order]


_RNG = np.random.default_rng(4)
_N = 24
_HITS = _RNG.integers(0, 3, _N) / 2
_FOUR, _LABELS = _RNG.integers(0, 5, (_N, 4)).astype(float), _RNG.integers(0, 4, _N)
_PAIRS, _NEAR, _COUNTS = _RNG.integers(0, 4, (_N, 2, 2)), _RNG.integers(0, 9, _N), _RNG.integers(0, 9, (2, _N))
_VOTES = _RNG.integers(0, 3, (_N, 3)).tolist()
_TEXTS = [" ".join(_RNG.choice(["a", "dog", "runs", "home"], 5)) for _ in range(2 * _N)]
_SHUFFLED = np.random.default_rng(9).permutation(4)

# Every metric of items, `measure(order, clusters)`, with its intervals.
_OF_ITEMS: dict[str, Callable[[np.ndarray, Any], Any]] = {
    "rcad": lambda i, c: metrics.rcad(_FOUR[i], _LABELS[i], clusters=c, interval=True),
    "group_score": lambda i, c: metrics.group_score(_PAIRS[i], clusters=c, interval=True),
    "sensitivity": lambda i, c: metrics.sensitivity(_FOUR[i, 0], _FOUR[i, 1], clusters=c, interval=True),
    "consistency": lambda i, c: metrics.consistency(_HITS[i], _NEAR[i], interval=True),
    "rarity_gap": lambda i, c: metrics.rarity_gap(_HITS[i], _COUNTS[0, i], _COUNTS[1, i], clusters=c, interval=True),
    "proximity": lambda i, c: metrics.proximity(_HITS[i], _NEAR[i], share=0.3, clusters=c, interval=True),
    "majority_vote": lambda i, c: (
        metrics.majority_vote(chosen(_VOTES, i), [0] * _N, clusters=c, interval=True) | {"majority": None}
    ),
    "agreement": lambda i, c: metrics.agreement(chosen(_VOTES, i), clusters=c, interval=True),
    "position_bias": lambda i, c: metrics.position_bias(_FOUR[i], _LABELS[i], clusters=c, interval=True),
    "right_in_all_rotations": lambda i, c: metrics.right_in_all_rotations(
        (_FOUR > 1)[i].astype(float), clusters=c, interval=True
    ),
    "caption_shift": lambda i, c: metrics.caption_shift(
        chosen(_TEXTS[:_N], i), chosen(_TEXTS[_N:], i), clusters=c, interval=True
    ),
    "robustness": lambda i, c: metrics.robustness(
        (_HITS[i] + 1) / 2, _HITS[i], chosen(["jpeg", "freeze", "drop_first"] * 8, i), clusters=c
    ),
    "compare_choices": lambda i, c: metrics.compare_choices(_FOUR[i], _FOUR[i][:, ::-1], _LABELS[i], clusters=c),
    "paired_difference": lambda i, c: metrics.paired_difference(_HITS[i], _NEAR[i], c),
    "gamma_interval": lambda i, c: metrics.gamma_interval((_HITS[i] + 1) / 2, _HITS[i], c)._asdict(),
    "mcnemar": lambda i, c: metrics.mcnemar(_HITS[i] > 0.5, _NEAR[i] > 4),
}


@pytest.mark.parametrize("name", list(_OF_ITEMS))
@pytest.mark.parametrize("clustered", [True, False])
def test_the_order_of_items_changes_nothing_in_any_metric(name: str, clustered: bool) -> None:
    measure = _OF_ITEMS[name]
    clusters = np.arange(_N) // 2 if clustered else None
    order = np.random.default_rng(1).permutation(_N)
    before = measure(np.arange(_N), clusters)
    after = measure(order, None if clusters is None else clusters[order])
    _same(after, before)


def _same(found: Any, expected: Any) -> None:
    """Equal, but for the last digits of floats."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for key in expected:
            _same(found[key], expected[key])
    else:
        assert found == pytest.approx(expected)


def test_the_order_of_options_changes_nothing() -> None:
    """Nor that of two captions and videos of a pair, of annotators, or of rotations."""
    labels = [list(_SHUFFLED).index(label) for label in _LABELS]
    _same(metrics.rcad(_FOUR[:, _SHUFFLED], labels), metrics.rcad(_FOUR, _LABELS))
    _same(
        metrics.compare_choices(_FOUR[:, _SHUFFLED], _FOUR[:, ::-1][:, _SHUFFLED], labels),
        metrics.compare_choices(_FOUR, _FOUR[:, ::-1], _LABELS),
    )
    _same(metrics.group_score(_PAIRS[:, ::-1, ::-1]), metrics.group_score(_PAIRS))
    _same(metrics.agreement([row[::-1] for row in _VOTES]), metrics.agreement(_VOTES))
    _same(metrics.majority_vote([row[::-1] for row in _VOTES], [0] * _N), metrics.majority_vote(_VOTES, [0] * _N))
    hits = (_FOUR > 1).astype(float)
    _same(metrics.right_in_all_rotations(hits[:, ::-1]), metrics.right_in_all_rotations(hits))
    bias, turned = metrics.position_bias(_FOUR, _LABELS), metrics.position_bias(_FOUR[:, _SHUFFLED], labels)
    for figure in ("accuracy_by_position", "picked"):
        assert turned[figure] == pytest.approx([bias[figure][place] for place in _SHUFFLED])


def test_a_constant_scorer_gets_chance_wherever_its_hits_go() -> None:
    """What is computed of hits: positions, rotations, gaps, subsets, clusters, gammas, differences."""
    k, scores = 4, np.zeros((_N, 4))
    hits = metrics.choice_ranks(scores, _LABELS).hit(1)
    assert set(hits) == {1 / k}
    bias = metrics.position_bias(scores, _LABELS)
    assert bias["accuracy_by_position"] == [1 / k] * k
    assert bias["picked"] == [1 / k] * k
    assert (bias["accuracy_std"], bias["picked_std"]) == (0, 0)
    rotations = metrics.right_in_all_rotations(np.full((_N, 2), 1 / k))
    assert (rotations["right_in_all"], rotations["accuracy"]) == (1 / k**2, 1 / k)
    assert metrics.rarity_gap(hits, *_COUNTS)["gap"] == pytest.approx(0)
    subsets = metrics.proximity(hits, _NEAR, antonym=_NEAR > 6)
    assert [subsets[name] for name in ("antonym", "high", "low")] == pytest.approx([1 / k] * 3)
    assert metrics.consistency(hits, np.arange(_N) // 2)["consistency"] == 1 / k**2
    assert metrics.sensitivity(np.ones(_N), np.ones(_N))["wrong_sign"] == 0.5
    compared = metrics.compare_choices(scores, scores, _LABELS)
    assert (compared["accuracy1"], compared["difference"], compared["mcnemar_p_value"]) == (1 / k, 0, 1)
    figures = metrics.robustness(hits, hits, ["jpeg"] * _N, chance=1 / k)
    assert (figures["gamma_a"], figures["gamma_r"], figures["gamma_c"]) == (1, 1, None)  # nothing could be lost
    embeddings = metrics.retrieval_from_embeddings(np.ones((6, 3)), np.ones((9, 3)), np.arange(9) % 6, ks=[2])
    assert embeddings["t2v_R@2"] == embeddings["t2v_chance_R@2"] == 2 / 6
    assert metrics.caption_shift(["a dog"] * 3, ["a dog"] * 3)["changed"] == 0
