"""The builder `captions`: contrast sets from any table of videos and captions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, ClassVar

from video_contrast.addresses import open_binary, write_bytes
from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.assembly.configs import (
    RULE_CONFIGS,
    ContrastPlan,
    GenderAndVerbOptions,
    build_configs,
    contrast_plan,
    existing,
)
from video_contrast.builders.assembly.word_contrasts import Choices, WordContrasts
from video_contrast.builders.blocks.executors import ClusterOptions
from video_contrast.builders.registry import BlockSource, BuiltSet, CorpusBlock, Cut, about, builder
from video_contrast.builders.sources.caption_table import CaptionTable, read_table, training_videos
from video_contrast.builders.sources.captions_of_clips import TooManyCaptions, cut, read_block, read_splits
from video_contrast.builders.sources.released import read_negatives, unmatched_note
from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast import person_id
from video_contrast.perturbations.contrast.caption_counts import decoded, shipped_counts
from video_contrast.perturbations.contrast.generate import ClipCaptions, ProposedContrasts, own_counts
from video_contrast.perturbations.contrast.proposal import Target
from video_contrast.perturbations.english.parse import parse_cache
from video_contrast.storage.set_folder import Facts

CONFIGS = (
    "retrieval", "random_mc", "gender_mc", "person_id_mc", "verb_mc", "object_mc", *RULE_CONFIGS, "contrast_mc",
    "verb_human_mc",
)  # fmt: skip
WHOLE = 100_000  # captions: larger tables are built in blocks
COUNTS = "counts.xz"  # of training captions, in the folder of a build in blocks


@builder(
    "captions", configs=CONFIGS, requirements="a table of videos and captions (CSV, TSV, xlsx, JSON, parquet, Hub)"
)
def captions(
    configs: list[str],
    *,
    table: CaptionTable,
    cast: Annotated[Path | None, "table for person_id_mc: movie (as in --movie-column), name and gender"] = None,
    human: Annotated[Path | None, "human negatives for verb_human_mc: video_id (or file), caption, negative"] = None,
    contrasts: GenderAndVerbOptions = GenderAndVerbOptions(extended=True),  # noqa: B008  frozen
    cluster: ClusterOptions = ClusterOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """Contrast sets from your own table of videos and captions."""
    source = _Captions(configs, cluster, table, cast, human, contrasts)
    splits: Mapping[str, Sequence[CaptionedClip]] | None = None
    if cluster.executor is None:
        try:
            splits, counts = read_splits(table, most=WHOLE)
        except TooManyCaptions:
            source = replace(source, cluster=replace(cluster, executor="local"))
    if splits is None:
        source.check()
        return BuiltSet("captions", {}, blocks=source)
    clips = [clip for of_split in splits.values() for clip in of_split]
    facts = source.facts() | {"counts": counts}
    if human is not None and "verb_human_mc" in configs:
        negatives = read_negatives(existing(human, "it must hold human negatives", "--human"))
        facts |= {"warnings": [warning]} if (warning := unmatched_note(negatives, clips)) else {}
    return build_configs("captions", configs, splits, source.plan(clips), facts=facts, optional=source.optional)


@dataclass(frozen=True)
class _Captions(BlockSource):
    """The plan of a set that is built from a table of captions; in blocks where it is large."""

    configs: Sequence[str]
    cluster: ClusterOptions
    table: CaptionTable
    cast: Path | None
    human: Path | None
    contrasts: GenderAndVerbOptions
    builder: ClassVar[str] = "captions"
    all_configs: ClassVar[Sequence[str]] = CONFIGS

    def facts(self) -> Facts:
        """The facts of the set for the card, without counts."""
        own = {"sources": [self.table.source_name()], "options": self.contrasts.record()}
        return about("captions") | own | self.table.card_facts()

    def plan(self, clips: Sequence[CaptionedClip] | None = None) -> ContrastPlan:
        """The recipe of the configs; `clips`, where they are all known, must be of the movies of the cast."""
        table, cast = self.table, self.cast
        training = None if table.training is None else (lambda: training_videos(table))
        casts = None if cast is None else (lambda: _casts_of(cast, clips))
        return contrast_plan(self.contrasts, training_videos=training, casts=casts, human=self.human)

    def check(self) -> None:
        """Raises a UsageError for what does not go with blocks, or a named config that lacks what it needs."""
        for name in ("explain", "review", "ticks"):
            if getattr(self.contrasts, name):
                raise UsageError(f"--{name} goes with sets that are built whole, of at most {WHOLE:,} captions")
        missing = self.plan().missing
        if lacking := [config for config in self.configs if config in missing and not self.optional]:
            raise UsageError(f"{self.builder} {lacking[0]}: {missing[lacking[0]]}")

    def cut(self, folder: str) -> Cut:
        """The table as blocks; counts of training captions beside them."""
        blocks, facts, faults = cut(self.table, folder)
        if self.table.training is not None:
            write_bytes(f"{folder}/{COUNTS}", own_counts(training_videos(self.table)).encoded())
        return Cut(blocks, {**self.facts(), "seed": self.contrasts.seed, **facts}, faults)

    @parse_cache()
    def prepare(self, folder: str) -> None:
        """Loads parser, lexicon and judge; no model, since those on a GPU do not outlive a fork."""
        for words in self._generators(self.plan(), folder).values():
            if words.generator == "lexicon":
                words.propose([ClipCaptions("", ["a man is sitting on a chair"])])

    @property
    def words(self) -> Mapping[str, Target]:
        """The configs of verbs and things that are built, or that `contrast_mc` needs."""
        kinds: dict[str, Target] = {"verb_mc": "verb", "object_mc": "object"}
        needs_all = "contrast_mc" in self.configs
        return {config: kind for config, kind in kinds.items() if needs_all or config in self.configs}

    @parse_cache()
    def propose(self, folder: str, number: int) -> dict[Target, ProposedContrasts]:
        """The proposals for the clips of a block."""
        clips = read_block(folder, number)
        makers = self._generators(self.plan(), folder)
        return {kind: words.proposals_of(clips) for kind, words in makers.items()}

    def build(self, folder: str, number: int, block: CorpusBlock, choices: Mapping[Target, Choices]) -> BuiltSet:
        """The tables of a block."""
        plan = self.plan()
        for kind, words in self._generators(plan, folder).items():
            words.choice = choices[kind]
        clips = {block.split: read_block(folder, number)}
        return build_configs(self.builder, self.configs, clips, plan, facts=self.facts(), optional=True)

    def _generators(self, plan: ContrastPlan, folder: str) -> dict[Target, WordContrasts]:
        """The makers of verb and object contrasts by a plan, with the counts that `cut` left."""
        generators = {kind: plan.words[kind] for kind in self.words.values()}
        for words in generators.values():
            if self.table.training is not None:
                with open_binary(f"{folder}/{COUNTS}") as handle:
                    words.counts = shipped_counts() + decoded(handle.read())
        return generators


def _casts_of(path: Path, clips: Sequence[CaptionedClip] | None) -> dict[str, dict[str, str]]:
    casts = read_casts(path)
    if clips is not None and not any(clip.pool in casts for clip in clips):
        raise UsageError(
            f"--cast {path}: no caption is of one of its movies ({', '.join(list(casts)[:3])} ...); "
            "--movie-column names the column of the captions that says the movie"
        )
    return casts


def read_casts(path: Path) -> dict[str, dict[str, str]]:
    """Returns movie -> name -> gender of a table with the columns movie (absent for one movie), name and gender."""
    return person_id.read_casts([{"movie": "", **row} for _, row in read_table(path)], Path(path).name)
