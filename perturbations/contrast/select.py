"""Which of a clip's contrasts is taken: a good one, and over the whole set varied ones that texts alone do not tell.

Every item earns the log-odds of its probability. Against that stand costs that grow with each repetition: of the pair
old -> new, of the words that are put in and of the word that is replaced; of edits that all lengthen, shorten, or make
usual; and of runs of words and letters that stand oftener in the contrasts than in the captions, or less often.

A set shall be as even as chance would make it, no more and no less: where every word is put in exactly as often as it
is taken out, a model that has seen all items but one knows the last. So the weight of evenness is found for each set:
item after item takes the proposal that adds most (none, if it would add less than nothing), and after each sweep the
weight of each family of runs grows where the set is less even than chance, and shrinks where it is more so.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from video_contrast.perturbations.contrast.proposal import Kind, Proposal
from video_contrast.seeds import stream

_SWEEPS = 10
_KEPT = 24  # proposals of an item that take part, best first
_WORTH = 12.0  # of an item, which its costs may use up
_REPEATED = np.array([1.0, 0.15, 0.05])  # cost of each further time: pair, put in, replaced; the pair's grow with it
_SIGNS = 6.0
_FEW = 20  # items by which signs are smoothed: few items cannot be even
_FAMILIES = 4  # runs of one, two, three words, and of three letters
_FIRST_WEIGHT = 0.1  # of evenness, of each family
_CHANCE = 1.05  # unevenness of a set, 1.0 if each run fell on caption and contrast by a fair coin
_SMOOTHED = 2.0  # times by which the unevenness of a run is smoothed: what stands there once teaches nothing
_REMEMBERED = 200_000  # runs, and names, from block to block
_FEW_RUNS = 30.0  # by which that of a set is smoothed


@dataclass(frozen=True, slots=True)
class _RatedClip:
    """The proposals of a clip as numbers, an entry (row) for each.

    Attributes:
        proposals: themselves.
        gain: log-odds of their probabilities.
        names: numbers of the pair, of what is put in, and of what is replaced.
        signs: -1, 0 or 1: longer in words, in characters, more usual.
        runs, changes: the runs of all proposals one after the other, and how much oftener each stands in the contrast.
        first: where those of each proposal begin; and the end.
    """

    proposals: list[Proposal]
    gain: NDArray[np.float64]
    names: NDArray[np.int64]
    signs: NDArray[np.float64]
    runs: NDArray[np.int64]
    changes: NDArray[np.float64]
    first: NDArray[np.int64]


def select(
    proposals: Mapping[str, Sequence[Proposal]],
    *,
    seed: int = 0,
    kind: Kind = "verb",
    balance: "Balance | None" = None,
) -> tuple[dict[str, Proposal], list[str]]:
    """One proposal of each clip that has any.

    Returns clip id -> the chosen proposal, in the order of `proposals`; and the ids of the clips that are left out,
    since each of their contrasts would tell a reader of texts alone which caption is true.

    Args:
        proposals: clip id -> its proposals, best first.
        seed: of the order in which items choose.
        kind: what is replaced; names the random stream, beside the seed.
        balance: of the choices for former blocks of the set, which these go on with; they are added to it.
    """
    balance = Balance() if balance is None else balance
    order = sorted(clip for clip, listed in proposals.items() if listed)
    rated = {clip: _rated(_varied(proposals[clip]), balance.runs, balance.names) for clip in order}
    balance.grow()
    stream(seed, "contrast-select", kind).shuffle(order)
    taken: dict[str, int | None] = dict.fromkeys(order)
    for _ in range(_SWEEPS):
        for clip in order:
            balance.add(rated[clip], taken[clip], -1)
            taken[clip] = balance.best(rated[clip])
            balance.add(rated[clip], taken[clip], 1)
        balance.weigh()
    chosen = {clip: rated[clip].proposals[n] for clip in proposals if (n := taken.get(clip)) is not None}
    return chosen, [clip for clip in proposals if clip in rated and clip not in chosen]


def _varied(proposals: Sequence[Proposal]) -> list[Proposal]:
    """The best proposals, at most three of one replacement (of different captions)."""
    varied, repeated = [], Counter[str]()
    for proposal in proposals:
        repeated[proposal.other] += 1
        if repeated[proposal.other] <= 3:
            varied.append(proposal)
        if len(varied) == _KEPT:
            break
    return varied


class Balance:
    """Sums over the chosen proposals, and what one more would add."""

    def __init__(self) -> None:
        self.runs: dict[tuple[int, str], int] = {}  # family and run -> its number
        self.names: dict[tuple[str, ...], int] = {}  # pairs, words put in, words replaced -> their numbers
        self._families = np.zeros(0, dtype=np.int64)  # of each run
        self._weights = np.full(_FAMILIES, _FIRST_WEIGHT)
        self._net, self._size = np.zeros(0), np.zeros(0)
        self._times = np.zeros(0)
        self._signs = np.zeros(3)
        self._items = 0

    def grow(self) -> None:
        """Makes room for the runs and names that have been numbered."""
        self._families = np.array([family for family, _ in self.runs], dtype=np.int64)
        self._net, self._size = (_longer(values, len(self.runs)) for values in (self._net, self._size))
        self._times = _longer(self._times, len(self.names))

    def end_block(self) -> None:
        """Begins the weights anew, and forgets the rarest of more than `_REMEMBERED` runs, and names."""
        self._weights = np.full(_FAMILIES, _FIRST_WEIGHT)
        kept = np.sort(np.argsort(-self._size, kind="stable")[:_REMEMBERED])
        self._net, self._size = self._net[kept], self._size[kept]
        runs = list(self.runs)
        self.runs = {runs[n]: place for place, n in enumerate(kept.tolist())}
        kept = np.sort(np.argsort(-self._times, kind="stable")[:_REMEMBERED])
        self._times = self._times[kept]
        names = list(self.names)
        self.names = {names[n]: place for place, n in enumerate(kept.tolist())}

    def add(self, clip: _RatedClip, number: int | None, times: int) -> None:
        """Adds a proposal of a clip, or (-1 times) takes it away."""
        if number is None:
            return
        own = slice(clip.first[number], clip.first[number + 1])
        self._net[clip.runs[own]] += times * clip.changes[own]
        self._size[clip.runs[own]] += times * np.abs(clip.changes[own])
        self._times[clip.names[number]] += times
        self._signs += times * clip.signs[number]
        self._items += times

    def best(self, clip: _RatedClip) -> int | None:
        """The number of the proposal that adds most, the first of equals; None if none adds anything."""
        net, size = self._net[clip.runs], self._size[clip.runs]
        more = _uneven(net + clip.changes, size + np.abs(clip.changes)) - _uneven(net, size)
        cost = np.add.reduceat(self._weights[self._families[clip.runs]] * more, clip.first[:-1])
        times = self._times[clip.names]
        times[:, 1:] **= 0.5
        cost += times @ _REPEATED
        cost += _SIGNS * ((self._signs + clip.signs) ** 2 - self._signs**2).sum(axis=1) / (self._items + _FEW)
        gain = _WORTH + clip.gain - cost
        number = int(gain.argmax())
        return number if gain[number] > 0 else None

    def weigh(self) -> None:
        """Weighs a family of runs more where it is less even than chance, less where it is more so."""
        often = self._size > 1
        size, families = self._size[often], self._families[often]
        uneven = np.bincount(families, self._net[often] ** 2 / (size + _SMOOTHED), _FAMILIES)
        by_chance = np.bincount(families, size / (size + _SMOOTHED), _FAMILIES)
        ratio = (uneven + _FEW_RUNS) / (_CHANCE * by_chance + _FEW_RUNS)
        self._weights *= ratio.clip(0.2, 5.0) ** 2


def _longer(values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    return np.concatenate([values, np.zeros(size - len(values))])


def _uneven(net: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]:
    """How uneven runs are, 0 if as chance would have it: of `size` times, contrasts have `net` more than captions."""
    return (net**2 - size) / (size + _SMOOTHED)


def _rated(
    proposals: list[Proposal], run_numbers: dict[tuple[int, str], int], name_numbers: dict[tuple[str, ...], int]
) -> _RatedClip:
    """A clip's proposals as numbers; new runs and names get the next ones."""
    changes = [_changes(proposal) for proposal in proposals]
    odds = np.array([proposal.probability for proposal in proposals]).clip(0.01, 0.99)
    names = [
        [
            name_numbers.setdefault(name, len(name_numbers))
            for name in ((item.unit, item.other), ("put in", item.other, ""), ("replaced", item.unit, ""))
        ]
        for item in proposals
    ]
    signs = [
        (
            len(item.text.split()) - len(item.caption.split()),
            len(item.text) - len(item.caption),
            item.features.get("run change", 0.0),
        )
        for item in proposals
    ]
    return _RatedClip(
        proposals,
        np.log(odds / (1 - odds)),
        np.array(names),
        np.sign(np.array(signs, dtype=float)),
        np.array([run_numbers.setdefault(run, len(run_numbers)) for of_one in changes for run in of_one], dtype=int),
        np.array([change for of_one in changes for change in of_one.values()], dtype=float),
        np.cumsum([0, *map(len, changes)]),
    )


def _changes(proposal: Proposal) -> dict[tuple[int, str], int]:
    """How much oftener each run stands in the contrast than in the caption, where it does; runs with their family."""
    end = proposal.start + len(proposal.new)
    before = ["<", *proposal.text[: proposal.start].lower().split()][-2:]
    after = [*proposal.text[end:].lower().split(), ">"][:2]
    changes: Counter[tuple[int, str]] = Counter()
    for shown, sign in ((proposal.new, 1), (proposal.old, -1)):
        words = [*before, *shown.lower().split(), *after]
        for size in (1, 2, 3):
            for at in range(len(words) - size + 1):
                changes[size - 1, " ".join(words[at : at + size])] += sign
        for word in words:
            for at in range(len(word)):
                changes[3, f" {word} "[at : at + 3]] += sign
    return {run: change for run, change in changes.items() if change} or {(0, ""): 0}


class Variety(NamedTuple):
    """How varied a set of choices is."""

    effective: float  # equally common values that would be as varied: e to the entropy (Hill number of order 1)
    ten_commonest: float  # share of the ten commonest values, 0..1


def variety(values: Iterable[Hashable]) -> Variety:
    """Effective number of values, and share of the ten commonest; of no values (0, 0).

    >>> variety(["sit -> stand", "sing -> dance"])
    Variety(effective=2.0, ten_commonest=1.0)
    """
    counts = Counter(values)
    total = sum(counts.values())
    if not total:
        return Variety(0.0, 0.0)
    entropy = -sum(n / total * log(n / total) for n in counts.values())
    return Variety(round(exp(entropy), 10), sum(n for _, n in counts.most_common(10)) / total)
