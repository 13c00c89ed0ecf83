"""Builders of published sets of pairs: two clips with two captions, or with one question."""

import ast
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.sources.published import Items, PublishedOptions, PublishedSet, published_builder
from video_contrast.builders.sources.published_fields import Choice, Entry, file_name, flipped, lettered

VINOGROUND_LAST_LINE = "Please only output one English character."  # as the authors' scripts add to each question
VINOGROUND_CONFIGS = ("pairs", "pairs_shuffled", "text_released_mc", "text_shuffled_mc")


@published_builder("vinoground", configs=VINOGROUND_CONFIGS, needs="its folder (gated)")
def vinoground(
    configs: list[str],
    *,
    folder: Annotated[Path, "the download, with vinoground.csv"],
    options: PublishedOptions,
) -> BuiltSet:
    """Vinoground: two clips and two captions; in the released order of the captions, and shuffled."""
    published = PublishedSet("vinoground", options)
    for config in configs:
        shuffled = config in ("pairs_shuffled", "text_shuffled_mc")
        items = published.items(config)
        if config.startswith("pairs"):
            _vinoground_pairs(items, published.rows(folder / "vinoground.csv"), shuffled)
        elif (folder / "vinoground_textscore.json").is_file() or len(configs) < len(VINOGROUND_CONFIGS):
            _vinoground_questions(items, published.rows(folder / "vinoground_textscore.json"), shuffled)
    return published.built()


def _vinoground_pairs(items: Items, rows: Iterable[Entry], shuffled: bool) -> None:
    for row in rows:
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


def _vinoground_questions(items: Items, rows: Iterable[Entry], shuffled: bool) -> None:
    """The released questions of the text score, word for word, as the authors ask them."""
    for row in rows:
        name, file = row.text("idx"), file_name(row.text("video_name"))
        turn = shuffled and flipped(items.seed, "vinoground", "text", name)
        video = row.video("vinoground_videos/{file}", file=file, cluster=name.partition("_")[0])
        choice = lettered(row).turned(turn)
        items.answers(
            row, name, video, replace(choice, prompt=f"{choice.prompt}\n{VINOGROUND_LAST_LINE}"), kind="order"
        )


RTIME_GROUPS = {"test": 1000, "validation": 500}
RTIME_SPLITS = {"test": "test", "validation": "valid", "train": "train"}


@published_builder("rtime", configs=("pairs",), needs="test.json ...")
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
    published = PublishedSet("rtime", options)
    files = published.release.splits(splits, RTIME_SPLITS)
    known = {"pairs": 2 * sum(RTIME_GROUPS[split] for split in files)} if files.keys() <= RTIME_GROUPS.keys() else {}
    published.release = replace(published.release, paper=known)
    for split, file in files.items():
        items = published.items("pairs", split)
        for row in published.rows(folder / f"{file}.json"):
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


@published_builder("minimal_video_pairs", configs=("pairs",), needs="its tables")
def minimal_video_pairs(
    configs: list[str],
    *,
    table: Annotated[list[str], "tables of the download (.parquet .jsonl .json .csv), one a subset"],
    options: PublishedOptions,
) -> BuiltSet:
    """Minimal Video Pairs: groups of two clips with one question; the text score is the paper's paired accuracy."""
    published = PublishedSet("minimal_video_pairs", options)
    for source in table:
        subset = Path(source).name.partition(".")[0]
        for row in map(_with_candidates, published.rows(source)):
            name, choices = row.text("video_id"), row.texts("candidates")
            group = f"{subset}-{name.rpartition('_')[0] or name}"
            key = row.place_among("answer", choices)
            published.items("pairs").answers(
                row,
                f"{subset}-{name}",
                row.video("{video_path}", cluster=group),
                Choice(row.text("question"), choices, key, published.release.prompt, option="({letter}) {text}"),
                kind=str(row.get("source") or subset),
                group=group,
            )
    return published.built()


def _with_candidates(row: Entry) -> Entry:
    """The row with a list of options where the table has one written as a Python literal."""
    if not isinstance(row.get("candidates"), str):
        return row
    try:
        return replace(row, fields={**row.fields, "candidates": ast.literal_eval(row.text("candidates"))})
    except (ValueError, SyntaxError) as error:
        raise row.error(f"'candidates' is no list: {row.get('candidates')!r}") from error
