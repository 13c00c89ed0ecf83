"""Builders of published sets of true captions against false ones, one function a set."""

from collections.abc import Mapping
from pathlib import Path

from video_contrast.builders.sources.published import Items, PublishedSet, published_builder
from video_contrast.builders.sources.published_fields import Choice, Entry, VideoName, file_name, release
from video_contrast.files import Json


@published_builder("vitatecs", configs=("vitatecs_mc",))
def vitatecs(published: PublishedSet, *, folder: Path) -> None:
    """VITATECS: a caption against one with another temporal concept, by aspect."""
    items = published.items("vitatecs_mc")
    for aspect in published.tables["aspects"]:
        for row in published.rows(folder / f"{aspect}.jsonl"):
            id, video = f"{aspect.lower()}-{row.key}", row.video("{src_dataset}/{video_name}")
            true, false = row.text("caption"), row.text("counterfactual")
            items.captions(row, id, video, true=true, negatives=[false], kind=row.text("aspect"))


@published_builder("velociti", configs=("velociti_mc",))
def velociti(published: PublishedSet, *, table: str, video_pattern: str = "velociti_videos/{id}.mp4") -> None:
    """VELOCITI: a caption of an event against a false one, by test."""
    items = published.items("velociti_mc")
    for row in published.rows(table):
        test, true, false = (row.text(name) for name in ("test_name", "pos", "neg"))
        id, video = f"{test}-{row.key}", row.video(video_pattern, id=row.text("video_id").partition(".")[0])
        items.captions(row, id, video, true=true, negatives=[false], kind=test, meta={"event": row.get("event")})


VILMA_FILES = release("vilma").tables[
    "files"
]  # config -> the files of the release, in which the paper counts its items
VILMA_CONFIGS = tuple(f"{task}{end}" for task in VILMA_FILES for end in ("", "_proficiency"))
VILMA_YOUTUBE_ID = 11  # characters; VidSitu's ids have a number of the release behind them


@published_builder("vilma", configs=VILMA_CONFIGS)
def vilma(published: PublishedSet, *, folder: Path, all_items: bool = False, pts_rate: float = 30.0) -> None:
    """ViLMA: the main tests and their proficiency tests, which a run counts together (P+T) where both are scored."""
    tables = {config: published.items(config) for config in published.configs}
    for task, files in VILMA_FILES.items():
        for file in files if {task, f"{task}_proficiency"} & set(published.configs) else ():
            for row in published.rows(folder / f"{file}.json"):
                if not isinstance(row.get("proficiency"), dict):
                    raise row.error("no proficiency test")
                test = Entry(row.place, row.key, row.fields["proficiency"])
                # as the authors' evaluation script filters
                valid = _vilma_votes(row.get("mturk")) >= 2 and _vilma_votes(test.get("human")) >= 1
                video = _vilma_video(row, pts_rate, published.tables["folders"])
                for config, entry in ((task, row), (f"{task}_proficiency", test)):
                    if config in tables and not (valid or all_items):
                        tables[config].leave_out("not_valid")
                    elif config in tables:
                        id, true, foils = f"{file}-{row.key}", entry.text("caption"), entry.texts("foils")
                        tables[config].captions(entry, id, video, true=true, negatives=foils, kind=file)


def _vilma_votes(votes: Json) -> int:
    """How many annotators chose the caption."""
    return int(votes.get("caption", 0)) if isinstance(votes, dict) else 0


def _vilma_video(row: Entry, rate: float, folders: Mapping[str, str]) -> VideoName:
    """Videos of the sources that are not named lie in {dataset}/{youtube_id}.mp4, as the authors' loader has it."""
    unit = row.get("time_unit") or "sec"
    if unit not in ("sec", "pts"):
        raise row.error(f"the time unit {unit!r} is neither sec nor pts")
    start, end = (row.number(name) for name in ("start_time", "end_time"))
    if unit == "pts":
        start, end = (None if time is None else time / rate for time in (start, end))
    dataset = row.text("dataset")
    if dataset == "something-something-v2":  # its files are the clips
        start = end = None
    cluster = f"{dataset}/{row.text('youtube_id')[:VILMA_YOUTUBE_ID]}" if dataset not in folders else ""
    return row.video(folders.get(dataset, "{dataset}/{youtube_id}.mp4"), start=start, end=end, cluster=cluster)


@published_builder("videocon", configs=("llm_mc", "human_mc"))
def videocon(
    published: PublishedSet,
    *,
    llm: Path | None = None,
    human: Path | None = None,
    video_pattern: str = "{source}/{path}",
) -> None:
    """VideoCon: a caption against its contrast caption, by misalignment; splits as released."""
    splits = published.tables["splits"]
    for row in published.rows_of("llm_mc", llm):
        split, path = row.text("split"), row.text("videopath").lstrip("/")
        if split not in splits:
            raise row.error(f"the split {split!r} is none of {', '.join(splits)}")
        cluster = str(row.get("youtube_key") or "")
        video = row.video(video_pattern, file=file_name(path), path=path, cluster=cluster)
        true, false, kind = (row.text(name) for name in ("caption", "neg_caption", "misalignment"))
        meta = {name: row.get(name) for name in ("source", "youtube_key")}
        items = published.items("llm_mc", splits[split])
        items.captions(row, row.key, video, true=true, negatives=[false], kind=kind, meta=meta)
    for row in published.rows_of("human_mc", human):
        hard, address, true, false = (row.text(name) for name in ("hard", "video_url", "caption", "neg_caption"))
        hard = hard.strip().lower()
        if hard not in ("true", "false"):
            raise row.error(f"'hard' must be True or False, not {hard!r}")
        video = row.video("human/{file}", file=file_name(address))
        kind, meta = "human_hard" if hard == "true" else "human", {"video_url": address, "nle": row.get("nle")}
        items = published.items("human_mc")
        items.captions(row, row.key, video, true=true, negatives=[false], kind=kind, meta=meta)


VIDEOCOMP_SOURCES = ("activitynet", "youcook2")
VIDEOCOMP_CONFIGS = tuple(f"{source}_{what}" for source in VIDEOCOMP_SOURCES for what in ("mc", "questions"))
VIDEOCOMP_LETTERS = ("A", "B")


@published_builder("videocomp", configs=VIDEOCOMP_CONFIGS)
def videocomp(published: PublishedSet, *, folder: Path, video_pattern: str = "{id}.mp4") -> None:
    """VideoComp: the coherent paragraph against the disturbed one, by kind of disturbance; the released questions."""
    for config in published.configs:
        source, _, what = config.partition("_")
        for split, short in (("train", "train"), ("validation", "val")):
            file = folder / f"{source}_comp_{short}.json"
            if split == "train" and not file.exists():
                continue
            items = published.items(config, split)
            for row in published.rows(file):
                # Seconds of the clip that is asked about, or of the whole video; released in microseconds.
                sides = ([row.number(f"{clip}_video/{side}_time") for clip in ("query", "original")]
                         for side in ("start", "end"))  # fmt: skip
                start, end = (next((time / 1e6 for time in times if time is not None), None) for times in sides)
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


@published_builder("actionbench", configs=("antonym_mc", "object_mc"))
def actionbench(published: PublishedSet, *, annotations: Path, video_pattern: str = "{id}.webm") -> None:
    """ActionBench: the label against the antonym of its action, and against other objects as the control."""
    for row in published.rows(annotations):
        id, video, true = row.text("id"), row.video(video_pattern), row.text("label")
        meta = {name: row.get(name) for name in ("template", "placeholders")}
        for config in published.configs:
            negatives, kind = [str(row.get(published.tables["columns"][config]) or "")], config.removesuffix("_mc")
            items = published.items(config, "validation")
            items.captions(row, id, video, true=true, negatives=negatives, kind=kind, meta=meta)


@published_builder("chirality_in_action", configs=("ssv2_mc", "epic_mc", "charades_mc"))
def chirality_in_action(
    published: PublishedSet, *, folder: Path, split: str = "validation", text_column: str = "template"
) -> None:
    """Chirality in Action: the caption of a clip against that of the opposite action; a config a source."""
    files = published.splits(split)
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
                video = row.video(published.tables["videos"][config])
                meta = {"gallery": group}
                items.captions(row, f"{group}-{id}", video, true=true, negatives=others, kind="chiral", meta=meta)


@published_builder("carebench", configs=("retrieval",))
def carebench(published: PublishedSet, *, table: Path) -> None:
    """CaReBench: retrieval of clips by detailed captions."""
    for row in published.rows(table):
        captions = row.texts("caption") if isinstance(row.get("caption"), list) else [row.text("caption")]
        published.items("retrieval").retrieval(row, row.text("video"), row.video("videos/{video}"), captions)
