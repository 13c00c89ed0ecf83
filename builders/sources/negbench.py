"""The builder `negbench`: captions that affirm and negate what a clip shows, on MSR-VTT."""

import re
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, file_name, read_rows, release

RELEASE = release("negbench")


@builder("negbench", configs=("msrvtt_mc",), requirements=f"msr_vtt_mcq_rephrased_llama.csv: {RELEASE.fetch}")
def negbench(
    configs: list[str],
    *,
    table: Annotated[Path, "msr_vtt_mcq_rephrased_llama.csv"],
    video_pattern: Annotated[str, "path of a video; {file} is the last part of image_path"] = "{file}",
    options: PublishedOptions,
) -> BuiltSet:
    """NegBench on MSR-VTT: the right caption among four, by the template of the right one."""
    published = PublishedSet(RELEASE, options)
    for row in read_rows(table, RELEASE):
        path = "image_path" if "image_path" in row.fields else "filepath"
        names = sorted(name for name in row.fields if re.fullmatch(r"caption_\d+", name))
        published.items("msrvtt_mc").answers(
            row,
            row.key,
            row.video(video_pattern, file=file_name(row.text(path))),
            Choice("", [row.text(name) for name in names], row.place_of("correct_answer")),
            kind=str(row.get("correct_answer_template") or "negation"),
        )
    return published.built()
