"""Kinds of contrast made by rules: a file a kind, a line a kind here.

`RULES[kind](sentence, lexicon)` returns every contrast of that kind that a caption allows. A rule refuses where the
caption, or its parse, is not plain. `choose` takes one a clip, so that texts alone do not tell which caption is true.

For that, every run of one to three words shall be put in as often as it is taken out: a model that sees only captions
then has nothing to count. Clips are not matched one to one, since a set that is even to the last item tells too: what a
model saw put in, it knows to be taken out of the rest. Each clip draws by itself, with probabilities that are even
together.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds import attribute, binding, count, direction, order, place, role
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.language import unfit
from video_contrast.seeds import Streams

Rule = Callable[[Sentence, Lexicon], list[Contrast]]
RULES: dict[str, Rule] = {
    "role": role.contrasts,
    "order": order.contrasts,
    "direction": direction.contrasts,
    "count": count.contrasts,
    "attribute": attribute.contrasts,
    "place": place.contrasts,
    "binding": binding.contrasts,
}

__all__ = ["RULES", "Contrast", "Rule"]

_RATE = 0.5
_NONE = 0.02  # weight of leaving a clip out, against 1 of a contrast
_CHANCE = 1.0  # unevenness that stays, in standard deviations of a fair coin: less than chance tells as well
_FEWEST_CONTRASTS = 6  # contrasts in which a run of words must change before it is evened: rarer ones teach nothing


@dataclass(frozen=True, slots=True)
class Candidate:
    """A contrast of one caption of a clip, by its number."""

    index: int
    contrast: Contrast


def proposals(
    kind: str, sentences: Sequence[Sentence], lexicon: Lexicon, others: Sequence[Sentence] = ()
) -> list[Candidate]:
    """The contrasts of a clip that none of its captions speaks for.

    `kind`: of `RULES`. `others`: further true captions of the clip.
    """
    rule = RULES[kind]
    of_caption = [[] if unfit(s.caption) else rule(s, lexicon) for s in (*sentences, *others)]
    texts = [" ".join(["", *(f"{w.text} {w.lemma}" for w in s.words), ""]) for s in (*sentences, *others)]
    claims = [{contrast.unit for contrast in contrasts} for contrasts in of_caption]
    out = []
    for index, contrasts in enumerate(of_caption[: len(sentences)]):
        rest = [n for n in range(len(texts)) if n != index]
        for contrast in contrasts:
            if not any(contrast.other in claims[n] or f" {contrast.other} " in texts[n] for n in rest):
                out.append(Candidate(index, contrast))
    return out


def choose(proposals: Mapping[str, Sequence[Candidate]], *, seed: int = 0, kind: str = "") -> dict[str, Candidate]:
    """One contrast a clip, for as many clips as can be evened: clip id -> the contrast, in the order of `proposals`.

    Args:
        proposals: clip id -> its contrasts.
        seed, kind: name the random stream.
    """
    clips = sorted(clip for clip, options in proposals.items() if options)
    options = [(number, option) for number, clip in enumerate(clips) for option in proposals[clip]]
    if not options:
        return {}
    owner = np.array([number for number, _ in options])
    probability = _even(owner, len(clips), [_changes(option.contrast) for _, option in options])
    streams = Streams()
    choices: dict[str, Candidate] = {}
    for number, clip in enumerate(clips):
        mine = np.flatnonzero(owner == number)
        at = np.searchsorted(np.cumsum(probability[mine]), streams.at(seed, "kinds-choose", kind, clip).random())
        if at < len(mine):
            choices[clip] = options[mine[at]][1]
    return {clip: choices[clip] for clip in proposals if clip in choices}


def _changes(contrast: Contrast) -> Counter[str]:
    """Runs of one to three words: how much oftener each stands in the contrast than in the caption."""
    end = contrast.start + len(contrast.new)
    before, after = contrast.text[: contrast.start], contrast.text[end:]
    net: Counter[str] = Counter()
    for text, sign in ((contrast.text, 1), (before + contrast.old + after, -1)):
        words = ["<", *text.lower().split(), ">"]
        runs = (" ".join(words[at : at + size]) for size in (1, 2, 3) for at in range(len(words) - size + 1))
        for feature in (*runs, *["" for _ in words]):  # "" counts words
            net[feature] += sign
    return net


def _even(owner: NDArray[np.int64], clips: int, changes: Sequence[Counter[str]]) -> NDArray[np.float64]:
    """`even` for one contrast a clip: of every feature that is frequent enough as much is put in as is taken out."""
    times = Counter(feature for change in changes for feature, n in change.items() if n)
    number = {feature: at for at, feature in enumerate(sorted(f for f, n in times.items() if n >= _FEWEST_CONTRASTS))}
    cells = [
        (row, number[feature], n) for row, change in enumerate(changes) for feature, n in change.items()
        if n and feature in number
    ]  # fmt: skip
    if not cells:
        return np.full(len(owner), 1.0) / np.bincount(owner, minlength=clips)[owner]
    return even(owner, np.ones(len(owner)), np.full(clips, _NONE), cells, np.full(len(number), _CHANCE))


def even(
    owner: NDArray[np.int64], weight: NDArray[np.float64], none: NDArray[np.float64],
    cells: Sequence[tuple[int, int, int]], slack: NDArray[np.float64], steps: int = 400,
) -> NDArray[np.float64]:  # fmt: skip
    """The probability of each option, such that of every feature as much is put in as is taken out.

    Dual ascent: a feature that is put in too often makes its options less likely, step by step. `owner`: the place of
    each option, ascending. `weight`: its odds, `none`: those of leaving a place empty. `cells`: number of an option and
    of a feature, and how much oftener it holds that than what it replaces. `slack`: of each feature, the unevenness
    that stays, in standard deviations of a fair coin.
    """
    rows, columns, signs = np.array(cells, np.int64).reshape(-1, 3).T
    price = np.zeros(len(slack))
    probability = np.empty(len(owner))
    for _ in range(steps):
        odds = weight * np.exp(-np.bincount(rows, price[columns] * signs, len(owner)).clip(-25.0, 25.0))
        probability = odds / (np.bincount(owner, odds, len(none)) + none)[owner]
        expected_changes = probability[rows] * signs
        net = np.bincount(columns, expected_changes, len(slack))
        size = np.bincount(columns, np.abs(expected_changes), len(slack))
        price += _RATE * np.sign(net) * np.maximum(np.abs(net) - slack * np.sqrt(size), 0.0) / (size + 1.0)
    return probability
