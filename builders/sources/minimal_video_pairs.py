"""The builder `minimal_video_pairs`: pairs of nearly equal clips with one question and opposite answers."""

import ast
from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, text_of, texts_of
from video_contrast.builders.sources.published_videos import video_name
from video_contrast.errors import VideoContrastError

RELEASE = Release(
    builder="minimal_video_pairs",
    title="Minimal Video Pairs",
    summary="Two clips that hardly differ, one question, two options: each is right for one of the clips.",
    licence="See the LICENSE of the repository; the licences of nine sources hold for the videos.",
    licence_id="",
    citation="Krojer, Komeili, Ross, Garrido, Sinha, Ballas, Assran: A Shortcut-aware Video-QA Benchmark for Physical "
    "Understanding via Minimal Video Pairs. arXiv 2025.",
    fetch="hf download facebook/minimal_video_pairs --repo-type dataset --local-dir minimal_video_pairs",
    videos="git clone https://github.com/facebookresearch/minimal_video_pairs, then make download_videos",
)
# Word for word as the authors' task for lmms-eval asks.
PROMPT = (
    "Question: {question}\nOption:\n{options} \nEven when unsure, always answer with a single letter from A or B, "
    "format exactly like: 'Answer: A/B'."
)


@builder("minimal_video_pairs", configs=("pairs",), requirements=f"its tables: `{RELEASE.fetch}`")
def minimal_video_pairs(
    configs: list[str],
    *,
    table: Annotated[list[str], "tables of the download (.parquet .jsonl .json .csv), one a subset"],
    options: PublishedOptions,
) -> BuiltSet:
    """Minimal Video Pairs: groups of two clips with one question; the text score is the paper's paired accuracy."""
    items = Items(options)
    for source in table:
        subset = Path(source).name.partition(".")[0]
        for place, row in read_table(source):
            name = text_of(row, "video_id", place)
            choices, answer = _candidates(row, place), text_of(row, "answer", place)
            if answer not in choices:
                raise VideoContrastError(f"{place}: the answer {answer!r} is outside the options {choices}")
            pair = name.rpartition("_")[0] or name
            group = f"{subset}-{pair}"
            items.answers(
                place,
                f"{subset}-{name}",
                video_name("{path}", place, path=text_of(row, "video_path", place)),
                question=text_of(row, "question", place),
                options=choices,
                key=choices.index(answer),
                kind=str(row.get("source") or subset),
                prompt=PROMPT,
                option="({letter}) {text}",
                group=group,
                cluster=group,
            )
    items.drop_broken_groups()
    return built_set(RELEASE, {"pairs": {"test": items}}, options)


def _candidates(row: dict[str, Any], place: str) -> list[str]:
    """The options: a list, or a list written as a Python literal, as the tables have it."""
    if isinstance(row.get("candidates"), str):
        try:
            row = {"candidates": ast.literal_eval(row["candidates"])}
        except (ValueError, SyntaxError) as error:
            raise VideoContrastError(f"{place}: 'candidates' is no list: {row['candidates']!r}") from error
    return texts_of(row, "candidates", place)
