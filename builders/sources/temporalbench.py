"""The builder `temporalbench`: detailed captions against ones with a temporal detail changed."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Release, lettered, read_rows

FILES = {"short_mc": "temporalbench_short_qa.json", "long_mc": "temporalbench_long_qa.json"}
# As the authors' scorer calls the numbers of the short set; the long set has none.
CATEGORIES = {
    "1": "action order", "2": "action frequency", "3": "action type", "4": "motion magnitude",
    "5": "motion direction", "6": "action effector", "7": "others", "8": "event order",
}  # fmt: skip
RELEASE = Release(
    builder="temporalbench",
    title="TemporalBench",
    summary="Detailed captions of clips, short and long, against ones in which a temporal detail is changed.",
    licence="The data set is gated on the Hub, and its terms are shown there; the repository is under the MIT licence.",
    citation="Cai, Tan, Zhang, Zou, Zhang, Yao, Zhu, Gu, Zhong, Shang, Dou, Park, Gao, Lee, Yang: TemporalBench: "
    "Towards Fine-grained Temporal Understanding for Multimodal Video Models. arXiv:2410.10818.",
    fetch="hf download microsoft/TemporalBench --repo-type dataset --local-dir TemporalBench",
    videos="in the same download: unzip short_video.zip and long_video_*.zip",
)


@builder("temporalbench", configs=tuple(FILES), requirements=f"its json files (gated): `{RELEASE.fetch}`")
def temporalbench(
    configs: list[str],
    *,
    folder: Annotated[Path, "the download, with temporalbench_short_qa.json"],
    options: PublishedOptions,
) -> BuiltSet:
    """TemporalBench: binary questions on short and on long clips, with the released prompt."""
    published = PublishedSet(RELEASE, options)
    for config in configs:
        items = published.items(config)
        for row in read_rows(folder / FILES[config], RELEASE):
            items.answers(
                row,
                row.text("idx"),
                row.video("{video_name}"),
                lettered(row),
                kind=CATEGORIES.get(str(row.get("category") or ""), str(row.get("dataset") or "detail")),
            )
    return published.built()
