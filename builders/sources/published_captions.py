"""Builders of published sets of true captions against false ones, one function a set."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.sources.published import Items, PublishedSet, published_builder
from video_contrast.builders.sources.published_fields import Choice, Entry, VideoName, file_name, inside
from video_contrast.files import Json

VITATECS_ASPECTS = ("Compositionality", "Direction", "Intensity", "Localization", "Sequence", "Type")


@published_builder("vitatecs", configs=("vitatecs_mc",), needs="its six .jsonl files")
def vitatecs(
    published: PublishedSet,
    *,
    folder: Annotated[Path, "the repository, or its folder `data`, with Direction.jsonl ..."],
) -> None:
    """VITATECS: a caption against one with another temporal concept, by aspect."""
    folder = inside(folder, "data")
    for aspect in VITATECS_ASPECTS:
        for row in published.rows(folder / f"{aspect}.jsonl"):
            published.items("vitatecs_mc").captions(
                row,
                f"{aspect.lower()}-{row.key}",
                row.video("{src_dataset}/{video_name}"),
                true=row.text("caption"),
                negatives=[row.text("counterfactual")],
                kind=row.text("aspect"),
            )


@published_builder("velociti", configs=("velociti_mc",), needs="its table")
def velociti(
    published: PublishedSet,
    *,
    table: Annotated[str, "the table of the download (.csv .jsonl .json .parquet), or katha-ai-iiith/VELOCITI"],
    video_pattern: Annotated[str, "path of a video; {id} is video_id without suffix"] = "velociti_videos/{id}.mp4",
) -> None:
    """VELOCITI: a caption of an event against a false one, by test."""
    for row in published.rows(table):
        test = row.text("test_name")
        published.items("velociti_mc").captions(
            row,
            f"{test}-{row.key}",
            row.video(video_pattern, id=row.text("video_id").partition(".")[0]),
            true=row.text("pos"),
            negatives=[row.text("neg")],
            kind=test,
            meta={"event": row.get("event")},
        )


# config -> the files of the release, in which the paper counts its items
VILMA_TASKS = {
    "change_of_state": (
        "change-state-action", "change-state-inverse", "change-state-prestate", "change-state-poststate",
    ),
    "action_counting": ("counting-easy-spelled-sec", "counting-hard-spelled-sec"),
    "rare_actions": ("rare-actions-verb-foils", "rare-actions-noun-foils"),
    "spatial_relations": ("relations",),
    "situation_awareness": ("SRL_Action_Replacement_Top_1000", "SRL_Actor_Swapping"),
}  # fmt: skip
VILMA_CONFIGS = tuple(f"{task}{end}" for task in VILMA_TASKS for end in ("", "_proficiency"))
# Where videos lie below the video root; those of the other sources as {dataset}/{youtube_id}.mp4, as its loader has it.
VILMA_FOLDERS = {
    "QUVA": "QUVA/{video_file}", "something-something-v2": "something-something-v2/{video_file}.webm",
    "star": "star/{video_file}.mp4",
}  # fmt: skip
VILMA_YOUTUBE_ID = 11  # characters; VidSitu's ids have a number of the release behind them


@published_builder("vilma", configs=VILMA_CONFIGS, needs="its folder `data`")
def vilma(
    published: PublishedSet,
    *,
    folder: Annotated[Path, "the repository, or its folder `data`, with relations.json ..."],
    all_items: Annotated[bool, "also those that the annotators did not find valid"] = False,
    pts_rate: Annotated[float, "units a second of times that are given in pts"] = 30.0,
) -> None:
    """ViLMA: the main tests and their proficiency tests, which a run counts together (P+T) where both are scored."""
    folder = inside(folder, "data")
    tables = {config: published.items(config) for config in published.configs}
    for task, files in VILMA_TASKS.items():
        for file in files if {task, f"{task}_proficiency"} & set(published.configs) else ():
            for row in published.rows(folder / f"{file}.json"):
                if not isinstance(row.get("proficiency"), dict):
                    raise row.error("no proficiency test")
                test = Entry(row.place, row.key, row.fields["proficiency"])
                valid = all_items or (
                    _vilma_votes(row.get("mturk")) >= 2 and _vilma_votes(test.get("human")) >= 1
                )  # as the authors' evaluation script filters
                video = _vilma_video(row, pts_rate)
                for config, entry in ((task, row), (f"{task}_proficiency", test)):
                    if config not in tables:
                        continue
                    if not valid:
                        tables[config].leave_out("not_valid")
                        continue
                    true, foils = entry.text("caption"), entry.texts("foils")
                    tables[config].captions(entry, f"{file}-{row.key}", video, true=true, negatives=foils, kind=file)


def _vilma_votes(votes: Json) -> int:
    """How many annotators chose the caption."""
    return int(votes.get("caption", 0)) if isinstance(votes, dict) else 0


def _vilma_video(row: Entry, rate: float) -> VideoName:
    unit = row.get("time_unit") or "sec"
    if unit not in ("sec", "pts"):
        raise row.error(f"the time unit {unit!r} is neither sec nor pts")
    start, end = (row.number(name) for name in ("start_time", "end_time"))
    if unit == "pts":
        start, end = (None if time is None else time / rate for time in (start, end))
    dataset = row.text("dataset")
    if dataset == "something-something-v2":  # its files are the clips
        start = end = None
    cluster = f"{dataset}/{row.text('youtube_id')[:VILMA_YOUTUBE_ID]}" if dataset not in VILMA_FOLDERS else ""
    return row.video(VILMA_FOLDERS.get(dataset, "{dataset}/{youtube_id}.mp4"), start=start, end=end, cluster=cluster)


VIDEOCON_SPLITS = {"train": "train", "val": "validation", "test": "test"}


@published_builder("videocon", configs=("llm_mc", "human_mc"), needs="its csv files")
def videocon(
    published: PublishedSet,
    *,
    llm: Annotated[Path | None, "videocon_llm_entailment.csv"] = None,
    human: Annotated[Path | None, "videocon_human.csv"] = None,
    video_pattern: Annotated[str, "path of a video of the first part; {path} is its videopath"] = "{source}/{path}",
) -> None:
    """VideoCon: a caption against its contrast caption, by misalignment; splits as released."""
    for row in published.rows_of("llm_mc", llm):
        split = row.text("split")
        if split not in VIDEOCON_SPLITS:
            raise row.error(f"the split {split!r} is none of {', '.join(VIDEOCON_SPLITS)}")
        path = row.text("videopath").lstrip("/")
        published.items("llm_mc", VIDEOCON_SPLITS[split]).captions(
            row,
            row.key,
            row.video(video_pattern, file=file_name(path), path=path, cluster=str(row.get("youtube_key") or "")),
            true=row.text("caption"),
            negatives=[row.text("neg_caption")],
            kind=row.text("misalignment"),
            meta={"source": row.get("source"), "youtube_key": row.get("youtube_key")},
        )
    for row in published.rows_of("human_mc", human):
        hard = row.text("hard").strip().lower()
        if hard not in ("true", "false"):
            raise row.error(f"'hard' must be True or False, not {hard!r}")
        address = row.text("video_url")
        published.items("human_mc").captions(
            row,
            row.key,
            row.video("human/{file}", file=file_name(address)),
            true=row.text("caption"),
            negatives=[row.text("neg_caption")],
            kind="human_hard" if hard == "true" else "human",
            meta={"video_url": address, "nle": row.get("nle")},
        )


VIDEOCOMP_SOURCES = ("activitynet", "youcook2")
VIDEOCOMP_CONFIGS = tuple(f"{source}_{what}" for source in VIDEOCOMP_SOURCES for what in ("mc", "questions"))
VIDEOCOMP_LETTERS = ("A", "B")


@published_builder("videocomp", configs=VIDEOCOMP_CONFIGS, needs="its json files")
def videocomp(
    published: PublishedSet,
    *,
    folder: Annotated[Path, "with activitynet_comp_val.json ..."],
    video_pattern: Annotated[str, "path of a video; {id} is its YouTube id"] = "{id}.mp4",
) -> None:
    """VideoComp: the coherent paragraph against the disturbed one, by kind of disturbance; the released questions."""
    for config in published.configs:
        source, _, what = config.partition("_")
        for split, short in (("train", "train"), ("validation", "val")):
            file = folder / f"{source}_comp_{short}.json"
            if split == "train" and not file.exists():
                continue
            items = published.items(config, split)
            for row in published.rows(file):
                start, end = (_videocomp_time(row, side) for side in ("start", "end"))
                video = row.video(video_pattern, start=start, end=end, id=row.text("video_id"))
                if what == "questions":
                    _videocomp_question(items, row, video)
                    continue
                texts, kind = [row.text("negative_text")], row.text("type")
                items.captions(row, row.text("key"), video, true=row.text("positive_text"), negatives=texts, kind=kind)


def _videocomp_question(items: Items, row: Entry, video: VideoName) -> None:
    """The question as released, which holds both paragraphs; it is answered by "A" or "(A)"."""
    answer = str(row.get("answer") or "").strip(" ().")
    if answer not in VIDEOCOMP_LETTERS:
        items.leave_out("no_answer_by_letter")
        return
    choice = Choice(row.text("question"), VIDEOCOMP_LETTERS, VIDEOCOMP_LETTERS.index(answer), prompt="{question}")
    items.answers(row, row.text("key"), video, choice, kind=row.text("type"))


def _videocomp_time(row: Entry, side: str) -> float | None:
    """Seconds of the clip that is asked about, or of the whole video where there is none; released in microseconds."""
    times = [row.number(f"{clip}_video/{side}_time") for clip in ("query", "original")]
    return next((time / 1e6 for time in times if time is not None), None)


ACTIONBENCH_CONFIGS = {"antonym_mc": "label_action_antonym_clip_text", "object_mc": "label_object_shuffled_clip_text"}


@published_builder("actionbench", configs=tuple(ACTIONBENCH_CONFIGS), needs="its annotations")
def actionbench(
    published: PublishedSet,
    *,
    annotations: Annotated[Path, "file of the validation split (.json or .jsonl)"],
    video_pattern: Annotated[str, "path of a video"] = "{id}.webm",
) -> None:
    """ActionBench: the label against the antonym of its action, and against other objects as the control."""
    for row in published.rows(annotations):
        for config in published.configs:
            published.items(config, "validation").captions(
                row,
                row.text("id"),
                row.video(video_pattern),
                true=row.text("label"),
                negatives=[str(row.get(ACTIONBENCH_CONFIGS[config]) or "")],
                kind=config.removesuffix("_mc"),
                meta={"template": row.get("template"), "placeholders": row.get("placeholders")},
            )


CIA_VIDEOS = {"ssv2_mc": "{id}.webm", "epic_mc": "{id}.MP4", "charades_mc": "{id}.mp4"}


@published_builder("chirality_in_action", configs=tuple(CIA_VIDEOS), needs="its csv files")
def chirality_in_action(
    published: PublishedSet,
    *,
    folder: Annotated[Path, "the download, with cia-ssv2-validation.csv ..."],
    split: Annotated[str, "validation or train"] = "validation",
    text_column: Annotated[str, "column of the captions"] = "template",
) -> None:
    """Chirality in Action: the caption of a clip against that of the opposite action; a config a source."""
    files = published.splits(split, {"validation": "validation", "train": "train"})
    for config in published.configs:
        for name, file in files.items():
            items, texts = published.items(config, name), dict[str, dict[str, str]]()
            clips: dict[tuple[str, str, str], Entry] = {}
            for row in published.rows(folder / f"cia-{config.removesuffix('_mc')}-{file}.csv"):
                group, side = row.text("chiral_triplet_id"), row.text("chiral_label")
                # As in the authors' scripts: the first text of a side of a group stands for it, each clip counts once.
                texts.setdefault(group, {}).setdefault(side, row.text(text_column))
                if clips.setdefault((group, side, row.text("id")), row) is not row:
                    items.leave_out("repeated_rows")
            for (group, side, id), row in clips.items():
                true, others = texts[group][side], [text for other, text in texts[group].items() if other != side]
                if not others:
                    items.leave_out("no_opposite")
                    continue
                video = row.video(CIA_VIDEOS[config])
                items.captions(row, f"{group}-{id}", video, true=true, negatives=others, kind="chiral")


@published_builder("carebench", configs=("retrieval",), needs="its json/metadata.json")
def carebench(
    published: PublishedSet,
    *,
    table: Annotated[Path, "json/metadata.json of the download"],
) -> None:
    """CaReBench: retrieval of clips by detailed captions."""
    for row in published.rows(table):
        captions = row.texts("caption") if isinstance(row.get("caption"), list) else [row.text("caption")]
        published.items("retrieval").retrieval(row, row.text("video"), row.video("videos/{video}"), captions)
