"""The builder `vinoground`: 500 pairs of short clips and of captions of the same words in another order."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, flipped, lettered, present, read_entries, text_of
from video_contrast.builders.sources.published_videos import file_name, video_name
from video_contrast.errors import VideoContrastError

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
PROMPT = "{question}\n{options}"


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
    for number, (place, row) in enumerate(read_table(present(folder / "vinoground.csv", RELEASE))):
        captions = [text_of(row, "pos_cap", place), text_of(row, "neg_cap", place)]
        turn = shuffled and flipped(items.options.seed, "vinoground", str(number))
        for label, side in enumerate(("pos", "neg")):
            items.answers(
                place,
                f"{number}_{side}",
                video_name("vinoground_videos/{i}_{side}.mp4", place, i=str(number), side=side),
                question="",
                options=captions[::-1] if turn else captions,
                key=1 - label if turn else label,
                kind=text_of(row, "major", place),
                group=str(number),
                cluster=str(number),
                meta={"major": row["major"], "minor": str(row.get("minor") or "").split(";")},
            )
    items.drop_broken_groups()


def _questions(items: Items, folder: Path, shuffled: bool) -> None:
    """The released questions of the text score, word for word."""
    for place, _, row in read_entries(folder / "vinoground_textscore.json", RELEASE):
        name = text_of(row, "idx", place)
        question, choices, rest = lettered(text_of(row, "question", place), place)
        key = text_of(row, "GT", place).strip().upper()
        if len(key) != 1 or not 0 <= ord(key) - ord("A") < len(choices):
            raise VideoContrastError(f"{place}: the key {key!r} is outside the {len(choices)} options")
        label = ord(key) - ord("A")
        turn = shuffled and flipped(items.options.seed, "vinoground", "text", name)
        items.answers(
            place,
            name,
            video_name(
                "vinoground_videos/{file}", place, file=file_name(text_of(row, "video_name", place)),
                cluster=name.partition("_")[0],
            ),
            question=question,
            options=choices[::-1] if turn else choices,
            key=len(choices) - 1 - label if turn else label,
            kind="order",
            prompt=PROMPT + (f"\n{rest}" if rest else ""),
        )  # fmt: skip
