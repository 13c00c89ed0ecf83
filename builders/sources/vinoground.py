"""The builder `vinoground`: 500 pairs of short clips and of captions of the same words in another order."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import Items, PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, file_name, flipped, lettered, read_rows, release

LAST_LINE = "Please only output one English character."  # as the authors' scripts add to each question
CONFIGS = ("pairs", "pairs_shuffled", "text_released_mc", "text_shuffled_mc")
RELEASE = release("vinoground")


@builder("vinoground", configs=CONFIGS, requirements=f"its folder (gated): `{RELEASE.fetch}`")
def vinoground(
    configs: list[str],
    *,
    folder: Annotated[Path, "the download, with vinoground.csv"],
    options: PublishedOptions,
) -> BuiltSet:
    """Vinoground: two clips and two captions; in the released order of the captions, and shuffled."""
    published = PublishedSet(RELEASE, options)
    for config in configs:
        shuffled = config in ("pairs_shuffled", "text_shuffled_mc")
        items = published.items(config)
        if config.startswith("pairs"):
            _pairs(items, folder, shuffled)
        elif (folder / "vinoground_textscore.json").is_file() or len(configs) < len(CONFIGS):
            _questions(items, folder, shuffled)
    return published.built()


def _pairs(items: Items, folder: Path, shuffled: bool) -> None:
    for row in read_rows(folder / "vinoground.csv", RELEASE):
        captions = [row.text("pos_cap"), row.text("neg_cap")]
        turn = shuffled and flipped(items.seed, "vinoground", row.key)
        for label, side in enumerate(("pos", "neg")):
            items.answers(
                row,
                f"{row.key}_{side}",
                row.video("vinoground_videos/{i}_{side}.mp4", i=row.key, side=side, cluster=row.key),
                Choice("", captions, label).turned(turn),
                kind=row.text("major"),
                group=row.key,
                meta={"major": row.get("major"), "minor": str(row.get("minor") or "").split(";")},
            )


def _questions(items: Items, folder: Path, shuffled: bool) -> None:
    """The released questions of the text score, word for word, as the authors ask them."""
    for row in read_rows(folder / "vinoground_textscore.json", RELEASE):
        name, file = row.text("idx"), file_name(row.text("video_name"))
        turn = shuffled and flipped(items.seed, "vinoground", "text", name)
        video = row.video("vinoground_videos/{file}", file=file, cluster=name.partition("_")[0])
        choice = lettered(row).turned(turn)
        items.answers(row, name, video, replace(choice, prompt=f"{choice.prompt}\n{LAST_LINE}"), kind="order")
