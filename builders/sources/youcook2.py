"""The builder `youcook2`: YouCook2's annotated segments into retrieval and contrast sets."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, ContrastSetOptions
from video_contrast.builders.assembly.configs import RULE_CONFIGS, build_configs, contrast_plan, existing, select_splits
from video_contrast.builders.registry import BuiltSet, about, builder
from video_contrast.builders.sources.caption_table import read_table, seconds
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, read_json

CONFIGS = ("retrieval", "random_mc", "verb_mc", "object_mc", *RULE_CONFIGS, "contrast_mc")
ANNOTATIONS = "youcookii_annotations_trainval.json"
VALIDATION = "validation_youcook.csv"
CAPTIONING = {"train": "captioning_train.json", "validation": "captioning_val.json"}
SUBSETS = {"training": "train", "validation": "validation", "testing": "test"}


@builder(
    "youcook2", configs=CONFIGS, requirements=f"the folder of YouCook2's annotations ({ANNOTATIONS} or {VALIDATION})"
)
def youcook2(
    configs: list[str],
    *,
    folder: Annotated[Path, "folder with the annotations"],
    splits: Annotated[str, "splits of the contrast configs, comma-separated"] = "validation",
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    contrasts: ContrastSetOptions = ContrastSetOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """YouCook2: retrieval, random, verb and object contrasts of its segments."""
    folder = existing(folder, "it must hold YouCook2's annotations", "--folder")
    clips, sources = read(folder, video_pattern)
    split_names = select_splits(splits, clips)
    plan = contrast_plan(contrasts)
    videos = {split: len({clip.cluster for clip in of_split}) for split, of_split in clips.items()}
    counts = {split: {"clips": len(of_split), "videos": videos[split]} for split, of_split in clips.items()}
    facts = about("youcook2") | {"sources": sources, "options": contrasts.record(), "counts": counts}
    built_from, optional = {name: clips[name] for name in split_names}, set(configs) == set(CONFIGS)
    return build_configs("youcook2", configs, built_from, plan, facts=facts, retrieval_splits=clips, optional=optional)


def read(folder: Path, pattern: str = "{video_id}.mp4") -> tuple[dict[str, list[CaptionedClip]], list[str]]:
    """Reads the annotations of a folder: split -> clips, and the files that were read.

    `validation` is the list of 3,350 clips that retrieval papers score, where its file is there; else all annotated
    segments of the validation subset. A segment whose times another one of the video has is a clip of two captions.
    Raises UsageError: no annotations in the folder; VideoContrastError: a segment without text or with bad times; the
    message names it.
    """
    file_names = (ANNOTATIONS, *CAPTIONING.values(), VALIDATION)
    sources = [name for name in file_names if (folder / name).is_file()]
    if not sources:
        raise UsageError(f"--folder {folder} holds none of {', '.join(file_names)}")
    if ANNOTATIONS in sources:
        sources = [name for name in sources if name not in CAPTIONING.values()]
    segments: dict[str, dict[tuple[str, float, float], list[str]]] = {}  # split -> (video, start, end) -> captions
    for name in sources:
        if name == VALIDATION:
            segments["validation"] = {}
        for split, video, (start, end), text, place in _segments(folder / name):
            first, last = seconds(start, "start", place), seconds(end, "end", place)
            if first is None or last is None or not 0 <= first < last:
                raise VideoContrastError(f"{place}: segment {start!r} to {end!r} is not a time span")
            caption = " ".join(str(text).split())
            if not caption:
                raise VideoContrastError(f"{place}: segment {first:g} to {last:g} has no text")
            segments.setdefault(split, {}).setdefault((video, first, last), []).append(caption)
    clips: dict[str, list[CaptionedClip]] = {split: [] for split in sorted(segments)}
    for split, of_split in clips.items():
        for (video, start, end), captions in segments[split].items():
            id, path = f"{video}_{start:g}_{end:g}", pattern.format(video_id=video)
            of_split.append(CaptionedClip(id, video, path, tuple(captions), cluster=video, start=start, end=end))
    return clips, sources


def _segments(path: Path) -> Iterator[tuple[str, str, Sequence[Json], Json, str]]:
    """Yields split, video, both times, text and place of every segment of a file."""
    if path.name == VALIDATION:
        for row in read_table(path):
            names = ("video_id", "start", "end", "text")
            video, start, end, text = (row.value(name, f"the columns {', '.join(names)}") for name in names)
            yield "validation", str(video), (start, end), text, row.place
        return
    content = read_json(path)
    if path.name in CAPTIONING.values():
        split = next(split for split, name in CAPTIONING.items() if name == path.name)
        for video, entry in content.items():
            for span, text in zip(entry["timestamps"], entry["sentences"], strict=True):
                yield split, video, span, text, f"{path.name}, {video}"
        return
    if not isinstance(content, dict) or "database" not in content:
        raise VideoContrastError(f"{path}: must have the key database")
    for video, entry in content["database"].items():
        split = SUBSETS.get(entry.get("subset"), str(entry.get("subset")))
        for segment in entry.get("annotations", ()):
            yield split, video, segment["segment"], segment["sentence"], f"{path.name}, {video}"
