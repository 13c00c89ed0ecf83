"""The configs of a set of captioned clips: how each table is made, and what the card says of it.

Every builder of real sets reads its source into clips and calls `built_set`; so a config means the same everywhere.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from video_contrast.builders.assembly import contrasts
from video_contrast.builders.assembly import multiple_choice as assembly
from video_contrast.builders.assembly.clips import Clip, retrieval_rows
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import audit_of
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import Row

# What the contrast-set paper reports (appendix D), to stand beside our counts.
PAPER: dict[str, dict[str, Any]] = {
    "gender_mc": {"items": 2477, "of": 2990, "share": 82.8},
    "verb_mc": {"items": 2554, "of": 2990, "share": 85.4},
}
KIND = {"gender_mc": "gender", "person_id_mc": "person_id", "object_mc": "object"}


@dataclass(frozen=True)
class Plan:
    """Options that all builders of real sets share.

    Attributes:
        seed: of every draw.
        options: candidates an item, the true one included.
        caption: which caption a contrast is built on: "eligible" or "base" (`builders.contrasts.make`).
        num_proc: processes that share the work.
        generators: config -> its contrast generator, made when the config is built.
        kinds: config -> kind of its negatives, where `KIND` does not say.
        details: config -> facts of its generator, read after building (it may only know them then).
        missing: config -> what must be given before it can be built.
        paper: show the paper's item counts (only for the set that the paper used).
    """

    seed: int = 0
    options: int = assembly.OPTIONS
    caption: contrasts.Choice = "eligible"
    num_proc: int = 1
    generators: Mapping[str, Callable[[], contrasts.Generator]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Callable[[], dict[str, Any]]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    paper: bool = False


def built_set(
    name: str,
    configs: Sequence[str],
    splits: Mapping[str, Sequence[Clip]],
    plan: Plan,
    *,
    facts: Mapping[str, Any],
    retrieval_splits: Mapping[str, Sequence[Clip]] | None = None,
    optional: bool = False,
) -> BuiltSet:
    """Builds the configs `retrieval`, `random_mc` and those in `plan.generators` of captioned clips.

    Args:
        name: of the builder.
        configs: which to build, in order; others than these are the builder's own business.
        splits: split -> clips.
        plan: how.
        facts: what the builder says of its source; `configs` is added.
        retrieval_splits: splits of the retrieval config, where they differ.
        optional: leave out a config of which no item can be built, with the reason in `facts["left_out"]`
            (where the user did not name configs); otherwise that is an error.

    Raises:
        VideoContrastError: no item of a config could be built; the message gives the counts by reason.
    """
    built = BuiltSet(name, {}, {**facts, "seed": plan.seed, "configs": {}})
    asked: dict[str, list[assembly.Question]] = {}
    reasons: dict[str, dict[str, int]] = {}
    if any(config != "retrieval" for config in configs):
        for split, clips in splits.items():
            asked[split], counts = assembly.questions(clips, seed=plan.seed, options=plan.options)
            reasons[split] = dict(sorted(counts.items()))
    for config in configs:
        if config == "retrieval":
            add(built, config, *_retrieval(retrieval_splits or splits), optional=optional)
        elif config == "random_mc":
            add(built, config, *_random(asked, reasons, plan), optional=optional)
        elif config in plan.generators:
            add(built, config, *_contrast(config, asked, reasons, plan), optional=optional)
        elif config in plan.missing:
            if not optional:
                raise UsageError(f"{name} {config}: {plan.missing[config]}")
            leave_out(built, config, plan.missing[config])
    return built


def add(
    built: BuiltSet, config: str, tables: Mapping[str, list[Row]], facts: dict[str, Any], *, optional: bool = False
) -> None:
    """Adds a config with its facts and its blind audit; splits without an item are named in the facts.

    Raises:
        VideoContrastError: no split has an item, and the config is not optional.
    """
    full = {split: rows for split, rows in tables.items() if rows}
    empty = sorted(set(tables) - set(full))
    if not full:
        message = f"{built.name} {config}: no item could be built; counts by reason: {_short(facts)}"
        if not optional:
            raise VideoContrastError(message)
        built.facts.setdefault("left_out", {})[config] = message
        print(f"left out: {message}", file=sys.stderr)
        return
    if empty:
        facts["empty_splits"] = empty
    if "candidates" in next(iter(full.values()))[0]:
        facts["audit"] = audit_of(full, built.facts.get("seed", 0))
    built.tables[config] = full
    built.facts["configs"][config] = facts


def leave_out(built: BuiltSet, config: str, why: str) -> None:
    """Records that a config was left out of a build of everything, and says so."""
    built.facts.setdefault("left_out", {})[config] = why
    print(f"left out: {built.name} {config}: {why}", file=sys.stderr)


def _retrieval(splits: Mapping[str, Sequence[Clip]]) -> tuple[dict[str, list[Row]], dict[str, Any]]:
    tables = {split: retrieval_rows(clips) for split, clips in splits.items()}
    sizes = {
        split: {"items": len(clips), "captions": sum(len(clip.captions) for clip in clips)}
        for split, clips in splits.items()
    }
    return tables, {"negatives": "all other clips of the split", "splits": sizes}


def _random(
    asked: Mapping[str, list[assembly.Question]], reasons: Mapping[str, dict[str, int]], plan: Plan
) -> tuple[dict[str, list[Row]], dict[str, Any]]:
    tables = {split: [assembly.random_row(question) for question in questions] for split, questions in asked.items()}
    facts = {
        "negatives": f"{plan.options - 1} captions of other videos, drawn at random",
        "options": plan.options,
        "splits": {split: {"items": len(rows), "counts": reasons[split]} for split, rows in tables.items()},
    }
    return tables, facts


def _contrast(
    config: str,
    asked: Mapping[str, list[assembly.Question]],
    reasons: Mapping[str, dict[str, int]],
    plan: Plan,
) -> tuple[dict[str, list[Row]], dict[str, Any]]:
    kind = plan.kinds.get(config) or KIND[config]
    generator = plan.generators[config]()
    tables: dict[str, list[Row]] = {}
    sizes: dict[str, Any] = {}
    for split, questions in asked.items():
        made = contrasts.make(
            generator,
            [question.clip for question in questions],
            seed=plan.seed,
            caption=plan.caption,
            num_proc=plan.num_proc,
        )
        rows = []
        for question in questions:
            if question.clip.id in made.found:
                index, edits = made.found[question.clip.id]
                rows.append(assembly.contrast_row(question, question.clip.captions[index], edits, kind))
        tables[split] = rows
        sizes[split] = {
            "items": len(rows),
            "counts": reasons[split] | made.facts(),
            "coverage": contrasts.coverage(made, plan.caption),
        }
    facts = {
        "negatives": f"one {kind} contrast and {plan.options - 2} captions of other videos",
        "kind": kind,
        "options": plan.options,
        "caption": plan.caption,
        "splits": sizes,
    }
    if plan.paper and config in PAPER:
        facts["paper"] = PAPER[config]
    if config in plan.details:
        facts |= plan.details[config]()
    return tables, facts


def _short(facts: Mapping[str, Any]) -> str:
    return "; ".join(f"{split}: {size.get('counts', size)}" for split, size in facts.get("splits", {}).items())
