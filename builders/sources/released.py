"""Reads contrast sets that others released or wrote: five-option TSVs, and JSON lines of human negatives."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from video_contrast.builders.assembly.clips import normal
from video_contrast.builders.assembly.contrasts import Attempt
from video_contrast.builders.sources.caption_table import column, read_table, texts
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import Edit
from video_contrast.rows import Row, multiple_choice_row


@dataclass(frozen=True)
class ReleasedItem:
    """One row of a released set, as it is: options in their order, and which one is true."""

    place: str
    clip: str
    options: tuple[str, ...]
    label: int

    def contrast(self) -> int:
        """The option that was made from the true caption: the one that differs from it in the fewest words."""
        true = self.options[self.label]
        others = [n for n in range(len(self.options)) if n != self.label]
        return min(others, key=lambda n: (sum(changed_words(true, self.options[n])), n))


def read_released(path: str | Path) -> list[ReleasedItem]:
    """Items of a released set: `clip<TAB>ending0..ending4<TAB>label`, header, no quoting, UTF-8.

    Raises:
        UsageError: no such file.
        VideoContrastError: another header, a label out of range, an empty or repeated option; names the line.
    """
    items: list[ReleasedItem] = []
    for place, row in read_table(path):
        endings = sorted((name for name in row if name.startswith("ending")), key=lambda name: int(name[6:] or 0))
        if "clip" not in row or "label" not in row or len(endings) < 2:
            raise VideoContrastError(f"{place}: the header must be clip, ending0 ..., label, not {', '.join(row)}")
        options = tuple(str(row[name]) for name in endings)
        label = str(row["label"])
        if not label.isdigit() or int(label) >= len(options):
            raise VideoContrastError(f"{place}: label {label!r} is not one of 0..{len(options) - 1}")
        if any(not option.strip() for option in options) or len(set(options)) < len(options):
            raise VideoContrastError(f"{place}: an option is empty, or two are equal")
        items.append(ReleasedItem(place, str(row["clip"]), options, int(label)))
    if not items:
        raise VideoContrastError(f"{path}: no rows")
    return items


def released_rows(
    items: Sequence[ReleasedItem],
    kind: str,
    *,
    video_path: Callable[[str], str],
    cluster: Callable[[str], str] = str,
    generator: str = "released",
) -> list[Row]:
    """A released set as our table: options, positions, labels and order as they are.

    The contrast among the options is the one nearest to the true caption; the release does not mark it.
    """
    rows = []
    for item in items:
        place = item.contrast()
        kinds = ["random"] * len(item.options)
        kinds[item.label], kinds[place] = "true", kind
        edits: list[Mapping[str, Any] | None] = [None] * len(item.options)
        edits[place] = difference(item.options[item.label], item.options[place], generator).row()
        rows.append(
            multiple_choice_row(
                id=item.clip,
                video_id=item.clip,
                video_path=video_path(item.clip),
                candidates=list(item.options),
                label=item.label,
                kinds=kinds,
                edits=edits,
                cluster=cluster(item.clip),
            )
        )
    return rows


@dataclass(frozen=True)
class HumanNegative:
    """A caption that a person changed so that it is no longer true of the clip."""

    place: str
    clip: str
    caption: str
    negative: str


def read_negatives(path: str | Path) -> list[HumanNegative]:
    """Human negatives: rows with `clip` (or `video_id`, `id`), `caption` and `negative` (JSON lines, CSV, TSV ...).

    `negative` may be a list: each of them becomes one entry.

    Raises:
        UsageError: a column is missing.
        VideoContrastError: a text is empty, or negative and caption are equal; names the line.
    """
    found: list[HumanNegative] = []
    for place, row in read_table(path):
        name = next((key for key in ("clip", "video_id", "id") if key in row), "clip")
        clip = str(column(row, name, place, "a column clip, video_id or id"))
        caption = texts(column(row, "caption", place, "a column caption"))
        negatives = texts(column(row, "negative", place, "a column negative"))
        if len(caption) != 1 or not negatives:
            raise VideoContrastError(f"{place}: needs one caption and at least one negative, none of them empty")
        if caption[0] in negatives:
            raise VideoContrastError(f"{place}: the negative equals the caption: {caption[0]!r}")
        found += [HumanNegative(place, clip, caption[0], negative) for negative in negatives]
    if not found:
        raise VideoContrastError(f"{path}: no rows")
    return found


class Human:
    """Human negatives as a generator of contrasts: a caption gets those that people wrote for it."""

    def __init__(self, negatives: Sequence[HumanNegative]) -> None:
        self._of: dict[tuple[str, str], list[str]] = {}
        for entry in negatives:
            self._of.setdefault((entry.clip, normal(entry.caption)), []).append(entry.negative)

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """The negatives of each caption (by clip id or video id), and how many captions have some."""
        found, counts = [], Counter[str]()
        for attempt in attempts:
            key = normal(attempt.caption)
            clip = attempt.clip
            texts = self._of.get((clip.id, key)) or self._of.get((clip.video_id, key)) or []
            found.append([difference(attempt.caption, text, "human") for text in texts])
            counts["edited" if texts else "no_human_negative"] += 1
        return found, counts


def is_released(path: str | Path) -> bool:
    """Whether a file is a five-option TSV (by its header) rather than a list of negatives.

    Raises:
        UsageError: no such file.
    """
    if not Path(path).is_file():
        raise UsageError(f"no such file: {path}")
    for _, row in read_table(path):
        return "ending0" in row and "label" in row
    return False


def edit_agreement(first: Sequence[Row], second: Sequence[Row]) -> dict[str, Any]:
    """How far two sets (an automatic and a human one, say) agree on the clips that both have.

    Returns:
        `shared_clips`; of them the shares with the same true caption (`same_caption`), with the same words replaced
        (`same_words`, of those with the same caption) and with the same contrast (`same_contrast`, of the same).
        Shares are None where there is nothing to share.
    """
    others = {row["video_id"]: row for row in second}
    shared = captions = replaced = contrasts = 0
    for row in first:
        other = others.get(row["video_id"])
        if other is None:
            continue
        shared += 1
        if normal(row["candidates"][row["label"]]) != normal(other["candidates"][other["label"]]):
            continue
        captions += 1
        mine, theirs = _contrast(row), _contrast(other)
        if mine and theirs:
            replaced += normal(mine[1]["old"]) == normal(theirs[1]["old"])
            contrasts += normal(mine[0]) == normal(theirs[0])
    return {
        "shared_clips": shared,
        "same_caption": round(captions / shared, 4) if shared else None,
        "same_words": round(replaced / captions, 4) if captions else None,
        "same_contrast": round(contrasts / captions, 4) if captions else None,
    }


def _contrast(row: Row) -> tuple[str, Mapping[str, Any]] | None:
    """The text and the edit of a row's first contrast."""
    for text, edit in zip(row["candidates"], row["edits"], strict=True):
        if edit:
            return text, edit
    return None


def changed_words(old: str, new: str) -> tuple[int, int]:
    """Lengths, in words, of the one span in which two captions differ: (in the old, in the new).

    >>> changed_words("a boy sits down", "a boy stands")
    (2, 1)
    """
    before, after = old.split(), new.split()
    head, tail = _common(before, after)
    return len(before) - head - tail, len(after) - head - tail


def difference(old: str, new: str, generator: str) -> Edit:
    """What was changed between two captions, as one edit of whole words.

    >>> edit = difference("a boy plugs it in", "a boy pulls it in", "human")
    >>> edit.old, edit.new, edit.text[edit.start:]
    ('plugs', 'pulls', 'pulls it in')
    """
    from video_contrast.perturbations.contrast.antonyms import are_antonyms
    from video_contrast.perturbations.language import lemma

    before, after = old.split(), new.split()
    head, tail = _common(before, after)
    gone, put = before[head : len(before) - tail], after[head : len(after) - tail]
    text = new
    start = _offset(text, head)
    end = _offset(text, len(after) - tail - 1) + len(put[-1]) if put else start
    antonym = False
    if gone and put:
        # By the whole phrase or by its first word: "sitting on" against "standing in" is an antonym as well.
        first, second = _base(gone, lemma), _base(put, lemma)
        antonym = are_antonyms(first, second) or are_antonyms(first.split()[0], second.split()[0])
    return Edit(text, " ".join(gone), text[start:end], start, generator, antonym)


def _base(words: list[str], lemma: Callable[[str, str], str]) -> str:
    """The dictionary form of a verb phrase that is given in words."""
    return " ".join([lemma(words[0].lower(), "VB"), *(word.lower() for word in words[1:])])


def _common(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many words are the same at the beginning and, of the rest, at the end."""
    most = min(len(before), len(after))
    head = next((n for n in range(most) if before[n] != after[n]), most)
    tail = next((n for n in range(most - head) if before[-1 - n] != after[-1 - n]), most - head)
    return head, tail


def _offset(text: str, number: int) -> int:
    """Where word `number` of a text begins (the end of the text where there is no such word)."""
    at = 0
    for word in text.split()[:number]:
        at = text.index(word, at) + len(word)
    while at < len(text) and text[at].isspace():
        at += 1
    return at
