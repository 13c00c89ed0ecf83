"""The builder `tvbench`: questions that neither a frame nor the text alone answers, in ten tasks."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, number_of, read_entries, text_of, texts_of
from video_contrast.builders.sources.published_videos import video_name
from video_contrast.errors import VideoContrastError

TASKS = (
    "action_antonym", "action_count", "action_localization", "action_sequence", "egocentric_sequence",
    "moving_direction", "object_count", "object_shuffle", "scene_transition", "unexpected_action",
)  # fmt: skip
RELEASE = Release(
    builder="tvbench",
    title="TVBench",
    summary="Questions in ten temporal tasks, whose options are balanced against answers from text or one frame.",
    licence="See the data set's page; the licences of its sources hold for their videos.",
    licence_id="",
    citation="Cores, Dorkenwald, Mucientes, Snoek, Asano: TVBench: Redesigning Video-Language Evaluation. "
    "arXiv:2410.07752.",
    fetch="hf download FunAILab/TVBench --repo-type dataset --local-dir TVBench",
    videos="in the same download: unzip video/*.zip; the clips of NTU RGB+D have to be asked for at "
    "https://rose1.ntu.edu.sg/dataset/actionRecognition",
)
PROMPT = "{question}\n{options}\nAnswer with the option letter only."  # of lmms-eval's task


@builder("tvbench", configs=("tvbench_mc",), requirements=f"its folder `json`: `{RELEASE.fetch}`")
def tvbench(
    configs: list[str],
    *,
    folder: Annotated[Path, "the download's folder `json`, with action_antonym.json ..."],
    video_pattern: Annotated[str, "path of a video"] = "video/{task}/{video}",
    options: PublishedOptions,
) -> BuiltSet:
    """TVBench: ten tasks, as kinds of one config."""
    items = Items(options)
    files = [task for task in TASKS if (folder / f"{task}.json").exists()]
    for task in files or TASKS[:1]:
        for place, number, row in read_entries(folder / f"{task}.json", RELEASE):
            choices, answer = texts_of(row, "candidates", place), text_of(row, "answer", place)
            if answer not in choices:
                raise VideoContrastError(f"{place}: the answer {answer!r} is outside the options {choices}")
            items.answers(
                place,
                f"{task}-{number}",
                video_name(
                    video_pattern, place, start=number_of(row, "start", place), end=number_of(row, "end", place),
                    task=task, video=text_of(row, "video", place),
                ),
                question=text_of(row, "question", place),
                options=choices,
                key=choices.index(answer),
                kind=task,
                prompt=PROMPT,
            )  # fmt: skip
    items.counts["tasks_missing"] = len(TASKS) - len(files)
    return built_set(RELEASE, {"tvbench_mc": {"test": items}}, options)
