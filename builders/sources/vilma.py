"""The builder `vilma`: foiled captions in five tests, each with its proficiency test."""

from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, number_of, read_entries, text_of, texts_of
from video_contrast.builders.sources.published_videos import VideoName, video_name
from video_contrast.errors import VideoContrastError

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
# Where the videos of its sources lie below the video root; {file} is the release's own name of a file.
FOLDERS = {
    "QUVA": "QUVA/{file}", "something-something-v2": "something-something-v2/{file}.webm", "star": "star/{file}.mp4",
    "VidSitu": "VidSitu/{file}.mp4",
}  # fmt: skip
RELEASE = Release(
    builder="vilma",
    title="ViLMA",
    summary="Captions and foils on change of state, counting, rare actions, spatial relations and situations; each "
    "item has a simpler one of the same clip, the proficiency test.",
    licence="ViLMA is under the MIT licence.",
    licence_id="mit",
    citation="Kesen, Pedrotti, Dogan, Cafagna, Acikgoz, Parcalabescu, Calixto, Frank, Gatt, Erdem, Erdem: ViLMA: A "
    "Zero-Shot Benchmark for Linguistic and Temporal Grounding in Video-Language Models. ICLR 2024.",
    fetch="git clone https://github.com/ilkerkesen/ViLMA",
    videos="YouTube ids of COIN, YouCook2 and STAR: bin/youtube_downloader of the repository, into DATASET/ID.mp4; "
    "QUVA (bin/normalize_fps), Something-Something V2, RareAct and VidSitu as its README says",
    paper={f"{task}{end}": n for task, n in PAPER.items() for end in ("", "_proficiency")},
)


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
    tables = {config: {"test": Items(options)} for config in configs}
    for task, files in TASKS.items():
        for file in files if {task, f"{task}_proficiency"} & set(configs) else ():
            for place, key, row in read_entries(folder / f"{file}.json", RELEASE):
                proficiency = row.get("proficiency")
                if not isinstance(proficiency, dict):
                    raise VideoContrastError(f"{place}: no proficiency test")
                valid = all_items or (
                    _votes(row.get("mturk")) >= 2 and _votes(proficiency.get("human")) >= 1
                )  # as the authors' evaluation script filters
                video = _video(row, place, pts_rate)
                for config, texts in ((task, row), (f"{task}_proficiency", proficiency)):
                    if config not in tables:
                        continue
                    items = tables[config]["test"]
                    if not valid:
                        items.counts["rows"] += 1
                        items.counts["not_valid"] += 1
                        continue
                    items.captions(
                        place,
                        f"{file}-{key}",
                        video,
                        true=text_of(texts, "caption", place),
                        negatives=texts_of(texts, "foils", place),
                        kind=file,
                    )
    return built_set(RELEASE, tables, options)


def _votes(votes: Any) -> int:
    """How many annotators chose the caption."""
    return int(votes.get("caption", 0)) if isinstance(votes, dict) else 0


def _video(row: dict[str, Any], place: str, rate: float) -> VideoName:
    unit = row.get("time_unit") or "sec"
    if unit not in ("sec", "pts"):
        raise VideoContrastError(f"{place}: the time unit {unit!r} is neither sec nor pts")
    start, end = (number_of(row, name, place) for name in ("start_time", "end_time"))
    if unit == "pts":
        start, end = (None if time is None else time / rate for time in (start, end))
    dataset = text_of(row, "dataset", place)
    file = str(row.get("video_file") or "")
    if file:  # cut to the clip already, but for QUVA's
        cut = dataset != "QUVA"
        pattern = FOLDERS.get(dataset, "{dataset}/{file}.mp4")
        return video_name(
            pattern, place, start=None if cut else start, end=None if cut else end, file=file, dataset=dataset
        )
    name = text_of(row, "youtube_id", place)
    return video_name("{dataset}/{id}.mp4", place, start=start, end=end, dataset=dataset, id=name)
