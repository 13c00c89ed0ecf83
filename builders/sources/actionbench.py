"""The builder `actionbench`: antonyms of actions and shuffled objects on Something-Something V2 (Paxion)."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import read_rows, release

CONFIGS = {"antonym_mc": "label_action_antonym_clip_text", "object_mc": "label_object_shuffled_clip_text"}
RELEASE = release("actionbench")


@builder("actionbench", configs=tuple(CONFIGS), requirements=f"its annotations: {RELEASE.fetch}")
def actionbench(
    configs: list[str],
    *,
    annotations: Annotated[Path, "file of the validation split (.json or .jsonl)"],
    video_pattern: Annotated[str, "path of a video"] = "{id}.webm",
    options: PublishedOptions,
) -> BuiltSet:
    """ActionBench: the label against the antonym of its action, and against other objects as the control."""
    published = PublishedSet(RELEASE, options)
    for row in read_rows(annotations, RELEASE):
        for config in configs:
            published.items(config, "validation").captions(
                row,
                row.text("id"),
                row.video(video_pattern),
                true=row.text("label"),
                negatives=[str(row.get(CONFIGS[config]) or "")],
                kind=config.removesuffix("_mc"),
                meta={"template": row.get("template"), "placeholders": row.get("placeholders")},
            )
    return published.built()
