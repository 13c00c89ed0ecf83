"""Generated negatives on disk: the stored parts of a corpus, and the set that is written of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, cast

from video_contrast.files import write_text
from video_contrast.row_parts import EditRecord
from video_contrast.rows import MultipleChoiceRow, RetrievalRow, Row, multiple_choice_row
from video_contrast.seeds import stream
from video_contrast.storage.set_records import Facts

if TYPE_CHECKING:
    from video_contrast.teacher.generation import GenerateOptions, GenerateResult

BUILDER = "generated"
CONFIG = "negatives_mc"


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


class RejectedCandidate(TypedDict):
    """A line of `rejected.jsonl`."""

    caption: str
    text: str
    reason: str  # the constraint, or what is wrong with an answer
    score: float | None  # what the constraint measured


class CorpusPart(TypedDict):
    """What is stored of a part of the corpus."""

    captions: list[GeneratedCaption]
    rejected: list[RejectedCandidate]


def write_generated(
    rows: Sequence[RetrievalRow],
    captions: Sequence[GeneratedCaption],
    rejected: Sequence[RejectedCandidate],
    *,
    request: GenerateOptions,
    source: str,
    result: GenerateResult,
) -> None:
    """Writes the set, with the counts on its card, and the rejected candidates.

    Args:
        rows: of the corpus.
        captions: with their negatives; those without any are left out.
        rejected: for `rejected.jsonl`.
        request: of the run.
        source: folder of the corpus.
        result: the counts.
    """
    from video_contrast.builders.registry import BuiltSet
    from video_contrast.builders.writing import write_set

    clips = {row["id"]: row for row in rows}
    items: list[Row] = list(_items(captions, clips, request.seed))
    counts = {name: count for name, count in result.items() if name not in ("estimate", "reasons")}
    facts: Facts = {
        "pretty_name": f"Negatives of {Path(source).name}",
        "summary": f"The captions of {Path(source).name}, split {request.split}, each with negatives that passed the "
        "constraints, to train on. Video paths are those of that set.",
        "sources": [f"captions of {Path(source).name}"],
        "seed": request.seed,
        "options": {"negatives": request.negatives, "generator": request.generator, "model": request.generator_model},
        "configs": {CONFIG: {"negatives": "edits of a phrase of the caption", "counts": counts | result["reasons"]}},
    }
    write_set(BuiltSet(BUILDER, {CONFIG: {request.split: items}}, facts), request.output)
    lines = [json.dumps(entry, ensure_ascii=False) for entry in rejected]
    write_text(request.output / "rejected.jsonl", "".join(f"{line}\n" for line in lines))


def _without_text(edit: GeneratedEdit) -> EditRecord:
    return cast(EditRecord, {key: value for key, value in edit.items() if key != "text"})


def _items(
    captions: Sequence[GeneratedCaption], clips: Mapping[str, RetrievalRow], seed: int
) -> Iterator[MultipleChoiceRow]:
    for caption in captions:
        if not caption["edits"]:
            continue
        row = clips[caption["id"]]
        item = f"{caption['id']}-{caption['number']}"
        label = int(stream("generated", seed, item).integers(len(caption["edits"]) + 1))
        candidates, kinds = [edit["text"] for edit in caption["edits"]], list(caption["kinds"])
        edits: list[EditRecord | None] = [_without_text(edit) for edit in caption["edits"]]
        candidates.insert(label, caption["caption"])
        kinds.insert(label, "true")
        edits.insert(label, None)
        yield multiple_choice_row(
            id=item,
            video_id=row["video_id"],
            video_path=row["video_path"],
            start=row["start"],
            end=row["end"],
            candidates=candidates,
            label=label,
            kinds=kinds,
            edits=edits,
            cluster=str(json.loads(row["meta"] or "{}").get("cluster", row["video_id"])),
        )
