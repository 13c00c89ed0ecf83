"""The builder `velociti`: captions of movie clips with a wrong agent, action, manner or order."""

from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import read_rows, release

RELEASE = release("velociti")


@builder("velociti", configs=("velociti_mc",), requirements=f"its table: `{RELEASE.fetch}`")
def velociti(
    configs: list[str],
    *,
    table: Annotated[str, "the table of the download (.csv .jsonl .json .parquet), or katha-ai-iiith/VELOCITI"],
    video_pattern: Annotated[str, "path of a video; {id} is video_id without suffix"] = "velociti_videos/{id}.mp4",
    options: PublishedOptions,
) -> BuiltSet:
    """VELOCITI: a caption of an event against a false one, by test."""
    published = PublishedSet(RELEASE, options)
    for row in read_rows(table, RELEASE):
        test = row.text("test_name")
        published.items("velociti_mc").captions(
            row,
            f"{test}-{row.key}",
            row.video(video_pattern, id=row.text("video_id").partition(".")[0]),
            true=row.text("pos"),
            negatives=[row.text("neg")],
            kind=test,
            meta={"event": row.get("event")},
        )
    return published.built()
