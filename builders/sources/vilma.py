"""The builder `vilma`: foiled captions in five tests, each with its proficiency test."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Entry, VideoName, read_rows, release
from video_contrast.files import Json

# config -> the files of the release, in which the paper counts its items
TASKS = {
    "change_of_state": (
        "change-state-action", "change-state-inverse", "change-state-prestate", "change-state-poststate",
    ),
    "action_counting": ("counting-easy-spelled-sec", "counting-hard-spelled-sec"),
    "rare_actions": ("rare-actions-verb-foils", "rare-actions-noun-foils"),
    "spatial_relations": ("relations",),
    "situation_awareness": ("SRL_Action_Replacement_Top_1000", "SRL_Actor_Swapping"),
}  # fmt: skip
CONFIGS = tuple(f"{task}{end}" for task in TASKS for end in ("", "_proficiency"))
PAPER = {"change_of_state": 998, "action_counting": 1432, "rare_actions": 1443, "spatial_relations": 393,
         "situation_awareness": 911}  # fmt: skip
# Where videos lie below the video root; those of the other sources as {dataset}/{youtube_id}.mp4, as its loader has it.
FOLDERS = {
    "QUVA": "QUVA/{video_file}", "something-something-v2": "something-something-v2/{video_file}.webm",
    "star": "star/{video_file}.mp4",
}  # fmt: skip
YOUTUBE_ID = 11  # characters; VidSitu's ids have a number of the release behind them
RELEASE = release("vilma")


@builder("vilma", configs=CONFIGS, requirements=f"its folder `data`: `{RELEASE.fetch}`")
def vilma(
    configs: list[str],
    *,
    folder: Annotated[Path, "the repository's folder `data`"],
    all_items: Annotated[bool, "also those that the annotators did not find valid"] = False,
    pts_rate: Annotated[float, "units a second of times that are given in pts"] = 30.0,
    options: PublishedOptions,
) -> BuiltSet:
    """ViLMA: the main tests and their proficiency tests, which a run counts together (P+T) where both are scored."""
    published = PublishedSet(RELEASE, options)
    tables = {config: published.items(config) for config in configs}
    for task, files in TASKS.items():
        for file in files if {task, f"{task}_proficiency"} & set(configs) else ():
            for row in read_rows(folder / f"{file}.json", RELEASE):
                if not isinstance(row.get("proficiency"), dict):
                    raise row.error("no proficiency test")
                test = Entry(row.place, row.key, row.fields["proficiency"])
                valid = all_items or (
                    _votes(row.get("mturk")) >= 2 and _votes(test.get("human")) >= 1
                )  # as the authors' evaluation script filters
                video = _video(row, pts_rate)
                for config, entry in ((task, row), (f"{task}_proficiency", test)):
                    if config not in tables:
                        continue
                    if not valid:
                        tables[config].leave_out("not_valid")
                        continue
                    true, foils = entry.text("caption"), entry.texts("foils")
                    tables[config].captions(entry, f"{file}-{row.key}", video, true=true, negatives=foils, kind=file)
    return published.built()


def _votes(votes: Json) -> int:
    """How many annotators chose the caption."""
    return int(votes.get("caption", 0)) if isinstance(votes, dict) else 0


def _video(row: Entry, rate: float) -> VideoName:
    unit = row.get("time_unit") or "sec"
    if unit not in ("sec", "pts"):
        raise row.error(f"the time unit {unit!r} is neither sec nor pts")
    start, end = (row.number(name) for name in ("start_time", "end_time"))
    if unit == "pts":
        start, end = (None if time is None else time / rate for time in (start, end))
    dataset = row.text("dataset")
    if dataset == "something-something-v2":  # its files are the clips
        start = end = None
    cluster = f"{dataset}/{row.text('youtube_id')[:YOUTUBE_ID]}" if dataset not in FOLDERS else ""
    return row.video(FOLDERS.get(dataset, "{dataset}/{youtube_id}.mp4"), start=start, end=end, cluster=cluster)
