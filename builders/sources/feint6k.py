"""The builder `feint6k`: the released sets of counterfactual captions (RCAD paper, section 3).

The released csv files have the columns `sentence` and `video_id`, in consecutive blocks of six rows a video: the true
caption, then five whose action a person changed. `video_id` carries the folder; the file is video_id.mp4.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.assembly.clips import Clip
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.errors import VideoContrastError
from video_contrast.rows import Row

SIZE = 6
SOURCES = ("msrvtt", "vatex")
CONFIGS = tuple(f"{task}_{source}" for source in SOURCES for task in ("rcad", "random6", "retrieval"))


@dataclass(frozen=True)
class Block:
    """The six captions of one video; the first is true."""

    place: str
    video_id: str
    captions: tuple[str, ...]


@builder("feint6k", configs=CONFIGS, needs="the released csv files of Feint6K (CC BY-NC 4.0)")
def feint6k(
    configs: list[str],
    *,
    msrvtt: Annotated[Path | None, "the released csv on MSR-VTT's videos"] = None,
    vatex: Annotated[Path | None, "the released csv on VATEX's videos"] = None,
    video_pattern: Annotated[str, "path of a video under the video root; video_id holds its folder"] = "{video_id}.mp4",
    seed: Annotated[int, "of positions and of the random captions"] = 0,
) -> BuiltSet:
    """Feint6K: the true caption among five with another action; random captions as the control."""
    from video_contrast.builders.assembly import configs as making
    from video_contrast.builders.assembly.options import existing

    built = BuiltSet(
        "feint6k",
        {},
        {
            "pretty_name": "Feint6K",
            "summary": "Retrieval from counterfactually augmented data: same objects, another action.",
            "sources": [Path(path).name for path in (msrvtt, vatex) if path is not None],
            "licence": "Feint6K is CC BY-NC 4.0.",
            "licence_id": "cc-by-nc-4.0",
            "citations": [
                "Chen, Shen, Cha, Yuille: Rethinking Video-Text Understanding: Retrieval from Counterfactually "
                "Augmented Data. ECCV 2024."
            ],
            "seed": seed,
            "configs": {},
        },
    )
    everything = set(configs) == set(CONFIGS)
    for source, path in (("msrvtt", msrvtt), ("vatex", vatex)):
        wanted = [config for config in configs if config.endswith(f"_{source}")]
        if not wanted:
            continue
        if path is None:
            why = f"give --{source} FILE, the released csv"
            if not everything:
                from video_contrast.errors import UsageError

                raise UsageError(f"feint6k {wanted[0]}: {why}")
            for config in wanted:
                making.leave_out(built, config, why)
            continue
        blocks = read_blocks(existing(path, "it must be the released csv", f"--{source}"))
        clips = clips_of(blocks, video_pattern)
        for config in wanted:
            tables, facts = _table(config.removesuffix(f"_{source}"), blocks, clips, seed)
            making.add(built, config, {"test": tables}, facts, optional=everything)
    return built


def read_blocks(path: str | Path) -> list[Block]:
    """The blocks of a released csv.

    Raises:
        VideoContrastError: a column is missing, a block does not have six rows of one video, or a sentence is empty;
            the message names the line where the structure breaks.
    """
    from video_contrast.builders.sources.caption_table import read_table

    blocks: list[Block] = []
    rows: list[tuple[str, str, str]] = []
    seen: dict[str, str] = {}

    def close() -> None:
        """Ends the block that is open, after checking it."""
        if not rows:
            return
        place, video, _ = rows[0]
        if len(rows) != SIZE:
            raise VideoContrastError(
                f"{rows[-1][0]}: the block of {video!r} that begins at {place.rpartition(', ')[2]} has {len(rows)} "
                f"rows; each video needs {SIZE}, the true caption first"
            )
        captions = tuple(text for _, _, text in rows)
        for number, text in enumerate(captions):
            if not text:
                raise VideoContrastError(f"{rows[number][0]}: an empty sentence")
        if video in seen:
            raise VideoContrastError(f"{place}: {video!r} has a block already, at {seen[video].rpartition(', ')[2]}")
        seen[video] = place
        blocks.append(Block(place, video, captions))
        rows.clear()

    for place, row in read_table(path):
        if not {"sentence", "video_id"} <= set(row):
            found = ", ".join(map(str, row))
            raise VideoContrastError(f"{place}: the columns must be sentence and video_id, not {found}")
        video, text = str(row["video_id"]).strip(), " ".join(str(row["sentence"]).split())
        if rows and rows[0][1] != video:
            close()
        rows.append((place, video, text))
        if len(rows) > SIZE:
            raise VideoContrastError(
                f"{place}: the block of {video!r} that begins at {rows[0][0].rpartition(', ')[2]} has more than "
                f"{SIZE} rows"
            )
    close()
    if not blocks:
        raise VideoContrastError(f"{path}: no rows")
    return blocks


def clips_of(blocks: Sequence[Block], pattern: str = "{video_id}.mp4") -> list[Clip]:
    """The videos with their true captions."""
    return [
        Clip(
            id=block.video_id,
            video_id=block.video_id,
            video_path=pattern.format(video_id=block.video_id),
            captions=(block.captions[0],),
            cluster=block.video_id,
        )
        for block in blocks
    ]


def _table(task: str, blocks: Sequence[Block], clips: Sequence[Clip], seed: int) -> tuple[list[Row], dict[str, Any]]:
    from video_contrast.builders.assembly.clips import retrieval_rows

    if task == "retrieval":
        return retrieval_rows(clips), {"negatives": "all other videos", "splits": {"test": {"items": len(clips)}}}
    rows, counts = random_rows(clips, seed) if task == "random6" else _counterfactual_rows(blocks, clips, seed)
    negatives = "five true captions of other videos" if task == "random6" else "five captions with a changed action"
    facts = {
        "negatives": negatives,
        "options": SIZE,
        "generator": "human" if task == "rcad" else "random",
        "splits": {"test": {"items": len(rows), "counts": counts}},
    }
    return rows, facts


def random_rows(clips: Sequence[Clip], seed: int) -> tuple[list[Row], dict[str, int]]:
    """The control of the paper's figure 1: six options, five of them of other videos."""
    from video_contrast.builders.assembly import multiple_choice as assembly

    questions, counts = assembly.questions(clips, seed=seed, options=SIZE)
    return [assembly.random_row(question) for question in questions], dict(counts)


def _counterfactual_rows(blocks: Sequence[Block], clips: Sequence[Clip], seed: int) -> tuple[list[Row], dict[str, int]]:
    """One item a block, and counts; a block with two equal captions has no one right answer and is left out."""
    from video_contrast.builders.assembly import multiple_choice as assembly
    from video_contrast.builders.sources.released import difference

    rows = []
    counts = Counter({"built": 0})
    for block, clip in zip(blocks, clips, strict=True):
        if len(set(block.captions)) < SIZE:
            counts["two_equal_captions"] += 1
            continue
        edits = [difference(block.captions[0], text, "human") for text in block.captions[1:]]
        rows.append(assembly.given_row(clip, block.captions[0], edits, "counterfactual", seed=seed))
        counts["built"] += 1
    return rows, dict(counts)
