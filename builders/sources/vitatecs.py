"""The builder `vitatecs`: captions with one temporal concept changed, by aspect, on MSR-VTT and VATEX."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Release, read_rows

ASPECTS = ("Compositionality", "Direction", "Intensity", "Localization", "Sequence", "Type")
RELEASE = Release(
    builder="vitatecs",
    title="VITATECS",
    summary="Captions and counterfactual ones that differ in one temporal aspect.",
    licence="VITATECS is CC BY 4.0.",
    licence_id="cc-by-4.0",
    citation="Li, Li, Ren, Liu, Liu, Gao, Sun, Hou: VITATECS: A Diagnostic Dataset for Temporal Concept Understanding "
    "of Video-Language Models. ECCV 2024.",
    fetch="git clone https://github.com/lscpku/VITATECS",
    videos="MSR-VTT: https://github.com/m-bain/frozen-in-time (finetuning benchmarks), into MSRVTT/; "
    "VATEX: https://eric-xw.github.io/vatex-website/download.html, into VATEX/",
    paper={"vitatecs_mc": 13838},
    former={"the first release's (data_opt, by OPT-175B)": {"vitatecs_mc": 16124}},
)


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
