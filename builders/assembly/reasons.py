"""Why clips and captions fell out of a build: the counts of a set's record in words."""

from pathlib import Path

from video_contrast.console import counted
from video_contrast.storage.set_folder import Facts

MOST = 4  # reasons that are shown where a generator has many
_ROWS = [line.split("\t") for line in Path(__file__).with_suffix(".tsv").read_text("utf-8").splitlines()[1:]]
# Key of a count -> words that follow a number.
REASONS = {reason: words for kind, reason, words in _ROWS if kind == "captions"}
LEFT_OUT = {reason: words for kind, reason, words in _ROWS if kind == "clips"}  # and blocks
# Of the first two words of these texts, those that are others after "1".
_SINGULAR = {
    "have": "has", "lack": "lacks", "name": "names", "were": "was", "clips": "clip", "rows": "row", "pairs": "pair",
    "negatives": "negative", "videos": "video", "are": "is", "stand": "stands", "look": "looks",
    "hold": "holds", "say": "says",
}  # fmt: skip


def counts_in_words(counts: Facts) -> str:
    """The counts of one split as a text without a full stop; "" where there is nothing to tell.

    >>> counts_in_words({"built": 3, "clips": 3, "covered": 2, "captions_tried": {"edited": 2, "no_id": 5}})
    'of 3 clips 2 have a contrast; of 7 captions tried 2 gave a contrast, 5 name no character'
    >>> counts_in_words({"built": 3, "too_few_other_videos": 1})
    '1 clip lacks other videos to take captions from (an item takes four with other texts)'
    """
    parts = []
    if counts.get("clips"):
        parts.append(f"of {counted(counts['clips'], 'clip')} {_agreeing(counts['covered'], 'have a contrast')}")
    captions = {reason: n for reason, n in counts.get("captions_tried", {}).items() if n}
    if captions:
        texts = (_agreeing(n, REASONS.get(reason, reason.replace("_", " "))) for reason, n in captions.items())
        # What the generator contrasted but another caption says was counted as contrasted, too.
        twice = sum(captions.get(reason, 0) for reason in ("says_what_a_caption_says", "too_few_different_contrasts"))
        parts.append(f"of {counted(sum(captions.values()) - twice, 'caption')} tried {', '.join(texts)}")
    words = {reason: n for reason, n in counts.get("candidates", {}).items() if reason not in LEFT_OUT}
    if words:  # of verbs and things
        common = sorted(words.items(), key=lambda pair: -pair[1])[:MOST]
        parts.append("words that were not replaced: " + ", ".join(f"{reason} ({n:,})" for reason, n in common))
    parts += [
        _agreeing(n, LEFT_OUT.get(reason, "clips left out: " + reason.replace("_", " ")))
        for reason, n in counts.items()
        if isinstance(n, int) and n and reason not in ("built", "clips", "covered", "not_covered", "rows")
    ]
    return "; ".join(parts)


def _agreeing(count: int, words: str) -> str:
    """A number before words in the plural, which are put into the singular for one: "1 clip has ..."."""
    if count == 1:
        first, second, *others = words.split(" ", 2)
        words = " ".join([_SINGULAR.get(first, first), _SINGULAR.get(second, second), *others])
    return f"{count:,} {words}"
