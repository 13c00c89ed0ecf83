"""Pairs without their videos: is a blind model right for every clip of a group at once?

Where the rows of a group share their candidates and their question, it takes one candidate for all of them, and no more
than ties can be right. Where the questions differ, the texts alone may tell.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from video_contrast.audit.blind_audit import BlindResult, accuracy_facts
from video_contrast.audit.blind_models import wins
from video_contrast.audit.records import PairFacts
from video_contrast.metrics.group_score import group_chance
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_records import BLIND_NAMES


def whole_groups(rows: Sequence[MultipleChoiceRow]) -> list[MultipleChoiceRow]:
    """Returns the rows without those of groups of which a row is missing; rows of no group stay."""
    sizes = Counter(row.get("group") for row in rows)
    return [row for row in rows if not row.get("group") or sizes[row.get("group")] == len(row["candidates"])]


def pair_facts(rows: Sequence[MultipleChoiceRow], results: Sequence[BlindResult]) -> PairFacts | None:
    """The text score of the strongest blind model on the pairs of a split; None where there are no groups."""
    members: dict[str, list[int]] = defaultdict(list)
    whole = {row["id"] for row in whole_groups(rows) if row.get("group")}
    for at, row in enumerate(rows):
        if row["id"] in whole:
            members[str(row.get("group"))].append(at)
    groups = list(members.values())
    if not groups:
        return None
    clusters = [rows[places[0]]["cluster"] for places in groups]
    level = 1 - 0.05 / len(results)
    scored = {}
    for result in results:
        won = wins(result.scores)
        shares = np.array([np.prod(won[places]) for places in groups])
        scored[BLIND_NAMES[result.key]] = accuracy_facts(shares, clusters, level=level)
    name, best = max(scored.items(), key=lambda model: model[1]["accuracy"])
    chance = float(np.mean([group_chance(len(places))["text_score"] for places in groups]))
    same = sum(len({rows[n].get("question") for n in places}) == 1 for places in groups)
    return {
        "groups": len(groups),
        "same_texts": same,
        "chance": round(chance, 4),
        "name": name,
        "accuracy": best["accuracy"],
        "low": best["low"],
        "high": best["high"],
        "solvable": None if best["low"] is None else bool(best["low"] > chance),
    }
