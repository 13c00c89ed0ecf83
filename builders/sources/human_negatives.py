"""Negatives that people wrote: read from a table, and offered as contrasts of their captions."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, normal
from video_contrast.builders.assembly.clip_contrasts import Attempt
from video_contrast.builders.assembly.difference import difference
from video_contrast.builders.assembly.may_be_true import COUNT, judged
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast import Edit


@dataclass(frozen=True)
class HumanNegative:
    """A caption that a person changed so that it is no longer true of the clip."""

    place: str
    clip: str
    caption: str
    negative: str


def read_negatives(path: str | Path) -> list[HumanNegative]:
    """Reads rows with `clip` (or `video_id`, `id`), `caption` and `negative` (JSON lines, CSV, TSV ...).

    A clip is named by its id, by its video's id, or by its video file. `negative` may be a list, an entry each. Raises
    UsageError: a column is missing; VideoContrastError: a text is empty, or negative and caption are equal; names the
    line.
    """
    entries: list[HumanNegative] = []
    for row in read_table(path):
        clip, caption = row.clip_name(), row.text("caption", "a column caption")
        negatives = row.texts("negative", "a column negative")
        if not negatives:
            raise VideoContrastError(f"{row.place}: needs at least one negative that is not empty")
        if caption in negatives:
            raise VideoContrastError(f"{row.place}: the negative equals the caption: {caption!r}")
        entries += [HumanNegative(row.place, clip, caption, negative) for negative in negatives]
    if not entries:
        raise VideoContrastError(f"{path}: no rows")
    return entries


def unmatched(negatives: Sequence[HumanNegative], clips: Sequence[CaptionedClip]) -> str:
    """Says how many negatives belong to no caption of a clip, which a misspelt id or caption causes; "" if all do."""
    known = {(name, normal(text)) for clip in clips for text in clip.captions for name in clip.names}
    lost = [entry for entry in negatives if (entry.clip, normal(entry.caption)) not in known]
    if not lost:
        return ""
    count = f"{len(lost)} of {len(negatives)} negatives belong to no caption of the set"
    return f"{count}, the first is {lost[0].place}: {lost[0].clip!r}, {lost[0].caption!r}"


class HumanContrasts:
    """Human negatives as a generator of contrasts: a caption gets those that people wrote for it."""

    def __init__(self, negatives: Sequence[HumanNegative]) -> None:
        self._of: dict[tuple[str, str], list[str]] = {}
        for entry in negatives:
            self._of.setdefault((entry.clip, normal(entry.caption)), []).append(entry.negative)

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """The negative of each caption: the first that no caption of the clip says, where there are several.

        Counts how many captions have one, and how many of these negatives may be true.
        """
        contrasts, counts = [], Counter[str]()
        for attempt in attempts:
            keys = ((name, normal(attempt.caption)) for name in attempt.clip.names)
            negatives = next((self._of[key] for key in keys if key in self._of), [])
            truths = attempt.clip.truths()
            first = next((text for text in negatives if normal(text) not in truths), None)
            offered = negatives[:1] if first is None else [first]
            edits = [difference(attempt.caption, text, "human") for text in offered]
            edits, doubtful = judged([attempt.caption] * len(edits), edits)
            contrasts.append(edits)
            counts[f"candidates:{COUNT}"] += sum(doubtful) if first is not None else 0
            counts["edited" if negatives else "no_human_negative"] += 1
        return contrasts, counts
