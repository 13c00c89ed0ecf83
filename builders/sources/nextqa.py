"""The builder `nextqa`: causal, temporal and descriptive questions with five options."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, number_of, present, text_of
from video_contrast.builders.sources.published_videos import video_name
from video_contrast.errors import VideoContrastError, unknown_name
from video_contrast.files import read_json

RELEASE = Release(
    builder="nextqa",
    title="NExT-QA",
    summary="Multiple-choice questions on causes, order and content of everyday videos.",
    licence="The repository is under the MIT licence; the terms of VidOR hold for the videos.",
    licence_id="mit",
    citation="Xiao, Shang, Yao, Chua: NExT-QA: Next Phase of Question-Answering to Explaining Temporal Actions. "
    "CVPR 2021.",
    fetch="git clone https://github.com/doc-doc/NExT-QA",
    videos="the address of the raw videos in the repository's README (VidOR), as FOLDER/ID.mp4",
)
SPLITS = {"test": "test", "validation": "val"}
SIZES = {"test": 8564, "validation": 4996}


@builder("nextqa", configs=("nextqa_mc",), requirements=f"its folder `dataset/nextqa`: `{RELEASE.fetch}`")
def nextqa(
    configs: list[str],
    *,
    folder: Annotated[Path, "the repository's folder `dataset/nextqa`, with test.csv, val.csv, map_vid_vidorID.json"],
    splits: Annotated[str, "which of test, validation, separated by commas"] = "test,validation",
    video_pattern: Annotated[str, "path of a video; {vidor} is its name in VidOR, {video} its id"] = "{vidor}.mp4",
    options: PublishedOptions,
) -> BuiltSet:
    """NExT-QA: five options a question, by type (causal, temporal, descriptive); the authors give no prompt."""
    names = read_json(present(folder / "map_vid_vidorID.json", RELEASE))
    tables: dict[str, Items] = {}
    for split in (name.strip() for name in splits.split(",")):
        if split not in SPLITS:
            raise unknown_name("split of nextqa", split, list(SPLITS))
        items = tables.setdefault(split, Items(options))
        for place, row in read_table(present(folder / f"{SPLITS[split]}.csv", RELEASE)):
            video, number = text_of(row, "video", place), number_of(row, "answer", place)
            if number is None or number != int(number):
                raise VideoContrastError(f"{place}: the key {row.get('answer')!r} is no number of an option")
            items.answers(
                place,
                f"{video}-{text_of(row, 'qid', place)}",
                video_name(video_pattern, place, video=video, vidor=str(names.get(video, video)), cluster=video),
                question=text_of(row, "question", place),
                options=[text_of(row, f"a{n}", place) for n in range(5)],
                key=int(number),
                kind=text_of(row, "type", place),
            )
    paper = {"nextqa_mc": sum(SIZES[split] for split in tables)}
    return built_set(replace(RELEASE, paper=paper), {"nextqa_mc": tables}, options)
