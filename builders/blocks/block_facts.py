"""The facts of a config from those of its blocks: counts are summed, shares weighted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from video_contrast.builders.assembly.word_contrasts import variety_facts
from video_contrast.storage.set_records import Facts

Edits = Counter[tuple[str, str]]  # (replaced, put in)


class ConfigFacts:
    """Adds up what the blocks of a config say.

    Attributes:
        facts: of the blocks that were added; None before the first.
    """

    def __init__(self) -> None:
        self.facts: Facts | None = None
        self._items = 0  # of all blocks, by which their means are weighted
        self._edits: Edits = Counter()

    def add(self, facts: Facts, *, items: int, edits: Iterable[tuple[str, str, int]] = ()) -> None:
        """Adds a block.

        `facts`: of the config in the block. `edits`: replaced, put in, how often: of verb and object contrasts.
        """
        for replaced, put_in, n in edits:
            self._edits[replaced, put_in] += n
        weights = (self._items, items)
        self._items += items
        if self.facts is None:
            self.facts = deepcopy(facts)
            return
        if "counts" in facts:
            self.facts["counts"] = _sum(self.facts.get("counts"), facts["counts"])
        for split, size in facts.get("splits", {}).items():
            former = self.facts.setdefault("splits", {}).setdefault(split, {})
            clips = (former.get("counts", {}).get("clips", 0), size.get("counts", {}).get("clips", 0))
            for name, value in size.items():
                if name == "coverage":
                    former[name] = _means(former.get(name, {}), value, clips, digits=1)
                else:
                    former[name] = _sum(former.get(name), value)
        if facts.get("pipeline"):
            pipeline = self.facts.get("pipeline", {})
            known = facts["pipeline"].keys() - {"opposites"}
            means = {name: facts["pipeline"][name] for name in known & {"mean_probability"}}
            self.facts["pipeline"] = {
                **facts["pipeline"], **pipeline,
                **_means(pipeline, means, weights, digits=4),
                "opposites": pipeline.get("opposites", 0) + facts["pipeline"].get("opposites", 0),
            }  # fmt: skip
        if "checks" in facts and isinstance(facts["checks"], Mapping):
            self.facts["checks"] = _means(self.facts["checks"], facts["checks"], weights, digits=4)

    def whole(self) -> Facts:
        """The facts of the config."""
        facts = self.facts or {}
        if self._edits:
            facts["pipeline"] |= variety_facts(self._edits)
        return facts


def _sum(former: Any, value: Any) -> Any:
    """Counts, added by name at any depth."""
    if isinstance(value, Mapping):
        former = dict(former or {})
        for name, inner in value.items():
            former[name] = _sum(former.get(name), inner)
        return former
    return value + (former or 0) if isinstance(value, int) and not isinstance(value, bool) else value


def _means(former: Mapping[str, Any], value: Mapping[str, Any], weights: tuple[int, int], *, digits: int) -> Facts:
    """Means of numbers (and of shares, "12.5 %"), weighted; counts are summed, texts kept."""
    means: Facts = dict(former)
    total = sum(weights) or 1
    for name, new in value.items():
        old = former.get(name, new)
        if isinstance(new, str) and new.endswith(" %") and isinstance(old, str):
            shares = [float(share.split()[0]) for share in (old, new)]
            means[name] = f"{(shares[0] * weights[0] + shares[1] * weights[1]) / total:.1f} %"
        elif isinstance(new, float):
            means[name] = round((float(old) * weights[0] + new * weights[1]) / total, digits)
        elif isinstance(new, int) and name in former:
            means[name] = old + new
        else:
            means[name] = old
    return means
