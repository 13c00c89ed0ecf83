"""The configs of a set of captioned clips: the options of contrasts, the plan that they make, and the tables by it.

Every builder of real sets reads its source into clips, makes a `contrast_plan` of its options and calls
`build_configs`; so an option and a config mean the same everywhere.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import (
    MAY_BE_TRUE,
    Attempt,
    CaptionedClip,
    ClipContrasts,
    ContrastGenerator,
    Contrasts,
    ContrastSetOptions,
    TrainingVideos,
    contrast_clips,
    retrieval_rows,
    warn_of_doubtful,
)
from video_contrast.builders.assembly.multiple_choice import (
    CANDIDATES,
    RandomItem,
    contrast_row,
    contrasts_only_row,
    random_items,
    random_row,
)
from video_contrast.builders.assembly.review import Tick, cards, known_ticks, read_ticks, read_votes, ticked_contrasts
from video_contrast.builders.assembly.word_contrasts import KindContrasts, WordContrasts
from video_contrast.builders.registry import BuiltSet, Tables
from video_contrast.builders.sources.released import HumanContrasts, read_negatives
from video_contrast.console import note
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import gender, person_id
from video_contrast.perturbations.contrast.judge import Judge
from video_contrast.perturbations.contrast.judge_votes import trained_judges
from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.perturbations.contrast.proposal import Target
from video_contrast.perturbations.english.language import NotEnglish
from video_contrast.perturbations.english.parse import parse_cache
from video_contrast.rows import Row
from video_contrast.storage.set_folder import Facts

Casts = Callable[[], Mapping[str, Mapping[str, str]]]  # movie -> name -> gender
WORDS: tuple[Target, ...] = ("verb", "object")
RULE_CONFIGS = tuple(f"{kind}_mc" for kind in RULES)
MIXED = ("gender_mc", "verb_mc", "object_mc", *RULE_CONFIGS)  # the configs whose contrasts `contrast_mc` holds

# Advice where no contrast can be built.
HINT = (
    "--explain says why for each clip; a lower --quality asks less of a contrast, and --training TABLE adds what "
    "captions of your own kind say"
)


@dataclass(frozen=True, kw_only=True)
class GenderAndVerbOptions(ContrastSetOptions):
    """The options of contrasts, those of gender included."""

    RECORDED = (*ContrastSetOptions.RECORDED, "extended")

    extended: Annotated[bool, "gender: relatives and professions beside Table 6"] = False


@dataclass(frozen=True)
class ContrastConfig:
    """The recipe of one contrast config."""

    kind: str  # of its negatives
    contrast: Callable[[Sequence[CaptionedClip]], ClipContrasts]  # makes those of a split
    facts: Callable[[], Facts] = dict  # of the generator, read after building (it may only know them then)
    paper: Mapping[str, float] | None = None  # the counts of the contrast-set paper (appendix D), to stand beside ours
    hint: str = ""  # advice where no contrast can be built, a sentence


@dataclass(frozen=True)
class ContrastPlan:
    """The recipe of the configs of captioned clips."""

    options: ContrastSetOptions
    contrasts: Mapping[str, ContrastConfig]  # config -> how it is made
    missing: Mapping[str, str]  # config -> what must be given before it can be built
    words: Mapping[Target, WordContrasts]  # the makers of contrasts of verbs and things
    ticks: Sequence[Tick] = ()  # contrasts that a person has taken; their configs hold no others


def contrast_plan(
    options: ContrastSetOptions,
    *,
    training_videos: TrainingVideos | None = None,
    casts: Casts | None = None,
    human: str | Path | None = None,
    paper: Mapping[str, Mapping[str, float]] = {},
) -> ContrastPlan:
    """Returns the plan of a builder with the usual options.

    The captions of training videos are added to the counts; `human` is a table of negatives for verb_human_mc; `paper`:
    the contrast-set paper's counts by config, to stand beside ours of the set that it used. Raises UsageError: options
    of generators that do not fit, or no such table.
    """
    judges: Mapping[Target, Judge] = {}
    if options.judge:
        judges = trained_judges(read_votes(existing(options.judge, "it must hold votes", "--judge")))
        if not judges:
            raise UsageError(f"--judge {options.judge}: no row has a vote on a contrast of one verb or one thing")
    words = {
        target: WordContrasts(
            target=target, generator=options.generator, options=options, training=training_videos,
            judge=judges.get(target),
        )
        for target in WORDS
    }  # fmt: skip
    verbs, objects = words["verb"], words["object"]

    def each(make: Callable[[], ContrastGenerator]) -> Callable[[Sequence[CaptionedClip]], ClipContrasts]:
        return lambda clips: contrast_clips(make(), options, clips)

    missing: dict[str, str] = {}
    contrasts = {
        "gender_mc": ContrastConfig("gender", each(lambda: partial(_gender, options)), paper=paper.get("gender_mc")),
        "verb_mc": ContrastConfig(verbs.kind, verbs.contrast_clips, verbs.facts, paper=paper.get("verb_mc"), hint=HINT),
        "object_mc": ContrastConfig("object", objects.contrast_clips, objects.facts, hint=HINT),
    }
    for kind in RULES:
        contrasts[f"{kind}_mc"] = ContrastConfig(kind, KindContrasts(kind, options).contrast_clips)
    if casts is None:
        missing["person_id_mc"] = "give --cast FILE, a table of movie, name and gender"
    else:
        contrasts["person_id_mc"] = ContrastConfig(
            "person_id", each(lambda: partial(_person_id, casts(), options.seed))
        )
    if human is None:
        missing["verb_human_mc"] = "give --human FILE, a table of video_id, caption and negative"
    else:
        negatives = existing(human, "it must hold human negatives", "--human")
        contrasts["verb_human_mc"] = ContrastConfig(
            "verb_human", each(lambda: HumanContrasts(read_negatives(negatives)))
        )
    ticks = read_ticks(existing(options.ticks, "it must hold ticks", "--ticks"), [*contrasts]) if options.ticks else ()
    return ContrastPlan(options, contrasts, missing, words, ticks)


def _gender(options: ContrastSetOptions, attempts: Sequence[Attempt]) -> Contrasts:
    """One contrast a caption with a gendered noun (`perturbations.contrast.gender`)."""
    captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
    edits, counts = gender.contrasts(captions, ids, seed=options.seed, extended=getattr(options, "extended", False))
    return [[edit] if edit else [] for edit in edits], counts


def _person_id(casts: Mapping[str, Mapping[str, str]], seed: int, attempts: Sequence[Attempt]) -> Contrasts:
    """One contrast a caption that names a character with a peer; `casts` is movie -> name -> gender."""
    captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
    edits, counts = person_id.contrasts(captions, ids, [casts.get(a.clip.pool, {}) for a in attempts], seed=seed)
    return [[edit] if edit else [] for edit in edits], counts


def existing(path: str | Path, what: str, option: str) -> Path:
    """Returns the path, if there is such a file or folder.

    `what`: what it must be or hold, for the message. Raises UsageError: there is none; the message names the option.
    """
    if not Path(path).exists():
        raise UsageError(f"{option} {path}: no such file or folder; {what}")
    return Path(path)


def select_splits(names: str, splits: Mapping[str, object]) -> list[str]:
    """The splits named in an option, comma-separated. Raises UsageError: one is not there; lists those that are."""
    split_names = [name.strip() for name in names.split(",") if name.strip()]
    for name in split_names:
        if name not in splits:
            raise UsageError(f"--splits: no split {name!r}; there are {', '.join(splits)}")
    return split_names


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
    dataset = BuiltSet(name, {}, {**facts, "seed": plan.options.seed, "configs": {}})
    contrast_configs = [config for config in configs if config in plan.contrasts]
    if plan.ticks:
        clips = list(chain.from_iterable(splits.values()))
        plan = replace(plan, ticks=known_ticks(plan.ticks, clips, contrast_configs))
    may_be_empty = optional or len(configs) > 1  # of several configs, those that have items are built
    items: dict[str, list[RandomItem]] = {}
    counts: dict[str, dict[str, int]] = {}
    if set(configs) - {"retrieval"}:
        for split, of_split in splits.items():
            items[split], reasons = random_items(of_split, seed=plan.options.seed)
            counts[split] = dict(sorted(reasons.items()))
    contrasts = _Contrasting(dataset, plan, splits, items, counts)
    for config in configs:
        if config == "retrieval":
            dataset.add_config(config, *retrieval_config(retrieval_splits or splits), optional=may_be_empty)
        elif config == "random_mc":
            dataset.add_config(config, *random_config(items, counts), optional=may_be_empty)
        elif config in plan.contrasts or config == "contrast_mc":
            try:
                tables, config_facts = contrasts.config(config)
            except NotEnglish as error:
                if not optional:
                    raise
                dataset.leave_out(config, str(error))
                continue
            dataset.add_config(config, tables, config_facts, optional=may_be_empty, hint=contrasts.hint(config))
        elif config in plan.missing:
            dataset.leave_out(config, plan.missing[config], optional=optional)
    empty = dataset.facts.get("left_out", {})
    if configs and not optional and empty.keys() >= set(configs):
        raise VideoContrastError("\n".join(empty.values()))
    return dataset


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

    dataset: BuiltSet
    plan: ContrastPlan
    clips: Mapping[str, Sequence[CaptionedClip]]  # split -> its clips
    items: Mapping[str, Sequence[RandomItem]]  # split -> the random candidates of its clips
    counts: Mapping[str, Mapping[str, int]]  # split -> clips by reason
    contrasts_of: dict[str, dict[str, ClipContrasts]] = field(default_factory=dict)  # config -> split -> its contrasts

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
        how, config = self.plan.options, self.plan.contrasts[name]
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
                        rows.append(contrasts_only_row(clip, true, edits, config.kind, seed=how.seed))
                    else:
                        rows.append(contrast_row(item_of[clip.id], true, edits, config.kind))
            counts = {**self.counts[split], **contrasts.counts()}
            sizes[split] = {"items": len(rows), "counts": counts, "coverage": contrasts.coverage(how.caption)}
            warn_of_doubtful(f"{config.kind} ({split})", contrasts.reasons[f"candidates:{MAY_BE_TRUE}"], len(rows))
        options, others = (2, "") if self.alone else (CANDIDATES, f" and {CANDIDATES - 2} captions of other videos")
        negatives = f"one {config.kind} contrast{others}"
        facts = {"negatives": negatives, "kind": config.kind, "options": options, "caption": how.caption}
        facts["splits"] = sizes
        if config.paper is not None:
            facts["paper"] = dict(config.paper)
        has_ticks = any(tick.config == name for tick in self.plan.ticks)
        checks = {"checks": "a person has ticked each contrast as natural and surely false of its clip"}
        return tables, facts | (checks if has_ticks else config.facts())

    def hint(self, name: str) -> str:
        """The advice where a config has no contrast though there are items that could have had one."""
        return "" if self.alone or name == "contrast_mc" else self.plan.contrasts[name].hint

    def _contrasts(self, name: str) -> dict[str, ClipContrasts]:
        """Split -> the contrasts of a config: those that a person has ticked, where there are any of it."""
        if name not in self.contrasts_of:
            how = self.plan.options
            ticks = [tick for tick in self.plan.ticks if tick.config == name]
            self.contrasts_of[name] = {}
            for split, clips in self.clips.items():
                if how.review or not ticks:
                    contrasts = self.plan.contrasts[name].contrast(clips)
                if how.review:
                    self.dataset.review += cards(name, clips, contrasts)
                self.contrasts_of[name][split] = ticked_contrasts(ticks, clips, seed=how.seed) if ticks else contrasts
        return self.contrasts_of[name]

    def _mixed(self) -> tuple[Tables, Facts]:
        """Items of two candidates: a caption and its contrast of one kind, for each kind that the clip allows.

        Two, since of many contrasts of one caption the true one is the one that all others resemble.
        """
        tables: dict[str, list[Row]] = {split: [] for split in self.clips}
        sizes: Facts = {split: {"items": 0, "counts": {**self.counts[split]}, "contrasts": {}} for split in self.clips}
        for of_kind in MIXED:
            kind = self.plan.contrasts[of_kind].kind
            for split, contrasts in self._contrasts(of_kind).items():
                clips = {clip.id: clip for clip in self.clips[split]}
                for name, (index, edits) in contrasts.edits.items():
                    clip = replace(clips[name], id=f"{name}#{kind}")
                    true = clip.captions[index]
                    tables[split].append(contrasts_only_row(clip, true, edits, kind, seed=self.plan.options.seed))
                sizes[split]["contrasts"][kind] = len(contrasts.edits)
                sizes[split]["items"] = len(tables[split])
        negatives = "one contrast an item; a clip has an item for each kind of contrast that it allows"
        caption = self.plan.options.caption
        facts = {"negatives": negatives, "kind": "mixed", "options": 2, "caption": caption, "splits": sizes}
        return tables, facts
