"""The builder `msrvtt`: MSR-VTT's annotations into retrieval and contrast sets (contrast-set paper, 4.1 and D.1)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, percent
from video_contrast.builders.assembly.configs import (
    RULE_CONFIGS,
    GenderAndVerbOptions,
    build_configs,
    contrast_plan,
    existing,
    select_splits,
)
from video_contrast.builders.registry import BuiltSet, about, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.released import is_released, released_config
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, read_json

RELEASED = {"verb_lm_mc": "msrvtt_lm_contrast_set.tsv", "verb_human_mc": "msrvtt_human_contrast_set.tsv"}
CONFIGS = ("retrieval", "random_mc", "gender_mc", "verb_mc", "object_mc", *RULE_CONFIGS, "contrast_mc", *RELEASED)
ANNOTATIONS = ("test_videodatainfo.json", "train_val_videodatainfo.json", "MSRVTT_data.json")
OFFICIAL = {"train": "train", "validate": "validation", "val": "validation", "test": "test"}
LISTS = {
    "train_7k": "MSRVTT_train.7k.csv",
    "train_9k": "MSRVTT_train.9k.csv",
    "test_1k_a": "MSRVTT_JSFUSION_test.csv",  # one caption a clip
}
CONTRAST_SPLITS = ("validation", "test", "test_1k_a")
_YOUTUBE = re.compile(r"(?:[?&]v=|youtu\.be/)([\w-]{6,})")
# Figures of the contrast-set paper (appendix D).
PAPER = {"gender_mc": {"items": 2477, "of": 2990, "share": 82.8}, "verb_mc": {"items": 2554, "of": 2990, "share": 85.4}}
REQUIREMENTS = "the folder of MSR-VTT's annotations (test_videodatainfo.json ...)"


@builder("msrvtt", configs=CONFIGS, requirements=REQUIREMENTS)
def msrvtt(
    configs: list[str],
    *,
    folder: Annotated[Path, "folder with the annotations, the split lists and the released contrast sets"],
    splits: Annotated[str | None, "splits of the contrast configs, comma-separated"] = None,
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    human: Annotated[Path | None, "human negatives for verb_human_mc: five-option TSV or JSON lines"] = None,
    contrasts: GenderAndVerbOptions = GenderAndVerbOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """MSR-VTT: retrieval, random, gender, verb and object contrasts, and the released verb sets."""
    optional = set(configs) == set(CONFIGS)
    source = MsrVttFolder(existing(folder, "it must hold test_videodatainfo.json ...", "--folder"), video_pattern)
    clips = source.splits()
    present = [split for split in CONTRAST_SPLITS if split in clips]
    split_names = present if splits is None else select_splits(splits, clips)
    released_files = _released_files(configs, source.folder, human)
    plan = contrast_plan(contrasts, human=None if "verb_human_mc" in released_files else human, paper=PAPER)
    facts = about("msrvtt") | {"sources": source.files, "options": contrasts.record(), "warnings": leaks(clips)}
    # The items of the 1k-A split are items of the test split: the same candidates, so the two can be compared.
    built_from = {split: clips[split] for split in split_names if split != "test_1k_a"}
    if "test_1k_a" in split_names:
        built_from.setdefault("test", clips["test"])
    ours = [config for config in configs if config not in released_files]
    dataset = build_configs("msrvtt", ours, built_from, plan, facts=facts, retrieval_splits=clips, optional=optional)
    for config in dataset.tables:
        if config != "retrieval" and "test_1k_a" in split_names:
            _add_one_k_a(dataset, config, clips["test_1k_a"], keep_test="test" in split_names)
    clusters = {clip.id: clip.cluster for of_split in clips.values() for clip in of_split}
    for config, path in released_files.items():
        if not path.is_file():
            why = f"no {RELEASED[config]} in {source.folder}; put the released file there"
            dataset.leave_out(config, why, optional=optional)
            continue
        kind = config.removesuffix("_mc")
        tables, facts = released_config(
            path, kind, lambda name: video_pattern.format(video_id=name), cluster=lambda name: clusters.get(name, name)
        )
        dataset.add_config(config, tables, facts)
        if "test_1k_a" in clips:
            _add_one_k_a(dataset, config, clips["test_1k_a"], keep_test=True)
    return dataset


def _released_files(configs: Sequence[str], folder: Path, human: Path | None) -> dict[str, Path]:
    """The released file of each config that is taken as it is; human negatives as a list are put together like any."""
    files = {config: folder / name for config, name in RELEASED.items() if config in configs}
    if human is not None and "verb_human_mc" in files:
        files["verb_human_mc"] = human
        if not is_released(human):
            del files["verb_human_mc"]
    return files


class MsrVttFolder:
    """MSR-VTT's annotation files.

    `folder`: holds test_videodatainfo.json and train_val_videodatainfo.json (or MSRVTT_data.json), and, if the splits
    of those names are wanted, MSRVTT_JSFUSION_test.csv, MSRVTT_train.7k.csv, MSRVTT_train.9k.csv. Raises UsageError: no
    annotations in the folder; VideoContrastError: a file is not what its name says.
    """

    def __init__(self, folder: Path, pattern: str = "{video_id}.mp4") -> None:
        self.folder, self.pattern = folder, pattern
        self.videos: dict[str, dict[str, Json]] = {}
        self.captions: dict[str, list[str]] = {}
        self.files: list[str] = []
        for name in ANNOTATIONS:
            if not (folder / name).is_file():
                continue
            annotations = read_json(folder / name)
            if not isinstance(annotations, dict) or not {"videos", "sentences"} <= set(annotations):
                raise VideoContrastError(f"{folder / name}: must have the keys videos and sentences")
            self.files.append(name)
            for video in annotations["videos"]:
                self.videos.setdefault(video["video_id"], video)
            for sentence in sorted(annotations["sentences"], key=lambda row: row.get("sen_id", 0)):
                text = " ".join(str(sentence["caption"]).split())
                if text:
                    self.captions.setdefault(sentence["video_id"], []).append(text)
        if not self.videos:
            raise UsageError(f"--folder {folder} holds none of {', '.join(ANNOTATIONS)}")

    def splits(self) -> dict[str, list[CaptionedClip]]:
        """Split -> clips, in the order of the video numbers; splits whose list is absent are left out."""
        clips: dict[str, list[CaptionedClip]] = {}
        for video_id, video in self.videos.items():
            split = str(video.get("split", ""))
            split = OFFICIAL.get(split, split)
            if self.captions.get(video_id):
                clips.setdefault(split, []).append(self.clip(video_id))
        order = {"train": 0, "validation": 1, "test": 2}
        clips = dict(sorted(clips.items(), key=lambda pair: order.get(pair[0], 3)))
        for split, name in LISTS.items():
            if (self.folder / name).is_file():
                self.files.append(name)
                columns = ("video_id", "sentence") if split == "test_1k_a" else ("video_id",)
                option = f"the columns {', '.join(columns)}"
                clips[split] = []
                for row in read_table(self.folder / name):
                    video_id, *sentence = (str(row.value(column, option)) for column in columns)
                    if video_id not in self.captions:  # of a file that is not there: an error, not a smaller split
                        missing = f"{video_id!r}, which has no caption in {', '.join(self.files)}"
                        raise VideoContrastError(f"{self.folder / name} names {missing}")
                    clips[split].append(self.clip(video_id, tuple(sentence) or None))
        return clips

    def clip(self, video_id: str, captions: tuple[str, ...] | None = None) -> CaptionedClip:
        """The clip of a video with its captions, or with the given ones (the others only reject contrasts then)."""
        video, path = self.videos[video_id], self.pattern.format(video_id=video_id)
        own = tuple(self.captions[video_id])
        own_captions, others = (captions, own) if captions else (own, ())
        youtube = _YOUTUBE.search(str(video.get("url", "")))
        cluster, meta = youtube.group(1) if youtube else video_id, {"category": video.get("category")}
        return CaptionedClip(video_id, video_id, path, own_captions, cluster=cluster, other_captions=others, meta=meta)


def leaks(splits: Mapping[str, Sequence[CaptionedClip]]) -> list[str]:
    """A warning for each training split that shares videos with a test split."""
    warnings = []
    for train in ("train", "train_7k", "train_9k"):
        for test in ("test", "test_1k_a"):
            common_ids = {clip.id for clip in splits.get(train, ())} & {clip.id for clip in splits.get(test, ())}
            if common_ids:
                share = percent(len(common_ids), len(splits[test]))
                warnings.append(
                    f"{train} holds {len(common_ids):,} videos of {test} ({share} %): a model trained on {train} "
                    f"has seen them; score it on another test split"
                )
    return warnings


def _add_one_k_a(dataset: BuiltSet, config: str, clips: Sequence[CaptionedClip], *, keep_test: bool) -> None:
    """Adds the items of `test` whose clips the 1k-A list names; takes `test` away where it was not asked for."""
    tables = dataset.tables[config]
    inside = {clip.id for clip in clips}
    rows = [row for row in tables.get("test", ()) if row["video_id"] in inside]
    if rows:
        tables["test_1k_a"] = rows
        sizes = dataset.facts["configs"][config].setdefault("splits", {})
        sizes["test_1k_a"] = {"items": len(rows), "of": len(clips), "subset_of": "test"}
    if not keep_test:
        tables.pop("test", None)
