"""The builder `counterfactual`: retrieval from counterfactually augmented data, made from any captioned videos.

As Feint6K (RCAD paper, section 3), but automatic: the true caption stands among five that keep its objects and its
structure and change what is done. All five actions differ, and no caption of the clip uses any of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, ContrastSetOptions, contrast_clips
from video_contrast.builders.assembly.configs import random_config, retrieval_config, select_splits
from video_contrast.builders.assembly.multiple_choice import contrasts_only_row, random_items
from video_contrast.builders.assembly.word_contrasts import WordEdits
from video_contrast.builders.registry import BuiltSet, Tables, about, builder
from video_contrast.builders.sources.caption_table import DEFAULT, CaptionTable, training_videos
from video_contrast.builders.sources.captions_of_clips import read_splits
from video_contrast.builders.sources.msrvtt import MsrVttFolder
from video_contrast.options import Range
from video_contrast.perturbations.english.parse import parse_cache
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_folder import Facts

CONFIGS = ("rcad", "random6", "retrieval")


@dataclass(frozen=True, kw_only=True)
class TableOrMsrVtt(CaptionTable):
    """A table of captions, or a folder with MSR-VTT's annotations."""

    captions: Annotated[str, "table of captions, a data set of the Hub, or a folder with MSR-VTT's annotations"]
    source_split: Annotated[str | None, "split of the Hub data set or of MSR-VTT; default: test"] = None

    def read(self) -> dict[str, list[CaptionedClip]]:
        """The clips by split."""
        if not Path(self.captions).is_dir():
            splits, _ = read_splits(self)
            return splits
        parts = MsrVttFolder(Path(self.captions)).splits()
        clips = [clip for name in select_splits(self.source_split or "test", parts) for clip in parts[name]]
        return {self.split or DEFAULT: clips}


@builder("counterfactual", configs=CONFIGS, requirements="a table of videos and captions, or MSR-VTT's annotations")
def counterfactual(
    configs: list[str],
    *,
    table: TableOrMsrVtt,
    negatives: Annotated[int, "counterfactuals a clip", Range(1)] = 5,
    contrasts: ContrastSetOptions = ContrastSetOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """Counterfactual captions for your videos: same objects, five other actions; random captions as the control."""
    splits, seed, size = table.read(), contrasts.seed, negatives + 1
    own: Facts = {"sources": [Path(table.captions).name], "options": contrasts.record() | {"negatives": negatives}}
    own |= {"seed": seed, "configs": {}}
    dataset = BuiltSet("counterfactual", {}, about("counterfactual") | own | table.card_facts())
    tables: Tables
    for config in configs:
        if config == "retrieval":
            tables, config_facts = retrieval_config(splits)
        elif config == "random6":
            draws = {split: random_items(clips, seed=seed, candidates=size) for split, clips in splits.items()}
            by_split = {split: dict(sorted(counts.items())) for split, (_, counts) in draws.items()}
            tables, config_facts = random_config({split: items for split, (items, _) in draws.items()}, by_split, size)
        else:
            tables, config_facts = _rcad(splits, table, negatives, contrasts)
        dataset.add_config(config, tables, config_facts, optional=set(configs) == set(CONFIGS))
    return dataset


@parse_cache()
def _rcad(
    splits: Mapping[str, Sequence[CaptionedClip]], table: TableOrMsrVtt, negatives: int, options: ContrastSetOptions
) -> tuple[Tables, Facts]:
    """The items whose negatives all have another action."""
    training = None if table.training is None else (lambda: training_videos(table))
    verbs = WordEdits(generator=options.generator, options=options, training=training, same_place=True)
    tables: dict[str, list[MultipleChoiceRow]] = {}
    sizes: Facts = {}
    for split, clips in splits.items():
        contrasts = contrast_clips(verbs, options, clips, per_caption=negatives)
        tables[split] = rows = []
        for clip in clips:
            if clip.id in contrasts.edits:
                index, edits = contrasts.edits[clip.id]
                rows.append(contrasts_only_row(clip, clip.captions[index], edits, "counterfactual", seed=options.seed))
        coverage = contrasts.coverage(options.caption)
        sizes[split] = {"items": len(rows), "counts": contrasts.counts(), "coverage": coverage}
    how = f"{negatives} captions with the same objects and another action"
    facts = {"negatives": how, "kind": "counterfactual", "options": negatives + 1, "splits": sizes}
    return tables, facts | verbs.facts()
