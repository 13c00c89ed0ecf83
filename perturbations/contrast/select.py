"""The choice of one contrast a clip: a good one, and over the whole set varied ones that texts alone do not tell.

Every item earns the log-odds of its probability. Against that stand costs that grow with each repetition: of the pair
old -> new, of the words that are put in and of the word that is replaced; of edits that all lengthen, shorten, or make
usual; and of runs of words and letters that stand oftener in the contrasts than in the captions, or less often.

A set shall be as even as chance would make it, no more and no less: where every word is put in exactly as often as it
is taken out, a model that has seen all items but one knows the last. So the weight of evenness is found for each set:
item after item takes the proposal that adds most (none, if it would add less than nothing), and after each sweep the
weight of each family of runs grows where the set is less even than chance, and shrinks where it is more so. In some
sets (recipes) runs go together, and evenness of each is not enough: what counts as chance follows the share of items
whose caption the runs of all others tell.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from itertools import count as in_order
from math import exp, log
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from video_contrast.perturbations.contrast.proposal import Proposal, Target
from video_contrast.seeds import stream

SWEEPS = 10
_KEPT = 24  # proposals of an item that take part, best first
_GAIN = 5.0  # weight of log-odds against costs: higher ones leave out items whose good contrasts texts tell
_WORTH = 12.0  # of an item, which its costs may use up
_REPEATED = np.array([1.0, 0.15, 0.05])  # cost of each further time: pair, put in, replaced; the pair's grow with it
_REMOVED = 0.7  # cost of each word that an edit takes away beyond two: a model that looks for things would miss them
_SIGNS = np.full(3, 6.0)
_FEW = 20  # items by which signs are smoothed: few items cannot be even
SMALL = 100  # clips with proposals below which none is left out for evenness: texts alone learn little of so few
_FAMILIES = 4  # runs of one, two, three words, and of three letters
_FIRST_WEIGHT = 0.1  # of evenness, of each family
_CHANCE = 1.05  # unevenness of a set at first, 1.0 if each run fell on caption and contrast by a fair coin
_SETTLED = 2  # sweeps after which it follows the share of captions that are told
_TOLD = 0.5  # that share
_FOLLOWS = 2.0  # how fast: log of unevenness a share
_SMOOTHED = 2.0  # times by which the unevenness of a run is smoothed: what stands there once teaches nothing
_FEW_RUNS = 30.0  # by which that of a set is smoothed
_COMMON = 20  # times from which on a run has a weight of its own, too
_SLOTS = 1 << 19  # numbers of the runs of a family, and of the names, in sets that are built in blocks
_TOGETHER = 10  # items of such sets that choose at the same time
Run = str  # the digit of its family, then words or letters
Name = tuple[str, ...]  # a pair, what is put in, or what is replaced


class RatedProposals(NamedTuple):
    """The proposals of many items as numbers, an entry (row) for each; items stand in the order in which they choose.

    Attributes:
        ids: of the items.
        items: where the rows of each item begin; and the end.
        places: of the rows among the proposals of their item.
        gain: log-odds of their probabilities.
        names: numbers of the pair, of what is put in, and of what is replaced.
        signs: -1, 0 or 1: longer in words, in characters, more usual.
        first: where the runs of each row begin; and the end.
        runs, changes: numbers of the runs of all rows, and how much oftener each stands in the contrast.
    """

    ids: list[str]
    items: NDArray[np.int64]
    places: NDArray[np.int64]
    gain: NDArray[np.float64]
    names: NDArray[np.int64]
    signs: NDArray[Any]
    first: NDArray[np.int64]
    runs: NDArray[np.int64]
    changes: NDArray[Any]


def select(
    proposals: Mapping[str, Sequence[Proposal]], *, seed: int = 0, target: Target = "verb"
) -> tuple[dict[str, Proposal], list[str]]:
    """One proposal of each clip that has any.

    Returns clip id -> the chosen proposal, in the order of `proposals`; and the ids of the clips that are left out,
    since each of their contrasts would tell a reader of texts alone which caption is true. Of fewer than `SMALL` clips
    none is left out. `proposals`: clip id -> its proposals, best first. `seed, target`: name the random stream.
    """
    runs, names = defaultdict[Run, int](in_order().__next__), defaultdict[Name, int](in_order().__next__)
    rated_proposals = _as_numbers(proposals, seed, target, runs.__getitem__, names.__getitem__)
    balance = _EvenedChoices(
        np.array([int(run[0]) for run in runs], dtype=np.int8), len(names), _least([rated_proposals])
    )
    rows = np.full(len(rated_proposals.ids), -1)
    for _ in range(SWEEPS):
        balance.sweep(rated_proposals, rows)
        balance.weigh()
    places = _places(rated_proposals, rows)
    choices = {clip: proposals[clip][places[clip]] for clip in proposals if clip in places}
    return choices, [clip for clip, own in proposals.items() if own and clip not in choices]


def rate(proposals: Mapping[str, Sequence[Proposal]], *, seed: int, target: Target) -> RatedProposals:
    """The proposals of a block of a set for `select_in_blocks`; arguments as of `select`.

    Runs and names have the same numbers in all blocks; a few that are not the same share one.
    """
    return _as_numbers(proposals, seed, target, _slot_of_run, _slot_of_name)


def select_in_blocks(load: Callable[[int], RatedProposals], count: int) -> list[dict[str, int]]:
    """Chooses as `select` does, over all blocks of a set, with one of them in memory at a time.

    Returns for each block clip id -> the place of the chosen proposal among those of the clip. `load`: the rated
    proposals of a block. `count`: blocks.
    """
    least = _least(map(load, range(count)))
    balance = _EvenedChoices(np.repeat(np.arange(_FAMILIES, dtype=np.int8), _SLOTS), _SLOTS, least)
    rows: list[NDArray[np.int64]] = []
    choices: list[dict[str, int]] = []
    for sweep in range(SWEEPS):
        for block in range(count):
            proposals = load(block)
            if sweep == 0:
                rows.append(np.full(len(proposals.ids), -1))
            balance.sweep(proposals, rows[block], together=_TOGETHER)
            if sweep == SWEEPS - 1:
                choices.append(_places(proposals, rows[block]))
        balance.weigh()
    return choices


def _least(blocks: Iterable[RatedProposals]) -> float:
    """The least gain by which an item comes into a set: in one of fewer than `SMALL` items none is left out."""
    return 0.0 if any(items >= SMALL for items in accumulate(len(proposals.ids) for proposals in blocks)) else -np.inf


def _places(proposals: RatedProposals, rows: NDArray[np.int64]) -> dict[str, int]:
    return {name: int(proposals.places[row]) for name, row in zip(proposals.ids, rows, strict=True) if row >= 0}


def _varied_places(proposals: Sequence[Proposal]) -> list[int]:
    """The places of the best proposals, at most three of one replacement (of different captions)."""
    places, times_of = [], Counter[str]()
    for place, proposal in enumerate(proposals):
        times_of[proposal.other] += 1
        if times_of[proposal.other] <= 3:
            places.append(place)
        if len(places) == _KEPT:
            break
    return places


class _EvenedChoices:
    """Sums over the chosen proposals, and what one more would add.

    `families`: of each run's number. `names`: how many there are. `least`: what an item must add not to be left out.
    """

    def __init__(self, families: NDArray[np.int8], names: int, least: float) -> None:
        self._least = least
        self._families = families
        self._weights = np.full(_FAMILIES, _FIRST_WEIGHT)
        self._own_weights = np.ones(len(families))  # beside that of the family, of common runs ("add" in recipes)
        self._weight_of_run = self._weights[families]
        self._net, self._size = np.zeros(len(families)), np.zeros(len(families))
        self._times = np.zeros(names)
        self._signs = np.zeros(3)
        self._items = 0
        self._chance, self._sweeps, self._captions_told = _CHANCE, 0, 0.0

    def sweep(self, proposals: RatedProposals, rows: NDArray[np.int64], *, together: int = 1) -> None:
        """Lets items choose anew, one after the other, or some together, beside the choices of all others.

        `rows`: of each item the row of its choice, -1 for none; changed in place.
        """
        proposals = proposals._replace(changes=proposals.changes.astype(float), signs=proposals.signs.astype(float))
        items = proposals.items.tolist()
        runs_of = [slice(*ends) for ends in pairwise(proposals.first.tolist())]
        for first in range(0, len(rows), together):
            part = slice(first, first + together)
            for row in _chosen_rows(rows[part]):
                self._add(proposals, row, runs_of[row], -1)
            rows[part] = self._best(proposals, items[first : first + together + 1])
            self._captions_told += sum(self._tells(proposals, runs_of[row]) for row in _chosen_rows(rows[part]))
            for row in _chosen_rows(rows[part]):
                self._add(proposals, row, runs_of[row], 1)

    def _add(self, proposals: RatedProposals, row: int, own: slice, times: int) -> None:
        """Adds a row, whose runs are its `own`, to the sums, or (-1 times) takes it away."""
        runs, changes = proposals.runs[own], proposals.changes[own]
        self._net[runs] += changes * times
        self._size[runs] += np.abs(changes) * times
        self._times[proposals.names[row]] += times
        self._signs += proposals.signs[row] * times
        self._items += times

    def _best(self, proposals: RatedProposals, items: Sequence[int]) -> NDArray[np.int64] | int:
        """The row of each item that adds most, the first of equals; -1 if none adds enough.

        `items`: where the rows of each begin; and the end.
        """
        rows = slice(items[0], items[-1])
        first = proposals.first[rows]
        own = slice(first[0], proposals.first[rows.stop])
        runs, changes = proposals.runs[own], proposals.changes[own]
        net, size = self._net.take(runs), self._size.take(runs)
        more = _uneven(net + changes, size + np.abs(changes)) - _uneven(net, size)
        cost = np.add.reduceat(self._weight_of_run.take(runs) * more, first - first[0])
        times, signs = self._times[proposals.names[rows]], proposals.signs[rows]
        np.sqrt(times[:, 1:], out=times[:, 1:])
        cost += times @ _REPEATED
        cost += (signs @ (2 * self._signs * _SIGNS) + signs**2 @ _SIGNS) / (self._items + _FEW)
        gain = _WORTH + proposals.gain[rows] - cost
        if len(items) == 2:
            place = gain.argmax()
            return int(items[0] + place) if gain[place] > self._least else -1
        begin = np.array(items[:-1]) - items[0]
        most = np.maximum.reduceat(gain, begin)
        equal = np.flatnonzero(gain == np.repeat(most, np.diff(items)))
        return np.where(most > self._least, items[0] + equal[np.searchsorted(equal, begin)], -1)

    def _tells(self, proposals: RatedProposals, own: slice) -> float:
        """1 if the runs of all other items take the contrast with the `own` runs for one, 0 if they take the caption;
        else .5."""
        runs = proposals.runs[own]
        return float(np.sign(self._net[runs] / (self._size[runs] + _SMOOTHED) @ proposals.changes[own]) + 1) / 2

    def weigh(self) -> None:
        """Weighs a family of runs, and common runs, more where they are less even than chance, less where more."""
        share_told, self._captions_told, self._sweeps = self._captions_told / max(1, self._items), 0.0, self._sweeps + 1
        if self._sweeps > _SETTLED:
            self._chance *= min(1.07, max(0.93, exp(_FOLLOWS * (_TOLD - share_told))))
        often = self._size > 1
        size, families = self._size[often], self._families[often]
        uneven = np.bincount(families, self._net[often] ** 2 / (size + _SMOOTHED), _FAMILIES)
        by_chance = np.bincount(families, size / (size + _SMOOTHED), _FAMILIES)
        ratio = (uneven + _FEW_RUNS) / (self._chance * by_chance + _FEW_RUNS)
        self._weights *= ratio.clip(0.2, 5.0) ** 2
        common = self._size >= _COMMON
        unevenness = (self._net[common] ** 2 / self._size[common] + 1) / 2
        self._own_weights[common] = np.maximum(1, self._own_weights[common] * np.sqrt(unevenness).clip(0.7, 2.0))
        self._weight_of_run = self._weights[self._families] * self._own_weights


def _chosen_rows(rows: NDArray[np.int64]) -> list[int]:
    return [row for row in rows.tolist() if row >= 0]


def _uneven(net: NDArray[np.float64], size: NDArray[np.float64]) -> NDArray[np.float64]:
    """The unevenness of runs, 0 as chance would have it: of `size` times, contrasts have `net` more than captions."""
    return (net**2 - size) / (size + _SMOOTHED)


@lru_cache(1 << 16)
def _slot_of_run(run: Run) -> int:
    return int(run[0]) * _SLOTS + crc32(run[1:].encode("utf-8", "surrogatepass")) % _SLOTS


def _slot_of_name(name: Name) -> int:
    return crc32("\t".join(name).encode("utf-8", "surrogatepass")) % _SLOTS


def _as_numbers(
    proposals: Mapping[str, Sequence[Proposal]],
    seed: int,
    target: Target,
    number_of_run: Callable[[Run], int],
    number_of_name: Callable[[Name], int],
) -> RatedProposals:
    """The proposals as numbers; `number_of_run, number_of_name` are asked in the order of the clips' ids."""
    order = sorted(clip for clip, own in proposals.items() if own)
    rows_of = {clip: _rows(proposals[clip], number_of_run, number_of_name) for clip in order}
    stream(seed, "contrast-select", target).shuffle(order)
    rows = [row for clip in order for row in rows_of[clip]]
    places, probabilities, word_losses, names, signs, runs, changes = zip(*rows, strict=True) if rows else [()] * 7
    odds = np.array(probabilities).clip(0.01, 0.99)
    return RatedProposals(
        order,
        items=np.cumsum([0, *(len(rows_of[clip]) for clip in order)]),
        places=np.array(places, dtype=int),
        gain=_GAIN * (np.log(odds / (1 - odds)) - _REMOVED * np.array(word_losses, dtype=float)),
        names=np.array(names, dtype=int).reshape(-1, 3),
        signs=np.sign(np.array(signs, dtype=float)).astype(np.int8).reshape(-1, 3),
        first=np.cumsum([0, *map(len, runs)]),
        runs=np.array(list(chain.from_iterable(runs)), dtype=int),
        changes=np.array(list(chain.from_iterable(changes)), dtype=np.int32),
    )


def _rows(
    proposals: Sequence[Proposal], number_of_run: Callable[[Run], int], number_of_name: Callable[[Name], int]
) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for place in _varied_places(proposals):
        item = proposals[place]
        changes = _changes(item)
        old, new = item.old.lower().split(), item.new.lower().split()
        pair, new_name, old_name = (item.unit, item.other), ("put in", item.other, ""), ("replaced", item.unit, "")
        run_change = item.features.get("run change", 0.0)
        signs = (len(new) - len(old), len(item.new) - len(item.old), run_change)
        names = (number_of_name(pair), number_of_name(new_name), number_of_name(old_name))
        runs = list(map(number_of_run, changes))
        word_loss = (Counter(old) - Counter(new)).total() - 2 if len(old) > 2 else 0
        rows.append((place, item.probability, max(0, word_loss), names, signs, runs, list(changes.values())))
    return rows


def _changes(proposal: Proposal) -> dict[Run, int]:
    """The count of each run in the contrast less that in the caption, where they differ."""
    around = _around(proposal.caption, proposal.start, proposal.start + len(proposal.old))
    new, old = _runs(*around, proposal.new.lower(), 1), _runs(*around, proposal.old.lower(), -1)
    changes = new | old
    for run in new.keys() & old.keys():
        changes[run] = new[run] + old[run]
        if not changes[run]:
            del changes[run]
    return changes or {"0": 0}


@lru_cache(1_000)
def _around(caption: str, start: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The two words before and behind a part of a caption."""
    before, after = caption[:start].lower().rsplit(None, 2)[-2:], caption[end:].lower().split(None, 2)[:2]
    return tuple(["<", *before][-2:]), tuple([*after, ">"][:2])


@lru_cache(10_000)
def _runs(before: tuple[str, ...], after: tuple[str, ...], part: str, sign: int) -> dict[Run, int]:
    """How often each run of words, and of the letters of words, that has a part in `part` stands there; signed."""
    own = part.split()
    near, words = [*before[-1:], *own, *after[:1]], [*before, *own, *after]
    runs = [f"0{word}" for word in own]
    runs += [f"1{first} {second}" for first, second in pairwise(near)]
    runs += [f"2{first} {second} {third}" for first, second, third in zip(words, words[1:], words[2:], strict=False)]
    runs += chain.from_iterable(map(_letters, own))
    return {run: sign * times for run, times in Counter(runs).items()}


@lru_cache(10_000)
def _letters(word: str) -> tuple[Run, ...]:
    """The runs of three letters of a word, of which the last may be cut short."""
    return tuple("3" + f" {word} "[at : at + 3] for at in range(len(word)))


class Variety(NamedTuple):
    """The variety of a set of choices."""

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
