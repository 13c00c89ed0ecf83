"""Which of a clip's contrasts is taken: a good one, so chosen that texts alone do not tell which caption is true.

The choice is adversarial inside each item, no item is thrown away: over the whole set, every word, pair and triple of
words (and every three letters of them) should stand as often in what replaces as in what is replaced; as many edits
should become more fluent, or longer, as less (also by a model of the chosen captions themselves); and captions should
be as long as the set's own are on average. One item after another takes the proposal that serves this best, weighed
against its score, until nothing changes. Only steps of recipes, which leave no choice, are evened by leaving some out.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf, log
from typing import Literal

from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal
from video_contrast.perturbations.contrast.generators.frames.quality import Quality
from video_contrast.seeds import stream

SWEEPS = 8
KEPT = 30  # proposals of an item that take part, best first
# What unevenness of runs of one, two, three words costs, and (4) of three letters; verbs leave more choices.
_GRAMS = {"verb": {1: 8.0, 2: 3.0, 3: 0.75, 4: 2.0}, "object": {1: 3.0, 2: 0.8, 3: 0.3, 4: 0.0}}
# Things with many choices would become even to the last word, which tells again: what replaces in one item is then what
# is replaced in the others. From so many proposals an item on, but not at "high", unevenness costs `_LESS` of it.
_MANY = {"object": 6.0}
_LESS = 0.5
_PENALTY = {"signs": 12.0, "length": 14.0}
_SCORE = 0.5  # what a unit of score weighs
_SMOOTH = 1.0
_UNEVEN = 0.8  # how much less uneven the words become by leaving a step out; a set made even to the last tells again
_PAIRS = 0.7  # weight of pairs of words against single words


@dataclass(frozen=True, slots=True)
class _Option:
    proposal: Proposal
    delta: tuple[tuple[tuple[str, ...], int], ...]  # n-gram -> +1 in the contrast, -1 in the caption
    signs: tuple[float, ...]  # fluency by one, two, three words, number of words, of characters: against the caption
    words: int


def choose(
    proposals: Mapping[str, Sequence[Proposal]],
    *,
    seed: int = 0,
    words: float | None = None,
    purpose: Literal["verb", "object"] = "verb",
    quality: Quality = "balanced",
) -> dict[str, Proposal]:
    """One proposal of each clip.

    Args:
        proposals: clip id -> its proposals, best first; clips without any fall out.
        seed: of the order in which items choose.
        words: mean number of words of the set's own captions; None leaves the length alone.
        purpose: what is replaced; names the random stream, beside the seed.
        quality: of the proposals.

    Returns:
        Clip id -> the chosen proposal, in the order of `proposals`.
    """
    options = {clip: _options(listed) for clip, listed in proposals.items() if listed}
    if not options:
        return {}
    order = sorted(options)
    stream(seed, "frames-choose", purpose).shuffle(order)
    many = quality != "high" and sum(map(len, options.values())) > _MANY.get(purpose, inf) * len(options)
    state = _Balance(words, {n: cost * _LESS if many else cost for n, cost in _GRAMS[purpose].items()})
    picks: dict[str, _Option] = {}
    for clip in order:
        picks[clip] = state.best(options[clip])
        state.add(picks[clip], 1)
    for _ in range(SWEEPS):
        changed = 0
        state.hear(options, picks)
        for clip in order:
            if len(options[clip]) == 1:
                continue
            state.add(picks[clip], -1)
            best = state.best(options[clip])
            changed += best is not picks[clip]
            picks[clip] = best
            state.add(best, 1)
        if not changed:
            break
    return {clip: picks[clip].proposal for clip in options}


def even(by_clip: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Without those steps of recipes by which a word of the set replaces oftener, or more rarely, than it is replaced.

    Args:
        by_clip: clip id -> its proposal; all but steps stay.
    """
    left = dict(by_clip)
    steps = sorted((p for p in by_clip.values() if p.parts.get("step")), key=lambda p: (p.score, p.clip))
    net: Counter[str] = Counter()
    size: Counter[str] = Counter()
    for proposal in by_clip.values():
        net.update(_net(proposal))
        size.update(f"{proposal.new} {proposal.old}".lower().split())
    while steps:
        gains = [_less_uneven(net, size, step) for step in steps]
        most = max(gains)
        if most < _UNEVEN:
            break
        step = steps.pop(gains.index(most))
        net.subtract(_net(step))
        size.subtract(f"{step.new} {step.old}".lower().split())
        del left[step.clip]
    return left


def _net(proposal: Proposal) -> Counter[str]:
    """How much oftener each word stands in what replaces than in what is replaced."""
    words = Counter(proposal.new.lower().split())
    words.subtract(proposal.old.lower().split())
    return words


def _less_uneven(net: Mapping[str, int], size: Mapping[str, int], step: Proposal) -> float:
    """How much less uneven words are if a step is left out: squares of what each gains, over how often it stands."""
    less = 0.0
    for word, n in _net(step).items():
        now, left = size[word], size[word] - abs(n)
        less += net[word] ** 2 / now - ((net[word] - n) ** 2 / left if left else 0.0)
    return less


class _Balance:
    """Sums over the chosen options, and what one more would cost."""

    def __init__(self, words: float | None, grams: Mapping[int, float]) -> None:
        self._grams = grams
        self._sum: dict[tuple[str, ...], int] = defaultdict(int)
        self._size: dict[tuple[str, ...], int] = defaultdict(int)
        self._signs = [0.0] * 5
        self._own: dict[int, float] = {}  # sign of an option by a model of the chosen captions
        self._own_sum = 0.0
        self._items = 0
        self._words = 0.0
        self._target = words

    def add(self, option: _Option, times: int) -> None:
        for gram, delta in option.delta:
            self._sum[gram] += times * delta
            self._size[gram] += times * abs(delta)
        for place, sign in enumerate(option.signs):
            self._signs[place] += times * sign
        self._own_sum += times * self._own.get(id(option), 0.0)
        self._items += times
        self._words += times * option.words

    def hear(self, options: Mapping[str, Sequence[_Option]], picks: Mapping[str, _Option]) -> None:
        """Has a model of the chosen captions say of every option whether its contrast is likelier."""
        model = _OwnWords(picks[clip].proposal.caption for clip in options)
        for clip, listed in options.items():
            own = picks[clip].proposal.caption
            for option in listed:
                text, caption = option.proposal.text, option.proposal.caption
                self._own[id(option)] = _sign(model.mean(text, own) - model.mean(caption, own))
        self._own_sum = sum(self._own[id(option)] for option in picks.values())

    def best(self, options: Sequence[_Option]) -> _Option:
        """The option of the least cost; the first of equals."""
        return min(options, key=self._cost)

    def _cost(self, option: _Option) -> float:
        cost = -_SCORE * option.proposal.score
        for gram, delta in option.delta:
            now, size = self._sum[gram], self._size[gram]
            cost += self._grams[len(gram)] * (
                (now + delta) ** 2 / (size + abs(delta) + _SMOOTH) - now**2 / (size + _SMOOTH)
            )
        items = self._items + 1
        for now_sign, sign in zip(self._signs, option.signs, strict=True):
            cost += _PENALTY["signs"] * ((now_sign + sign) ** 2 - now_sign**2) / items
        own = self._own.get(id(option), 0.0)
        cost += _PENALTY["signs"] * ((self._own_sum + own) ** 2 - self._own_sum**2) / items
        if self._target is not None:
            now_words, off = self._words - self._target * self._items, option.words - self._target
            cost += _PENALTY["length"] * ((now_words + off) ** 2 - now_words**2) / items / self._target
        return cost


class _OwnWords:
    """A bigram model of some captions, by linear interpolation; each judges as if its own clip were not there."""

    def __init__(self, captions: Iterable[str]) -> None:
        self._one: Counter[str] = Counter()
        self._two: Counter[tuple[str, str]] = Counter()
        for caption in captions:
            words = _padded(caption)
            self._one.update(words)
            self._two.update(pairwise(words))
        self._total = sum(self._one.values())

    def mean(self, text: str, without: str) -> float:
        """Mean log-probability of a text's words, after a caption is taken out of the counts."""
        gone = _padded(without)
        single_gone, pair_gone = Counter(gone), Counter(pairwise(gone))
        words = _padded(text)
        logs = 0.0
        for first, word in pairwise(words):
            single = (self._one[word] - single_gone[word] + 0.5) / (
                self._total - len(gone) + 0.5 * (len(self._one) + 1)
            )
            before = self._one[first] - single_gone[first]
            pair = (self._two[first, word] - pair_gone[first, word]) / before if before else single
            logs += log(_PAIRS * pair + (1 - _PAIRS) * single)
        return logs / (len(words) - 1)


def _padded(text: str) -> list[str]:
    return ["<", *text.lower().split(), ">"]


def _options(proposals: Sequence[Proposal]) -> list[_Option]:
    """The best proposals, with several captions and several replacements among them."""
    diverse: list[Proposal] = []
    by_other: Counter[str] = Counter()
    for proposal in proposals:
        if by_other[proposal.other] < 4:
            diverse.append(proposal)
            by_other[proposal.other] += 1
    return [_option(proposal) for proposal in diverse[:KEPT]]


def _option(proposal: Proposal) -> _Option:
    before, after = (_grams(text) for text in (proposal.caption, proposal.text))
    delta = Counter(after)
    delta.subtract(before)
    old, new = proposal.caption.split(), proposal.text.split()
    parts = proposal.parts
    return _Option(
        proposal,
        tuple(sorted((gram, n) for gram, n in delta.items() if n)),
        (
            _sign(parts.get("words_mean", 0.0)),
            _sign(parts.get("pairs_mean", 0.0)),
            _sign(parts.get("fluency_mean", 0.0)),
            _sign(len(new) - len(old)),
            _sign(len(proposal.text) - len(proposal.caption)),
        ),
        len(old),
    )


def _grams(text: str) -> Counter[tuple[str, ...]]:
    words = _padded(text)
    runs = Counter(tuple(words[at : at + n]) for n in (1, 2, 3) for at in range(len(words) - n + 1))
    runs.update(("", "", "", f" {word} "[at : at + 3]) for word in words for at in range(len(word)))
    return runs


def _sign(value: float) -> float:
    return float(value > 0) - float(value < 0)
