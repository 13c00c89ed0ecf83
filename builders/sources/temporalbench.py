"""The builder `temporalbench`: detailed captions against ones with a temporal detail changed."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import lettered, read_rows, release

FILES = {"short_mc": "temporalbench_short_qa.json", "long_mc": "temporalbench_long_qa.json"}
# As the authors' scorer calls the numbers of the short set; the long set has none.
CATEGORIES = {
    "1": "action order", "2": "action frequency", "3": "action type", "4": "motion magnitude",
    "5": "motion direction", "6": "action effector", "7": "others", "8": "event order",
}  # fmt: skip
RELEASE = release("temporalbench")


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
