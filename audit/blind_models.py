"""Blind models: they score candidates without the video, so what they win is what the texts of a set give away.

A blind model returns a number for every text, higher for what it takes to be the true caption. The models learn from
the set that they score, and are cross-fitted: no text is scored by a model that has seen it, or seen an item of the
same source video. `BLIND_MODELS` names them; the audit of a set, its refinement and `score --model blind` use these.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit.item_checks import plain_words
from video_contrast.errors import UsageError
from video_contrast.metrics.ranks import first_chance
from video_contrast.rows import contrast_places
from video_contrast.seeds import stream
from video_contrast.storage.set_folder import BlindModelKey

Scores = list[NDArray[np.float64]]  # one array an item, one number a candidate
TextScorer = Callable[[Sequence[str]], NDArray[np.float64]]  # float64[n] for n texts
Items = Sequence[Sequence[str]]  # of each item its candidates
Fit = Callable[[Items], TextScorer]  # items, true candidate first; texts not to be learned are ""
Folds = NDArray[np.int64]  # of each item its fold
FOLDS = 5
LEAST_ITEMS = 20  # below, cross-validation says nothing
NGRAMS = (1, 3)
DISCOUNT = 0.75
START, UNKNOWN = "<s>", "<unk>"


def folds_of(clusters: Sequence[str], folds: int, seed: int) -> Folds:
    """Returns the fold of every item, int64[n].

    Items of one cluster share a fold, and folds hold about as many clusters each. `seed`: of the order in which
    clusters are dealt out.
    """
    names = sorted(set(clusters))
    order = stream(seed, "audit-folds").permutation(len(names))
    fold = {name: int(place) % folds for name, place in zip(names, order, strict=True)}
    return np.array([fold[cluster] for cluster in clusters], dtype=np.int64)


def cross_fitted(items: Items, fold: Folds, fit: Fit, *, scored: Items | None = None, answers: bool = False) -> Scores:
    """Scores texts of every item by a model fitted on the other folds.

    A caption may stand in several items, true in one and a distractor in others: a text that is scored is taken out of
    what that fold's model learns from. Answers stay there: which of them ("2", "yes") is often true gives others away.
    Returns float64[k] for each item, higher for what looks true.

    `items`: candidates of each item that models learn from, the true one first. `scored`: the texts of each item to
    score; `items` by default. `answers`: whether the texts are answers to questions.
    """
    scored = items if scored is None else scored
    scores: Scores = [np.zeros(0)] * len(items)
    for held_out in np.unique(fold):
        inside = [number for number in range(len(items)) if fold[number] == held_out]
        texts = [text for number in inside for text in scored[number]]
        unseen = set[str]() if answers else set(texts)
        rest = [item for item, number in zip(items, fold, strict=True) if number != held_out]
        score = fit([[text if text not in unseen else "" for text in item] for item in rest])
        ends = np.cumsum([len(scored[number]) for number in inside])
        for number, part in zip(inside, np.split(score(texts), ends[:-1]), strict=True):
            scores[number] = part
    return scores


def blind_scores(
    items: Items,
    clusters: Sequence[str],
    model: BlindModelKey = "blind",
    *,
    scored: Items | None = None,
    answers: bool = False,
    seed: int = 0,
) -> Scores:
    """Cross-fitted scores of a blind model, as the audit uses it.

    `model`: a key of `BLIND_MODELS`. `seed`: of the folds, which keep a cluster together. The rest is as of
    `cross_fitted`. Raises UsageError: fewer than `LEAST_ITEMS` items, or fewer videos than folds.
    """
    if too_few(clusters):
        raise UsageError(f"{len(clusters)} items of {len(set(clusters))} videos are too few to cross-validate")
    fold, fit = folds_of(clusters, FOLDS, seed), BLIND_MODELS[model].fit
    return cross_fitted(items, fold, fit, scored=scored, answers=answers)


def wins(scores: Scores) -> NDArray[np.float64]:
    """Returns float64[n]: 1 where the first candidate scores highest, a fair share on a tie, else 0."""
    return np.array([first_chance(of_item.tolist()) for of_item in scores])


def too_few(clusters: Sequence[str]) -> bool:
    """Whether the items (given by their source videos) are too few to cross-validate a model."""
    return len(clusters) < LEAST_ITEMS or len(set(clusters)) < FOLDS


def fit_ngrams(items: Items) -> TextScorer:
    """Fits a logistic regression on word n-grams of 1 to 3 and on length, true against false captions."""
    from scipy import sparse
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    texts_of = [(text, at == 0, len(item)) for item in items for at, text in enumerate(item) if text]
    texts = [text for text, _, _ in texts_of]
    labels = np.array([true for _, true, _ in texts_of])
    if labels.all() or not labels.any():
        return lambda unknown: np.zeros(len(unknown))
    # False captions are weighted so that an item's true caption counts as much as all of its false ones.
    weights = np.array([1.0 if true else 1.0 / (size - 1) for _, true, size in texts_of])
    # A limit that rose with the number of texts would weaken the model on large sets.
    bag = CountVectorizer(analyzer=ngrams, binary=True, min_df=2, dtype=np.float64)
    try:
        bag.fit(texts)
    except ValueError:  # no n-gram stands twice: nothing to learn from
        return lambda unknown: np.zeros(len(unknown))

    def vectors(of: Sequence[str]) -> "sparse.csr_matrix":
        """The n-grams of each text, a column each, and two columns of its length."""
        return sparse.hstack([bag.transform(of), [[len(t.split()) / 10, len(t) / 50] for t in of]], format="csr")

    model = LogisticRegression(C=1.0, solver="newton-cg", tol=1e-3)  # a fifth of the time of liblinear on large sets
    model.fit(vectors(texts), labels, sample_weight=weights)
    return lambda unknown: np.asarray(model.decision_function(vectors(unknown)), np.float64)


@lru_cache(maxsize=1 << 16)
def ngrams(text: str) -> tuple[str, ...]:
    """The different word n-grams of 1 to 3 of a text in lower case, each once. A text is read once for all models.

    >>> ngrams("A man runs")
    ('a', 'man', 'runs', 'a man', 'man runs', 'a man runs')
    """
    words = text.lower().split()
    sizes = range(NGRAMS[0], NGRAMS[1] + 1)
    grams = (" ".join(words[at : at + size]) for size in sizes for at in range(len(words) - size + 1))
    return tuple(dict.fromkeys(grams))


@lru_cache(maxsize=1 << 16)
def padded_grams(caption: str) -> tuple[tuple[str, ...], ...]:
    """The words, pairs and triples of a caption between its start and its end, with the marks of both.

    >>> padded_grams("Runs")[:4]
    (('runs',), ('<unk>',), ('<s>', 'runs'), ('runs', '<unk>'))
    """
    words = [START, START, *caption.lower().split(), UNKNOWN]
    return *((word,) for word in words[2:]), *pairwise(words[1:]), *zip(words, words[1:], words[2:], strict=False)


class TrigramModel:
    """Word trigrams with interpolated absolute discounting down to uniform over the vocabulary.

    A caption's score is the mean log-probability of its words: which of two would people rather write?

    >>> model = TrigramModel(["a man runs", "a man sings", "a dog runs"])
    >>> bool(model.score(["a man runs"])[0] > model.score(["runs man a"])[0])
    True
    """

    def __init__(self, captions: Sequence[str]) -> None:
        self.counts = Counter(chain.from_iterable(map(padded_grams, captions)))  # n-gram -> how often
        self.followers: dict[tuple[str, ...], int] = {}  # history -> how many different words follow it
        self.totals: dict[tuple[str, ...], int] = {}  # history -> how many words follow it
        for gram, count in self.counts.items():
            history = gram[:-1]
            self.followers[history] = self.followers.get(history, 0) + 1
            self.totals[history] = self.totals.get(history, 0) + count
        self.vocabulary = {gram[0] for gram in self.counts if len(gram) == 1}
        self.known: dict[tuple[str, ...], float] = {}  # trigram -> the logarithm of its probability

    def score(self, captions: Sequence[str]) -> NDArray[np.float64]:
        """Mean log-probability of a word of each caption (0 for a caption without words)."""
        means = []
        for caption in captions:
            words = [word if word in self.vocabulary else UNKNOWN for word in caption.lower().split()]
            tokens = [START, START, *words]
            trigrams = list(zip(tokens, tokens[1:], words, strict=False))
            for trigram in trigrams:
                if trigram not in self.known:
                    self.known[trigram] = log(self._probability(trigram[:-1], trigram[-1]))
            total = sum(self.known[trigram] for trigram in trigrams)
            means.append(total / len(words) if words else 0.0)
        return np.array(means)

    def _probability(self, history: tuple[str, ...], word: str) -> float:
        total = self.totals.get(history, 0)
        below = self._probability(history[1:], word) if history else 1.0 / (len(self.vocabulary) + 1)
        if not total:
            return below
        count = self.counts.get((*history, word), 0)
        return (max(count - DISCOUNT, 0.0) + DISCOUNT * self.followers[history] * below) / total


@dataclass(frozen=True)
class BlindModel:
    """A blind model that learns: how it is called, and how it is fitted."""

    summary: str
    fit: Fit


# By their keys in an audit's record.
BLIND_MODELS: dict[BlindModelKey, BlindModel] = {
    "blind": BlindModel("word n-grams (1-3) and length, logistic regression", fit_ngrams),
    "language_model": BlindModel(
        "word trigrams of the set's true captions",
        lambda items: TrigramModel([item[0] for item in items if item[0]]).score,
    ),
}


def audited_negatives(label: int, kinds: Sequence[str]) -> list[int]:
    """Returns the negatives that an item was built for: its contrasts, or all of them where none is a contrast.

    >>> audited_negatives(1, ["random", "true", "gender"]), audited_negatives(0, ["true", "random"])
    ([2], [1])
    """
    return contrast_places(kinds) or [n for n in range(len(kinds)) if n != label]


def strongest_blind_scores(
    candidates: Items, labels: Sequence[int], kinds: Items, *, clusters: Sequence[str], answers: bool = False
) -> tuple[str, Scores]:
    """Scores all candidates by the blind model that tells most true captions from the contrasts of their items.

    Returns what the model is, and float64[k] for each item in the order of its candidates, higher for what looks true.
    Too few items to cross-validate have the models of their audit, which learn nothing: the fewest or the most words.
    `answers`: as for `cross_fitted`.
    """
    places = [[label, *audited_negatives(label, of_item)] for label, of_item in zip(labels, kinds, strict=True)]
    if too_few(clusters):
        lengths = [np.array([float(len(text.split())) for text in texts]) for texts in candidates]
        models: dict[str, Scores] = {"fewest words": [-of_item for of_item in lengths], "most words": lengths}
    else:
        own_texts = [[texts[n] for n in own] for texts, own in zip(candidates, places, strict=True)]
        models = {
            model.summary: blind_scores(own_texts, clusters, key, scored=candidates, answers=answers)
            for key, model in BLIND_MODELS.items()
        }
    best = max(models, key=lambda m: wins([row[own] for row, own in zip(models[m], places, strict=True)]).sum())
    return best, models[best]


Floats = NDArray[np.float64]
_NEGATED = re.compile(r"\b(no|not|never|without|nobody|nothing|none|n't)\b", re.I)
SUMMARY = "form of the candidates (length, overlap with the others and the question ...), logistic regression"


def features(texts: Sequence[str], question: str = "") -> Floats:
    """Returns float64[k, m]: what the form of each candidate of an item is, less the mean over its candidates."""
    table = np.array([list(of_text.values()) for of_text in named_features(texts, question)], np.float64)
    return np.asarray(table - table.mean(axis=0))


def named_features(texts: Sequence[str], question: str = "") -> list[dict[str, float]]:
    """The features of each candidate by name; a model takes the candidate that has most of a feature."""
    of_texts = [plain_words(text) for text in texts]
    word_sets = [set(of_text) for of_text in of_texts]
    question_words = set(plain_words(question))
    lengths = [len(of_text) for of_text in of_texts]
    rows = []
    for n, text in enumerate(texts):
        others = [other for m, other in enumerate(word_sets) if m != n]
        near = [jaccard(word_sets[n], other) for other in others]
        rows.append(
            {
                "most words": lengths[n] / 10,
                "most characters": len(text) / 50,
                "the longest (in words)": float(lengths[n] == max(lengths)),
                "the shortest (in words)": float(lengths[n] == min(lengths)),
                "most words of the others": float(np.mean(near)),
                "most words of one other": max(near),
                "most words of all others": min(near),
                "most words of its own": len(word_sets[n].difference(*others)) / 5,
                "most words of the question": jaccard(word_sets[n], question_words),
                "a negation": float(bool(_NEGATED.search(text))),
                "a digit": float(any(character.isdigit() for character in text)),
                "a full stop at its end": float(text.rstrip().endswith((".", "!", "?"))),
                "a capital at its start": float(text[:1].isupper()),
                "most commas": text.count(",") / 2,
                "most different words": len(word_sets[n]) / max(1, lengths[n]),
                "longest words": sum(map(len, of_texts[n])) / max(1, lengths[n]) / 5,
            }
        )
    return rows


def cross_fitted_features(tables: Sequence[Floats], fold: Folds) -> list[Floats]:
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
        rest, inside = of_row != held_out, of_row == held_out
        model = LogisticRegression(C=1.0, max_iter=500).fit(rows[rest], true[rest], sample_weight=weights[rest])
        scores[inside] = model.decision_function(rows[inside])
    return np.split(np.round(scores, 9), np.cumsum(sizes)[:-1])


def common_position_scores(positions: Sequence[Sequence[int]], fold: Folds) -> list[Floats]:
    """Scores each candidate by how often its place (in the published order) holds the true one in the other folds.

    The positions are those of each item's candidates, the true one's first; `fold` holds the fold of each item.
    """
    width = 1 + max(max(of_item) for of_item in positions)
    true = np.array([of_item[0] for of_item in positions])
    counts = {int(held): np.bincount(true[fold != held], minlength=width) for held in np.unique(fold)}
    return [counts[int(held)][list(of_item)].astype(np.float64) for of_item, held in zip(positions, fold, strict=True)]


def jaccard(first: set[str], second: set[str]) -> float:
    """The share of the words of two texts that they have in common."""
    return len(first & second) / max(1, len(first | second))
