"""The builder `velociti`: captions of movie clips with a wrong agent, action, manner or order."""

from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, text_of
from video_contrast.builders.sources.published_videos import video_name

RELEASE = Release(
    builder="velociti",
    title="VELOCITI",
    summary="Captions of movie clips against ones that bind a wrong agent, action, manner, reference or order.",
    licence="VELOCITI is CC BY-NC-SA 4.0, and may never be used to tune the parameters of a model.",
    licence_id="cc-by-nc-sa-4.0",
    citation="Saravanan, Gupta, Singh, Khan, Gandhi, Tapaswi: VELOCITI: Benchmarking Video-Language Compositional "
    "Reasoning with Strict Entailment. CVPR 2025.",
    fetch="hf download katha-ai-iiith/VELOCITI --repo-type dataset --local-dir VELOCITI",
    videos="in the same download: unzip velociti_videos.zip",
)


@builder("velociti", configs=("velociti_mc",), requirements=f"its table: `{RELEASE.fetch}`")
def velociti(
    configs: list[str],
    *,
    table: Annotated[str, "the table of the download (.csv .jsonl .json .parquet), or katha-ai-iiith/VELOCITI"],
    video_pattern: Annotated[str, "path of a video; {id} is video_id without suffix"] = "velociti_videos/{id}.mp4",
    options: PublishedOptions,
) -> BuiltSet:
    """VELOCITI: a caption of an event against a false one, by test."""
    items = Items(options)
    for number, (place, row) in enumerate(read_table(table)):
        name = text_of(row, "video_id", place).partition(".")[0]
        items.captions(
            place,
            f"{text_of(row, 'test_name', place)}-{number}",
            video_name(video_pattern, place, id=name),
            true=text_of(row, "pos", place),
            negatives=[text_of(row, "neg", place)],
            kind=text_of(row, "test_name", place),
            meta={"event": row.get("event")},
        )
    return built_set(RELEASE, {"velociti_mc": {"test": items}}, options)
