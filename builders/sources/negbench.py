"""The builder `negbench`: captions that affirm and negate what a clip shows, on MSR-VTT."""

import re
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, number_of, present, text_of
from video_contrast.builders.sources.published_videos import file_name, video_name
from video_contrast.errors import VideoContrastError

RELEASE = Release(
    builder="negbench",
    title="NegBench (MSR-VTT)",
    summary="Four captions a clip that affirm or negate what it shows; one is right.",
    licence="See the repository; the terms of MSR-VTT hold for the videos.",
    licence_id="",
    citation="Alhamoud, Alshammari, Tian, Li, Torr, Kim, Ghassemi: Vision-Language Models Do Not Understand Negation. "
    "CVPR 2025.",
    fetch="the address under Preprocessed CSV Files in datasets.md of https://github.com/m1k2zoo/negbench",
    videos="the address under MSR-VTT Videos in the same file, as videoID.mp4",
)


@builder("negbench", configs=("msrvtt_mc",), requirements=f"msr_vtt_mcq_rephrased_llama.csv: {RELEASE.fetch}")
def negbench(
    configs: list[str],
    *,
    table: Annotated[Path, "msr_vtt_mcq_rephrased_llama.csv"],
    video_pattern: Annotated[str, "path of a video; {file} is the last part of image_path"] = "{file}",
    options: PublishedOptions,
) -> BuiltSet:
    """NegBench on MSR-VTT: the right caption among four, by the template of the right one."""
    items = Items(options)
    for number, (place, row) in enumerate(read_table(present(table, RELEASE))):
        path = "image_path" if "image_path" in row else "filepath"
        key = number_of(row, "correct_answer", place)
        if key is None or key != int(key):
            raise VideoContrastError(f"{place}: the key {row.get('correct_answer')!r} is no number of an option")
        names = sorted(name for name in row if re.fullmatch(r"caption_\d+", name))
        items.answers(
            place,
            str(number),
            video_name(video_pattern, place, file=file_name(text_of(row, path, place))),
            question="",
            options=[text_of(row, name, place) for name in names],
            key=int(key),
            kind=str(row.get("correct_answer_template") or "negation"),
        )
    return built_set(RELEASE, {"msrvtt_mc": {"test": items}}, options)
