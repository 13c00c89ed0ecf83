"""The builder `shapes`: clips made on the spot, and eleven configs about them whose answers are known."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, about, builder
from video_contrast.builders.shapes.items import (
    antonym_items,
    contrast_items,
    counterfactual_items,
    gallery_row,
    test_clips,
    unambiguous,
)
from video_contrast.builders.shapes.scene_clip import SceneClip, training_clips
from video_contrast.builders.shapes.world import TRANSITIVE, VERSION
from video_contrast.errors import UsageError
from video_contrast.options import as_record
from video_contrast.rows import Row

NEGATIVES = {
    "retrieval": "the captions of the other clips; none is true of a clip but its own",
    "random_mc": "captions of four other clips, which have the same candidates",
    "antonym_mc": "the action's antonym; each clip stands beside its reversal",
    "verb_mc": "another action, not the antonym, with the same objects, and two more captions with theirs",
    "gender_mc": "the gendered noun swapped (paper's Table 6), and two more captions with theirs",
    "person_id_mc": "another name of the same gender, and two more captions with theirs",
    "entity_mc": "another figure of the same colour, and two more captions with theirs",
    "object_mc": "another object or landmark, and two more captions with theirs",
    "role_mc": "who acts and who is acted upon swapped, and two more captions with theirs",
    "counterfactual_mc": "five other actions of the same figures, as three pairs of antonyms",
    "reversal_pairs": "each clip and its reversal are a group, and so are their captions",
}
CONFIGS = tuple(NEGATIVES)


@dataclass(frozen=True, kw_only=True)
class ShapesOptions:
    """How many clips and items of the shapes world are made."""

    items: Annotated[int, "items a config, at most"] = 200
    gallery: Annotated[int, "clips of the retrieval config"] = 100
    train: Annotated[int, "training clips to make besides (split `train` of `retrieval`)"] = 0
    validation: Annotated[int, "validation clips to make besides (split `validation`)"] = 0
    reversals: Annotated[bool, "beside each of these clips also its reversal, where that is another action"] = False

    def __post_init__(self) -> None:
        """Raises a UsageError for a size that is too small."""
        for name, least in (("items", 1), ("gallery", 2), ("train", 0), ("validation", 0)):
            if getattr(self, name) < least:
                raise UsageError(f"--{name} must be at least {least}, not {getattr(self, name)}")


@builder("shapes", configs=CONFIGS, requirements="nothing: clips and captions are made on the spot")
def shapes(
    configs: list[str],
    *,
    seed: Annotated[int, "another seed makes another set of clips"] = 0,
    options: ShapesOptions = ShapesOptions(),
) -> BuiltSet:
    """Short clips of shapes and people in motion, made on the spot, with captions whose truth is known."""
    count = max(2 * options.gallery, 2 * options.items + 80)
    pool = [*islice(test_clips(seed), count)]
    built = BuiltSet("shapes", {}, about("shapes") | {"seed": seed, "options": as_record(options), "configs": {}})
    built.facts |= {"version": VERSION, "transitive_actions": list(TRANSITIVE)}
    used: dict[str, SceneClip] = {}
    for config in configs:
        splits, counts = _config(config, pool, seed, options)
        built.tables[config] = {split: [row for _, row in rows] for split, rows in splits.items()}
        built.facts["configs"][config] = {"negatives": NEGATIVES[config], "counts": dict(sorted(counts.items()))}
        used |= {clip.path: clip for rows in splits.values() for clip, _ in rows}
    built.files = {path: clip.write for path, clip in sorted(used.items())}
    return built


def _config(
    config: str, pool: Sequence[SceneClip], seed: int, options: ShapesOptions
) -> tuple[dict[str, list[tuple[SceneClip, Row]]], Counter[str]]:
    """Split -> clips with their rows, and counts of the clips by reason."""
    counts: Counter[str] = Counter()
    splits: dict[str, list[tuple[SceneClip, Row]]] = {}
    if config == "retrieval":
        splits["test"] = [(clip, gallery_row(clip)) for clip in islice(unambiguous(pool, counts), options.gallery)]
        for split, size in (("train", options.train), ("validation", options.validation)):
            if size:
                clips = training_clips(seed, split, size, reversals=options.reversals)
                splits[split] = [(clip, gallery_row(clip, cluster=clip.cluster)) for clip in clips]
    elif config in ("antonym_mc", "reversal_pairs"):
        splits["test"] = [*antonym_items(pool, seed, options.items, counts, config=config)]
    elif config == "counterfactual_mc":
        splits["test"] = [*islice(counterfactual_items(seed), options.items)]
    else:
        splits["test"] = [*islice(contrast_items(config, seed, counts), options.items)]
    counts["built"] = len(splits["test"])
    return splits, counts
