"""Builders of published sets, one function a set: true captions against false ones, questions, pairs of clips."""

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from video_contrast.builders.sources.published import (
    YES_NO,
    Choice,
    Entry,
    PublishedSet,
    VideoName,
    coin_toss,
    file_name,
    lettered_choice,
    published_builder,
    release,
)
from video_contrast.files import read_json


@published_builder("vitatecs", configs=("vitatecs_mc",))
def vitatecs(dataset: PublishedSet, *, folder: Path) -> None:
    """VITATECS: a caption against one with another temporal concept, by aspect."""
    items = dataset.items("vitatecs_mc")
    for aspect in dataset.tables["aspects"]:
        for row in dataset.rows(folder / f"{aspect}.jsonl"):
            id, video = f"{aspect.lower()}-{row.key}", row.video("{src_dataset}/{video_name}")
            true, false = row.text("caption"), row.text("counterfactual")
            items.captions(row, id, video, true=true, negatives=[false], kind=row.text("aspect"))


@published_builder("velociti", configs=("velociti_mc",))
def velociti(dataset: PublishedSet, *, table: str, video_pattern: str = "velociti_videos/{id}.mp4") -> None:
    """VELOCITI: a caption of an event against a false one, by test."""
    items = dataset.items("velociti_mc")
    for row in dataset.rows(table):
        test, true, false = (row.text(name) for name in ("test_name", "pos", "neg"))
        id, video = f"{test}-{row.key}", row.video(video_pattern, id=row.text("video_id").partition(".")[0])
        items.captions(row, id, video, true=true, negatives=[false], kind=test, meta={"event": row.get("event")})


# Config -> the files of the release, in which the paper counts its items.
VILMA_FILES = release("vilma").tables["files"]
VILMA_CONFIGS = tuple(f"{task}{end}" for task in VILMA_FILES for end in ("", "_proficiency"))
VILMA_YOUTUBE_ID = 11  # characters; VidSitu's ids have a number of the release behind them


@published_builder("vilma", configs=VILMA_CONFIGS)
def vilma(dataset: PublishedSet, *, folder: Path, all_items: bool = False, pts_rate: float = 30.0) -> None:
    """ViLMA: the main tests and their proficiency tests, which a run counts together (P+T) where both are scored."""
    tables = {config: dataset.items(config) for config in dataset.configs}
    for task, files in VILMA_FILES.items():
        for file in files if {task, f"{task}_proficiency"} & set(dataset.configs) else ():
            for row in dataset.rows(folder / f"{file}.json"):
                if not isinstance(row.get("proficiency"), dict):
                    raise row.error("no proficiency test")
                test = Entry(row.place, row.key, row.fields["proficiency"])
                # as the authors' evaluation script filters
                votes = [of if isinstance(of, dict) else {} for of in (row.get("mturk"), test.get("human"))]
                valid = int(votes[0].get("caption", 0)) >= 2 and int(votes[1].get("caption", 0)) >= 1
                video = _vilma_video(row, pts_rate, dataset.tables["folders"])
                for config, entry in ((task, row), (f"{task}_proficiency", test)):
                    if config in tables and not (valid or all_items):
                        tables[config].leave_out("not_valid")
                    elif config in tables:
                        id, true, foils = f"{file}-{row.key}", entry.text("caption"), entry.texts("foils")
                        tables[config].captions(entry, id, video, true=true, negatives=foils, kind=file)


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
    dataset: PublishedSet, *, llm: Path | None = None, human: Path | None = None, video_pattern: str = "{source}/{path}"
) -> None:
    """VideoCon: a caption against its contrast caption, by misalignment; splits as released."""
    splits = dataset.tables["splits"]
    for row in dataset.rows_of("llm_mc", llm):
        split, path = row.text("split"), row.text("videopath").lstrip("/")
        if split not in splits:
            raise row.error(f"the split {split!r} is none of {', '.join(splits)}")
        cluster = str(row.get("youtube_key") or "")
        video = row.video(video_pattern, file=file_name(path), path=path, cluster=cluster)
        true, false, kind = (row.text(name) for name in ("caption", "neg_caption", "misalignment"))
        meta = {name: row.get(name) for name in ("source", "youtube_key")}
        items = dataset.items("llm_mc", splits[split])
        items.captions(row, row.key, video, true=true, negatives=[false], kind=kind, meta=meta)
    for row in dataset.rows_of("human_mc", human):
        hard, address, true, false = (row.text(name) for name in ("hard", "video_url", "caption", "neg_caption"))
        hard = hard.strip().lower()
        if hard not in ("true", "false"):
            raise row.error(f"'hard' must be True or False, not {hard!r}")
        video = row.video("human/{file}", file=file_name(address))
        kind, meta = "human_hard" if hard == "true" else "human", {"video_url": address, "nle": row.get("nle")}
        items = dataset.items("human_mc")
        items.captions(row, row.key, video, true=true, negatives=[false], kind=kind, meta=meta)


VIDEOCOMP_SOURCES = ("activitynet", "youcook2")
VIDEOCOMP_CONFIGS = tuple(f"{source}_{what}" for source in VIDEOCOMP_SOURCES for what in ("mc", "questions"))
VIDEOCOMP_LETTERS = ("A", "B")


@published_builder("videocomp", configs=VIDEOCOMP_CONFIGS)
def videocomp(dataset: PublishedSet, *, folder: Path, video_pattern: str = "{id}.mp4") -> None:
    """VideoComp: the coherent paragraph against the disturbed one, by kind of disturbance; the released questions."""
    for config in dataset.configs:
        source, _, what = config.partition("_")
        for split, short in (("train", "train"), ("validation", "val")):
            file = folder / f"{source}_comp_{short}.json"
            if split == "train" and not file.exists():
                continue
            items = dataset.items(config, split)
            for row in dataset.rows(file):
                # Seconds of the clip that is asked about, or of the whole video; released in microseconds.
                sides = ([row.number(f"{clip}_video/{side}_time") for clip in ("query", "original")]
                         for side in ("start", "end"))  # fmt: skip
                start, end = (next((time / 1e6 for time in times if time is not None), None) for times in sides)
                video = row.video(video_pattern, start=start, end=end, id=row.text("video_id"))
                kind = row.text("type")
                if what == "mc":
                    true, false = row.text("positive_text"), row.text("negative_text")
                    items.captions(row, row.text("key"), video, true=true, negatives=[false], kind=kind)
                elif (answer := str(row.get("answer") or "").strip(" ().")) not in VIDEOCOMP_LETTERS:
                    items.leave_out("no_answer_by_letter")
                else:  # the question holds both paragraphs, and is answered by "A" or "(A)"
                    key = VIDEOCOMP_LETTERS.index(answer)
                    choice = Choice(row.text("question"), VIDEOCOMP_LETTERS, key, prompt="{question}")
                    items.answers(row, row.text("key"), video, choice, kind=kind)


@published_builder("actionbench", configs=("antonym_mc", "object_mc"))
def actionbench(dataset: PublishedSet, *, annotations: Path, video_pattern: str = "{id}.webm") -> None:
    """ActionBench: the label against the antonym of its action, and against other objects as the control."""
    for row in dataset.rows(annotations):
        id, video, true = row.text("id"), row.video(video_pattern), row.text("label")
        meta = {name: row.get(name) for name in ("template", "placeholders")}
        for config in dataset.configs:
            negatives, kind = [str(row.get(dataset.tables["columns"][config]) or "")], config.removesuffix("_mc")
            items = dataset.items(config, "validation")
            items.captions(row, id, video, true=true, negatives=negatives, kind=kind, meta=meta)


@published_builder("chirality_in_action", configs=("ssv2_mc", "epic_mc", "charades_mc"))
def chirality_in_action(
    dataset: PublishedSet, *, folder: Path, split: str = "validation", text_column: str = "template"
) -> None:
    """Chirality in Action: the caption of a clip against that of the opposite action; a config a source."""
    files = dataset.splits(split)
    for config in dataset.configs:
        for name, file in files.items():
            items, texts = dataset.items(config, name), dict[str, dict[str, str]]()
            clips: dict[tuple[str, str, str], Entry] = {}
            for row in dataset.rows(folder / f"cia-{config.removesuffix('_mc')}-{file}.csv"):
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
                video = row.video(dataset.tables["videos"][config])
                meta = {"gallery": group}
                items.captions(row, f"{group}-{id}", video, true=true, negatives=others, kind="chiral", meta=meta)


@published_builder("carebench", configs=("retrieval",))
def carebench(dataset: PublishedSet, *, table: Path) -> None:
    """CaReBench: retrieval of clips by detailed captions."""
    for row in dataset.rows(table):
        captions = row.texts("caption") if isinstance(row.get("caption"), list) else [row.text("caption")]
        dataset.items("retrieval").retrieval(row, row.text("video"), row.video("videos/{video}"), captions)


# Three questions have an option without the blank behind its letter, or with one before it.
_TEMPCOMPASS_OPTION = re.compile(
    r"^ ?(?:([A-Z])\. ?|((?:Option|Sentence|Caption|Description)s?) ([A-Z0-9]+): )(.*)$", re.M
)


@published_builder("tempcompass", configs=("multi_choice", "yes_no", "caption_matching"))
def tempcompass(dataset: PublishedSet, *, folder: Path) -> None:
    """TempCompass: multiple choice, yes or no, and caption matching, with the authors' prompts."""
    for config in dataset.configs:
        items = dataset.items(config)
        for row in dataset.rows(folder / f"{dataset.tables['files'][config]}.json"):
            video = row.video("videos/{id}.mp4", id=row.key, cluster=row.key.partition("_")[0])
            for dimension in row.fields:
                for entry in row.entries(dimension):
                    choice = _tempcompass_choice(config, entry, dataset.tables)
                    items.answers(entry, f"{row.key}-{dimension}-{entry.key}", video, choice, kind=dimension)


def _tempcompass_choice(config: str, entry: Entry, prompts: Mapping[str, str]) -> Choice:
    """The question, its options, and how the authors ask it, word for word."""
    text = entry.text("question")
    if config == "yes_no":
        return Choice(text, YES_NO, entry.yes_or_no(), prompts["yes or no"])
    answer, options = entry.text("answer").strip(), list(_TEMPCOMPASS_OPTION.finditer(text))
    lines = [match[0].strip() for match in options]
    if len(lines) != len([line for line in text.split("\n") if line.strip()]) - 1:
        raise entry.error(f"a line of the question is neither its first nor an option: {text!r}")
    if answer not in lines:
        raise entry.error(f"the answer {answer!r} is outside the options {lines}")
    label, first = options[0][2], options[0][3]
    place = "number" if first and first.isdigit() else "letter"
    option_form = "{letter}. {text}" if label is None else f"{label} {{{place}}}: {{text}}"
    question, texts = text[: options[0].start()].rstrip("\n"), [match[4] for match in options]
    return Choice(question, texts, lines.index(answer), prompts["best option"], option=option_form)


@published_builder("ssv2", configs=("label", "template_mc"))
def ssv2(dataset: PublishedSet, *, label: Path | None = None, template: Path | None = None) -> None:
    """SSv2-label as retrieval; SSv2-template as a choice among the templates, since each is true of several clips."""
    files = {"label": label, "template_mc": template}
    tables = {config: list(dataset.rows_of(config, path)) for config, path in files.items()}
    templates = list(dict.fromkeys(row.text("caption") for row in tables["template_mc"]))
    for config, row in ((config, row) for config, rows in tables.items() for row in rows):
        items, caption = dataset.items(config, "validation"), row.text("caption")
        for name in [row.text("video")] if isinstance(row.get("video"), str) else row.texts("video"):
            video = row.video("{file}", file=name)
            if config == "label":
                items.retrieval(row, video.video_id, video, [caption])
            else:
                choice = Choice("", templates, row.place_among("caption", templates))
                items.answers(row, video.video_id, video, choice, kind="template", meta={"gallery": "templates"})


@published_builder("tvbench", configs=("tvbench_mc",))
def tvbench(dataset: PublishedSet, *, folder: Path, video_pattern: str = "video/{task}/{video}") -> None:
    """TVBench: ten tasks, as kinds of one config."""
    items, prompt, tasks = dataset.items("tvbench_mc"), dataset.release.prompt, dataset.tables["tasks"]
    files = [task for task in tasks if (folder / f"{task}.json").exists()]
    for task in files or tasks[:1]:
        for row in dataset.rows(folder / f"{task}.json"):
            choices = row.texts("candidates")
            key = row.place_among("answer", choices)
            cut = task in dataset.tables["cut"]  # their start and end count, as in the authors' loader
            start, end = (row.number(name) if cut else None for name in ("start", "end"))
            video = row.video(video_pattern, start=start, end=end, task=task)
            choice = Choice(row.text("question"), choices, key, prompt, option="({letter}) {text}")
            items.answers(row, f"{task}-{row.key}", video, choice, kind=task)
    items.counts["tasks_missing"] = len(tasks) - len(files)


@published_builder("tomato", configs=("tomato_mc",))
def tomato(dataset: PublishedSet, *, folder: Path) -> None:
    """TOMATO: six tasks, as kinds of one config, with the authors' prompt."""
    prompt = dataset.release.prompt
    for task in dataset.tables["tasks"]:
        for row in dataset.rows(folder / f"{task}.json"):
            video = row.video("videos/{demonstration_type}/{key}.mp4")
            choice = Choice(row.text("question"), row.texts("options"), row.place_of("answer"), prompt)
            meta = {"variation": row.get("variation"), "url": row.get("video_source_url")}
            dataset.items("tomato_mc").answers(row, f"{task}-{row.key}", video, choice, kind=task, meta=meta)


@published_builder("nextqa", configs=("nextqa_mc",))
def nextqa(
    dataset: PublishedSet, *, folder: Path, splits: str = "test,validation", video_pattern: str = "{vidor}.mp4"
) -> None:
    """NExT-QA: five candidates a question, by type (causal, temporal, descriptive); the authors give no prompt."""
    names = read_json(dataset.present(folder / "map_vid_vidorID.json"))
    for split, file in dataset.splits(splits).items():
        for row in dataset.rows(folder / f"{file}.csv"):
            video = row.text("video" if "video" in row.fields else "video_id")
            candidates = [row.text(f"a{n}") for n in range(5)]
            # NExT-GQA's copy of the files gives the answer as a text.
            key = row.place_of("answer") if row.text("answer").isdigit() else row.place_among("answer", candidates)
            file_of = row.video(video_pattern, vidor=str(names.get(video, video)), cluster=video)
            choice, id = Choice(row.text("question"), candidates, key), f"{video}-{row.text('qid')}"
            dataset.items("nextqa_mc", split).answers(row, id, file_of, choice, kind=row.text("type"))


@published_builder("videohallucer", configs=tuple(release("videohallucer").tables["subsets"]))
def videohallucer(dataset: PublishedSet, *, folder: Path) -> None:
    """VideoHallucer: a config a subset, groups of a basic and a hallucinated question; the text score asks for both."""
    for subset in dataset.configs:
        path, items = folder / subset / f"{subset}.json", dataset.items(subset)
        if not path.exists() and len(dataset.configs) > 1:
            continue
        for row in dataset.rows(path):
            sides = {name: row.entry(name) for name in ("basic", "hallucination")}
            if len({side.yes_or_no() for side in sides.values()}) == 1:
                items.leave_out("equal_answers")
                continue
            cluster, group = f"{subset}/{sides['basic'].text('video')}", f"{subset}-{row.key}"
            for name, side in sides.items():
                video = side.video("{subset}/videos/{video}", subset=subset, cluster=cluster)
                choice = Choice(side.text("question"), YES_NO, side.yes_or_no(), dataset.release.prompt)
                kind = str(row.get("type") or subset)
                items.answers(side, f"{group}-{name}", video, choice, kind=kind, group=group)


@published_builder("temporalbench", configs=("short_mc", "long_mc"))
def temporalbench(dataset: PublishedSet, *, folder: Path) -> None:
    """TemporalBench: binary questions on short and on long clips, with the released prompt."""
    for config in dataset.configs:
        items = dataset.items(config)
        for row in dataset.rows(folder / dataset.tables["files"][config]):
            # as the authors' scorer calls the numbers of the short set; the long set has none
            category = dataset.tables["categories"].get(str(row.get("category") or ""))
            kind = category or str(row.get("dataset") or "detail")
            items.answers(row, row.text("idx"), row.video("{video_name}"), lettered_choice(row), kind=kind)


@published_builder("negbench", configs=("msrvtt_mc",))
def negbench(dataset: PublishedSet, *, table: Path, video_pattern: str = "{file}") -> None:
    """NegBench on MSR-VTT: the right caption among four, by the template of the right one."""
    for row in dataset.rows(table):
        path = "image_path" if "image_path" in row.fields else "filepath"
        names = sorted(name for name in row.fields if re.fullmatch(r"caption_\d+", name))
        video = row.video(video_pattern, file=file_name(row.text(path)))
        choice = Choice("", [row.text(name) for name in names], row.place_of("correct_answer"))
        kind = str(row.get("correct_answer_template") or "negation")
        dataset.items("msrvtt_mc").answers(row, row.key, video, choice, kind=kind)


@published_builder("vidhal", configs=("vidhal_mc",))
def vidhal(dataset: PublishedSet, *, folder: Path, video_pattern: str = "{video}.mp4") -> None:
    """VidHal: three captions that hallucinate ever more, in the authors' order of options; kinds: aspects."""
    orders = Entry("options.json", "", read_json(dataset.present(folder / "options.json")))
    for row in dataset.rows(folder / "annotations.json"):
        captions, order = row.entry("captions"), orders.entry(row.text("video"))
        ranks = [order.text(letter) for letter in sorted(order.fields)]
        if sorted(ranks) != sorted(captions.fields) or "1" not in ranks:
            raise row.error(f"the ranks of its captions are {', '.join(captions.fields)}, of its options {ranks}")
        video, choice = row.video(video_pattern), Choice("", [captions.text(rank) for rank in ranks], ranks.index("1"))
        kind, meta = row.text("aspect"), {"grades": [int(rank) for rank in ranks], "source": row.get("dataset")}
        dataset.items("vidhal_mc").answers(row, row.text("video"), video, choice, kind=kind, meta=meta)


@published_builder("videonet", configs=("videonet_mc",))
def videonet(dataset: PublishedSet, *, folder: Path, splits: str = "test,validation") -> None:
    """VideoNet: which of four actions of a domain a clip shows; kinds: domains."""
    for split, file in dataset.splits(splits).items():
        for row in dataset.rows(folder / f"mcq_{file}.jsonl"):
            parts = {part.text("type"): part for part in row.entries("question")}
            if parts.keys() != {"text", "video"} or len(parts) != len(row.entries("question")):
                raise row.error("'question' must hold one text and one video")
            fields = {"question": parts["text"].text("text"), "GT": row.get("answer")}
            choice = lettered_choice(Entry(row.place, row.key, fields))
            domain = re.search(r"following (.+) actions", choice.question)
            video = row.video("videos/{file}", file=parts["video"].text("video"))
            kind = domain[1] if domain else "action"
            dataset.items("videonet_mc", split).answers(row, row.text("key"), video, choice, kind=kind)


VINOGROUND_LAST_LINE = "Please only output one English character."  # as the authors' scripts add to each question
VINOGROUND_CONFIGS = ("pairs", "pairs_shuffled", "text_released_mc", "text_shuffled_mc")


@published_builder("vinoground", configs=VINOGROUND_CONFIGS)
def vinoground(dataset: PublishedSet, *, folder: Path) -> None:
    """Vinoground: two clips and two captions; in the released order of the captions, and shuffled."""
    for config in dataset.configs:
        items, is_shuffled = dataset.items(config), config in ("pairs_shuffled", "text_shuffled_mc")
        if config.startswith("pairs"):
            for row in dataset.rows(folder / "vinoground.csv"):
                captions, kind = [row.text("pos_cap"), row.text("neg_cap")], row.text("major")
                is_reversed = is_shuffled and coin_toss(items.seed, "vinoground", row.key)
                meta = {"major": row.get("major"), "minor": str(row.get("minor") or "").split(";")}
                for label, side in enumerate(("pos", "neg")):
                    video = row.video("vinoground_videos/{i}_{side}.mp4", i=row.key, side=side, cluster=row.key)
                    choice = Choice("", captions, label).ordered(is_reversed)
                    items.answers(row, f"{row.key}_{side}", video, choice, kind=kind, group=row.key, meta=meta)
        elif (folder / "vinoground_textscore.json").is_file() or len(dataset.configs) < len(VINOGROUND_CONFIGS):
            for row in dataset.rows(folder / "vinoground_textscore.json"):
                name, file = row.text("idx"), file_name(row.text("video_name"))
                video = row.video("vinoground_videos/{file}", file=file, cluster=name.partition("_")[0])
                choice = lettered_choice(row).ordered(is_shuffled and coin_toss(items.seed, "vinoground", "text", name))
                choice = replace(choice, prompt=f"{choice.prompt}\n{VINOGROUND_LAST_LINE}")
                items.answers(row, name, video, choice, kind="order")


@published_builder("rtime", configs=("pairs",))
def rtime(
    dataset: PublishedSet,
    *,
    folder: Path,
    splits: str = "test",
    video_pattern: str = "{id}.mp4",
    reverse_pattern: str = "{id}_reverse.mp4",
) -> None:
    """Reversed in Time: groups of a clip and its reversal, one for each pair of captions."""
    for split, file in dataset.splits(splits).items():
        items = dataset.items("pairs", split)
        for row in dataset.rows(folder / f"{file}.json"):
            if not row.get("reverse"):
                items.leave_out("no_reversal")
                continue
            forward, reverse = row.texts("forward_captions"), row.texts("reverse_captions")
            if len(forward) != len(reverse):
                items.counts["captions_without_partner"] += abs(len(forward) - len(reverse))
            ways, meta = {"forward": video_pattern, "reverse": reverse_pattern}, {"url": row.get("url")}
            for number, captions in enumerate(zip(forward, reverse, strict=False)):
                group = f"{row.key}-{number}"
                is_reversed = coin_toss(items.seed, "rtime", group)
                for label, (way, pattern) in enumerate(ways.items()):
                    video = row.video(pattern, id=row.key, cluster=row.key)
                    choice = Choice("", captions, label).ordered(is_reversed)
                    items.answers(row, f"{group}-{way}", video, choice, kind="reversed", group=group, meta=meta)


@published_builder("minimal_video_pairs", configs=("pairs",))
def minimal_video_pairs(dataset: PublishedSet, *, table: list[str]) -> None:
    """Minimal Video Pairs: groups of two clips with one question; the text score is the paper's paired accuracy."""
    prompt, items = dataset.release.prompt, dataset.items("pairs")
    for source in table:
        subset = Path(source).name.partition(".")[0]
        for row in dataset.rows(source):
            if isinstance(text := row.get("candidates"), str):  # as a Python literal, in a table
                try:
                    row = replace(row, fields={**row.fields, "candidates": ast.literal_eval(text)})
                except (ValueError, SyntaxError) as error:
                    raise row.error(f"'candidates' is no list: {text!r}") from error
            name, choices = row.text("video_id"), row.texts("candidates")
            group, kind = f"{subset}-{name.rpartition('_')[0] or name}", str(row.get("source") or subset)
            key = row.place_among("answer", choices)
            choice = Choice(row.text("question"), choices, key, prompt, option="({letter}) {text}")
            video = row.video("{video_path}", cluster=group)
            items.answers(row, f"{subset}-{name}", video, choice, kind=kind, group=group)


_TIMEBLIND_OPTIONS = re.compile(r"(.+?)\s*Option A: (.+?)\s*Option B: (.+)", re.S)


@published_builder("timeblind", configs=("pairs",))
def timeblind(dataset: PublishedSet, *, table: Path) -> None:
    """TimeBlind: two clips and two questions an instance, as groups of one question and both clips."""
    for row in dataset.rows(table):
        index = row.number("index")
        if index is None:
            raise row.error(f"no field 'index'; it has {', '.join(row.fields)}")
        # As the authors' scorer: rows 4n to 4n+3 are both clips under the first question, then under the second.
        instance, (question_number, clip) = int(index) // 4, divmod(int(index) % 4, 2)
        video = row.video("videos/{file}", file=file_name(row.text("video_path")), cluster=str(instance))
        text, form, label = row.text("question"), row.text("type"), int(question_number != clip)
        options = _TIMEBLIND_OPTIONS.fullmatch(text)
        if form == "yes_no":
            choice, answers = Choice(text, YES_NO, label, dataset.tables["yes or no"]), YES_NO
        elif form == "multiple_choice" and options:
            prompt, answers = dataset.tables["a or b"], ("a", "b")
            choice = Choice(options[1], options.group(2, 3), label, prompt, option="Option {letter}: {text}")
        else:
            raise row.error(f"of type {form!r}; must be yes_no, or multiple_choice with options A and B: {text!r}")
        if (answer := row.text("answer").strip()).lower() != answers[label]:
            raise row.error(f"the answer {answer!r} is not that of its place in its instance, {answers[label]!r}")
        group = f"{instance}-{question_number}"
        dataset.items("pairs").answers(row, str(int(index)), video, choice, kind=form, group=group)


@published_builder("camerabench", configs=("pairs", "questions"))
def camerabench(dataset: PublishedSet, *, folder: Path) -> None:
    """CameraBench: two clips with two descriptions of the camera; and with two questions, a group each."""
    files = sorted(folder.glob("*/*.jsonl")) or [dataset.present(folder / "complex_description/all.jsonl")]
    for path in files:
        skill = path.parent.name
        for row in dataset.rows(path):
            pair = f"{skill}-{path.stem}-{row.key}"
            for clip, side in enumerate(("pos", "neg")):
                video = row.video("{file}", file=file_name(row.text(f"{side}_video")), cluster=pair)
                if "pairs" in dataset.configs:
                    choice = Choice("", [row.text("pos_text"), row.text("neg_text")], clip)
                    dataset.items("pairs").answers(row, f"{pair}-{clip}", video, choice, kind=skill, group=pair)
                for question_side in ("pos", "neg") if "questions" in dataset.configs else ():
                    group, label = f"{pair}-{question_side}", int(question_side != side)
                    choice = Choice(row.text(f"{question_side}_question"), YES_NO, label, dataset.release.prompt)
                    dataset.items("questions").answers(row, f"{group}-{clip}", video, choice, kind=skill, group=group)


INTPHYS2_QUESTION = "Given how objects behave on earth, is the behaviour of the objects plausible?"
INTPHYS2_TYPES = ("1_Possible", "1_Impossible", "2_Possible", "2_Impossible")


@published_builder("intphys2", configs=("pairs",))
def intphys2(dataset: PublishedSet, *, folder: Path) -> None:
    """IntPhys 2: a possible and an impossible clip of a scene, and whether it is plausible; kinds: principles."""
    for row in dataset.rows(folder / "metadata.csv"):
        scene, type, kind = (row.text(name) for name in ("SceneIndex", "type", "condition"))
        if type not in INTPHYS2_TYPES:
            raise row.error(f"the type {type!r} is none of {', '.join(INTPHYS2_TYPES)}")
        choice = Choice(INTPHYS2_QUESTION, YES_NO, INTPHYS2_TYPES.index(type) % 2, dataset.release.prompt)
        video, group = row.video("Main/{file_name}", cluster=scene), f"{scene}-{type[0]}"
        meta = {"difficulty": row.get("Difficulty"), "camera": row.get("Camera")}
        dataset.items("pairs").answers(row, row.text("name"), video, choice, kind=kind, group=group, meta=meta)


@published_builder("vidhalluc", configs=("binary", "multiple_choice"))
def vidhalluc(
    dataset: PublishedSet, *, binary: Path | None = None, choices: Path | None = None, video_pattern: str = "{clip}.mp4"
) -> None:
    """VidHalluc, actions: clips that look alike, under one question, or with choices."""
    if "binary" in dataset.configs and binary is not None:  # lists, which are no rows
        content = read_json(dataset.present(binary))
        row = Entry(binary.name, "", content if isinstance(content, dict) else {})
        for key in row.fields:
            items = dataset.items("binary")
            for number, question in enumerate(row.entries(key)):
                answers, group = question.entry("a"), f"{key}-{number}"
                labels = [answers.yes_or_no(clip) for clip in answers.fields]
                if sorted(labels) != [0, 1]:
                    items.leave_out("not_one_yes_and_one_no")
                    continue
                for clip, label in zip(answers.fields, labels, strict=True):
                    video = question.video(video_pattern, clip=clip, cluster=key)
                    choice = Choice(question.text("q"), YES_NO, label, dataset.tables["yes or no"])
                    items.answers(question, f"{group}-{clip}", video, choice, kind="action", group=group)
    for row in dataset.rows_of("multiple_choice", choices):
        items = dataset.items("multiple_choice")
        for clip in row.fields:
            entry = row.entry(clip)
            texts, right = entry.entry("Choices"), re.findall("[A-Z]", str(entry.get("Correct Answer")))
            if len(right) != 1:
                items.leave_out("several_right_answers")
                continue
            letters = list(texts.fields)
            if right[0] not in letters:
                raise entry.error(f"the answer {right[0]!r} is none of the choices {', '.join(letters)}")
            options, label = [texts.text(letter) for letter in letters], letters.index(right[0])
            choice = Choice(entry.text("Question"), options, label, dataset.tables["choices"])
            video = entry.video(video_pattern, clip=clip, cluster=row.key)
            items.answers(entry, f"{row.key}-{clip}", video, choice, kind="action")


VIDPAIR_VIDEOS = "VidPair-Halluc/"  # the folder of the videos; paths are given below it, or with it


@published_builder("vidpair_halluc", configs=("binary",))
def vidpair_halluc(dataset: PublishedSet, *, folder: Path, answer_column: str = "answer") -> None:
    """VidPair-Halluc: two clips of one background and a question, answered by yes of one and by no of the other."""
    pair_of = {
        row.text(side).removeprefix(VIDPAIR_VIDEOS): row.key
        for row in dataset.rows(folder / "pairs/pairs.json")
        for side in ("positive_video", "adversarial_video")
    }
    clips_of: dict[tuple[str, str], list[tuple[str, Entry]]] = {}  # pair and question -> clips with their rows
    for row in dataset.rows(folder / "qa/hf/binary.jsonl"):
        clip = row.text("repo_video_path").removeprefix(VIDPAIR_VIDEOS)
        if clip not in pair_of:
            raise row.error(f"{clip!r} is of no pair in pairs.json")
        clips_of.setdefault((pair_of[clip], row.text("question")), []).append((clip, row))
    items = dataset.items("binary")
    for number, ((pair, question), rows) in enumerate(clips_of.items()):
        labels = [row.yes_or_no(answer_column) for _, row in rows]
        if sorted(labels) != [0, 1]:
            items.counts.update({"rows": len(rows), "not_one_yes_and_one_no": len(rows)})
            continue
        for (clip, row), label in zip(rows, labels, strict=True):
            kind = clip.partition("/")[0].removeprefix("T_").rpartition("_")[0]  # as the authors' scripts name aspects
            video = row.video(VIDPAIR_VIDEOS + "{clip}", clip=clip, cluster=pair)
            choice = Choice(question, YES_NO, label, dataset.release.prompt)
            items.answers(row, f"{number}-{label}", video, choice, kind=kind or "pair", group=str(number))
