"""Builders of published sets of questions with options, or of a choice among texts of one clip."""

import re
from collections.abc import Mapping
from pathlib import Path

from video_contrast.builders.sources.published import PublishedSet, published_builder
from video_contrast.builders.sources.published_fields import (
    YES_NO,
    Choice,
    Entry,
    file_name,
    lettered,
    present,
    release,
)
from video_contrast.files import read_json

# Three questions have an option without the blank behind its letter, or with one before it.
_TEMPCOMPASS_OPTION = re.compile(
    r"^ ?(?:([A-Z])\. ?|((?:Option|Sentence|Caption|Description)s?) ([A-Z0-9]+): )(.*)$", re.M
)


@published_builder("tempcompass", configs=("multi_choice", "yes_no", "caption_matching"))
def tempcompass(published: PublishedSet, *, folder: Path) -> None:
    """TempCompass: multiple choice, yes or no, and caption matching, with the authors' prompts."""
    for config in published.configs:
        items = published.items(config)
        for row in published.rows(folder / f"{published.tables['files'][config]}.json"):
            video = row.video("videos/{id}.mp4", id=row.key, cluster=row.key.partition("_")[0])
            for dimension in row.fields:
                for entry in row.entries(dimension):
                    choice = _tempcompass_choice(config, entry, published.tables)
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
    written = "{letter}. {text}" if label is None else f"{label} {{{place}}}: {{text}}"
    question, texts = text[: options[0].start()].rstrip("\n"), [match[4] for match in options]
    return Choice(question, texts, lines.index(answer), prompts["best option"], option=written)


@published_builder("ssv2", configs=("label", "template_mc"))
def ssv2(published: PublishedSet, *, label: Path | None = None, template: Path | None = None) -> None:
    """SSv2-label as retrieval; SSv2-template as a choice among the templates, since each is true of several clips."""
    files = {"label": label, "template_mc": template}
    tables = {config: list(published.rows_of(config, path)) for config, path in files.items()}
    templates = list(dict.fromkeys(row.text("caption") for row in tables["template_mc"]))
    for config, row in ((config, row) for config, rows in tables.items() for row in rows):
        items, caption = published.items(config, "validation"), row.text("caption")
        for name in [row.text("video")] if isinstance(row.get("video"), str) else row.texts("video"):
            video = row.video("{file}", file=name)
            if config == "label":
                items.retrieval(row, video.video_id, video, [caption])
            else:
                choice = Choice("", templates, row.place_among("caption", templates))
                items.answers(row, video.video_id, video, choice, kind="template", meta={"gallery": "templates"})


@published_builder("tvbench", configs=("tvbench_mc",))
def tvbench(published: PublishedSet, *, folder: Path, video_pattern: str = "video/{task}/{video}") -> None:
    """TVBench: ten tasks, as kinds of one config."""
    items, prompt, tasks = published.items("tvbench_mc"), published.release.prompt, published.tables["tasks"]
    files = [task for task in tasks if (folder / f"{task}.json").exists()]
    for task in files or tasks[:1]:
        for row in published.rows(folder / f"{task}.json"):
            choices = row.texts("candidates")
            key = row.place_among("answer", choices)
            cut = task in published.tables["cut"]  # their start and end count, as in the authors' loader
            start, end = (row.number(name) if cut else None for name in ("start", "end"))
            video = row.video(video_pattern, start=start, end=end, task=task)
            choice = Choice(row.text("question"), choices, key, prompt, option="({letter}) {text}")
            items.answers(row, f"{task}-{row.key}", video, choice, kind=task)
    items.counts["tasks_missing"] = len(tasks) - len(files)


@published_builder("tomato", configs=("tomato_mc",))
def tomato(published: PublishedSet, *, folder: Path) -> None:
    """TOMATO: six tasks, as kinds of one config, with the authors' prompt."""
    prompt = published.release.prompt
    for task in published.tables["tasks"]:
        for row in published.rows(folder / f"{task}.json"):
            video = row.video("videos/{demonstration_type}/{key}.mp4")
            choice = Choice(row.text("question"), row.texts("options"), row.place_of("answer"), prompt)
            meta = {"variation": row.get("variation"), "url": row.get("video_source_url")}
            published.items("tomato_mc").answers(row, f"{task}-{row.key}", video, choice, kind=task, meta=meta)


@published_builder("nextqa", configs=("nextqa_mc",))
def nextqa(
    published: PublishedSet, *, folder: Path, splits: str = "test,validation", video_pattern: str = "{vidor}.mp4"
) -> None:
    """NExT-QA: five candidates a question, by type (causal, temporal, descriptive); the authors give no prompt."""
    names = read_json(present(folder / "map_vid_vidorID.json", published.release))
    for split, file in published.splits(splits).items():
        for row in published.rows(folder / f"{file}.csv"):
            video = row.text("video" if "video" in row.fields else "video_id")
            candidates = [row.text(f"a{n}") for n in range(5)]
            # NExT-GQA's copy of the files gives the answer as a text.
            key = row.place_of("answer") if row.text("answer").isdigit() else row.place_among("answer", candidates)
            file_of = row.video(video_pattern, vidor=str(names.get(video, video)), cluster=video)
            choice, id = Choice(row.text("question"), candidates, key), f"{video}-{row.text('qid')}"
            published.items("nextqa_mc", split).answers(row, id, file_of, choice, kind=row.text("type"))


@published_builder("videohallucer", configs=tuple(release("videohallucer").tables["subsets"]))
def videohallucer(published: PublishedSet, *, folder: Path) -> None:
    """VideoHallucer: a config a subset, groups of a basic and a hallucinated question; the text score asks for both."""
    for subset in published.configs:
        path, items = folder / subset / f"{subset}.json", published.items(subset)
        if not path.exists() and len(published.configs) > 1:
            continue
        for row in published.rows(path):
            sides = {name: row.entry(name) for name in ("basic", "hallucination")}
            if len({side.yes_or_no() for side in sides.values()}) == 1:
                items.leave_out("equal_answers")
                continue
            cluster, group = f"{subset}/{sides['basic'].text('video')}", f"{subset}-{row.key}"
            for name, side in sides.items():
                video = side.video("{subset}/videos/{video}", subset=subset, cluster=cluster)
                choice = Choice(side.text("question"), YES_NO, side.yes_or_no(), published.release.prompt)
                kind = str(row.get("type") or subset)
                items.answers(side, f"{group}-{name}", video, choice, kind=kind, group=group)


@published_builder("temporalbench", configs=("short_mc", "long_mc"))
def temporalbench(published: PublishedSet, *, folder: Path) -> None:
    """TemporalBench: binary questions on short and on long clips, with the released prompt."""
    for config in published.configs:
        items = published.items(config)
        for row in published.rows(folder / published.tables["files"][config]):
            # as the authors' scorer calls the numbers of the short set; the long set has none
            category = published.tables["categories"].get(str(row.get("category") or ""))
            kind = category or str(row.get("dataset") or "detail")
            items.answers(row, row.text("idx"), row.video("{video_name}"), lettered(row), kind=kind)


@published_builder("negbench", configs=("msrvtt_mc",))
def negbench(published: PublishedSet, *, table: Path, video_pattern: str = "{file}") -> None:
    """NegBench on MSR-VTT: the right caption among four, by the template of the right one."""
    for row in published.rows(table):
        path = "image_path" if "image_path" in row.fields else "filepath"
        names = sorted(name for name in row.fields if re.fullmatch(r"caption_\d+", name))
        video = row.video(video_pattern, file=file_name(row.text(path)))
        choice = Choice("", [row.text(name) for name in names], row.place_of("correct_answer"))
        kind = str(row.get("correct_answer_template") or "negation")
        published.items("msrvtt_mc").answers(row, row.key, video, choice, kind=kind)


@published_builder("vidhal", configs=("vidhal_mc",))
def vidhal(published: PublishedSet, *, folder: Path, video_pattern: str = "{video}.mp4") -> None:
    """VidHal: three captions that hallucinate ever more, in the authors' order of options; kinds: aspects."""
    orders = Entry("options.json", "", read_json(present(folder / "options.json", published.release)))
    for row in published.rows(folder / "annotations.json"):
        captions, order = row.entry("captions"), orders.entry(row.text("video"))
        ranks = [order.text(letter) for letter in sorted(order.fields)]
        if sorted(ranks) != sorted(captions.fields) or "1" not in ranks:
            raise row.error(f"the ranks of its captions are {', '.join(captions.fields)}, of its options {ranks}")
        video, choice = row.video(video_pattern), Choice("", [captions.text(rank) for rank in ranks], ranks.index("1"))
        kind, meta = row.text("aspect"), {"grades": [int(rank) for rank in ranks], "source": row.get("dataset")}
        published.items("vidhal_mc").answers(row, row.text("video"), video, choice, kind=kind, meta=meta)


@published_builder("videonet", configs=("videonet_mc",))
def videonet(published: PublishedSet, *, folder: Path, splits: str = "test,validation") -> None:
    """VideoNet: which of four actions of a domain a clip shows; kinds: domains."""
    for split, file in published.splits(splits).items():
        for row in published.rows(folder / f"mcq_{file}.jsonl"):
            parts = {part.text("type"): part for part in row.entries("question")}
            if parts.keys() != {"text", "video"} or len(parts) != len(row.entries("question")):
                raise row.error("'question' must hold one text and one video")
            asked = {"question": parts["text"].text("text"), "GT": row.get("answer")}
            choice = lettered(Entry(row.place, row.key, asked))
            domain = re.search(r"following (.+) actions", choice.question)
            video = row.video("videos/{file}", file=parts["video"].text("video"))
            kind = domain[1] if domain else "action"
            published.items("videonet_mc", split).answers(row, row.text("key"), video, choice, kind=kind)
