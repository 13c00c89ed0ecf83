"""Contrasts that readers judged (readings/contrasts.tsv), beside what today's rules make of the same captions."""

import csv
from collections.abc import Sequence
from pathlib import Path

from video_contrast.perturbations.contrast import gender
from video_contrast.perturbations.contrast.generate import load_counts, propose
from video_contrast.perturbations.contrast.kinds import RULES, proposals
from video_contrast.perturbations.contrast.lexicon import load_lexicon
from video_contrast.perturbations.contrast.proposal import Target
from video_contrast.perturbations.english import parse

READINGS = Path(__file__).parents[1] / "readings"
DRAWS = [f"{n}" for n in range(30)]  # of a noun and its counterpart, to see all swaps of a gender
TARGETS: dict[str, Target] = {"verb": "verb", "object": "object"}
Row = dict[str, str]


def print_contrasts() -> bool:
    """Prints a line a kind; whether a kind is read no better than Verb_LM, a released set that a model wrote.

    Usable: natural and surely false, by the first / by the second reader. "Proposed for": of the captions of
    readings/captions.tsv that state an action. The texts of others' captions are not kept, so that nobody can tell
    whether their contrasts are still made.
    """
    print("| kind | proposed for | read | usable, % | still made | usable, % | no longer made | usable, % |")
    print("|---|---|---|---|---|---|---|---|")
    captions = [row["caption"] for row in table("captions.tsv") if row["action"] == "yes"]
    rows = table("contrasts.tsv")
    released, worse = [row for row in rows if row["kind"] == "released"], False
    for kind in (*TARGETS, "gender", *RULES):
        read = [row for row in rows if row["kind"] == kind]
        texts = made(kind, list(dict.fromkeys([*captions, *(row["original"] for row in read if row["original"])])))
        known = [(row, row["edited"] in texts.get(row["original"], ())) for row in read if row["original"]]
        parts = read, [row for row, still in known if still], [row for row, still in known if not still]
        share = sum(bool(texts.get(caption)) for caption in captions) / len(captions)
        print(f"| {kind} | {share:.1%} | {' | '.join(f'{len(part)} | {shown(part)}' for part in parts)} |", flush=True)
        worse |= any(mine <= other for mine, other in zip(usable(parts[1]), usable(released), strict=False))
    print(f"| released Verb_LM | | {len(released)} | {shown(released)} | | | | |")
    return worse


def table(name: str) -> list[Row]:
    with (READINGS / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def usable(rows: Sequence[Row]) -> list[float]:
    """The percentage of pairs that are natural and surely false, by each reader's votes."""
    votes = [[row[f"natural {n}"] + row[f"surely false {n}"] for row in rows if row[f"natural {n}"]] for n in (1, 2)]
    return [100 * cast.count("11") / len(cast) for cast in votes if cast]


def shown(rows: Sequence[Row]) -> str:
    return " / ".join(f"{share:.0f}" for share in usable(rows))


def made(kind: str, captions: Sequence[str]) -> dict[str, set[str]]:
    """What is made of each caption; of verbs and things, what is probable enough for "balanced"."""
    if kind in TARGETS:
        found = propose([(caption, [caption]) for caption in captions], load_counts(), target=TARGETS[kind]).proposals
        return {caption: {edit.text for edit in edits} for caption, edits in found.items()}
    if kind == "gender":
        drawn = {caption: gender.contrasts([caption] * len(DRAWS), DRAWS, extended=True)[0] for caption in captions}
        return {caption: {edit.text for edit in edits if edit} for caption, edits in drawn.items()}
    read = zip(captions, parse(captions), strict=True)
    return {caption: {option.contrast.text for option in proposals(kind, [s], load_lexicon())} for caption, s in read}
