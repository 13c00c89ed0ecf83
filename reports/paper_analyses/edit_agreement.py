"""How far two contrast sets, an automatic and a human one say, agree on the clips that both have."""

from collections.abc import Sequence
from typing import TypedDict

from video_contrast.builders.assembly.captioned_clip import normal
from video_contrast.rows import EditRecord, MultipleChoiceRow


class EditAgreement(TypedDict):
    """How far the contrasts of two sets agree; shares are None where there is nothing to share."""

    shared_clips: int
    same_caption: float | None  # of the shared clips: the same true caption
    same_words: float | None  # of those with the same caption: the same words replaced
    same_contrast: float | None  # of those with the same caption


def edit_agreement(first: Sequence[MultipleChoiceRow], second: Sequence[MultipleChoiceRow]) -> EditAgreement:
    """Compares the contrasts of two sets on the clips that both have."""
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
        first_contrast, second_contrast = _contrast(row), _contrast(other)
        if first_contrast and second_contrast:
            replaced += normal(first_contrast[1]["old"]) == normal(second_contrast[1]["old"])
            contrasts += normal(first_contrast[0]) == normal(second_contrast[0])
    return {
        "shared_clips": shared,
        "same_caption": round(captions / shared, 4) if shared else None,
        "same_words": round(replaced / captions, 4) if captions else None,
        "same_contrast": round(contrasts / captions, 4) if captions else None,
    }


def _contrast(row: MultipleChoiceRow) -> tuple[str, EditRecord] | None:
    """The text and the edit of a row's first contrast."""
    for text, edit in zip(row["candidates"], row["edits"], strict=True):
        if edit:
            return text, edit
    return None
