"""The builder `captions`: contrast sets from any table of videos and captions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.assembly.configs import build_configs
from video_contrast.builders.assembly.contrast_plan import RULE_CONFIGS, GenderAndVerbOptions, contrast_plan, existing
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.clip_table import CaptionTable, read_splits, training_videos
from video_contrast.builders.sources.human_negatives import read_negatives, unmatched
from video_contrast.errors import UsageError

CONFIGS = (
    "retrieval", "random_mc", "gender_mc", "person_id_mc", "verb_mc", "object_mc", *RULE_CONFIGS, "contrast_mc",
    "verb_human_mc",
)  # fmt: skip


@builder(
    "captions",
    configs=CONFIGS,
    requirements="a table of videos and captions (CSV, TSV, xlsx, JSON, JSON lines, parquet, Hub)",
)
def captions(
    configs: list[str],
    *,
    table: CaptionTable,
    cast: Annotated[
        Path | None, "table of characters for person_id_mc: movie (as in --movie-column), name and gender"
    ] = None,
    human: Annotated[
        Path | None, "human negatives for verb_human_mc: a table of video_id (or file), caption, negative"
    ] = None,
    contrasts: GenderAndVerbOptions = GenderAndVerbOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """Contrast sets from your own table of videos and captions."""
    splits, counts = read_splits(table)
    clips = [clip for of_split in splits.values() for clip in of_split]
    plan = contrast_plan(
        contrasts,
        training_videos=None if table.training is None else (lambda: training_videos(table)),
        casts=None if cast is None else (lambda: _casts_of(cast, clips)),
        human=human,
    )
    facts = {
        "pretty_name": "Contrast sets of given captions",
        "summary": "Contrast sets made from a table of captions.",
        "sources": [table.source_name()],
        "options": contrasts.record(),
        "counts": counts,
        **table.card_facts(),
    }
    if human is not None and "verb_human_mc" in configs:
        negatives = read_negatives(existing(human, "it must hold human negatives", "--human"))
        facts |= {"warnings": [lost]} if (lost := unmatched(negatives, clips)) else {}
    all_configs = set(configs) == set(CONFIGS)
    return build_configs("captions", configs, splits, plan, facts=facts, optional=all_configs)


def _casts_of(path: Path, clips: Sequence[CaptionedClip]) -> dict[str, dict[str, str]]:
    casts = read_casts(path)
    if not any(clip.pool in casts for clip in clips):
        raise UsageError(
            f"--cast {path}: no caption is of one of its movies ({', '.join(list(casts)[:3])} ...); "
            "--movie-column names the column of the captions that says the movie"
        )
    return casts


def read_casts(path: Path) -> dict[str, dict[str, str]]:
    """Returns movie -> name -> gender of a table with the columns movie (absent for one movie), name and gender."""
    from video_contrast.perturbations.contrast import person_id

    return person_id.read_casts([{"movie": "", **row} for _, row in read_table(path)], Path(path).name)
