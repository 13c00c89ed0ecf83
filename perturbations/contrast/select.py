"""Which of a clip's contrasts is taken: a good one, and over the whole set varied ones that texts alone do not tell.

Every item earns the log-odds of its probability. Against that stand costs that grow with each repetition: of the pair
old -> new, of the words that are put in and of the word that is replaced; of words, pairs and triples of words and runs
of letters that stand oftener in what replaces than in what is replaced; of edits that all lengthen, shorten, or make
usual. One item after another takes the proposal that adds most, until nothing changes; an item that would add less than
nothing is left out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

from video_contrast.perturbations.contrast.proposal import Kind, Proposal
from video_contrast.seeds import stream

_SWEEPS = 6
_KEPT = 24  # proposals of an item that take part, best first
_WORTH = 12.0  # of an item, which its costs may use up
_REPEATED = {"pair": 1.0, "new": 0.15, "old": 0.05}  # cost of each further time, and the next one costs more
# Cost of unevenness of runs of one, two, three words, and (4) of three letters. Things leave more choices than verbs:
# evened to the last word they would tell again, since what replaces in one item is then what is replaced in the others.
_UNEVEN = {"verb": {1: 5.0, 2: 1.8, 3: 0.4, 4: 3.6}, "object": {1: 1.3, 2: 0.45, 3: 0.1, 4: 0.12}}
_FREE = 2.0  # by which a run may stand oftener on one side at no cost
_SIGNS = 6.0
_FEW = 20  # items by which signs are smoothed: few items cannot be even


@dataclass(frozen=True, slots=True)
class _RatedProposal:
    """A proposal with what it adds by itself, and by what it makes the set uneven."""

    proposal: Proposal
    gain: float
    delta: tuple[tuple[str, int, float], ...]  # run, +1 in the contrast or -1 in the caption, weight
    repeated: tuple[tuple[str, float], ...]  # what is repeated, cost
    signs: tuple[float, ...]  # longer in words, in characters, more usual


def select(
    proposals: Mapping[str, Sequence[Proposal]], *, seed: int = 0, kind: Kind = "verb"
) -> tuple[dict[str, Proposal], list[str]]:
    """One proposal of each clip that has any.

    Args:
        proposals: clip id -> its proposals, best first.
        seed: of the order in which items choose.
        kind: what is replaced; names the random stream, beside the seed.

    Returns:
        Clip id -> the chosen proposal, in the order of `proposals`; and the ids of the clips that are left out, since
        each of their contrasts would tell a reader of texts alone which caption is true.
    """
    rated = {
        clip: [_rated(proposal, _UNEVEN[kind]) for proposal in _varied(listed)]
        for clip, listed in proposals.items()
        if listed
    }
    order = sorted(rated)
    stream(seed, "contrast-select", kind).shuffle(order)
    balance = _Balance()
    choice_of: dict[str, _RatedProposal | None] = {}
    for clip in order:
        choice_of[clip] = balance.best(rated[clip])
        balance.add(choice_of[clip], 1)
    for _ in range(_SWEEPS):
        changed = 0
        for clip in order:
            balance.add(choice_of[clip], -1)
            best = balance.best(rated[clip])
            changed += best is not choice_of[clip]
            choice_of[clip] = best
            balance.add(best, 1)
        if not changed:
            break
    chosen = {clip: choice.proposal for clip in rated if (choice := choice_of[clip]) is not None}
    return chosen, [clip for clip in rated if choice_of[clip] is None]


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


class _Balance:
    """Sums over the chosen proposals, and what one more would add."""

    def __init__(self) -> None:
        self._sum: dict[str, int] = defaultdict(int)
        self._size: dict[str, int] = defaultdict(int)
        self._times: Counter[str] = Counter()
        self._signs = [0.0, 0.0, 0.0]
        self._items = 0

    def add(self, proposal: _RatedProposal | None, times: int) -> None:
        if proposal is None:
            return
        for run, delta, _ in proposal.delta:
            self._sum[run] += times * delta
            self._size[run] += times * abs(delta)
        for name, _ in proposal.repeated:
            self._times[name] += times
        for place, sign in enumerate(proposal.signs):
            self._signs[place] += times * sign
        self._items += times

    def best(self, rated: Sequence[_RatedProposal]) -> _RatedProposal | None:
        """The proposal that adds most, the first of equals; None if none adds anything."""
        gain, place = max((self._gain(proposal), -place) for place, proposal in enumerate(rated))
        return rated[-place] if gain > 0 else None

    def _gain(self, proposal: _RatedProposal) -> float:
        gain = _WORTH + proposal.gain
        for run, delta, weight in proposal.delta:
            now, size = self._sum[run], self._size[run]
            after = max(abs(now + delta) - _FREE, 0.0)
            before = max(abs(now) - _FREE, 0.0)
            gain -= weight * (after * after / (size + abs(delta)) - (before * before / size if size else 0.0))
        for name, cost in proposal.repeated:
            gain -= cost * self._times[name] ** 0.5 if name[0] != "p" else cost * self._times[name]
        items = self._items + _FEW
        for now_sign, sign in zip(self._signs, proposal.signs, strict=True):
            gain -= _SIGNS * ((now_sign + sign) ** 2 - now_sign**2) / items
        return gain


def _rated(proposal: Proposal, uneven: Mapping[int, float]) -> _RatedProposal:
    delta = Counter(_runs(proposal.text))
    delta.subtract(_runs(proposal.caption))
    listed = tuple((run, n, uneven[int(run[0])]) for run, n in sorted(delta.items()) if n)
    old, new = proposal.unit, proposal.other
    names = {"pair": f"p {old}>{new}", "new": f"n {new}", "old": f"o {old}"}
    probability = min(max(proposal.probability, 0.01), 0.99)
    return _RatedProposal(
        proposal,
        log(probability / (1 - probability)),
        listed,
        tuple((names[name], cost) for name, cost in _REPEATED.items()),
        (
            _sign(len(proposal.text.split()) - len(proposal.caption.split())),
            _sign(len(proposal.text) - len(proposal.caption)),
            _sign(proposal.features.get("run change", 0.0)),
        ),
    )


def _runs(text: str) -> Counter[str]:
    """Runs of words and letters, each named by its kind."""
    words = ["<", *text.lower().split(), ">"]
    runs = Counter(f"{n} {' '.join(words[at : at + n])}" for n in (1, 2, 3) for at in range(len(words) - n + 1))
    runs.update(f"4 {f' {word} '[at : at + 3]}" for word in words for at in range(len(word)))
    return runs


def _sign(value: float) -> float:
    return float(value > 0) - float(value < 0)


class Variety(NamedTuple):
    """How varied a set of choices is."""

    effective: float  # equally common values that would be as varied: e to the entropy (Hill number of order 1)
    ten_commonest: float  # share of the ten commonest values, 0..1


def variety(values: Iterable[str]) -> Variety:
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
