"""Repair of a multiple-choice set: items that are won blind get new distractors; video, question and key stay.

An item is repaired where a blind model that reports nothing (`distractor_choice.won_blind`) wins it, if that one wins
more of the set than chance would, or where a distractor is faulty: it says what the true candidate, another one, or
another true caption of the clip says. All other items stay as they are. The new distractors are chosen over the whole
set. An item for which there is none keeps its own, unless its own is faulty or would tell in the repaired set: then it
is left out, as copies of items and items with two keys are.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

import numpy as np

from video_contrast.audit.blind_audit import accuracy_facts, audited_items
from video_contrast.audit.blind_models import audited_negatives, too_few
from video_contrast.audit.distractor_choice import DistractorPlace, NewDistractor, choose, won_blind
from video_contrast.audit.item_checks import clip_of, plain
from video_contrast.audit.new_distractors import EDIT_KINDS, DistractorEdits, answer_options, caption_options
from video_contrast.errors import UsageError, check_names
from video_contrast.perturbations.english.language import require_english
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import stream

Reason = Literal["won blind", "repeats", "same as true", "key wrong"]
_OWN = 2.0  # odds that a distractor of the authors is a good one: where it does not tell, it stays more often than not


@dataclass(frozen=True)
class Change:
    """A distractor that is replaced, or an item that is left out."""

    row: int  # number among the rows of the split
    reason: Reason
    place: int | None = None  # of the distractor among the candidates; None where the item is left out
    old: str | None = None  # the distractor; None where the item is left out
    new: str | None = None  # the new text in its place; None where the item is left out
    kind: str | None = None  # of the new distractor


@dataclass
class Repair:
    """A repaired split."""

    rows: list[MultipleChoiceRow] = field(default_factory=list)  # the rows that stay, in their order
    changes: list[Change] = field(default_factory=list)  # in the order of the rows
    counts: dict[str, int] = field(default_factory=dict)  # kind of change -> how many


def repair(
    rows: Sequence[MultipleChoiceRow],
    edits: DistractorEdits = DistractorEdits(),  # noqa: B008  frozen
    *,
    seed: int = 0,
) -> Repair:
    """Repairs a split of a multiple-choice set; the same rows give the same repair.

    Raises UsageError: pairs, or too few items to cross-validate a blind model; NotEnglish: the candidates are of
    another language.
    """
    check_names("kind of edit", edits.kinds, EDIT_KINDS)
    if any(row.get("group") for row in rows):
        raise UsageError("pairs cannot be repaired: the candidates of a group are true of one of its clips each")
    texts = chain.from_iterable((row.get("question") or "", *row["candidates"]) for row in rows)
    require_english(list(texts), name="the questions and candidates")
    left_out = copies(rows)
    staying = [at for at in range(len(rows)) if at not in left_out]
    won = _blind_wins(rows, staying, seed)
    others = _other_captions(rows)
    faults = {at: _faults(rows[at], others.get(at, ())) for at in staying}
    to_repair = {at: rows[at] for at in staying if at in won or faults[at]}
    # Captions whose distractors are contrasts are edited. Questions, and captions among those of other clips, take what
    # is true of other items: one edit among unlike texts would show which two belong together.
    with_contrasts = {at: row for at, row in to_repair.items() if _has_contrasts(row)}
    rest = {at: row for at, row in to_repair.items() if at not in with_contrasts}
    options = answer_options(rest, rows, seed=seed) if rest else {}
    if with_contrasts:
        options |= caption_options(with_contrasts, others, edits)
    places = [place for at in staying for place in _places(at, rows[at], at in won, faults[at], options.get(at, []))]
    options_of: dict[int, list[NewDistractor | None]] = defaultdict(list)
    for place, option in zip(places, choose(places, seed), strict=True):
        options_of[place.item].append(option)
    return _repaired(rows, won, faults, options_of, left_out)


def _blind_wins(rows: Sequence[MultipleChoiceRow], staying: Sequence[int], seed: int) -> set[int]:
    """Numbers of the rows, of those staying, that are won blind; none where a set is not solved blind above chance.

    Of those that the form of candidates wins, only as many as it wins above chance: if all were taken, the form of the
    others would tell which candidates are false.
    """
    items = audited_items([rows[at] for at in staying])
    clusters = [item.cluster for item in items]
    if too_few(clusters):
        raise UsageError(f"{len(items)} items are too few to tell which are won blind: 20 of 5 videos are needed")
    won: set[int] = set()
    for by_form in (False, True):
        wins = {at: win for at, win in enumerate(won_blind(items, seed, by_form=by_form)) if win is not None}
        chance = np.array([1 / len(items[at].texts) for at in wins])
        hits = np.array([*wins.values()], np.float64)
        low = accuracy_facts(hits, [clusters[at] for at in wins])["low"] if wins else None
        if low is None or low <= chance.mean():
            continue  # its items are won by chance
        share = 1.0 if not by_form else float((hits - chance).sum() / (hits * (1 - chance)).sum())
        is_drawn = stream(seed, "repair-form", len(items)).random(len(items)) < share
        won |= {staying[at] for at, win in wins.items() if win and is_drawn[at]}
    return won


def _repaired(
    rows: Sequence[MultipleChoiceRow],
    won: set[int],
    faults: Mapping[int, Mapping[int, Reason]],
    options_of: Mapping[int, Sequence[NewDistractor | None]],
    left_out: Mapping[int, Reason],
) -> Repair:
    """The rows with what was drawn for them, without those left out and those for which nothing fits."""
    result, counts = Repair(), Counter({"items": len(rows), "won blind": len(won)})
    for at, row in enumerate(rows):
        reason = left_out.get(at) or (next(iter(faults[at].values()), "won blind") if None in options_of[at] else None)
        if reason is not None:
            result.changes.append(Change(at, reason))
            counts[f"left out: {reason}"] += 1
            continue
        candidates, kinds, edits = list(row["candidates"]), list(row["kinds"]), list(row["edits"])
        changes = []
        places = sorted({*audited_negatives(row["label"], row["kinds"]), *faults[at]})
        for n, option in zip(places, options_of[at], strict=True):
            if option is not None and option.text != candidates[n]:
                change = Change(at, faults[at].get(n, "won blind"), n, candidates[n], option.text, option.kind)
                changes.append(change)
                candidates[n], kinds[n], edits[n] = option.text, option.kind, option.edit
        result.rows.append(row | {"candidates": candidates, "kinds": kinds, "edits": edits} if changes else row)
        result.changes += changes
        counts["repaired"] += bool(changes)
        counts["won blind and kept"] += at in won and not changes
        counts.update(f"new: {change.kind}" for change in changes)
    result.counts = {**counts, "kept": len(result.rows)}
    return result


def copies(rows: Sequence[MultipleChoiceRow]) -> dict[int, Reason]:
    """Rows that stand in the set before, and all of those that have different keys: number -> reason."""
    first: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for at, row in enumerate(rows):
        first[*clip_of(row), plain(row.get("question") or ""), *sorted(map(plain, row["candidates"]))].append(at)
    reasons: dict[int, Reason] = {}
    for same in first.values():
        keys = {plain(rows[at]["candidates"][rows[at]["label"]]) for at in same}
        reasons |= {at: "key wrong" for at in same} if len(keys) > 1 else {at: "repeats" for at in same[1:]}
    return reasons


def _other_captions(rows: Sequence[MultipleChoiceRow]) -> dict[int, list[str]]:
    """Number of a row -> what else its set calls true of the clip; answers to questions are no captions."""
    of_clip: dict[object, dict[str, None]] = defaultdict(dict)
    for row in rows:
        if not row.get("question"):
            of_clip[clip_of(row)][row["candidates"][row["label"]]] = None
    return {
        at: [text for text in of_clip[clip_of(row)] if text != row["candidates"][row["label"]]]
        for at, row in enumerate(rows)
    }


def _faults(row: MultipleChoiceRow, other_captions: Sequence[str]) -> dict[int, Reason]:
    """Place of a distractor that must be replaced -> why."""
    true = {plain(text) for text in (row["candidates"][row["label"]], *other_captions)}
    first: dict[str, int] = {}
    faults: dict[int, Reason] = {}
    for place, text in enumerate(map(plain, row["candidates"])):
        if place != row["label"] and text in true:
            faults[place] = "same as true"
        elif place != row["label"] and first.setdefault(text, place) != place:
            faults[place] = "repeats"
    return faults


def _has_contrasts(row: MultipleChoiceRow) -> bool:
    """Whether the audited distractors were made from a true caption, no answer: most of their words are its own."""
    if row.get("question"):
        return False
    true = set(row["candidates"][row["label"]].lower().split())
    negatives = [set(row["candidates"][n].lower().split()) for n in audited_negatives(row["label"], row["kinds"])]
    return all(2 * len(true & words) >= min(len(true), len(words)) for words in negatives)


def _places(
    at: int, row: MultipleChoiceRow, won: bool, faults: Mapping[int, Reason], options: Sequence[NewDistractor]
) -> list[DistractorPlace]:
    """The distractors of a row: the audited ones, and the faulty ones among the others."""
    negatives = audited_negatives(row["label"], row["kinds"])
    numbers = sorted({*negatives, *faults})
    open_places = [n for n in numbers if n in faults or (won and n in negatives)]
    true, question = row["candidates"][row["label"]], row.get("question") or ""
    places = []
    for n in numbers:
        own = NewDistractor(row["candidates"][n], _OWN, row["kinds"][n], row["edits"][n])
        new = tuple(options[open_places.index(n) :: len(open_places)]) if n in open_places else ()
        held, fixed = new if n in faults else (*new, own), n not in open_places
        places.append(DistractorPlace(at, f"{row['id']} {n}", true, question, 1 + len(negatives), held, fixed=fixed))
    return places
