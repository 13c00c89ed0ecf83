"""The builder `vitatecs`: captions with one temporal concept changed, by aspect, on MSR-VTT and VATEX."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import read_rows, release

ASPECTS = ("Compositionality", "Direction", "Intensity", "Localization", "Sequence", "Type")
RELEASE = release("vitatecs")


@builder("vitatecs", configs=("vitatecs_mc",), requirements=f"its six .jsonl files: `{RELEASE.fetch}`")
def vitatecs(
    configs: list[str],
    *,
    folder: Annotated[Path, "the release's folder `data`, with Direction.jsonl ..."],
    options: PublishedOptions,
) -> BuiltSet:
    """VITATECS: a caption against one with another temporal concept, by aspect."""
    published = PublishedSet(RELEASE, options)
    for aspect in ASPECTS:
        for row in read_rows(folder / f"{aspect}.jsonl", RELEASE):
            published.items("vitatecs_mc").captions(
                row,
                f"{aspect.lower()}-{row.key}",
                row.video("{src_dataset}/{video_name}"),
                true=row.text("caption"),
                negatives=[row.text("counterfactual")],
                kind=row.text("aspect"),
            )
    return published.built()
