"""The builder `tvbench`: questions that neither a frame nor the text alone answers, in ten tasks."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, read_rows, release

TASKS = (
    "action_antonym", "action_count", "action_localization", "action_sequence", "egocentric_sequence",
    "moving_direction", "object_count", "object_shuffle", "scene_transition", "unexpected_action",
)  # fmt: skip
CUT = ("action_localization", "action_sequence")  # their start and end count, as in the authors' loader
RELEASE = release("tvbench")


@builder("tvbench", configs=("tvbench_mc",), requirements=f"its folder `json`: `{RELEASE.fetch}`")
def tvbench(
    configs: list[str],
    *,
    folder: Annotated[Path, "the download's folder `json`, with action_antonym.json ..."],
    video_pattern: Annotated[str, "path of a video"] = "video/{task}/{video}",
    options: PublishedOptions,
) -> BuiltSet:
    """TVBench: ten tasks, as kinds of one config."""
    published = PublishedSet(RELEASE, options)
    items = published.items("tvbench_mc")
    files = [task for task in TASKS if (folder / f"{task}.json").exists()]
    for task in files or TASKS[:1]:
        for row in read_rows(folder / f"{task}.json", RELEASE):
            choices = row.texts("candidates")
            key = row.place_among("answer", choices)
            start, end = (row.number(name) if task in CUT else None for name in ("start", "end"))
            items.answers(
                row,
                f"{task}-{row.key}",
                row.video(video_pattern, start=start, end=end, task=task),
                Choice(row.text("question"), choices, key, RELEASE.prompt, option="({letter}) {text}"),
                kind=task,
            )
    items.counts["tasks_missing"] = len(TASKS) - len(files)
    return published.built()
