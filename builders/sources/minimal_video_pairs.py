"""The builder `minimal_video_pairs`: pairs of nearly equal clips with one question and opposite answers."""

import ast
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, Entry, read_rows, release

RELEASE = release("minimal_video_pairs")


@builder("minimal_video_pairs", configs=("pairs",), requirements=f"its tables: `{RELEASE.fetch}`")
def minimal_video_pairs(
    configs: list[str],
    *,
    table: Annotated[list[str], "tables of the download (.parquet .jsonl .json .csv), one a subset"],
    options: PublishedOptions,
) -> BuiltSet:
    """Minimal Video Pairs: groups of two clips with one question; the text score is the paper's paired accuracy."""
    published = PublishedSet(RELEASE, options)
    for source in table:
        subset = Path(source).name.partition(".")[0]
        for row in map(_with_candidates, read_rows(source, RELEASE)):
            name, choices = row.text("video_id"), row.texts("candidates")
            group = f"{subset}-{name.rpartition('_')[0] or name}"
            key = row.place_among("answer", choices)
            published.items("pairs").answers(
                row,
                f"{subset}-{name}",
                row.video("{video_path}", cluster=group),
                Choice(row.text("question"), choices, key, RELEASE.prompt, option="({letter}) {text}"),
                kind=str(row.get("source") or subset),
                group=group,
            )
    return published.built()


def _with_candidates(row: Entry) -> Entry:
    """The row with a list of options where the table has one written as a Python literal."""
    if not isinstance(row.get("candidates"), str):
        return row
    try:
        return replace(row, fields={**row.fields, "candidates": ast.literal_eval(row.text("candidates"))})
    except (ValueError, SyntaxError) as error:
        raise row.error(f"'candidates' is no list: {row.get('candidates')!r}") from error
