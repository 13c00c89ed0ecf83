"""How far a perturbation moves captions: share changed, BLEU-4, ROUGE, METEOR, perplexity, edited words, vocabulary."""

import math
from collections import Counter
from collections.abc import Sequence

from video_contrast.metrics.perplexity import perplexity

Numbers = dict[str, float | int]
_ORDER = 4


def caption_shift(
    perturbed: Sequence[str], originals: Sequence[str], *, meteor: bool = False, language_model: str | None = None
) -> Numbers:
    """What a perturbation did to captions, over whitespace tokens, with their case.

    Args:
        perturbed: `[n]`, the captions after it.
        originals: `[n]`, the same captions before it.
        meteor: add METEOR, which needs NLTK's WordNet data.
        language_model: add perplexities under this causal language model (the paper's is GPT-2).

    Returns:
        `changed` (share of captions that differ), `bleu` (corpus BLEU-4 of the perturbed ones against the originals,
        0..1, without smoothing), `rouge_1` (mean F1 by words in common, 0..1), `rouge_l` (mean F1 by longest common
        subsequence, 0..1), `edited_words` (mean number of words inserted, deleted or replaced, as a share of the
        original's words), `length_ratio` (words after over words before), `unique_words_before`,
        `unique_words_after` (lower case), `n`; if asked for `meteor` (mean, 0..1), `perplexity_before`,
        `perplexity_after` (means).

    Raises:
        ValueError: no captions, unequal numbers, an original without a word; the message names the caption. WordNet
            or the language model is missing; the message names the command that gets it.

    Source: robustness paper, tables of text perturbations (BLEU-4, share changed, unique words).

    >>> before = ["a little girl does gymnastics", "a dog runs after a ball"]
    >>> result = caption_shift(["[UNK] little girl does gymnastics", "a dog runs after a ball"], before)
    >>> result["changed"], round(result["bleu"], 3), round(result["edited_words"], 3)
    (0.5, 0.863, 0.1)
    """
    if len(perturbed) != len(originals):
        raise ValueError(f"{len(perturbed)} perturbed captions but {len(originals)} originals: they must be pairs")
    if not len(originals):
        raise ValueError("there are no captions to compare")
    before, after = [text.split() for text in originals], [text.split() for text in perturbed]
    for i, words in enumerate(before):
        if not words:
            raise ValueError(f"original caption {i} has no words: {originals[i]!r}")
    pairs = list(zip(after, before, strict=True))
    found: Numbers = {
        "n": len(before),
        "changed": sum(a != b for a, b in zip(perturbed, originals, strict=True)) / len(before),
        "bleu": _bleu(pairs),
        "rouge_1": sum(_rouge_1(a, b) for a, b in pairs) / len(before),
        "rouge_l": sum(_rouge_l(a, b) for a, b in pairs) / len(before),
        "edited_words": sum(_edits(a, b) / len(b) for a, b in pairs) / len(before),
        "length_ratio": sum(map(len, after)) / sum(map(len, before)),
        "unique_words_before": len({word.lower() for words in before for word in words}),
        "unique_words_after": len({word.lower() for words in after for word in words}),
    }
    if meteor:
        found["meteor"] = _meteor(pairs)
    if language_model is not None:
        found["perplexity_before"] = float(perplexity(originals, language_model).mean())
        found["perplexity_after"] = float(perplexity(perturbed, language_model).mean())
    return found


def _bleu(pairs: list[tuple[list[str], list[str]]]) -> float:
    """Corpus BLEU with one reference a sentence (Papineni et al. 2002)."""
    matched, possible = [0] * _ORDER, [0] * _ORDER
    for after, before in pairs:
        for order in range(1, _ORDER + 1):
            found = Counter(zip(*(after[i:] for i in range(order)), strict=False))
            wanted = Counter(zip(*(before[i:] for i in range(order)), strict=False))
            matched[order - 1] += (found & wanted).total()
            possible[order - 1] += found.total()
    if not all(matched):
        return 0.0
    precision = sum(math.log(m / p) for m, p in zip(matched, possible, strict=True)) / _ORDER
    shortness = sum(len(b) for _, b in pairs) / sum(len(a) for a, _ in pairs)
    return math.exp(precision + min(0.0, 1.0 - shortness))


def _rouge_1(after: list[str], before: list[str]) -> float:
    """F1 of the words in common, each as often as it occurs in both."""
    return 2 * (Counter(after) & Counter(before)).total() / (len(before) + len(after))


def _meteor(pairs: list[tuple[list[str], list[str]]]) -> float:
    """Mean METEOR (Banerjee and Lavie 2005) by NLTK: exact, stemmed and WordNet matches, in order."""
    from nltk.translate.meteor_score import single_meteor_score

    try:
        return sum(single_meteor_score(before, after) for after, before in pairs) / len(pairs)
    except LookupError as error:
        raise ValueError("METEOR needs NLTK's WordNet data; get it: python -m nltk.downloader wordnet") from error


def _rouge_l(after: list[str], before: list[str]) -> float:
    """F1 by the longest common subsequence, found with one big integer a row (Hyyro 2004)."""
    places: dict[str, int] = {}
    for i, word in enumerate(before):
        places[word] = places.get(word, 0) | 1 << i
    full = (1 << len(before)) - 1
    free = full
    for word in after:
        hit = free & places.get(word, 0)
        free = ((free + hit) | (free - hit)) & full
    common = len(before) - free.bit_count()
    return 2 * common / (len(before) + len(after))


def _edits(after: list[str], before: list[str]) -> int:
    """Levenshtein distance in words."""
    if after == before:
        return 0
    row = list(range(len(before) + 1))
    for i, word in enumerate(after, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(before, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1]
