"""The builder `tomato`: questions on counts, directions, rotations, shapes, speeds and cues."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, read_rows, release

TASKS = ("count", "direction", "rotation", "shape&trend", "velocity&frequency", "visual_cues")
RELEASE = release("tomato")


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
                Choice(row.text("question"), row.texts("options"), row.place_of("answer"), RELEASE.prompt),
                kind=task,
                meta={"variation": row.get("variation"), "url": row.get("video_source_url")},
            )
    return published.built()
