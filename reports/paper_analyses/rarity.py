"""Rare ids (contrast-set paper, table 4): accuracy where the original name is rarer than its substitute."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from video_contrast.metrics import rarity_gap
from video_contrast.metrics.checks import Figures
from video_contrast.reports.paper_analyses.stored_hits import scored_contrasts
from video_contrast.rows import MultipleChoiceRow


def rare_ids(rows: Sequence[MultipleChoiceRow], hits: Mapping[str, float], training: Iterable[str]) -> Figures:
    """Table 4: accuracy where the original id is rarer in the training captions than the one that replaced it.

    Args:
        rows: of a set whose contrasts replace one name (or word) by another.
        hits: item id -> 1 right, 0 wrong (`read_hits`).
        training: captions in which the names are counted, as whole words.

    Returns:
        As of `metrics.rarity_gap`, with intervals over clusters.

    Raises:
        UsageError: no row with a contrast was scored.
    """
    pairs = scored_contrasts(rows, hits)
    edits = [edit for row, n in pairs if (edit := row["edits"][n])]  # every contrast has one
    words = sorted({word for edit in edits for word in (edit["old"], edit["new"])})
    counts = count_names(words, training)
    return rarity_gap(
        [hits[row["id"]] for row, _ in pairs],
        [counts[edit["old"]] for edit in edits],
        [counts[edit["new"]] for edit in edits],
        clusters=[row["cluster"] for row, _ in pairs],
        interval=True,
    )


def count_names(names: Iterable[str], captions: Iterable[str]) -> Counter[str]:
    """How often each name occurs in captions, as whole words; of overlapping names the longest counts.

    >>> count_names(["Ann", "Ann Lee"], ["Ann Lee meets Ann's dog", "Anna"])
    Counter({'Ann Lee': 1, 'Ann': 1})
    """
    longest = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    counts: Counter[str] = Counter()
    if longest:
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
        for caption in captions:
            counts.update(pattern.findall(caption))
    return counts
