"""The builder `tomato`: questions on counts, directions, rotations, shapes, speeds and cues."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, read_rows, release

TASKS = ("count", "direction", "rotation", "shape&trend", "velocity&frequency", "visual_cues")
RELEASE = release("tomato")
# Word for word as the authors' script asks, with its spaces at the ends of lines.
PROMPT = """You will be provided with {frames} separate frames uniformly sampled from a video, the frames are provided \
in chronological order of the video. Analyze these frames and provide the answer to the question about the video \
content. Answer the multiple-choice question about the video content.\x20

You must use these frames to answer the multiple-choice question; do not rely on any externel knowledge or \
commonsense.\x20

<question>\x20
{question}\x20
</question>

<options>\x20
{options_dict}\x20
</options>

Even if the information in these separate frames is not enough to answer the question, PLEASE TRY YOUR BEST TO GUESS \
AN ANSWER WHICH YOU THINK WOULD BE THE MOST POSSIBLE ONE BASED ON THE QUESTION.\x20

DO NOT GENERATE ANSWER SUCH AS 'NOT POSSIBLE TO DETERMINE.'\x20
"""


@builder("tomato", configs=("tomato_mc",), requirements=f"its folder `data`: `{RELEASE.fetch}`")
def tomato(
    configs: list[str],
    *,
    folder: Annotated[Path, "the repository's folder `data`"],
    options: PublishedOptions,
) -> BuiltSet:
    """TOMATO: six tasks, as kinds of one config, with the authors' prompt."""
    published = PublishedSet(RELEASE, options)
    for task in TASKS:
        for row in read_rows(folder / f"{task}.json", RELEASE):
            published.items("tomato_mc").answers(
                row,
                f"{task}-{row.key}",
                row.video("videos/{demonstration_type}/{key}.mp4"),
                Choice(row.text("question"), row.texts("options"), row.place_of("answer"), PROMPT),
                kind=task,
                meta={"variation": row.get("variation"), "url": row.get("video_source_url")},
            )
    return published.built()
