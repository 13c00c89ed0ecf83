"""A blind model of an item's form: which candidate is long, odd, negated, near to the others or to the question?

Other blind models read one text at a time; this one compares the candidates of an item. Test makers write the true
candidate with more care, or make the others from it, so that it stands in the middle of them.
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_NEGATED = re.compile(r"\b(no|not|never|without|nobody|nothing|none|n't)\b", re.I)
_WORD = re.compile(r"[\w']+")
SUMMARY = "form of the candidates (length, overlap with the others and the question ...), logistic regression"


def features(texts: Sequence[str], question: str = "") -> Floats:
    """Returns float64[k, m]: what the form of each candidate of an item is, less the mean over its candidates."""
    table = np.array([list(of_text.values()) for of_text in named_features(texts, question)], np.float64)
    return np.asarray(table - table.mean(axis=0))


def named_features(texts: Sequence[str], question: str = "") -> list[dict[str, float]]:
    """Of each candidate, what it has most of -> how much. The names are those of the candidate that has most of it."""
    words = [_WORD.findall(text.lower()) for text in texts]
    kinds = [set(of_text) for of_text in words]
    question_words = set(_WORD.findall(question.lower()))
    lengths = [len(of_text) for of_text in words]
    rows = []
    for n, text in enumerate(texts):
        others = [other for m, other in enumerate(kinds) if m != n]
        near = [_jaccard(kinds[n], other) for other in others]
        rows.append(
            {
                "most words": lengths[n] / 10,
                "most characters": len(text) / 50,
                "the longest (in words)": float(lengths[n] == max(lengths)),
                "the shortest (in words)": float(lengths[n] == min(lengths)),
                "most words of the others": float(np.mean(near)),
                "most words of one other": max(near),
                "most words of all others": min(near),
                "most words of its own": len(kinds[n].difference(*others)) / 5,
                "most words of the question": _jaccard(kinds[n], question_words),
                "a negation": float(bool(_NEGATED.search(text))),
                "a digit": float(any(character.isdigit() for character in text)),
                "a full stop at its end": float(text.rstrip().endswith((".", "!", "?"))),
                "a capital at its start": float(text[:1].isupper()),
                "most commas": text.count(",") / 2,
                "most different words": len(kinds[n]) / max(1, lengths[n]),
                "longest words": sum(map(len, words[n])) / max(1, lengths[n]) / 5,
            }
        )
    return rows


def cross_fitted_features(tables: Sequence[Floats], fold: NDArray[np.int64]) -> list[Floats]:
    """Scores every item's candidates, float64[k] each, by a logistic regression that was fitted on the other folds.

    The tables are those of `features`, the true candidate first; `fold` holds the fold of each item.
    """
    from sklearn.linear_model import LogisticRegression

    sizes = np.array([len(table) for table in tables])
    rows = np.concatenate(tables)
    true = np.concatenate([np.arange(size) == 0 for size in sizes])
    # The false candidates of an item count together as much as its true one.
    weights = np.concatenate([np.where(np.arange(size) == 0, 1.0, 1.0 / (size - 1)) for size in sizes])
    of_row = np.repeat(fold, sizes)
    scores = np.zeros(len(rows))
    for held_out in np.unique(fold):
        known, inside = of_row != held_out, of_row == held_out
        model = LogisticRegression(C=1.0, max_iter=500).fit(rows[known], true[known], sample_weight=weights[known])
        scores[inside] = model.decision_function(rows[inside])
    return np.split(np.round(scores, 9), np.cumsum(sizes)[:-1])


def common_position_scores(positions: Sequence[Sequence[int]], fold: NDArray[np.int64]) -> list[Floats]:
    """Scores each candidate by how often its place (in the published order) holds the true one in the other folds.

    The positions are those of each item's candidates, the true one's first; `fold` holds the fold of each item.
    """
    width = 1 + max(max(of_item) for of_item in positions)
    true = np.array([of_item[0] for of_item in positions])
    counts = {int(held): np.bincount(true[fold != held], minlength=width) for held in np.unique(fold)}
    return [counts[int(held)][list(of_item)].astype(np.float64) for of_item, held in zip(positions, fold, strict=True)]


def _jaccard(first: set[str], second: set[str]) -> float:
    return len(first & second) / max(1, len(first | second))
