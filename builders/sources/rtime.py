"""The builder `rtime`: clips and their reversals with captions of both, as pair groups."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, flipped, read_rows, release

GROUPS = {"test": 1000, "validation": 500}
SPLITS = {"test": "test", "validation": "valid", "train": "train"}
RELEASE = release("rtime")


@builder("rtime", configs=("pairs",), requirements=f"test.json ...: `{RELEASE.fetch}`")
def rtime(
    configs: list[str],
    *,
    folder: Annotated[Path, "the repository, with test.json"],
    splits: Annotated[str, "which of test, validation, train, separated by commas"] = "test",
    video_pattern: Annotated[str, "path of a clip"] = "{id}.mp4",
    reverse_pattern: Annotated[str, "path of its reversal"] = "{id}_reverse.mp4",
    options: PublishedOptions,
) -> BuiltSet:
    """Reversed in Time: groups of a clip and its reversal, one for each pair of captions."""
    files = RELEASE.splits(splits, SPLITS)
    known = {"pairs": 2 * sum(GROUPS[split] for split in files)} if files.keys() <= GROUPS.keys() else {}
    published = PublishedSet(replace(RELEASE, paper=known), options)
    for split, file in files.items():
        items = published.items("pairs", split)
        for row in read_rows(folder / f"{file}.json", RELEASE):
            if not row.get("reverse"):
                items.leave_out("no_reversal")
                continue
            texts = [row.texts(f"{way}_captions") for way in ("forward", "reverse")]
            if len(texts[0]) != len(texts[1]):
                items.counts["captions_without_partner"] += abs(len(texts[0]) - len(texts[1]))
            for number, captions in enumerate(zip(*texts, strict=False)):
                group = f"{row.key}-{number}"
                turn = flipped(options.seed, "rtime", group)
                for label, pattern in enumerate((video_pattern, reverse_pattern)):
                    items.answers(
                        row,
                        f"{group}-{('forward', 'reverse')[label]}",
                        row.video(pattern, id=row.key, cluster=row.key),
                        Choice("", captions, label).turned(turn),
                        kind="reversed",
                        group=group,
                        meta={"url": row.get("url")},
                    )
    return published.built()
