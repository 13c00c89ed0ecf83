"""The configs of a set of captioned clips: how each table is made, and what the card says of it.

Every builder of real sets reads its source into clips and calls `build_configs`; so a config means the same everywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, retrieval_rows
from video_contrast.builders.assembly.clip_contrasts import (
    CaptionChoice,
    ClipContrasts,
    ContrastGenerator,
    SetContrasts,
    contrast_clips,
)
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
from video_contrast.storage.set_records import Facts

Tables = Mapping[str, Sequence[Row]]  # split -> rows


@dataclass(frozen=True)
class ContrastConfig:
    """How one contrast config is made."""

    kind: str  # of its negatives
    generator: Callable[[], ContrastGenerator | SetContrasts]  # makes the generator when the config is built
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
    if any(config != "retrieval" for config in configs):
        for split, clips in splits.items():
            items[split], reasons = random_items(clips, seed=plan.seed)
            counts[split] = dict(sorted(reasons.items()))
    for config in configs:
        if config == "retrieval":
            add_config(built, config, *_retrieval_config(retrieval_splits or splits), optional=may_be_empty)
        elif config == "random_mc":
            add_config(built, config, *random_config(items, counts), optional=may_be_empty)
        elif config in plan.contrasts or config == "contrast_mc":
            try:
                tables, config_facts = _contrast_config(built, plan, config, splits, items, counts)
            except NotEnglish as error:
                if not optional:
                    raise
                leave_out(built, config, str(error))
                continue
            hint = _hint(plan, config, items)
            add_config(built, config, tables, config_facts, optional=may_be_empty, hint=hint)
        elif config in plan.missing:
            leave_out(built, config, plan.missing[config], optional=optional)
    return built if optional else _with_items(built, configs)


def _with_items(built: BuiltSet, configs: Sequence[str]) -> BuiltSet:
    """The set, if one of its configs has items."""
    empty = built.facts.get("left_out", {})
    if configs and empty.keys() >= set(configs):
        raise VideoContrastError("\n".join(empty.values()))
    return built


def _hint(plan: ContrastPlan, config: str, items: Mapping[str, Sequence[RandomItem]]) -> str:
    """What to do where a config has no contrast though there are items that could have had one."""
    return plan.contrasts[config].hint if config in plan.contrasts and any(items.values()) else ""


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


def _retrieval_config(splits: Mapping[str, Sequence[CaptionedClip]]) -> tuple[Tables, Facts]:
    tables = {split: retrieval_rows(clips) for split, clips in splits.items()}
    sizes = {
        split: {"items": len(rows), "captions": sum(len(row["captions"]) for row in rows)}
        for split, rows in tables.items()
    }
    return tables, {"negatives": "all other clips of the split", "splits": sizes}


def random_config(
    items: Mapping[str, Sequence[RandomItem]], counts: Mapping[str, Mapping[str, int]], candidates: int = CANDIDATES
) -> tuple[Tables, Facts]:
    """The tables with random negatives only, and their facts.

    `items`: split -> items. `counts`: split -> clips by reason.
    """
    facts = {
        "negatives": f"{candidates - 1} captions of other videos, drawn at random",
        "options": candidates,
        "splits": {split: {"items": len(rows), "counts": counts[split]} for split, rows in items.items()},
    }
    return {split: [random_row(item) for item in of_split] for split, of_split in items.items()}, facts


def _contrast_config(
    built: BuiltSet,
    plan: ContrastPlan,
    name: str,
    splits: Mapping[str, Sequence[CaptionedClip]],
    items: Mapping[str, Sequence[RandomItem]],
    counts: Mapping[str, Mapping[str, int]],
) -> tuple[Tables, Facts]:
    alone = not any(items.values())
    if alone:
        note(f"{name}: too few other captions for distractors; an item has two candidates, caption and contrast")
    else:
        splits = {split: [item.clip for item in of_split] for split, of_split in items.items()}
    if name == "contrast_mc":
        return _mixed_config(built, plan, splits, counts)
    config = plan.contrasts[name]
    generator = config.generator()
    tables: dict[str, list[Row]] = {}
    sizes: Facts = {}
    for split, clips in splits.items():
        item_of = {item.clip.id: item for item in items[split]}
        contrasts = _contrasts(built, plan, name, generator, clips)
        tables[split] = rows = []
        for clip in clips:
            if clip.id in contrasts.edits:
                index, edits = contrasts.edits[clip.id]
                true = clip.captions[index]
                rows.append(
                    contrasts_only_row(clip, true, edits, config.kind, seed=plan.seed)
                    if alone
                    else contrast_row(item_of[clip.id], true, edits, config.kind)
                )
        sizes[split] = {
            "items": len(rows),
            "counts": {**counts[split], **contrasts.counts()},
            "coverage": contrasts.coverage(plan.caption),
        }
        warn(f"{config.kind} ({split})", contrasts.tried[f"candidates:{COUNT}"], len(rows))
    facts = {
        "negatives": f"one {config.kind} contrast"
        + ("" if alone else f" and {CANDIDATES - 2} captions of other videos"),
        "kind": config.kind,
        "options": 2 if alone else CANDIDATES,
        "caption": plan.caption,
        "splits": sizes,
    }
    if config.paper is not None:
        facts["paper"] = dict(config.paper)
    if any(tick.config == name for tick in plan.ticks):
        return tables, facts | {"checks": "a person has ticked each contrast as natural and surely false of its clip"}
    return tables, facts | config.facts()


def _contrasts(
    built: BuiltSet,
    plan: ContrastPlan,
    name: str,
    generator: ContrastGenerator | SetContrasts,
    clips: Sequence[CaptionedClip],
) -> ClipContrasts:
    """The contrasts of one config: those that a person has ticked, where there are any of it."""
    ticks = [tick for tick in plan.ticks if tick.config == name]
    if ticks and not plan.review:
        return ticked_contrasts(ticks, clips, seed=plan.seed)
    make = generator.contrast_clips if isinstance(generator, SetContrasts) else partial(contrast_clips, generator)
    contrasts = make(clips, seed=plan.seed, caption=plan.caption, num_proc=plan.num_proc)
    if plan.review:
        built.review += cards(name, clips, contrasts)
    return ticked_contrasts(ticks, clips, seed=plan.seed) if ticks else contrasts


def _mixed_config(
    built: BuiltSet,
    plan: ContrastPlan,
    splits: Mapping[str, Sequence[CaptionedClip]],
    counts: Mapping[str, Mapping[str, int]],
) -> tuple[Tables, Facts]:
    """Items of two candidates: a caption of the clip, and its contrast of one kind, for each kind that the clip allows.

    Two, since of many contrasts of one caption the true one is the one that all others resemble.
    """
    tables: dict[str, list[Row]] = {split: [] for split in splits}
    sizes: Facts = {split: {"items": 0, "counts": dict(counts[split]), "contrasts": {}} for split in splits}
    for of_kind in plan.mixed:
        config = plan.contrasts[of_kind]
        generator = config.generator()
        for split, of_split in splits.items():
            clips = {clip.id: clip for clip in of_split}
            edits_of = _contrasts(built, plan, of_kind, generator, list(clips.values())).edits
            for name, (index, edits) in edits_of.items():
                clip = replace(clips[name], id=f"{name}#{config.kind}")
                tables[split].append(contrasts_only_row(clip, clip.captions[index], edits, config.kind, seed=plan.seed))
            sizes[split]["contrasts"][config.kind] = len(edits_of)
            sizes[split]["items"] = len(tables[split])
    negatives = "one contrast an item; a clip has an item for each kind of contrast that it allows"
    return tables, {"negatives": negatives, "kind": "mixed", "options": 2, "caption": plan.caption, "splits": sizes}
