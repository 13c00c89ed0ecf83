"""A large table under text and visual perturbations, some rows at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from video_contrast.builders.assembly.word_contrasts import Chosen
from video_contrast.builders.blocks.cluster_options import ClusterOptions
from video_contrast.builders.registry import BuiltSet, CorpusBlock, Cut
from video_contrast.builders.robustness.perturbation_options import CONFIGS, PerturbationOptions
from video_contrast.builders.robustness.perturbed_set import perturbed_set
from video_contrast.perturbations.contrast.generate import ProposedContrasts
from video_contrast.perturbations.contrast.proposal import Kind
from video_contrast.rows import validate_rows
from video_contrast.storage.set_folder import SetFolder
from video_contrast.storage.set_records import Facts

WHOLE = 100_000  # rows: larger tables are perturbed in blocks
ROWS = 5000  # of a block


@dataclass(frozen=True)
class PerturbedBlocks:
    """A `BlockSource`: ranges of the rows of one config."""

    configs: Sequence[str]
    folder: SetFolder
    clean: str  # the config that is perturbed
    splits: Sequence[str]
    options: PerturbationOptions
    facts: Facts
    cluster: ClusterOptions
    builder: str = "perturbed"

    @property
    def optional(self) -> bool:
        """Whether no config was named."""
        return set(self.configs) == set(CONFIGS)

    @property
    def seed(self) -> int:
        """Of every perturbation."""
        return self.options.seed

    @property
    def words(self) -> Mapping[str, Kind]:
        """None: nothing is chosen."""
        return {}

    def cut(self, folder: str) -> Cut:
        """Ranges of rows."""
        sizes = self.folder.record["configs"][self.clean]["splits"]
        blocks = []
        for split in self.splits:
            count = ceil(sizes[split]["num_examples"] / ROWS)
            blocks += [CorpusBlock(split, number, count) for number in range(count)]
        return Cut(blocks, {})

    def prepare(self, folder: str) -> None:
        """Nothing is shared."""

    def propose(self, folder: str, number: int) -> dict[Kind, ProposedContrasts]:
        """Nothing."""
        return {}

    def build(self, folder: str, number: int, block: CorpusBlock, chosen: Mapping[Kind, Chosen]) -> BuiltSet:
        """The tables of a range of rows."""
        first = block.number * ROWS
        rows = self.folder.row_range(self.clean, block.split, first, first + ROWS)
        validate_rows(rows, f"{self.folder.path}, config {self.clean}, split {block.split}, from row {first}")
        tables = {block.split: rows}
        return perturbed_set(self.builder, self.configs, tables=tables, options=self.options, facts=self.facts)

    def finish(self, folder: str, blocks: int, output: Path) -> None:
        """Nothing lies beside the tables."""
