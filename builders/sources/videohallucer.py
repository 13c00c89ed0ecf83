"""The builder `videohallucer`: pairs of a basic and a hallucinated question, both to be answered right."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import YES_NO, Entry, Release, read_rows

SUBSETS = ("object_relation", "temporal", "semantic_detail", "external_factual", "external_nonfactual", "interaction")
RELEASE = Release(
    builder="videohallucer",
    title="VideoHallucer",
    summary="A question whose answer is yes and one whose answer is no, of one clip or of two that hardly differ.",
    licence="VideoHallucer is under the MIT licence.",
    licence_id="mit",
    citation="Wang, Wang, Zhao, Xie, Zheng: VideoHallucer: Evaluating Intrinsic and Extrinsic Hallucinations in Large "
    "Video-Language Models. arXiv:2406.16338.",
    fetch="hf download ColorfulAI/VideoHallucer --repo-type dataset --local-dir VideoHallucer",
    videos="in the same download, SUBSET/videos/",
)
PROMPT = "{question}\nAnswer the question using 'yes' or 'no'."  # word for word as the authors' script asks


@builder("videohallucer", configs=SUBSETS, requirements=f"its folder: `{RELEASE.fetch}`")
def videohallucer(
    configs: list[str],
    *,
    folder: Annotated[Path, "the download, with temporal/temporal.json ..."],
    options: PublishedOptions,
) -> BuiltSet:
    """VideoHallucer: a config a subset, groups of a basic and a hallucinated question; the text score asks for both."""
    tables = {}
    for subset in configs:
        path, items = folder / subset / f"{subset}.json", Items(options)
        tables[subset] = {"test": items}
        if not path.exists() and len(configs) > 1:
            continue
        for row in read_rows(path, RELEASE):
            sides = {
                name: Entry(f"{row.place}, {name}", row.key, side)
                for name in ("basic", "hallucination")
                if isinstance(side := row.get(name), dict)
            }
            if len(sides) < 2:
                raise row.error("needs 'basic' and 'hallucination', each an object")
            if len({side.yes_or_no() for side in sides.values()}) == 1:
                items.counts["rows"] += 1
                items.counts["equal_answers"] += 1
                continue
            for name, side in sides.items():
                items.answers(
                    side,
                    f"{subset}-{row.key}-{name}",
                    side.video("{subset}/videos/{video}", subset=subset),
                    question=side.text("question"),
                    options=YES_NO,
                    key=side.yes_or_no(),
                    kind=str(row.get("type") or subset),
                    prompt=PROMPT,
                    group=f"{subset}-{row.key}",
                    cluster=f"{subset}/{sides['basic'].text('video')}",
                )
        items.drop_broken_groups()
    return built_set(RELEASE, tables, options)
