"""The builder `videocomp`: paragraphs of several events with their order, a word or a segment disturbed."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import Items, PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, Entry, VideoName, read_rows, release

SOURCES = ("activitynet", "youcook2")
CONFIGS = tuple(f"{source}_{what}" for source in SOURCES for what in ("mc", "questions"))
LETTERS = ("A", "B")
RELEASE = release("videocomp")


@builder("videocomp", configs=CONFIGS, requirements=f"its json files: {RELEASE.fetch}")
def videocomp(
    configs: list[str],
    *,
    folder: Annotated[Path, "with activitynet_comp_val.json ..."],
    video_pattern: Annotated[str, "path of a video; {id} is its YouTube id"] = "{id}.mp4",
    options: PublishedOptions,
) -> BuiltSet:
    """VideoComp: the coherent paragraph against the disturbed one, by kind of disturbance; the released questions."""
    published = PublishedSet(RELEASE, options)
    for config in configs:
        source, _, what = config.partition("_")
        for split, short in (("train", "train"), ("validation", "val")):
            file = folder / f"{source}_comp_{short}.json"
            if split == "train" and not file.exists():
                continue
            items = published.items(config, split)
            for row in read_rows(file, RELEASE):
                video = row.video(
                    video_pattern, start=_time(row, "start"), end=_time(row, "end"), id=row.text("video_id")
                )
                (_question if what == "questions" else _captions)(items, row, video)
    return published.built()


def _captions(items: Items, row: Entry, video: VideoName) -> None:
    items.captions(
        row,
        row.text("key"),
        video,
        true=row.text("positive_text"),
        negatives=[row.text("negative_text")],
        kind=row.text("type"),
    )


def _question(items: Items, row: Entry, video: VideoName) -> None:
    """The question as released, which holds both paragraphs; it is answered by "A" or "(A)"."""
    answer = str(row.get("answer") or "").strip(" ().")
    if answer not in LETTERS:
        items.leave_out("no_answer_by_letter")
        return
    choice = Choice(row.text("question"), LETTERS, LETTERS.index(answer), prompt="{question}")
    items.answers(row, row.text("key"), video, choice, kind=row.text("type"))


def _time(row: Entry, side: str) -> float | None:
    """Seconds of the clip that is asked about, or of the whole video where there is none; released in microseconds."""
    times = [row.number(f"{clip}_video/{side}_time") for clip in ("query", "original")]
    return next((time / 1e6 for time in times if time is not None), None)
