"""The builder `nextqa`: causal, temporal and descriptive questions with five options."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, present, read_rows, release
from video_contrast.files import read_json

RELEASE = release("nextqa")
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
    """NExT-QA: five candidates a question, by type (causal, temporal, descriptive); the authors give no prompt."""
    names = read_json(present(folder / "map_vid_vidorID.json", RELEASE))
    files = RELEASE.splits(splits, SPLITS)
    published = PublishedSet(replace(RELEASE, paper={"nextqa_mc": sum(SIZES[split] for split in files)}), options)
    for split, file in files.items():
        for row in read_rows(folder / f"{file}.csv", RELEASE):
            video = row.text("video" if "video" in row.fields else "video_id")
            candidates = [row.text(f"a{n}") for n in range(5)]
            # NExT-GQA's copy of the files gives the answer as a text.
            key = row.place_of("answer") if row.text("answer").isdigit() else row.place_among("answer", candidates)
            published.items("nextqa_mc", split).answers(
                row,
                f"{video}-{row.text('qid')}",
                row.video(video_pattern, vidor=str(names.get(video, video)), cluster=video),
                Choice(row.text("question"), candidates, key),
                kind=row.text("type"),
            )
    return published.built()
