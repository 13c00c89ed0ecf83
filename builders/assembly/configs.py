"""The configs of a set of captioned clips: how each table is made, and what the card says of it.

Every builder of real sets reads its source into clips and calls `build_configs`; so a config means the same everywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, retrieval_rows
from video_contrast.builders.assembly.clip_contrasts import CaptionChoice, ClipContrasts, contrast_clips
from video_contrast.builders.assembly.difference import COUNT, warn
from video_contrast.builders.assembly.multiple_choice import (
    CANDIDATES,
    RandomItem,
    contrast_row,
    contrasts_only_row,
    random_items,
    random_row,
)
from video_contrast.builders.assembly.reasons import counts_in_words
from video_contrast.builders.assembly.review import Tick, cards, known_ticks, ticked_contrasts
from video_contrast.builders.registry import BuiltSet
from video_contrast.console import counted, note
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.english.caption_store import parse_cache
from video_contrast.perturbations.english.language import NotEnglish
from video_contrast.rows import Row
from video_contrast.storage.set_folder import Facts

Tables = Mapping[str, Sequence[Row]]  # split -> rows


@dataclass(frozen=True)
class ContrastConfig:
    """How one contrast config is made."""

    kind: str  # of its negatives
    # makes, when the config is built, a `ContrastGenerator`, or what has a `contrast_clips` of its own (over all clips)
    generator: Callable[[], Any]
    facts: Callable[[], Facts] = dict  # of the generator, read after building (it may only know them then)
    paper: Mapping[str, float] | None = None  # the counts of the contrast-set paper (appendix D), to stand beside ours
    hint: str = ""  # what to do where no contrast can be built, a sentence


@dataclass(frozen=True)
class ContrastPlan:
    """How the configs of captioned clips are made."""

    seed: int = 0  # of every draw
    caption: CaptionChoice = "eligible"  # which caption a contrast is built on
    num_proc: int = 1  # processes that share the work
    contrasts: Mapping[str, ContrastConfig] = field(default_factory=dict)  # config -> how it is made
    mixed: Sequence[str] = ()  # the configs whose contrasts `contrast_mc` holds
    missing: Mapping[str, str] = field(default_factory=dict)  # config -> what must be given before it can be built
    ticks: Sequence[Tick] = ()  # contrasts that a person has taken; their configs hold no others
    review: bool = False  # collect what a person may choose from


@parse_cache()
def build_configs(
    name: str,
    configs: Sequence[str],
    splits: Mapping[str, Sequence[CaptionedClip]],
    plan: ContrastPlan,
    *,
    facts: Facts,
    retrieval_splits: Mapping[str, Sequence[CaptionedClip]] | None = None,
    optional: bool = False,
) -> BuiltSet:
    """Builds the configs `retrieval`, `random_mc` and those of the plan.

    Returns the set's tables with the `facts` of its source; other configs are the builder's own business. `optional`:
    the user named none, so that one without an item is left out, with the reason in `facts["left_out"]`. Raises
    UsageError: a config lacks what it needs; VideoContrastError: a tick is of no caption of the clips; NotEnglish: the
    captions are of another language (not where `optional`); VideoContrastError: no named config has an item; the
    message gives the counts by reason.
    """
    built = BuiltSet(name, {}, {**facts, "seed": plan.seed, "configs": {}})
    named = [config for config in configs if config in plan.contrasts]
    plan = replace(plan, ticks=known_ticks(plan.ticks, [clip for clips in splits.values() for clip in clips], named))
    may_be_empty = optional or len(configs) > 1  # of several configs, those that have items are built
    items: dict[str, list[RandomItem]] = {}
    counts: dict[str, dict[str, int]] = {}
    if set(configs) - {"retrieval"}:
        for split, clips in splits.items():
            items[split], reasons = random_items(clips, seed=plan.seed)
            counts[split] = dict(sorted(reasons.items()))
    contrasts = _Contrasting(built, plan, splits, items, counts)
    for config in configs:
        if config == "retrieval":
            add_config(built, config, *retrieval_config(retrieval_splits or splits), optional=may_be_empty)
        elif config == "random_mc":
            add_config(built, config, *random_config(items, counts), optional=may_be_empty)
        elif config in plan.contrasts or config == "contrast_mc":
            try:
                tables, config_facts = contrasts.config(config)
            except NotEnglish as error:
                if not optional:
                    raise
                leave_out(built, config, str(error))
                continue
            add_config(built, config, tables, config_facts, optional=may_be_empty, hint=contrasts.hint(config))
        elif config in plan.missing:
            leave_out(built, config, plan.missing[config], optional=optional)
    empty = built.facts.get("left_out", {})
    if configs and not optional and empty.keys() >= set(configs):
        raise VideoContrastError("\n".join(empty.values()))
    return built


def add_config(
    built: BuiltSet, config: str, tables: Tables, facts: Facts, *, optional: bool = False, hint: str = ""
) -> None:
    """Adds a config with its facts, which name splits without an item.

    Where no split has one, the config is left out if it is `optional`. Raises VideoContrastError: it is not; the
    message ends in the `hint`, a sentence.
    """
    full = {split: list(rows) for split, rows in tables.items() if rows}
    empty = sorted(set(tables) - set(full))
    built.facts["configs"][config] = facts  # without items, too: blocks of a corpus add their counts
    if not full:
        reasons = [f"{split}: {counts_in_words(size.get('counts', {}))}" for split, size in facts["splits"].items()]
        read = built.facts.get("counts", {})
        if read.get("clips_without_caption"):
            reasons.append(f"{counted(read['clips_without_caption'], 'clip')} left out for want of a caption")
        message = f"{built.name} {config}: no item could be built. {'; '.join(reasons)}" + (f". {hint}" if hint else "")
        if not optional:
            raise VideoContrastError(message)
        built.facts.setdefault("left_out", {})[config] = message
        note(f"left out: {message}")
        return
    if empty:
        facts["empty_splits"] = empty
    built.tables[config] = full


def leave_out(built: BuiltSet, config: str, why: str, *, optional: bool = True) -> None:
    """Records that a config was left out of a build of everything, and says so.

    `why`: what is missing, and how to get it. Raises UsageError: the config is not optional, since the user named it.
    """
    if not optional:
        raise UsageError(f"{built.name} {config}: {why}")
    built.facts.setdefault("left_out", {})[config] = why
    note(f"left out: {built.name} {config}: {why}")


def retrieval_config(splits: Mapping[str, Sequence[CaptionedClip]]) -> tuple[Tables, Facts]:
    """Tables of clips with all of their captions, and facts."""
    tables = {split: retrieval_rows(clips) for split, clips in splits.items()}
    sizes = {
        split: {"items": len(rows), "captions": sum(len(row["captions"]) for row in rows)}
        for split, rows in tables.items()
    }
    return tables, {"negatives": "all other clips of the split", "splits": sizes}


def random_config(
    items: Mapping[str, Sequence[RandomItem]], counts: Mapping[str, Mapping[str, int]], candidates: int = CANDIDATES
) -> tuple[Tables, Facts]:
    """Tables with random negatives only, and facts. `items`: split -> items. `counts`: split -> clips by reason."""
    splits = {split: {"items": len(of_split), "counts": counts[split]} for split, of_split in items.items()}
    negatives = f"{candidates - 1} captions of other videos, drawn at random"
    facts = {"negatives": negatives, "options": candidates, "splits": splits}
    return {split: [random_row(item) for item in of_split] for split, of_split in items.items()}, facts


@dataclass
class _Contrasting:
    """The contrast configs of a set; contrasts of a kind are made once, for its own config and for `contrast_mc`."""

    built: BuiltSet
    plan: ContrastPlan
    clips: Mapping[str, Sequence[CaptionedClip]]  # split -> its clips
    items: Mapping[str, Sequence[RandomItem]]  # split -> the random candidates of its clips
    counts: Mapping[str, Mapping[str, int]]  # split -> clips by reason
    made: dict[str, dict[str, ClipContrasts]] = field(default_factory=dict)  # config -> split -> its contrasts

    def __post_init__(self) -> None:
        """Leaves out clips without an item, where others have one."""
        self.alone = not any(self.items.values())
        if not self.alone:
            self.clips = {split: [item.clip for item in of_split] for split, of_split in self.items.items()}

    def config(self, name: str) -> tuple[Tables, Facts]:
        """The tables of a config, and its facts."""
        if self.alone:
            note(f"{name}: too few other captions for distractors; an item has two candidates, caption and contrast")
        if name == "contrast_mc":
            return self._mixed()
        plan, config = self.plan, self.plan.contrasts[name]
        tables: dict[str, list[Row]] = {}
        sizes: Facts = {}
        for split, contrasts in self._contrasts(name).items():
            item_of = {item.clip.id: item for item in self.items[split]}
            tables[split] = rows = []
            for clip in self.clips[split]:
                if clip.id in contrasts.edits:
                    index, edits = contrasts.edits[clip.id]
                    true = clip.captions[index]
                    if self.alone:
                        rows.append(contrasts_only_row(clip, true, edits, config.kind, seed=plan.seed))
                    else:
                        rows.append(contrast_row(item_of[clip.id], true, edits, config.kind))
            counts = {**self.counts[split], **contrasts.counts()}
            sizes[split] = {"items": len(rows), "counts": counts, "coverage": contrasts.coverage(plan.caption)}
            warn(f"{config.kind} ({split})", contrasts.tried[f"candidates:{COUNT}"], len(rows))
        options, others = (2, "") if self.alone else (CANDIDATES, f" and {CANDIDATES - 2} captions of other videos")
        negatives = f"one {config.kind} contrast{others}"
        facts = {"negatives": negatives, "kind": config.kind, "options": options, "caption": plan.caption}
        facts["splits"] = sizes
        if config.paper is not None:
            facts["paper"] = dict(config.paper)
        ticked = any(tick.config == name for tick in plan.ticks)
        checks = {"checks": "a person has ticked each contrast as natural and surely false of its clip"}
        return tables, facts | (checks if ticked else config.facts())

    def hint(self, name: str) -> str:
        """What to do where a config has no contrast though there are items that could have had one."""
        return "" if self.alone or name == "contrast_mc" else self.plan.contrasts[name].hint

    def _contrasts(self, name: str) -> dict[str, ClipContrasts]:
        """Split -> the contrasts of a config: those that a person has ticked, where there are any of it."""
        if name not in self.made:
            plan, maker = self.plan, self.plan.contrasts[name].generator()
            generated = getattr(maker, "contrast_clips", None) or partial(contrast_clips, maker)
            ticks = [tick for tick in plan.ticks if tick.config == name]
            self.made[name] = {}
            for split, clips in self.clips.items():
                if plan.review or not ticks:
                    contrasts = generated(clips, seed=plan.seed, caption=plan.caption, num_proc=plan.num_proc)
                if plan.review:
                    self.built.review += cards(name, clips, contrasts)
                self.made[name][split] = ticked_contrasts(ticks, clips, seed=plan.seed) if ticks else contrasts
        return self.made[name]

    def _mixed(self) -> tuple[Tables, Facts]:
        """Items of two candidates: a caption and its contrast of one kind, for each kind that the clip allows.

        Two, since of many contrasts of one caption the true one is the one that all others resemble.
        """
        tables: dict[str, list[Row]] = {split: [] for split in self.clips}
        sizes: Facts = {split: {"items": 0, "counts": {**self.counts[split]}, "contrasts": {}} for split in self.clips}
        for of_kind in self.plan.mixed:
            kind = self.plan.contrasts[of_kind].kind
            for split, contrasts in self._contrasts(of_kind).items():
                clips = {clip.id: clip for clip in self.clips[split]}
                for name, (index, edits) in contrasts.edits.items():
                    clip = replace(clips[name], id=f"{name}#{kind}")
                    true = clip.captions[index]
                    tables[split].append(contrasts_only_row(clip, true, edits, kind, seed=self.plan.seed))
                sizes[split]["contrasts"][kind] = len(contrasts.edits)
                sizes[split]["items"] = len(tables[split])
        negatives = "one contrast an item; a clip has an item for each kind of contrast that it allows"
        facts = {"negatives": negatives, "kind": "mixed", "options": 2, "caption": self.plan.caption, "splits": sizes}
        return tables, facts
