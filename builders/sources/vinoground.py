"""The builder `vinoground`: 500 pairs of short clips and of captions of the same words in another order."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, flipped, lettered, read_rows
from video_contrast.builders.sources.published_videos import file_name

CONFIGS = ("pairs", "pairs_shuffled", "text_released_mc", "text_shuffled_mc")
RELEASE = Release(
    builder="vinoground",
    title="Vinoground",
    summary="Pairs of natural clips whose captions hold the same words in another order of events.",
    licence="The data set is gated on the Hub; its terms are shown there.",
    licence_id="",
    citation="Zhang, Cai, Lee: Vinoground: Scrutinizing LMMs over Dense Temporal Reasoning with Short Videos. "
    "arXiv:2410.02763.",
    fetch="hf download HanSolo9682/Vinoground --repo-type dataset --local-dir Vinoground",
    videos="in the same download: unzip vinoground_videos.zip",
    paper={"pairs": 1000, "pairs_shuffled": 1000, "text_released_mc": 1000, "text_shuffled_mc": 1000},
)


@builder("vinoground", configs=CONFIGS, requirements=f"its folder (gated): `{RELEASE.fetch}`")
def vinoground(
    configs: list[str],
    *,
    folder: Annotated[Path, "the download, with vinoground.csv"],
    options: PublishedOptions,
) -> BuiltSet:
    """Vinoground: two clips and two captions; in the released order of the captions, and shuffled."""
    tables = {}
    for config in configs:
        shuffled = config in ("pairs_shuffled", "text_shuffled_mc")
        items = Items(options)
        if config.startswith("pairs"):
            _pairs(items, folder, shuffled)
        elif (folder / "vinoground_textscore.json").is_file() or len(configs) < len(CONFIGS):
            _questions(items, folder, shuffled)
        tables[config] = {"test": items}
    return built_set(RELEASE, tables, options)


def _pairs(items: Items, folder: Path, shuffled: bool) -> None:
    for row in read_rows(folder / "vinoground.csv", RELEASE):
        captions = [row.text("pos_cap"), row.text("neg_cap")]
        turn = shuffled and flipped(items.options.seed, "vinoground", row.key)
        for label, side in enumerate(("pos", "neg")):
            items.answers(
                row,
                f"{row.key}_{side}",
                row.video("vinoground_videos/{i}_{side}.mp4", i=row.key, side=side),
                question="",
                options=captions[::-1] if turn else captions,
                key=1 - label if turn else label,
                kind=row.text("major"),
                group=row.key,
                cluster=row.key,
                meta={"major": row.get("major"), "minor": str(row.get("minor") or "").split(";")},
            )
    items.drop_broken_groups()


def _questions(items: Items, folder: Path, shuffled: bool) -> None:
    """The released questions of the text score, word for word."""
    for row in read_rows(folder / "vinoground_textscore.json", RELEASE):
        name, file = row.text("idx"), file_name(row.text("video_name"))
        question, choices, key, prompt = lettered(row)
        turn = shuffled and flipped(items.options.seed, "vinoground", "text", name)
        items.answers(
            row,
            name,
            row.video("vinoground_videos/{file}", file=file, cluster=name.partition("_")[0]),
            question=question,
            options=choices[::-1] if turn else choices,
            key=len(choices) - 1 - key if turn else key,
            kind="order",
            prompt=prompt,
        )
