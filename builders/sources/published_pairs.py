"""Builders of published sets of pairs: two clips with two captions, or with one question."""

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from video_contrast.builders.sources.published import Items, PublishedSet, published_builder
from video_contrast.builders.sources.published_fields import (
    YES_NO,
    Choice,
    Entry,
    file_name,
    flipped,
    lettered,
    present,
)
from video_contrast.files import read_json

VINOGROUND_LAST_LINE = "Please only output one English character."  # as the authors' scripts add to each question
VINOGROUND_CONFIGS = ("pairs", "pairs_shuffled", "text_released_mc", "text_shuffled_mc")


@published_builder("vinoground", configs=VINOGROUND_CONFIGS)
def vinoground(published: PublishedSet, *, folder: Path) -> None:
    """Vinoground: two clips and two captions; in the released order of the captions, and shuffled."""
    for config in published.configs:
        shuffled = config in ("pairs_shuffled", "text_shuffled_mc")
        items = published.items(config)
        if config.startswith("pairs"):
            _vinoground_pairs(items, published.rows(folder / "vinoground.csv"), shuffled)
        elif (folder / "vinoground_textscore.json").is_file() or len(published.configs) < len(VINOGROUND_CONFIGS):
            _vinoground_questions(items, published.rows(folder / "vinoground_textscore.json"), shuffled)


def _vinoground_pairs(items: Items, rows: Iterable[Entry], shuffled: bool) -> None:
    for row in rows:
        captions, kind = [row.text("pos_cap"), row.text("neg_cap")], row.text("major")
        turn = shuffled and flipped(items.seed, "vinoground", row.key)
        meta = {"major": row.get("major"), "minor": str(row.get("minor") or "").split(";")}
        for label, side in enumerate(("pos", "neg")):
            video = row.video("vinoground_videos/{i}_{side}.mp4", i=row.key, side=side, cluster=row.key)
            choice = Choice("", captions, label).turned(turn)
            items.answers(row, f"{row.key}_{side}", video, choice, kind=kind, group=row.key, meta=meta)


def _vinoground_questions(items: Items, rows: Iterable[Entry], shuffled: bool) -> None:
    """The released questions of the text score, word for word, as the authors ask them."""
    for row in rows:
        name, file = row.text("idx"), file_name(row.text("video_name"))
        video = row.video("vinoground_videos/{file}", file=file, cluster=name.partition("_")[0])
        choice = lettered(row).turned(shuffled and flipped(items.seed, "vinoground", "text", name))
        choice = replace(choice, prompt=f"{choice.prompt}\n{VINOGROUND_LAST_LINE}")
        items.answers(row, name, video, choice, kind="order")


@published_builder("rtime", configs=("pairs",))
def rtime(
    published: PublishedSet,
    *,
    folder: Path,
    splits: str = "test",
    video_pattern: str = "{id}.mp4",
    reverse_pattern: str = "{id}_reverse.mp4",
) -> None:
    """Reversed in Time: groups of a clip and its reversal, one for each pair of captions."""
    for split, file in published.splits(splits).items():
        items = published.items("pairs", split)
        for row in published.rows(folder / f"{file}.json"):
            if not row.get("reverse"):
                items.leave_out("no_reversal")
                continue
            forward, reverse = row.texts("forward_captions"), row.texts("reverse_captions")
            if len(forward) != len(reverse):
                items.counts["captions_without_partner"] += abs(len(forward) - len(reverse))
            ways, meta = {"forward": video_pattern, "reverse": reverse_pattern}, {"url": row.get("url")}
            for number, captions in enumerate(zip(forward, reverse, strict=False)):
                group = f"{row.key}-{number}"
                turn = flipped(items.seed, "rtime", group)
                for label, (way, pattern) in enumerate(ways.items()):
                    video, choice = row.video(pattern, id=row.key, cluster=row.key), Choice("", captions, label)
                    items.answers(
                        row, f"{group}-{way}", video, choice.turned(turn), kind="reversed", group=group, meta=meta
                    )


@published_builder("minimal_video_pairs", configs=("pairs",))
def minimal_video_pairs(published: PublishedSet, *, table: list[str]) -> None:
    """Minimal Video Pairs: groups of two clips with one question; the text score is the paper's paired accuracy."""
    prompt, items = published.release.prompt, published.items("pairs")
    for source in table:
        subset = Path(source).name.partition(".")[0]
        for row in map(_with_candidates, published.rows(source)):
            name, choices = row.text("video_id"), row.texts("candidates")
            group, kind = f"{subset}-{name.rpartition('_')[0] or name}", str(row.get("source") or subset)
            key = row.place_among("answer", choices)
            choice = Choice(row.text("question"), choices, key, prompt, option="({letter}) {text}")
            video = row.video("{video_path}", cluster=group)
            items.answers(row, f"{subset}-{name}", video, choice, kind=kind, group=group)


def _with_candidates(row: Entry) -> Entry:
    """The row with a list of options where the table has one written as a Python literal."""
    if not isinstance(row.get("candidates"), str):
        return row
    try:
        return replace(row, fields={**row.fields, "candidates": ast.literal_eval(row.text("candidates"))})
    except (ValueError, SyntaxError) as error:
        raise row.error(f"'candidates' is no list: {row.get('candidates')!r}") from error


_TIMEBLIND_OPTIONS = re.compile(r"(.+?)\s*Option A: (.+?)\s*Option B: (.+)", re.S)


@published_builder("timeblind", configs=("pairs",))
def timeblind(published: PublishedSet, *, table: Path) -> None:
    """TimeBlind: two clips and two questions an instance, as groups of one question and both clips."""
    for row in published.rows(table):
        index = row.number("index")
        if index is None:
            raise row.error(f"no field 'index'; it has {', '.join(row.fields)}")
        # As the authors' scorer: rows 4n to 4n+3 are both clips under the first question, then under the second.
        instance, (asked, clip) = int(index) // 4, divmod(int(index) % 4, 2)
        video = row.video("videos/{file}", file=file_name(row.text("video_path")), cluster=str(instance))
        choice, kind, group = (
            _timeblind_choice(row, int(asked != clip), published.tables),
            row.text("type"),
            f"{instance}-{asked}",
        )
        published.items("pairs").answers(row, str(int(index)), video, choice, kind=kind, group=group)


def _timeblind_choice(row: Entry, label: int, prompts: Mapping[str, str]) -> Choice:
    """The question with yes and no, or with the two options that it ends with.

    Raises VideoContrastError: neither form, or an answer other than the one of the row's place in its instance.
    """
    text, form, answer = row.text("question"), row.text("type"), row.text("answer").strip()
    options = _TIMEBLIND_OPTIONS.fullmatch(text)
    if form == "yes_no":
        choice, answers = Choice(text, YES_NO, label, prompts["yes or no"]), YES_NO
    elif form == "multiple_choice" and options:
        texts, answers = [options[2], options[3]], ("a", "b")
        choice = Choice(options[1], texts, label, prompts["a or b"], option="Option {letter}: {text}")
    else:
        raise row.error(f"of type {form!r}; must be yes_no, or multiple_choice with options A and B: {text!r}")
    if answer.lower() != answers[label]:
        raise row.error(f"the answer {answer!r} is not that of its place in its instance, {answers[label]!r}")
    return choice


@published_builder("camerabench", configs=("pairs", "questions"))
def camerabench(published: PublishedSet, *, folder: Path) -> None:
    """CameraBench: two clips with two descriptions of the camera; and with two questions, a group each."""
    files = sorted(folder.glob("*/*.jsonl")) or [present(folder / "complex_description/all.jsonl", published.release)]
    for path in files:
        skill = path.parent.name
        for row in published.rows(path):
            pair = f"{skill}-{path.stem}-{row.key}"
            for clip, shown in enumerate(("pos", "neg")):
                video = row.video("{file}", file=file_name(row.text(f"{shown}_video")), cluster=pair)
                if "pairs" in published.configs:
                    choice = Choice("", [row.text("pos_text"), row.text("neg_text")], clip)
                    published.items("pairs").answers(row, f"{pair}-{clip}", video, choice, kind=skill, group=pair)
                for asked in ("pos", "neg") if "questions" in published.configs else ():
                    group, label = f"{pair}-{asked}", int(asked != shown)
                    choice = Choice(row.text(f"{asked}_question"), YES_NO, label, published.release.prompt)
                    published.items("questions").answers(row, f"{group}-{clip}", video, choice, kind=skill, group=group)


INTPHYS2_QUESTION = "Given how objects behave on earth, is the behaviour of the objects plausible?"
INTPHYS2_TYPES = ("1_Possible", "1_Impossible", "2_Possible", "2_Impossible")


@published_builder("intphys2", configs=("pairs",))
def intphys2(published: PublishedSet, *, folder: Path) -> None:
    """IntPhys 2: a possible and an impossible clip of a scene, and whether it is plausible; kinds: principles."""
    for row in published.rows(folder / "metadata.csv"):
        scene, type, kind = (row.text(name) for name in ("SceneIndex", "type", "condition"))
        if type not in INTPHYS2_TYPES:
            raise row.error(f"the type {type!r} is none of {', '.join(INTPHYS2_TYPES)}")
        choice = Choice(INTPHYS2_QUESTION, YES_NO, INTPHYS2_TYPES.index(type) % 2, published.release.prompt)
        video, group = row.video("Main/{file_name}", cluster=scene), f"{scene}-{type[0]}"
        meta = {"difficulty": row.get("Difficulty"), "camera": row.get("Camera")}
        published.items("pairs").answers(row, row.text("name"), video, choice, kind=kind, group=group, meta=meta)


@published_builder("vidhalluc", configs=("binary", "multiple_choice"))
def vidhalluc(
    published: PublishedSet,
    *,
    binary: Path | None = None,
    choices: Path | None = None,
    video_pattern: str = "{clip}.mp4",
) -> None:
    """VidHalluc, actions: clips that look alike, under one question, or with choices."""
    if "binary" in published.configs and binary is not None:  # lists, which are no rows
        content = read_json(present(binary, published.release))
        row = Entry(binary.name, "", content if isinstance(content, dict) else {})
        for key in row.fields:
            _vidhalluc_questions(key, row.entries(key), published, video_pattern)
    for row in published.rows_of("multiple_choice", choices):
        _vidhalluc_choices(row, published, video_pattern)


def _vidhalluc_questions(key: str, questions: Iterable[Entry], published: PublishedSet, video_pattern: str) -> None:
    """Groups of one question and the two clips that it is asked of, one to be answered by yes and one by no."""
    items, prompt = published.items("binary"), published.tables["yes or no"]
    for number, entry in enumerate(questions):
        answers = entry.entry("a")
        labels = [answers.yes_or_no(clip) for clip in answers.fields]
        if sorted(labels) != [0, 1]:
            items.leave_out("not_one_yes_and_one_no")
            continue
        for clip, label in zip(answers.fields, labels, strict=True):
            group = f"{key}-{number}"
            video = entry.video(video_pattern, clip=clip, cluster=key)
            choice = Choice(entry.text("q"), YES_NO, label, prompt)
            items.answers(entry, f"{group}-{clip}", video, choice, kind="action", group=group)


def _vidhalluc_choices(row: Entry, published: PublishedSet, video_pattern: str) -> None:
    items, prompt = published.items("multiple_choice"), published.tables["choices"]
    for clip in row.fields:
        entry = row.entry(clip)
        texts, right = entry.entry("Choices"), re.findall("[A-Z]", str(entry.get("Correct Answer")))
        if len(right) != 1:
            items.leave_out("several_right_answers")
            continue
        letters = list(texts.fields)
        if right[0] not in letters:
            raise entry.error(f"the answer {right[0]!r} is none of the choices {', '.join(letters)}")
        options = [texts.text(letter) for letter in letters]
        choice = Choice(entry.text("Question"), options, letters.index(right[0]), prompt)
        video = entry.video(video_pattern, clip=clip, cluster=row.key)
        items.answers(entry, f"{row.key}-{clip}", video, choice, kind="action")


VIDPAIR_VIDEOS = "VidPair-Halluc/"  # the folder of the videos; paths are given below it, or with it


@published_builder("vidpair_halluc", configs=("binary",))
def vidpair_halluc(published: PublishedSet, *, folder: Path, answer_column: str = "answer") -> None:
    """VidPair-Halluc: two clips of one background and a question, answered by yes of one and by no of the other."""
    pair_of = {
        row.text(side).removeprefix(VIDPAIR_VIDEOS): row.key
        for row in published.rows(folder / "pairs/pairs.json")
        for side in ("positive_video", "adversarial_video")
    }
    asked: dict[tuple[str, str], list[tuple[str, Entry]]] = {}  # pair and question -> clips with their rows
    for row in published.rows(folder / "qa/hf/binary.jsonl"):
        clip = row.text("repo_video_path").removeprefix(VIDPAIR_VIDEOS)
        if clip not in pair_of:
            raise row.error(f"{clip!r} is of no pair in pairs.json")
        asked.setdefault((pair_of[clip], row.text("question")), []).append((clip, row))
    items = published.items("binary")
    for number, ((pair, question), rows) in enumerate(asked.items()):
        labels = [row.yes_or_no(answer_column) for _, row in rows]
        if sorted(labels) != [0, 1]:
            items.counts.update({"rows": len(rows), "not_one_yes_and_one_no": len(rows)})
            continue
        for (clip, row), label in zip(rows, labels, strict=True):
            kind = clip.partition("/")[0].removeprefix("T_").rpartition("_")[0]  # as the authors' scripts name aspects
            video = row.video(VIDPAIR_VIDEOS + "{clip}", clip=clip, cluster=pair)
            choice = Choice(question, YES_NO, label, published.release.prompt)
            items.answers(row, f"{number}-{label}", video, choice, kind=kind or "pair", group=str(number))
