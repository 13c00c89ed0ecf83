"""A set of a corpus, built block by block.

cut       the source into blocks, on disk
propose   a task a block: its verb and object contrasts, judged (only where such configs are built)
choose    one task: the contrasts of all blocks, beside one balance
write     a task a block: its tables, as of a small set
finish    one task: facts are put together, a sample of the items is audited, record and card are written
"""

import json
import pickle
import re
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import ceil
from pathlib import Path
from typing import Any, cast

from video_contrast import addresses
from video_contrast.audit.blind_audit import audit, audited_split
from video_contrast.builders.assembly.word_contrasts import Choices, variety_facts
from video_contrast.builders.blocks.executors import Stage, require_datatrove, run_stages
from video_contrast.builders.registry import BlockSource, CorpusBlock
from video_contrast.console import counted, note
from video_contrast.errors import VideoContrastError
from video_contrast.files import Json, held, json_bytes
from video_contrast.hub_cards import write_card
from video_contrast.perturbations.contrast.generate import ProposedContrasts, note_left_out
from video_contrast.perturbations.contrast.proposal import Target
from video_contrast.perturbations.contrast.select import RatedProposals, rate, select_in_blocks
from video_contrast.rows import Row
from video_contrast.seeds import digest
from video_contrast.storage import SetDraft, SetFolder
from video_contrast.storage.set_draft import table_of
from video_contrast.storage.set_folder import ConfigRecord, Facts, table_path

WORK = ".blocks"  # below the output, until the set is whole
LOCK = "lock"  # in it, held by the command that builds
AUDITED = 5000  # items of a config
_AT_ONCE = 50  # records of blocks that are read together


def build_blocks(source: BlockSource, output: addresses.Address, key: str) -> bool:
    """Builds a set in blocks, or goes on with it.

    Returns whether the set is whole; False where jobs of Slurm were submitted. `output`: folder of the set, or its
    address. `key`: names the source and all options: a build of another key in the folder is begun anew. Raises
    VideoContrastError: another process builds there, or blocks failed; the same call does them again, and no others.
    """
    if source.cluster.executor is not None:
        require_datatrove()
    build = _Build(source, str(output).rstrip("/"))
    if not addresses.is_remote(output):
        Path(build.folder).mkdir(parents=True, exist_ok=True)
        with held(Path(build.path(LOCK)), f"another build is writing to {output}"):
            return _begin_or_go_on(build, key)
    # as `SetDraft` does for folders, before the work
    addresses.check_writable(build.output)
    record = SetFolder.record_at(output)
    if record is not None and record["builder"] != source.builder:
        raise VideoContrastError(f"--output {output} holds a set of {record['builder']!r}; give a new folder")
    return _begin_or_go_on(build, key)


def _begin_or_go_on(build: "_Build", key: str) -> bool:
    source, plan = build.source, build.plan()
    faults: Sequence[VideoContrastError] = ()
    if plan is None or plan["key"] != key:
        build.clear(LOCK)
        cut = source.cut(build.folder)
        faults = cut.faults
        # a cut that lacks files is never gone on with
        plan = {"key": None if faults else key, "blocks": [list(block) for block in cut.blocks], "facts": cut.facts}
        addresses.write_bytes(build.path("plan.json"), json_bytes(plan))
    system, mark = addresses.filesystem(build.path("finish/completions/00000"))
    if system.exists(mark):  # jobs of Slurm have left no more
        build.clear()
        return True
    if source.cluster.executor == "local":
        source.prepare(build.folder)  # processes are forked, and share it
    count = len(build.blocks())
    note(f"{source.builder}: {counted(count, 'block')}")
    if faults:  # what is kept between builds is made of the files that can be read; the others are named in an error
        for fault in faults:
            note(f"{fault}; the other files go on")
        if source.cluster.executor != "slurm":  # a job would still be at work when the same command cuts anew
            run_stages([Stage("ahead", build.ahead, count)], build.folder, source.cluster, describe=build.describe)
        raise VideoContrastError(
            f"{counted(len(faults), 'file')} cannot be read. Parses of the other captions, and answers on them, are "
            "kept; the same command completes the set when all can be:\n" + "\n".join(map(str, faults))
        )
    stages = [Stage("write", build.write, count), Stage("finish", build.finish, 1, of_blocks=False)]
    if source.words:
        stages = [Stage("propose", build.propose, count), Stage("choose", build.choose, 1, of_blocks=False), *stages]
    if not run_stages(stages, build.folder, source.cluster, describe=build.describe):
        return False
    build.clear()
    return True


@dataclass(frozen=True)
class _Build:
    """The steps of a build; picklable."""

    source: BlockSource
    output: str

    @property
    def folder(self) -> str:
        return f"{self.output}/{WORK}"

    def path(self, name: str) -> str:
        return f"{self.folder}/{name}"

    def plan(self) -> Json | None:
        """The record of the cut; None where that has not ended."""
        system, path = addresses.filesystem(self.path("plan.json"))
        return addresses.read_json(self.path("plan.json")) if system.exists(path) else None

    def blocks(self) -> list[CorpusBlock]:
        plan = self.plan()
        return [CorpusBlock(*block) for block in plan["blocks"]] if plan else []

    def clear(self, *keep: str) -> None:
        """Removes the work, or all of it but files and folders of some names."""
        system, path = addresses.filesystem(self.folder)
        with addresses.explained(self.folder):
            if system.exists(path):
                entries = [entry for entry in system.ls(path, detail=False) if entry.rpartition("/")[2] not in keep]
                for entry in entries if keep else [path]:
                    system.rm(entry, recursive=True)

    def describe(self, rank: int) -> str:
        """Names a block in a message."""
        split, number, of = self.blocks()[rank]
        return f"block {number + 1} of {of} of the split {split}"

    def ahead(self, rank: int) -> None:
        """Parses a block's captions, and asks models about them, which keeps what they say; writes no table."""
        if self.source.words:
            self.source.propose(self.folder, rank)
        else:
            self.source.build(self.folder, rank, self.blocks()[rank], {})

    def propose(self, rank: int) -> None:
        """Keeps what is proposed for a block's clips, and as numbers what the choice among them depends on."""
        proposals_of = self.source.propose(self.folder, rank)
        for target, of_target in proposals_of.items():
            rated_proposals = rate(of_target.proposals, seed=of_target.seed, target=target)
            addresses.write_bytes(self._rated_path(target, rank), zlib.compress(pickle.dumps(rated_proposals), 1))
        addresses.write_bytes(self.path(f"proposals/{rank:05d}"), zlib.compress(pickle.dumps(proposals_of), 1))

    def choose(self, rank: int) -> None:
        """Chooses for all blocks of a split together: what is even in each by itself would not be so in all."""
        blocks = self.blocks()
        choices: list[dict[Target, dict[str, int]]] = [{} for _ in blocks]
        for split, target in product(dict.fromkeys(block.split for block in blocks), self.source.words.values()):
            numbers = [number for number, block in enumerate(blocks) if block.split == split]
            with tempfile.TemporaryDirectory(prefix="video-contrast-") as scratch:
                load = partial(_proposals_in, [self._rated_path(target, number) for number in numbers], Path(scratch))
                for number, places in zip(numbers, select_in_blocks(load, len(numbers)), strict=True):
                    choices[number][target] = places
        for number, of_block in enumerate(choices):
            addresses.write_bytes(self.path(f"choices/{number:05d}.json"), json_bytes(of_block))

    def _rated_path(self, target: Target, rank: int) -> str:
        return self.path(f"rated/{target}-{rank:05d}")

    def write(self, rank: int) -> None:
        """Writes the tables of a block, and a record of what the whole set says of it."""
        plan = self.plan()
        assert plan is not None  # the blocks are its own
        split, number, of = block = CorpusBlock(*plan["blocks"][rank])
        choice_of: dict[Target, Choices] = {}  # the verb and object contrasts of the block
        if self.source.words:
            choices = addresses.read_json(self.path(f"choices/{rank:05d}.json"))
            with addresses.open_binary(self.path(f"proposals/{rank:05d}")) as handle:
                of_targets: dict[Target, ProposedContrasts] = pickle.loads(zlib.decompress(handle.read()))
            for target, all_proposals in of_targets.items():
                contrasts = {name: all_proposals.proposals[name][n] for name, n in choices[target].items()}
                note_left_out(all_proposals, contrasts)
                choice_of[target] = Choices(all_proposals, contrasts)
        dataset = self.source.build(self.folder, rank, block, choice_of)
        sample_size = ceil(3 * AUDITED / of) + 50  # several times what is audited of a block, on average
        configs: dict[str, Json] = {}
        for config, of_config in dataset.facts["configs"].items():
            configs[config] = {"facts": of_config, "entry": None}
            if config not in dataset.tables:
                continue
            rows = dataset.tables[config][split]
            entry, content = table_of(rows, f"{dataset.name}, config {config}, split {split}, block {number}", split)
            addresses.write_bytes(f"{self.output}/{table_path(config, split, number, of)}", content)
            is_audited = entry["layout"] == "multiple_choice" and not entry["perturbed"]
            configs[config] |= {
                "entry": entry,
                "edits": _edits(choice_of[of_words]) if (of_words := self.source.words.get(config)) else [],
                "sample": _sample(rows, sample_size, plan["facts"]["seed"]) if is_audited else [],
            }
        facts = {name: value for name, value in dataset.facts.items() if name != "configs"}
        addresses.write_bytes(self.path(f"records/{rank:05d}.json"), json_bytes({"configs": configs, "facts": facts}))

    def finish(self, rank: int) -> None:
        """Puts the set together: its record, the audit of a sample, the card; jobs remove the work behind them."""
        plan = self.plan()
        assert plan is not None  # the blocks were built by it
        whole: dict[str, ConfigFacts] = {}
        entries: dict[str, ConfigRecord] = {}
        samples: dict[str, dict[str, list[Row]]] = {}
        left_out: dict[str, str] = {}
        files: set[str] = set()
        facts: Facts = {}
        for (split, number, of), record in zip(self.blocks(), self._records(), strict=True):
            facts = {**record["facts"], **facts}
            left_out = {**record["facts"].get("left_out", {}), **left_out}
            for config, part in record["configs"].items():
                facts_of = whole.setdefault(config, ConfigFacts())
                if part["entry"] is None:
                    facts_of.add(part["facts"], items=0)
                    continue
                size = part["entry"]["splits"][split]
                facts_of.add(part["facts"], items=size["num_examples"], edits=part["edits"])
                entry = entries.setdefault(config, cast(ConfigRecord, {**part["entry"], "splits": {}}))
                sizes = entry["splits"].setdefault(split, {"num_examples": 0, "num_bytes": 0})
                sizes["num_examples"] += size["num_examples"]
                sizes["num_bytes"] += size["num_bytes"]
                files.add(table_path(config, split, number, of))
                sample = samples.setdefault(config, {}).setdefault(split, [])
                samples[config][split] = _sample([*sample, *part["sample"]], AUDITED, plan["facts"]["seed"])
        missing = {config: left_out.get(config, "no items") for config in self.source.configs if config not in entries}
        if not entries and not self.source.optional:
            raise VideoContrastError("\n".join(missing.values()))
        with addresses.local_copy(self.output) as folder:
            draft = SetDraft(folder, self.source.builder)
            facts = {**facts, **plan["facts"], "blocks": len(plan["blocks"])}
            facts.pop("left_out", None)
            draft.record["facts"] = facts | ({"left_out": missing} if missing else {})
            for config in (name for name in self.source.configs if name in entries):
                entries[config]["facts"] = whole[config].whole()
                draft.add_written(config, entries[config])
                if any(samples[config].values()):
                    split = audited_split(samples[config])
                    result: Facts = {**audit(samples[config][split], seed=plan["facts"]["seed"]), "split": split}
                    items = entries[config]["splits"][split]["num_examples"]
                    sample_facts = {} if result["items"] == items else {"sampled_of": items}
                    entries[config]["facts"]["audit"] = result | sample_facts
            for config, entry in entries.items():
                for split in entry["splits"]:
                    for path in draft.folder.files(config, split):
                        if path.relative_to(folder).as_posix() not in files:  # of a former build
                            path.unlink()
            self.source.finish(self.folder, len(plan["blocks"]), folder)
            write_card(draft.save())
        if self.source.cluster.executor == "slurm":  # the same command, which asks whether it is whole, removes these
            self.clear("plan.json", "finish")

    def _records(self) -> Iterator[Json]:
        """The records that the tasks left of their blocks, in order."""
        names = [self.path(f"records/{rank:05d}.json") for rank in range(len(self.blocks()))]
        for first in range(0, len(names), _AT_ONCE):
            part = names[first : first + _AT_ONCE]
            if not addresses.is_remote(self.folder):
                yield from map(addresses.read_json, part)
                continue
            system, _ = addresses.filesystem(self.folder)
            with addresses.explained(self.folder):
                contents = system.cat([addresses.filesystem(name)[1] for name in part])
            yield from (json.loads(contents[addresses.filesystem(name)[1]]) for name in part)


def _proposals_in(files: Sequence[str], scratch: Path, number: int) -> RatedProposals:
    """The rated proposals in one of the files, which is read once and then from a copy on this machine's disk."""
    copy = scratch / str(number)
    if not copy.exists():
        with addresses.open_binary(files[number]) as handle:
            copy.write_bytes(zlib.decompress(handle.read()))
    return cast(RatedProposals, pickle.loads(copy.read_bytes()))  # written by `propose`, in the user's own folder


def _edits(choice: Choices) -> list[tuple[str, str, int]]:
    """Replaced, put in, how often."""
    counts = Counter((contrast.unit, contrast.other) for contrast in choice.contrasts.values())
    return [(*edit, n) for edit, n in sorted(counts.items())]


def _sample(rows: Sequence[Row], most: int, seed: int) -> list[Row]:
    """The rows whose source videos have the lowest digests: of a union of parts the same as of the whole."""
    key = {row["id"]: digest("audit", seed, str(row.get("cluster") or row["video_id"])) for row in rows}
    return sorted(rows, key=lambda row: (key[row["id"]], row["id"]))[:most]


class ConfigFacts:
    """Adds up what the blocks of a config say."""

    def __init__(self) -> None:
        self.facts: Facts | None = None  # of the blocks that were added; None before the first
        self._items = 0  # of all blocks, by which their means are weighted
        self._edits: Counter[tuple[str, str]] = Counter()  # (replaced, put in)

    def add(self, facts: Facts, *, items: int, edits: Iterable[tuple[str, str, int]] = ()) -> None:
        """Adds a block. `facts`: of the config in it. `edits`: replaced, put in, how often, of verbs and objects."""
        for unit, other, n in edits:
            self._edits[unit, other] += n
        weights = (self._items, items)
        self._items += items
        if self.facts is None:
            self.facts = deepcopy(facts)
            return
        for name in facts.keys() & {"counts", "checks"}:
            self.facts[name] = _merged(self.facts.get(name), facts[name], weights)
        for split, size in facts.get("splits", {}).items():
            former = self.facts.setdefault("splits", {}).get(split, {})
            clips = [of.get("counts", {}).get("clips", 0) for of in (former, size)]
            coverage = _merged(former.get("coverage"), size.get("coverage", {}), clips, digits=1)
            whole = _merged(former, size, weights)
            self.facts["splits"][split] = whole | ({"coverage": coverage} if coverage else {})
        if facts.get("word_edits"):
            numbers = {name: n for name, n in facts["word_edits"].items() if name in ("mean_probability", "opposites")}
            merged = _merged(self.facts.get("word_edits"), numbers, weights)
            self.facts["word_edits"] = {**facts["word_edits"], **merged}

    def whole(self) -> Facts:
        """The facts of the config."""
        facts = self.facts or {}
        if self._edits:
            facts["word_edits"] |= variety_facts(self._edits)
        return facts


def _merged(former: Any, value: Any, weights: Sequence[int], digits: int = 4) -> Any:
    """Two facts as one, at any depth: counts are added, other numbers and shares ("12.5 %") averaged; else the former.

    `weights`: of both. `digits`: behind the point of an average.
    """
    if isinstance(value, Mapping):
        parts = dict(former or {})
        return parts | {name: _merged(parts.get(name), part, weights, digits) for name, part in value.items()}
    if former is None:
        return value
    if type(value) is int:
        return former + value
    if isinstance(value, float):
        return round(_mean(float(former), value, weights), digits)
    if isinstance(former, str) and re.fullmatch(r"[\d.]+ %", str(value)):
        return f"{_mean(float(former.split()[0]), float(value.split()[0]), weights):.1f} %"
    return former


def _mean(first: float, second: float, weights: Sequence[int]) -> float:
    return (first * weights[0] + second * weights[1]) / (sum(weights) or 1)
