"""The faults that items show by themselves: uneven places of the key, copies, leaks, texts too long.

Every finding is a count with its first examples, so that a reader can look at them.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from video_contrast.audit.records import Finding
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_folder import Facts

EXAMPLES = 5
TOKENS = 77  # the limit of CLIP and the models built on it, begin and end included
_PIECE = re.compile(r"[^\W\d_]+|\d|[^\s\w]+")
COUNTER = "words, digits and runs of punctuation, and 2 for begin and end: at most what CLIP's tokenizer counts"
Rows = Sequence[MultipleChoiceRow]


def least_tokens(text: str) -> int:
    """Returns a lower bound of the tokens that CLIP's tokenizer makes of a text, with those of begin and end.

    It cuts at spaces, digits and punctuation, and then words into pieces: never fewer than these.

    >>> least_tokens("a man's 12 dogs")
    9
    """
    return len(_PIECE.findall(text)) + 2


@dataclass(frozen=True)
class TokenCount:
    """The count of a text's tokens, its name in words, and the most that a model reads."""

    count: Callable[[str], int] = least_tokens
    counter: str = COUNTER
    limit: int = TOKENS


def finding(examples: Iterable[str]) -> Finding:
    """Returns how many examples there are, a sentence each, and the first of them."""
    items = list(examples)
    return {"count": len(items), "examples": items[:EXAMPLES]}


def position_facts(rows: Rows) -> Facts:
    """The places of the true candidates, over items with the most frequent number of candidates."""
    from scipy.stats import chisquare

    size = Counter(len(row["candidates"]) for row in rows).most_common(1)[0][0]
    counts = np.bincount([row["label"] for row in rows if len(row["candidates"]) == size], minlength=size)
    return {
        "candidates": size,
        "counts": counts.tolist(),
        "most_common": round(float(counts.max() / counts.sum()), 4),
        "p_value": float(chisquare(counts).pvalue),
    }


def text_facts(rows: Rows, tokens: TokenCount = TokenCount()) -> Facts:
    """Candidates of an item that say the same, nearly the same, or more than models read."""
    equal, near, long = [], [], []
    first_of: dict[str, int] = {}
    for row in rows:
        texts = row["candidates"]
        first: dict[str, int] = {}
        for n, text in enumerate(texts):
            if first.setdefault(plain(text), n) != n:
                equal.append(f"{row['id']}: {texts[first[plain(text)]]!r} and {text!r}")
            if text not in first_of:
                first_of[text] = tokens.count(text)
            if first_of[text] > tokens.limit:
                long.append(f"{row['id']}: {first_of[text]} tokens: {text[:80]!r}")
        near += [f"{row['id']}: {texts[a]!r} and {texts[b]!r}" for a, b in near_duplicates(texts)]
    return {
        "equal_candidates": finding(equal),
        "near_candidates": finding(near),
        "long_candidates": {**finding(long), "limit": tokens.limit, "most": max(first_of.values())},
        "counter": tokens.counter,
    }


def copy_facts(rows: Rows) -> dict[str, Finding]:
    """Items that stand in a set more than once, keys that disagree, and captions that are true of several clips.

    Candidates that answer a question are no captions.
    """
    copies, differs, elsewhere = [], [], []
    first: dict[tuple[object, ...], MultipleChoiceRow] = {}
    true_of_clip: dict[object, set[str]] = defaultdict(set)
    caption_to_items: dict[str, dict[str, str]] = defaultdict(dict)  # caption -> source video -> item
    captions = [row for row in rows if not row.get("question")]
    for row in rows:
        question = row.get("question") or ""
        key = (clip_of(row), plain(question), tuple(sorted(map(plain, row["candidates"]))))
        known = first.setdefault(key, row)
        if known is not row and not row.get("group"):
            text = f"{question} {_true(row)!r}".lstrip()
            copies.append(f"{row['id']} and {known['id']}: {text}")
            if plain(_true(known)) != plain(_true(row)):
                differs.append(f"{row['id']}: {_true(row)!r}, {known['id']}: {_true(known)!r}")
    for row in captions:
        true_of_clip[clip_of(row)].add(plain(_true(row)))
        caption_to_items[plain(_true(row))].setdefault(row["cluster"], row["id"])
    for row in captions:
        if not row.get("group"):
            also_true = true_of_clip[clip_of(row)] - {plain(_true(row))}
            elsewhere += [f"{row['id']}: {text!r}" for text in row["candidates"] if plain(text) in also_true]
    several = {text: [*ids.values()] for text, ids in caption_to_items.items() if len(ids) > 1}
    texts = list(dict.fromkeys(map(_true, captions)))
    video = {_true(row): row["cluster"] for row in captions}
    near = [f"{texts[a]!r} and {texts[b]!r}" for a, b in near_duplicates(texts) if video[texts[a]] != video[texts[b]]]
    return {
        "copies": finding(copies),
        "key_differs": finding(differs),
        "true_elsewhere": finding(elsewhere),
        "shared_captions": finding(f"{text!r}: {', '.join(ids[:3])}" for text, ids in several.items()),
        "near_captions": finding(near),
    }


def leak_facts(splits: Mapping[str, Rows]) -> dict[str, Finding]:
    """The videos and captions that stand in more than one split; empty where there is one."""
    if len(splits) < 2:
        return {}
    captions = _in_several(splits, lambda row: plain(_true(row)))
    return {"videos": _in_several(splits, lambda row: row["cluster"]), "captions": captions}


def _in_several(splits: Mapping[str, Rows], key: Callable[[MultipleChoiceRow], str]) -> Finding:
    where: dict[str, dict[str, None]] = defaultdict(dict)
    for split, rows in splits.items():
        for row in rows:
            where[key(row)][split] = None
    return finding(f"{value!r}: {', '.join(names)}" for value, names in where.items() if len(names) > 1)


def _true(row: MultipleChoiceRow) -> str:
    return row["candidates"][row["label"]]


def clip_of(row: MultipleChoiceRow) -> tuple[object, ...]:
    """The key of a row's clip: equal for rows of one clip."""
    return row["video_path"], row["start"], row["end"], *map(str, row.get("segments") or ())


_WORD = re.compile(r"[\w']+")
SHARE = 0.9  # of the words of two texts that they have in common
_LONGEST = 400  # texts that share a rare word and are compared with each other, at most


def plain_words(text: str) -> list[str]:
    """The words of a text in lower case."""
    return _WORD.findall(text.lower())


def plain(text: str) -> str:
    """Returns the text in lower case without punctuation.

    >>> plain("A man, running!")
    'a man running'
    """
    return " ".join(plain_words(text))


def near_duplicates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Returns pairs of texts whose sets of words have a Jaccard index of at least `SHARE`, but are not `plain`-equal.

    Texts of under five words are left out: one word of four is a difference. A text is compared with those that hold
    one of its rarest words (prefix filtering; Chaudhuri et al. 2006), which finds every pair. Returns places of both
    texts, the smaller one first; of equal texts only the first counts.

    >>> near_duplicates(["a man rides a brown horse on a beach", "on a beach a man rides a brown horse", "a cat"])
    [(0, 1)]
    """
    first: dict[str, int] = {}
    for n, text in enumerate(texts):
        first.setdefault(plain(text), n)
    bags = {n: frozenset(text.split()) for text, n in first.items()}
    frequency = Counter(word for bag in bags.values() for word in bag)
    index: dict[str, list[int]] = defaultdict(list)
    pairs = []
    for n, bag in sorted(bags.items(), key=lambda entry: (len(entry[1]), entry[0])):
        if len(bag) < 5:
            continue
        rare = sorted(bag, key=lambda word: (frequency[word], word))[: len(bag) - math.ceil(SHARE * len(bag)) + 1]
        near = {other for word in rare for other in index[word][-_LONGEST:]}
        for other in near:
            common = len(bag & bags[other])
            if common >= SHARE * (len(bag) + len(bags[other]) - common):
                pairs.append((min(n, other), max(n, other)))
        for word in rare:
            index[word].append(n)
    return sorted(pairs)
