"""The builder `tempcompass`: questions on speed, direction, order ... of clips and of their conflicting versions."""

import re
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import YES_NO, Choice, Entry, read_rows, release

CONFIGS = ("multi_choice", "yes_no", "caption_matching")
FILES = {"multi_choice": "multi-choice", "yes_no": "yes_no", "caption_matching": "caption_matching"}
RELEASE = release("tempcompass")
# Word for word as the authors' scripts ask.
YES_OR_NO = "{question}\nPlease answer yes or no:"
BEST_OPTION = "{question}\n{options}\nPlease directly give the best option:"
# Three questions have an option without the blank behind its letter, or with one before it.
_OPTION = re.compile(r"^ ?(?:([A-Z])\. ?|((?:Option|Sentence|Caption|Description)s?) ([A-Z0-9]+): )(.*)$", re.M)


@builder("tempcompass", configs=CONFIGS, requirements=f"its folder `questions`: `{RELEASE.fetch}`")
def tempcompass(
    configs: list[str],
    *,
    folder: Annotated[Path, "the repository, with questions/multi-choice.json ..."],
    options: PublishedOptions,
) -> BuiltSet:
    """TempCompass: multiple choice, yes or no, and caption matching, with the authors' prompts."""
    published = PublishedSet(RELEASE, options)
    for config in configs:
        items = published.items(config)
        for row in read_rows(folder / "questions" / f"{FILES[config]}.json", RELEASE):
            video = row.video("videos/{id}.mp4", id=row.key, cluster=row.key.partition("_")[0])
            for dimension, entries in row.fields.items():
                if not isinstance(entries, list):
                    raise row.error(f"{dimension!r} must be a list of questions")
                for number, fields in enumerate(entries):
                    entry = Entry(f"{row.place}, {dimension}, question {number}", str(number), fields)
                    choice = _choice(config, entry)
                    items.answers(entry, f"{row.key}-{dimension}-{number}", video, choice, kind=dimension)
    return published.built()


def _choice(config: str, entry: Entry) -> Choice:
    """The question, its options, and how the authors ask it."""
    text = entry.text("question")
    if config == "yes_no":
        return Choice(text, YES_NO, entry.yes_or_no(), YES_OR_NO)
    answer, options = entry.text("answer").strip(), list(_OPTION.finditer(text))
    lines = [match[0].strip() for match in options]
    if len(lines) != len([line for line in text.split("\n") if line.strip()]) - 1:
        raise entry.error(f"a line of the question is neither its first nor an option: {text!r}")
    if answer not in lines:
        raise entry.error(f"the answer {answer!r} is outside the options {lines}")
    label, first = options[0][2], options[0][3]
    place = "number" if first and first.isdigit() else "letter"
    written = "{letter}. {text}" if label is None else f"{label} {{{place}}}: {{text}}"
    question = text[: options[0].start()].rstrip("\n")
    return Choice(question, [match[4] for match in options], lines.index(answer), BEST_OPTION, option=written)
