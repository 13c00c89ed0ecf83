"""The builder `videohallucer`: pairs of a basic and a hallucinated question, both to be answered right."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import YES_NO, Choice, Entry, read_rows, release

SUBSETS = ("object_relation", "temporal", "semantic_detail", "external_factual", "external_nonfactual", "interaction")
RELEASE = release("videohallucer")


@builder("videohallucer", configs=SUBSETS, requirements=f"its folder: `{RELEASE.fetch}`")
def videohallucer(
    configs: list[str],
    *,
    folder: Annotated[Path, "the download, with temporal/temporal.json ..."],
    options: PublishedOptions,
) -> BuiltSet:
    """VideoHallucer: a config a subset, groups of a basic and a hallucinated question; the text score asks for both."""
    published = PublishedSet(RELEASE, options)
    for subset in configs:
        path, items = folder / subset / f"{subset}.json", published.items(subset)
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
                items.leave_out("equal_answers")
                continue
            cluster = f"{subset}/{sides['basic'].text('video')}"
            for name, side in sides.items():
                items.answers(
                    side,
                    f"{subset}-{row.key}-{name}",
                    side.video("{subset}/videos/{video}", subset=subset, cluster=cluster),
                    Choice(side.text("question"), YES_NO, side.yes_or_no(), RELEASE.prompt),
                    kind=str(row.get("type") or subset),
                    group=f"{subset}-{row.key}",
                )
    return published.built()
