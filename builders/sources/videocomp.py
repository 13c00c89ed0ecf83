"""The builder `videocomp`: paragraphs of several events with their order, a word or a segment disturbed."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Entry, Release, read_rows

FILES = {
    "activitynet_mc": ("activitynet_comp_train.json", "activitynet_comp_val.json"),
    "youcook2_mc": ("youcook2_comp_train.json", "youcook2_comp_val.json"),
}
RELEASE = Release(
    builder="videocomp",
    title="VideoComp",
    summary="Paragraphs of several events against ones with a reordering, another action word, or another segment.",
    licence="VideoComp is CC BY 4.0.",
    licence_id="cc-by-4.0",
    citation="Kim, Piergiovanni, Mallya, Angelova: VideoComp: Advancing Fine-Grained Compositional and Temporal "
    "Alignment in Video-Text Models. CVPR 2025.",
    fetch="the four files under Downloads of https://github.com/google-deepmind/video_comp, by wget",
    videos="YouTube ids of ActivityNet and YouCook2: https://cs.stanford.edu/people/ranjaykrishna/densevid/ and "
    "http://youcook2.eecs.umich.edu/, as ID.mp4",
)


@builder("videocomp", configs=tuple(FILES), requirements=f"its json files: {RELEASE.fetch}")
def videocomp(
    configs: list[str],
    *,
    folder: Annotated[Path, "with activitynet_comp_val.json ..."],
    video_pattern: Annotated[str, "path of a video; {id} is its YouTube id"] = "{id}.mp4",
    options: PublishedOptions,
) -> BuiltSet:
    """VideoComp: the coherent paragraph against the disturbed one, by kind of disturbance."""
    tables: dict[str, dict[str, Items]] = {}
    for config in configs:
        for split, file in zip(("train", "validation"), FILES[config], strict=True):
            if split == "train" and not (folder / file).exists():
                continue
            items = tables.setdefault(config, {}).setdefault(split, Items(options))
            for row in read_rows(folder / file, RELEASE):
                items.captions(
                    row,
                    row.text("key"),
                    row.video(video_pattern, start=_time(row, "start"), end=_time(row, "end"), id=row.text("video_id")),
                    true=row.text("positive_text"),
                    negatives=[row.text("negative_text")],
                    kind=row.text("type"),
                    meta={"question": row.get("question"), "answer": row.get("answer")},
                )
    return built_set(RELEASE, tables, options)


def _time(row: Entry, side: str) -> float | None:
    """Seconds of the clip that is asked about, or of the whole video where there is none; released in microseconds."""
    times = [row.number(f"{clip}_video/{side}_time") for clip in ("query", "original")]
    return next((time / 1e6 for time in times if time is not None), None)
