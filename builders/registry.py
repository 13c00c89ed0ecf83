"""The registry of builders, and what a builder returns.

A builder is a function in a file of `sources/`, `robustness/`, `shapes/` or `clip_edits/` that `FILES` names:

    @builder("captions", configs=("retrieval", "random_mc", "verb_mc"), requirements="a table of captions")
    def captions(configs: list[str], *, table: CaptionTable, seed: Annotated[int, "seed of draws"] = 0) -> BuiltSet: ...

Its options are its keyword parameters and the fields of those that are dataclasses (`video_contrast.options`). They are
the flags of `video-contrast build captions` and the arguments of `video_contrast.build("captions", ...)`. The output
folder is not its business: it returns tables.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from video_contrast.builders.assembly.reasons import counts_in_words
from video_contrast.console import counted, note
from video_contrast.errors import UsageError, VideoContrastError, check_names
from video_contrast.files import read_json
from video_contrast.options import bind, with_options
from video_contrast.rows import Row
from video_contrast.storage.set_draft import FileWriter
from video_contrast.storage.set_folder import Facts

if TYPE_CHECKING:
    from video_contrast.builders.assembly.review import Card
    from video_contrast.builders.assembly.word_contrasts import Choices
    from video_contrast.builders.blocks.executors import ClusterOptions
    from video_contrast.perturbations.contrast.generate import ProposedContrasts
    from video_contrast.perturbations.contrast.proposal import Target

# File -> its builders, in the order in which they are listed.
FILES = {
    "shapes.shapes": ("shapes",),
    "sources.captions": ("captions",),
    "sources.caption_pairs": ("pairs",),
    "clip_edits.clip_edits": ("clip_edits",),
    "sources.msrvtt": ("msrvtt",),
    "sources.lsmdc_ids": ("lsmdc_ids",),
    "sources.youcook2": ("youcook2",),
    "sources.feint6k": ("feint6k",),
    "sources.counterfactual": ("counterfactual",),
    "sources.published_sets": tuple(read_json(Path(__file__).parent / "sources" / "releases.json")),
    "robustness.perturbed": ("msrvtt_p", "youcook2_p", "perturbed"),
}
Tables = Mapping[str, Sequence[Row]]  # split -> rows


@dataclass
class BuiltSet:
    """The result of a builder: its tables, and the JSON-able facts that its card tells.

    Every card shows the facts `summary`, `sources`, `licence`, `citations`, `seed` and `options`; those of a config
    are under `configs[config]` (how negatives were made, counts by reason, thresholds, filter models, audit).
    """

    name: str  # of the builder
    tables: dict[str, dict[str, list[Row]]]  # config -> split -> rows (`video_contrast.rows`)
    facts: Facts = field(default_factory=dict)
    files: dict[str, FileWriter] = field(default_factory=dict)  # files beside the tables: path -> what writes it
    video_root: Path | None = None  # folder of the videos; None: the set's own, or not known
    blocks: "BlockSource | None" = None  # a set that is built and written block by block, without `tables`
    review: "list[Card]" = field(default_factory=list)  # contrasts to choose from, where they are asked for

    def warn(self, warnings: Sequence[str]) -> None:
        """Adds warnings to the card."""
        if warnings:
            self.facts["warnings"] = [*self.facts.get("warnings", []), *warnings]

    def add_config(self, config: str, tables: Tables, facts: Facts, *, optional: bool = False, hint: str = "") -> None:
        """Adds a config with its facts, which name splits without an item.

        Raises VideoContrastError: no split has one, and the config is not optional.

        Args:
            config, tables, facts: its name, rows by split, and what the card says of it.
            optional: whether it is left out where no split has an item.
            hint: what to do then, a sentence that ends the message.
        """
        full = {split: list(rows) for split, rows in tables.items() if rows}
        empty = sorted(set(tables) - set(full))
        self.facts["configs"][config] = facts  # without items, too: blocks of a corpus add their counts
        if not full:
            reasons = [f"{split}: {counts_in_words(size.get('counts', {}))}" for split, size in facts["splits"].items()]
            counts = self.facts.get("counts", {})
            if counts.get("clips_without_caption"):
                reasons.append(f"{counted(counts['clips_without_caption'], 'clip')} left out for want of a caption")
            hint = f". {hint}" if hint else ""
            message = f"{self.name} {config}: no item could be built. {'; '.join(reasons)}{hint}"
            if not optional:
                raise VideoContrastError(message)
            self.facts.setdefault("left_out", {})[config] = message
            note(f"left out: {message}")
            return
        if empty:
            facts["empty_splits"] = empty
        self.tables[config] = full

    def leave_out(self, config: str, why: str, *, optional: bool = True) -> None:
        """Records that a config was left out of a build of everything, and says so.

        Raises UsageError: the config is not optional; the user named it.

        Args:
            config, optional: as of `add_config`.
            why: what is missing, and how to get it.
        """
        if not optional:
            raise UsageError(f"{self.name} {config}: {why}")
        self.facts.setdefault("left_out", {})[config] = why
        note(f"left out: {self.name} {config}: {why}")


class CorpusBlock(NamedTuple):
    """A part of a split."""

    split: str
    number: int  # from 0, of its split
    of: int  # blocks that the split has


class Cut(NamedTuple):
    """A source that was cut: its blocks in order, and the facts of the set."""

    blocks: list[CorpusBlock]
    facts: Facts  # with the `seed`, which the audit has, too
    faults: Sequence[VideoContrastError] = ()  # of files that could not be read, whose rows are in no block


class BlockSource(ABC):
    """A set that is built in blocks (`builders.blocks`); picklable, since each block has a process of its own."""

    builder: ClassVar[str]  # its name
    all_configs: ClassVar[Sequence[str]] = ()  # all configs that it has
    configs: Sequence[str]  # to build, in order
    cluster: "ClusterOptions"  # where blocks are built

    @property
    def optional(self) -> bool:
        """Whether no config was named, so that those without items are left out."""
        return set(self.configs) == set(self.all_configs)

    @abstractmethod
    def cut(self, folder: str) -> Cut:
        """Cuts the source, and writes what the blocks need below `folder`."""

    def prepare(self, folder: str) -> None:  # noqa: B027  nothing, where nothing is shared
        """Loads what all blocks need."""

    @property
    def words(self) -> "Mapping[str, Target]":
        """Config -> what is replaced in it, of configs whose contrasts are chosen over the whole set."""
        return {}

    def propose(self, folder: str, number: int) -> "dict[Target, ProposedContrasts]":
        """The proposals for a block, of each kind of `words`."""
        return {}

    @abstractmethod
    def build(self, folder: str, number: int, block: CorpusBlock, choices: "Mapping[Target, Choices]") -> BuiltSet:
        """The tables of a block; a config without items is absent, and named in `facts["left_out"]`."""

    def finish(self, folder: str, blocks: int, output: Path) -> None:  # noqa: B027  nothing, by default
        """Writes what lies beside the tables of a whole set of so many blocks into its folder, `output`."""


@dataclass(frozen=True)
class Builder:
    """A registered builder."""

    name: str  # of the set
    summary: str  # one line
    configs: tuple[str, ...]  # that it can build, in order
    requirements: str  # files and libraries that it needs
    function: Callable[..., BuiltSet]  # takes configs and options, returns the tables

    def select(self, configs: Sequence[str] | None) -> list[str]:
        """Returns the configs asked for, each once, in the builder's order; all of them where none is named.

        Raises UsageError: the builder has no such config.
        """
        check_names(f"config of {self.name}", configs or (), self.configs)
        return [config for config in self.configs if not configs or config in configs]

    def run(self, configs: Sequence[str] | None, options: Mapping[str, object]) -> BuiltSet:
        """Builds configs (all where none is named) with options by name.

        Raises UsageError: no such config or option, or one is missing; VideoContrastError: the input is broken; the
        message names file and row.
        """
        return self.function(**bind(self.function, {"configs": self.select(configs), **options}, f"build {self.name}"))


BUILDERS: dict[str, Builder] = {}


def builder(
    name: str, *, configs: tuple[str, ...], requirements: str
) -> Callable[[Callable[..., BuiltSet]], Callable[..., BuiltSet]]:
    """Registers a builder; the summary is the first line of its docstring.

    Args:
        name, configs, requirements: as of `Builder`.

    The decorated function takes the fields of its dataclass parameters as keyword arguments, too.
    """

    def register(function: Callable[..., BuiltSet]) -> Callable[..., BuiltSet]:
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        BUILDERS[name] = Builder(name, summary, configs=configs, requirements=requirements, function=function)
        return with_options(function)

    return register


def about(name: str) -> Facts:
    """The facts of a builder's source for the card of its set: title, summary, licence, citations (`about.json`)."""
    facts: Facts = read_json(Path(__file__).with_name("about.json"))[name]
    return facts


def all_builders() -> dict[str, Builder]:
    """Every builder by name, in the order of `names`; imports them all (`names` imports none)."""
    return {name: get_builder(name) for name in names()}


def names() -> list[str]:
    """The names of all builders, those that others registered included."""
    return list(dict.fromkeys((*chain.from_iterable(FILES.values()), *BUILDERS)))


def get_builder(name: str) -> Builder:
    """The builder called `name`; an unknown name is an error that suggests the nearest."""
    check_names("builder", [name], names())
    if name not in BUILDERS:
        file = next(file for file, builders in FILES.items() if name in builders)
        import_module(f"video_contrast.builders.{file}")
    return BUILDERS[name]
