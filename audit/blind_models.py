"""Scorers that never see the video: what a set gives away by its texts alone.

A blind scorer gives every candidate a number, higher for what it takes to be the true caption. Those that learn are
cross-fitted: no caption is scored by a model that has seen an item of the same source video.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from video_contrast.seeds import stream

Scores = list[NDArray[np.float64]]  # one array an item, one number a candidate
NGRAMS = (1, 3)
DISCOUNT = 0.75
START, UNKNOWN = "<s>", "<unk>"


def folds_of(clusters: Sequence[str], folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of every item; items of one cluster share it, and folds hold about as many clusters each."""
    names = sorted(set(clusters))
    order = stream(seed, "audit-folds").permutation(len(names))
    fold = {name: int(place) % folds for name, place in zip(names, order, strict=True)}
    return np.array([fold[cluster] for cluster in clusters], dtype=np.int64)


def cross_fitted(
    items: Sequence[Sequence[str]],
    fold: NDArray[np.int64],
    fit: Callable[[Sequence[Sequence[str]]], Callable[[Sequence[str]], NDArray[np.float64]]],
) -> Scores:
    """Scores of every item's candidates by a model fitted on the other folds.

    Args:
        items: candidates of each item, the true one first.
        fold: of each item.
        fit: takes items and returns a function from texts to scores; a caption that it must not learn from is "".
    """
    scores: Scores = [np.zeros(0)] * len(items)
    for held_out in np.unique(fold):
        inside = [number for number in range(len(items)) if fold[number] == held_out]
        # A caption may stand in several items, true in one and a distractor in others: what is scored is not learned.
        unseen = {text for number in inside for text in items[number]}
        rest = [item for item, number in zip(items, fold, strict=True) if number != held_out]
        score = fit([[text if text not in unseen else "" for text in item] for item in rest])
        flat = score([text for number in inside for text in items[number]])
        at = 0
        for number in inside:
            scores[number] = flat[at : at + len(items[number])]
            at += len(items[number])
    return scores


def fit_ngrams(items: Sequence[Sequence[str]]) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """Logistic regression on word n-grams of 1 to 3 and on length, true against false captions."""
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    known = [(text, place == 0, len(item)) for item in items for place, text in enumerate(item) if text]
    texts = [text for text, _, _ in known]
    labels = np.array([true for _, true, _ in known])
    if labels.all() or not labels.any():
        return lambda given: np.zeros(len(given))
    # False captions are weighted so that an item's true caption counts as much as all of its false ones.
    weights = np.array([1.0 if true else 1.0 / (size - 1) for _, true, size in known])
    least = max(2, len(texts) // 2500)  # rarer n-grams cost most of the time and tell nothing
    words = CountVectorizer(ngram_range=NGRAMS, binary=True, token_pattern=r"\S+", min_df=least)
    try:
        words.fit(texts)
    except ValueError:  # no n-gram stands twice: nothing to learn from
        return lambda given: np.zeros(len(given))

    def vectors(given: Sequence[str]) -> "sparse.csr_matrix":
        lengths = np.array([[len(text.split()) / 10, len(text) / 50] for text in given])
        return sparse.hstack([words.transform(given).astype(np.float64), sparse.csr_matrix(lengths)]).tocsr()

    model = LogisticRegression(C=1.0, solver="liblinear", tol=1e-3).fit(vectors(texts), labels, sample_weight=weights)
    return lambda given: np.asarray(model.decision_function(vectors(given)), dtype=np.float64)


def fit_trigrams(items: Sequence[Sequence[str]]) -> Callable[[Sequence[str]], NDArray[np.float64]]:
    """A trigram language model (absolute discounting, interpolated) of the true captions; score: mean log-probability.

    It stands for "which of the two would people rather write", and needs nothing but the set itself.
    """
    return TrigramModel([item[0] for item in items if item[0]]).score


class TrigramModel:
    """Word trigrams with interpolated absolute discounting down to uniform over the vocabulary.

    >>> model = TrigramModel(["a man runs", "a man sings", "a dog runs"])
    >>> bool(model.score(["a man runs"])[0] > model.score(["runs man a"])[0])
    True
    """

    def __init__(self, captions: Sequence[str]) -> None:
        self.counts: dict[tuple[str, ...], int] = Counter()  # n-gram -> how often; () -> number of words
        self.kinds: dict[tuple[str, ...], int] = Counter()  # history -> how many different words follow it
        self.totals: dict[tuple[str, ...], int] = Counter()  # history -> how many words follow it
        for caption in captions:
            words = [START, START, *caption.lower().split(), UNKNOWN]
            for at in range(2, len(words)):
                for order in (0, 1, 2):
                    history = tuple(words[at - order : at])
                    gram = (*history, words[at])
                    self.kinds[history] += gram not in self.counts
                    self.counts[gram] += 1
                    self.totals[history] += 1
        self.vocabulary = {gram[0] for gram in self.counts if len(gram) == 1}

    def score(self, captions: Sequence[str]) -> NDArray[np.float64]:
        """Mean log-probability of a word of each caption (0 for a caption without words)."""
        return np.array([self._mean(caption) for caption in captions])

    def _mean(self, caption: str) -> float:
        words = [word if word in self.vocabulary else UNKNOWN for word in caption.lower().split()]
        padded = [START, START, *words]
        total = sum(log(self._probability(tuple(padded[at - 2 : at]), padded[at])) for at in range(2, len(padded)))
        return total / len(words) if words else 0.0

    def _probability(self, history: tuple[str, ...], word: str) -> float:
        total = self.totals.get(history, 0)
        below = self._probability(history[1:], word) if history else 1.0 / (len(self.vocabulary) + 1)
        if not total:
            return below
        seen = self.counts.get((*history, word), 0)
        return (max(seen - DISCOUNT, 0.0) + DISCOUNT * self.kinds[history] * below) / total
