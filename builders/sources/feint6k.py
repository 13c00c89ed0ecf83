"""The builder `feint6k`: the released sets of counterfactual captions (RCAD paper, section 3).

The released csv files have the columns `sentence` and `video_id`, in consecutive blocks of six rows a video: the true
caption, then five whose action a person changed. `video_id` carries the folder; the file is video_id.mp4.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Annotated, NamedTuple

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, normal
from video_contrast.builders.assembly.configs import existing, retrieval_config
from video_contrast.builders.assembly.multiple_choice import contrasts_only_row, random_items, random_row
from video_contrast.builders.registry import BuiltSet, Tables, about, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.console import counted, note
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.edit import difference
from video_contrast.storage.set_folder import Facts

SIZE = 6
SOURCES = ("msrvtt", "vatex")
# The paper counts the videos of both files together (section 3.2), and no count of each alone is published. VATEX's
# test has 6,000 clips and MSR-VTT's 2,990 (its validation fewer), so the rest is of the other.
CLIPS = 6243
AT_LEAST = {"msrvtt": CLIPS - 6000, "vatex": CLIPS - 2990}
RELEASE = f"the release has {CLIPS:,} clips in both files together"
CONFIGS = tuple(f"{task}_{source}" for source in SOURCES for task in ("rcad", "random6", "retrieval"))


class Block(NamedTuple):
    """The six captions of one video: its clip with the true one, and the five that a person changed."""

    place: str
    clip: CaptionedClip
    negatives: tuple[str, ...]


@builder("feint6k", configs=CONFIGS, requirements="the released csv files of Feint6K (CC BY-NC 4.0)")
def feint6k(
    configs: list[str],
    *,
    msrvtt: Annotated[Path | None, "the released csv on MSR-VTT's videos"] = None,
    vatex: Annotated[Path | None, "the released csv on VATEX's videos"] = None,
    video_pattern: Annotated[str, "path of a video under the video root; video_id holds its folder"] = "{video_id}.mp4",
    seed: Annotated[int, "seed of positions and of the random captions"] = 0,
) -> BuiltSet:
    """Feint6K: the true caption among five with another action; random captions as the control."""
    facts = about("feint6k") | {"sources": [], "seed": seed, "configs": {}}
    dataset = BuiltSet("feint6k", {}, facts)
    optional = set(configs) == set(CONFIGS)
    clips_of: dict[str, int] = {}  # source -> clips of its file
    for source, path in (("msrvtt", msrvtt), ("vatex", vatex)):
        of_source = [config for config in configs if config.endswith(f"_{source}")]
        if path is None:
            for config in of_source:
                dataset.leave_out(config, f"give --{source} FILE, the released csv", optional=optional)
        elif of_source:
            blocks = read_blocks(existing(path, "it must be the released csv", f"--{source}"), video_pattern)
            clips_of[source] = len(blocks)
            size = f"{path.name}: {counted(len(blocks), 'clip')}, {counted(SIZE * len(blocks), 'row')}"
            facts["sources"] = [*facts["sources"], f"{size} ({RELEASE})"]
            for config in of_source:
                tables, config_facts = _table(config.removesuffix(f"_{source}"), blocks, seed)
                dataset.add_config(config, tables, config_facts, optional=optional)
    sizes = (("clips", 1), ("rows", SIZE))
    facts["counts"] = {f"{source}_{what}": n * clips for source, clips in clips_of.items() for what, n in sizes}
    # A file that ends early, but behind all rows of a clip, shows it by nothing but the number of its clips.
    size = counted(sum(clips_of.values()), "clip")
    if len(clips_of) == len(SOURCES):
        if sum(clips_of.values()) != CLIPS:
            dataset.warn([f"the two files have {size}, but the paper counts {CLIPS:,}: one is cut, or another release"])
        return dataset
    for source, count in clips_of.items():
        if count < AT_LEAST[source]:
            least = f"{AT_LEAST[source]:,}"
            dataset.warn([f"--{source} has {size}, the release at least {least}: it is cut, or another release"])
            continue
        limit = f"{dataset.facts['sources'][0]}; there is no count of each alone to tell whether this one is whole"
        dataset.facts["limits"] = [limit]
        note(f"note: {limit}")
    return dataset


def read_blocks(path: Path, video_pattern: str) -> list[Block]:
    """Reads the blocks of a released csv.

    Raises VideoContrastError: a column is missing, a block does not have six rows of one video, or a sentence is empty;
    the message names the line where the structure breaks.
    """
    columns = "the columns sentence and video_id"
    rows = [
        (row.place, str(row.value("video_id", columns)).strip(), row.text("sentence", columns))
        for row in read_table(path)
    ]
    if not rows:
        raise VideoContrastError(f"{path}: no rows")
    blocks: dict[str, Block] = {}
    for video, group in groupby(rows, key=itemgetter(1)):
        of_video = list(group)
        first = of_video[0][0]
        if len(of_video) != SIZE:
            place = of_video[min(len(of_video) - 1, SIZE)][0]
            count = f"more than {SIZE}" if len(of_video) > SIZE else len(of_video)
            raise VideoContrastError(
                f"{place}: the block of {video!r} that begins at {first.rpartition(', ')[2]} has {count} rows; each "
                f"video needs {SIZE}, the true caption first"
            )
        if video in blocks:
            former = blocks[video].place.rpartition(", ")[2]
            raise VideoContrastError(f"{first}: {video!r} has a block already, at {former}")
        true, *negatives = (text for _, _, text in of_video)
        video_path = video_pattern.format(video_id=video)
        clip = CaptionedClip(id=video, video_id=video, video_path=video_path, captions=(true,), cluster=video)
        blocks[video] = Block(first, clip, tuple(negatives))
    return list(blocks.values())


def _table(task: str, blocks: Sequence[Block], seed: int) -> tuple[Tables, Facts]:
    clips = [block.clip for block in blocks]
    if task == "retrieval":
        return retrieval_config({"test": clips})
    if task == "random6":  # the control of the paper's figure 1
        items, counts = random_items(clips, seed=seed, candidates=SIZE)
        rows = [random_row(item) for item in items]
        facts = {"negatives": "five true captions of other videos", "generator": "random"}
    else:
        rows, counts = [], Counter({"built": 0})
        for _, clip, negatives in blocks:
            true = clip.captions[0]
            if normal(true) in map(normal, negatives):  # up to case, spacing and closing marks: no one right answer
                counts["negative_equals_truth"] += 1
                continue
            different = list({normal(text): text for text in reversed(negatives)}.values())[::-1]
            if len(different) < len(negatives):
                counts["repeated_negatives"] += len(negatives) - len(different)
            edits = [difference(true, text, "human") for text in different]
            rows.append(contrasts_only_row(clip, true, edits, "counterfactual", seed=seed))
            counts["built"] += 1
        facts = {"negatives": "five captions with a changed action", "generator": "human"}
    return {"test": rows}, facts | {"options": SIZE, "splits": {"test": {"items": len(rows), "counts": dict(counts)}}}
