"""The builder `tempcompass`: questions on speed, direction, order ... of clips and of their conflicting versions."""

import re
from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import YES_NO, Entry, Release, read_rows

CONFIGS = ("multi_choice", "yes_no", "caption_matching")
FILES = {"multi_choice": "multi-choice", "yes_no": "yes_no", "caption_matching": "caption_matching"}
RELEASE = Release(
    builder="tempcompass",
    title="TempCompass",
    summary="Questions on the speed, direction, order, action and change of attributes of clips; conflicting clips "
    "(reversed, faster, joined) share all that a single frame shows.",
    licence="TempCompass is CC BY-NC 4.0.",
    licence_id="cc-by-nc-4.0",
    citation="Liu, Li, Liu, Wang, Ren, Li, Chen, Sun, Hou: TempCompass: Do Video LLMs Really Understand Videos? "
    "Findings of ACL 2024.",
    fetch="git clone https://github.com/llyx97/TempCompass",
    paper={"multi_choice": 1580, "yes_no": 2453, "caption_matching": 1503},
    videos="hf download lmms-lab/TempCompass --repo-type dataset (or utils/download_video.py and "
    "utils/process_videos.py of the repository), into videos/",
)
# Word for word as the authors' scripts ask.
PROMPTS = {
    "multi_choice": "{question}\n{options}\nPlease directly give the best option:",
    "yes_no": "{question}\nPlease answer yes or no:",
    "caption_matching": "{question}\n{options}\nPlease directly give the best option:",
}
_OPTION = re.compile(r"^(?:([A-Z])\. |((?:Option|Sentence|Caption|Description)s?) ([A-Z0-9]+): )(.*)$", re.M)


@builder("tempcompass", configs=CONFIGS, requirements=f"its folder `questions`: `{RELEASE.fetch}`")
def tempcompass(
    configs: list[str],
    *,
    folder: Annotated[Path, "the repository, with questions/multi-choice.json ..."],
    options: PublishedOptions,
) -> BuiltSet:
    """TempCompass: multiple choice, yes or no, and caption matching, with the authors' prompts."""
    tables = {}
    for config in configs:
        items = Items(options)
        for row in read_rows(folder / "questions" / f"{FILES[config]}.json", RELEASE):
            video = row.video("videos/{id}.mp4", id=row.key, cluster=row.key.partition("_")[0])
            for dimension, entries in row.fields.items():
                if not isinstance(entries, list):
                    raise row.error(f"{dimension!r} must be a list of questions")
                for number, fields in enumerate(entries):
                    entry = Entry(f"{row.place}, {dimension}, question {number}", str(number), fields)
                    question, choices, key, option = _parsed(config, entry)
                    items.answers(
                        entry,
                        f"{row.key}-{dimension}-{number}",
                        video,
                        question=question,
                        options=choices,
                        key=key,
                        kind=dimension,
                        prompt=PROMPTS[config],
                        option=option,
                    )
        tables[config] = {"test": items}
    return built_set(RELEASE, tables, options)


def _parsed(config: str, entry: Entry) -> tuple[str, list[str], int, str | None]:
    """Question, options, number of the right one, and how an option is written."""
    text = entry.text("question")
    if config == "yes_no":
        return text, list(YES_NO), entry.yes_or_no(), None
    answer, found = entry.text("answer").strip(), list(_OPTION.finditer(text))
    lines = [match[0].strip() for match in found]
    if answer not in lines:
        raise entry.error(f"the answer {answer!r} is outside the options {lines}")
    label = found[0][2]
    written = (
        "{letter}. {text}"
        if label is None
        else f"{label} {{{'number' if found[0][3].isdigit() else 'letter'}}}: {{text}}"
    )
    return text[: found[0].start()].rstrip("\n"), [match[4] for match in found], lines.index(answer), written
