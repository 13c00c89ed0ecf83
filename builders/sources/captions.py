"""The builder `captions`: contrast sets from any table of videos and captions."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.configs import build_configs
from video_contrast.builders.assembly.contrast_plan import GenderAndVerbOptions, contrast_plan
from video_contrast.builders.assembly.tag_cache import tag_cache
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.clip_table import CaptionTable, read_clips, training_captions, training_videos

CONFIGS = ("retrieval", "random_mc", "gender_mc", "person_id_mc", "verb_mc", "object_mc", "verb_human_mc")


@builder(
    "captions", configs=CONFIGS, requirements="a table of videos and captions (CSV, TSV, JSON lines, parquet, Hub)"
)
def captions(
    configs: list[str],
    *,
    table: CaptionTable,
    cast: Annotated[Path | None, "table of movie, name and gender: the characters, for person_id_mc"] = None,
    human: Annotated[
        Path | None, "human negatives for verb_human_mc: JSON lines with video_id, caption, negative"
    ] = None,
    contrasts: GenderAndVerbOptions = GenderAndVerbOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """Contrast sets from your own table of videos and captions."""
    clips, counts = read_clips(table)
    plan = contrast_plan(
        contrasts,
        lambda: training_captions(table, clips),
        training_videos=None if table.training is None else (lambda: training_videos(table)),
        casts=None if cast is None else (lambda: read_casts(cast)),
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
    everything = set(configs) == set(CONFIGS)
    with tag_cache():
        return build_configs("captions", configs, {table.split: clips}, plan, facts=facts, optional=everything)


def read_casts(path: Path) -> dict[str, dict[str, str]]:
    """Returns movie -> name -> gender of a table with the columns movie (absent for one movie), name and gender."""
    from video_contrast.perturbations.contrast import person_id

    return person_id.read_casts([{"movie": "", **row} for _, row in read_table(path)], Path(path).name)
