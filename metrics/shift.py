"""How far a perturbation moves captions: share changed, BLEU-4, ROUGE, METEOR, perplexity, edited words, vocabulary."""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from video_contrast.language_model import LanguageModel
from video_contrast.metrics.bootstrap import OfMeans, cluster_bootstrap
from video_contrast.metrics.checks import Floats, Values, refuse
from video_contrast.metrics.interval import interval_keys, share_interval
from video_contrast.metrics.ranks import Numbers

_ORDER = 4


def caption_shift(
    perturbed: Sequence[str],
    originals: Sequence[str],
    *,
    meteor: bool = False,
    language_model: str | None = None,
    clusters: Values = None,
    interval: bool = False,
    seed: int = 0,
) -> Numbers:
    """The effect of a perturbation on captions, over whitespace tokens, with their case.

    Returns `changed` (share of captions that differ), `bleu` (corpus BLEU-4 of the perturbed ones against the
    originals, 0..1, without smoothing; orders of which no caption has an n-gram do not count, as with sacrebleu's
    `effective_order`), `rouge_1` (mean F1 by words in common, 0..1), `rouge_l` (mean F1 by longest common subsequence,
    0..1), `edited_words` (mean number of words inserted, deleted or replaced, as a share of the original's words),
    `length_ratio` (words after over words before), `unique_words_before`, `unique_words_after` (lower case), `n`; if
    asked for `meteor` (mean, 0..1), `perplexity_before`, `perplexity_after` (means); with interval `<key>_low` and
    `<key>_high`. Raises ValueError: no captions, unequal numbers, an original without a word, something that is no
    text; the message names the caption. WordNet or the language model is missing; names the command that gets it.

    Args:
        perturbed: `[n]`, the captions after it.
        originals: `[n]`, the same captions before it.
        meteor: add METEOR, which needs NLTK's WordNet data.
        language_model: add perplexities under this causal language model (the paper's is GPT-2).
        clusters: `[n]`, the source videos, for the intervals.
        interval: add 95 % intervals (`share_interval` of `changed`, else `cluster_bootstrap`) of all figures but the
            vocabularies, for which the bootstrap fails: a caption that is drawn twice has no new words.

    Source: robustness paper, tables of text perturbations (BLEU-4, share changed, unique words).

    >>> before = ["a little girl does gymnastics", "a dog runs after a ball"]
    >>> result = caption_shift(["[UNK] little girl does gymnastics", "a dog runs after a ball"], before)
    >>> result["changed"], round(result["bleu"], 3), round(result["edited_words"], 3)
    (0.5, 0.863, 0.1)
    """
    pairs = _pairs(perturbed, originals)
    # Every figure is a statistic of the means of some columns over the captions.
    mean = OfMeans(lambda means: means[:, 0])
    figures: dict[str, tuple[Values, OfMeans]] = {
        "changed": ([float(a != b) for a, b in zip(perturbed, originals, strict=True)], mean),
        "bleu": ([_matches(a, b) for a, b in pairs], OfMeans(_bleu)),
        "rouge_1": ([2 * (Counter(a) & Counter(b)).total() / (len(a) + len(b)) for a, b in pairs], mean),
        "rouge_l": ([_rouge_l(a, b) for a, b in pairs], mean),
        "edited_words": ([_edits(a, b) / len(b) for a, b in pairs], mean),
        "length_ratio": ([[len(a), len(b)] for a, b in pairs], OfMeans(lambda means: means[:, 0] / means[:, 1])),
    }
    if meteor:
        figures["meteor"] = ([_meteor(a, b) for a, b in pairs], mean)
    if language_model is not None:
        before, after = np.split(perplexity([*originals, *perturbed], language_model), 2)
        figures |= {"perplexity_before": (before, mean), "perplexity_after": (after, mean)}
    result: Numbers = {"n": len(pairs)}
    for name, (columns, statistic) in figures.items():
        result[name] = statistic.of(columns)
        bounds = (0.0, 1.0 if name in ("bleu", "rouge_1", "rouge_l", "meteor") else np.inf)
        if interval and name == "changed":
            result |= interval_keys(name, share_interval(columns, clusters))
        elif interval:
            bootstrap = cluster_bootstrap(columns, clusters, statistic=statistic, seed=seed, bounds=bounds)
            result |= interval_keys(name, bootstrap)
    for name, side in (("unique_words_before", 1), ("unique_words_after", 0)):
        result[name] = len({word.lower() for pair in pairs for word in pair[side]})
    return result


def _pairs(perturbed: Sequence[str], originals: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Words after and before, checked."""
    if isinstance(perturbed, str) or isinstance(originals, str):
        raise ValueError("captions must be lists of texts, not one text")
    if len(perturbed) != len(originals):
        raise ValueError(f"{len(perturbed)} perturbed captions but {len(originals)} originals: they must be pairs")
    if not len(originals):
        raise ValueError("there are no captions to compare")
    for name, texts in (("perturbed", perturbed), ("original", originals)):
        for i, text in enumerate(texts):
            if not isinstance(text, str):
                raise ValueError(f"{name} caption {i} is {text!r}, not a text")
    refuse([not text.split() for text in originals], lambda i: f"original caption {i} has no words: {originals[i]!r}")
    return [(after.split(), before.split()) for after, before in zip(perturbed, originals, strict=True)]


def _matches(after: list[str], before: list[str]) -> list[int]:
    """The counts of n-grams of one to four words: those that match, and all; and the words of both captions."""
    matches, possible = [], []
    for order in range(1, _ORDER + 1):
        after_ngrams = Counter(zip(*(after[i:] for i in range(order)), strict=False))
        before_ngrams = Counter(zip(*(before[i:] for i in range(order)), strict=False))
        matches.append((after_ngrams & before_ngrams).total())
        possible.append(after_ngrams.total())
    return [*matches, *possible, len(after), len(before)]


def _bleu(means: Floats) -> Floats:
    """Corpus BLEU with one reference a sentence (Papineni et al. 2002), of the means of `_matches`."""
    matched, possible, (after, before) = means[:, :_ORDER], means[:, _ORDER:-2], means[:, -2:].T
    is_possible = possible > 0  # captions of three words have no 4-grams: the order of the BLEU is 3 there
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(is_possible, np.log(matched / possible), 0.0).sum(axis=1) / is_possible.sum(axis=1)
        return np.where(after > 0, np.exp(precision + np.minimum(0.0, 1.0 - before / after)), 0.0)


def _meteor(after: list[str], before: list[str]) -> float:
    """METEOR (Banerjee and Lavie 2005) by NLTK: exact, stemmed and WordNet matches, in order."""
    from nltk.translate.meteor_score import single_meteor_score

    try:
        return float(single_meteor_score(before, after, wordnet=_english_wordnet()))
    except LookupError as error:
        raise ValueError("METEOR needs NLTK's WordNet data; get it: python -m nltk.downloader wordnet") from error


@cache
def _english_wordnet() -> Any:  # NLTK has no types
    """NLTK's reader of WordNet, without its map to the other languages, which takes longer than all else it reads."""
    from nltk.corpus import LazyCorpusLoader
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class English(WordNetCorpusReader):
        def map_wn(self, version: str = "wordnet") -> None:
            return None

    return LazyCorpusLoader("wordnet", English, object())


def _rouge_l(after: list[str], before: list[str]) -> float:
    """F1 by the longest common subsequence, found with one big integer a row (Hyyro 2004)."""
    positions: dict[str, int] = {}
    for i, word in enumerate(before):
        positions[word] = positions.get(word, 0) | 1 << i
    full = (1 << len(before)) - 1
    free = full
    for word in after:
        hit = free & positions.get(word, 0)
        free = ((free + hit) | (free - hit)) & full
    common = len(before) - free.bit_count()
    return 2 * common / (len(before) + len(after))


def _edits(after: list[str], before: list[str]) -> int:
    if after == before:
        return 0
    row = list(range(len(before) + 1))
    for i, word in enumerate(after, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(before, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1]


def perplexity(texts: Sequence[str], model: str) -> Floats:
    """Perplexity of each text: exp of the mean negative log-likelihood of its tokens, computed on the CPU.

    The tokenizer's first token stands before the text (`language_model.token_rows`); a text longer than the model's
    context is cut. Returns float64[n], from 1 on. Raises ValueError: the model cannot be loaded; the message names it
    and the command that fetches it. `texts`: `[n]`. `model`: a causal language model of transformers: Hub id or folder
    ("gpt2").

    Source: robustness paper, tables of text perturbations.
    """
    return np.array(LanguageModel(model, device="cpu").perplexity(texts))
