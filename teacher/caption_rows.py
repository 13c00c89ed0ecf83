"""What a training knows of a caption: its negatives, and how alike the teacher finds them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NotRequired, TypedDict, cast

from video_contrast.row_parts import EditRecord
from video_contrast.rows import MultipleChoiceRow, RetrievalRow, multiple_choice_row
from video_contrast.seeds import stream


class CaptionNegatives(TypedDict):
    """A training caption with its negatives, a line of `negatives-SPLIT-KEY.parquet`."""

    id: str  # of the clip
    caption: str
    negatives: list[str]
    kinds: NotRequired[list[str]]  # of each negative: action, object, or a kind by rules


class TaughtCaption(CaptionNegatives):
    """The same with the teacher's similarities."""

    teacher: list[float]  # cosines of the caption with itself (1) and with each negative
    video_id: NotRequired[str]  # of the clip; its id where this is absent


class GeneratedEdit(EditRecord):
    """A negative: its edit, and its text."""

    text: str


class GeneratedCaption(TypedDict):
    """A caption with its negatives, as a part of the corpus is stored."""

    id: str  # of the clip
    number: int  # of the caption among the clip's
    caption: str
    edits: list[GeneratedEdit]
    kinds: list[str]  # one an edit


def items_of(
    captions: Sequence[GeneratedCaption], clips: Mapping[str, RetrievalRow], seed: int
) -> Iterator[MultipleChoiceRow]:
    """Yields the rows of the set; captions without a negative have none.

    `clips`: id -> row of the corpus. `seed`: of the places of the captions among their negatives.
    """
    for caption in captions:
        if not caption["edits"]:
            continue
        row = clips[caption["id"]]
        item = f"{caption['id']}-{caption['number']}"
        label = int(stream("generated", seed, item).integers(len(caption["edits"]) + 1))
        options: list[tuple[str, str, object]] = [
            (edit["text"], kind, {k: v for k, v in edit.items() if k != "text"})
            for edit, kind in zip(caption["edits"], caption["kinds"], strict=True)
        ]
        options.insert(label, (caption["caption"], "true", None))
        yield multiple_choice_row(
            id=item,
            video_id=row["video_id"],
            video_path=row["video_path"],
            start=row["start"],
            end=row["end"],
            candidates=[text for text, _, _ in options],
            label=label,
            kinds=[kind for _, kind, _ in options],
            edits=cast(list[EditRecord | None], [edit for _, _, edit in options]),
            cluster=str(json.loads(row["meta"] or "{}").get("cluster", row["video_id"])),
        )
