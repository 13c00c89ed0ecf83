"""Which contrast of a clip is taken: no caption of the clip says it, and over the set texts alone do not tell.

Every run of one to three words shall be put in as often as it is taken out: a model that sees only captions then has
nothing to count. Clips are not matched one to one, since a set that is even to the last item tells too: what a model
saw put in, it knows to be taken out of the rest. Each clip draws by itself, with probabilities that are even together.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.contrast.unfit_caption import unfit
from video_contrast.perturbations.english import Sentence
from video_contrast.seeds import Streams

STEPS = 400
_RATE = 0.5
_NONE = 0.02  # weight of leaving a clip out, against 1 of a contrast
_CHANCE = 1.0  # unevenness that stays, in standard deviations of a fair coin: less than chance tells as well
_SEEN = 6  # contrasts in which a run of words must change before it is evened: rarer ones teach nothing


@dataclass(frozen=True, slots=True)
class Proposed:
    """A contrast of one caption of a clip, by its number."""

    index: int
    contrast: Contrast


def proposals(
    kind: str, sentences: Sequence[Sentence], lexicon: Lexicon, others: Sequence[Sentence] = ()
) -> list[Proposed]:
    """The contrasts of a clip that none of its captions speaks for.

    `kind`: of `RULES`. `others`: further true captions of the clip.
    """
    rule = RULES[kind]
    of_caption = [[] if unfit(s.caption) else rule(s, lexicon) for s in (*sentences, *others)]
    texts = [" ".join(["", *(f"{w.text} {w.lemma}" for w in s.words), ""]) for s in (*sentences, *others)]
    claims = [{contrast.unit for contrast in contrasts} for contrasts in of_caption]
    out = []
    for index in range(len(sentences)):
        for contrast in of_caption[index]:
            other = contrast.other
            rest = [n for n in range(len(texts)) if n != index]
            if not any(other in claims[n] or f" {other} " in texts[n] for n in rest):
                out.append(Proposed(index, contrast))
    return out


def choose(proposed: Mapping[str, Sequence[Proposed]], *, seed: int = 0, kind: str = "") -> dict[str, Proposed]:
    """One contrast a clip, for as many clips as can be evened: clip id -> the contrast, in the order of `proposed`.

    Args:
        proposed: clip id -> its contrasts.
        seed, kind: name the random stream.
    """
    clips = sorted(clip for clip, options in proposed.items() if options)
    options = [(number, option) for number, clip in enumerate(clips) for option in proposed[clip]]
    if not options:
        return {}
    owner = np.array([number for number, _ in options])
    probability = _even(owner, len(clips), [_changes(option.contrast) for _, option in options])
    streams = Streams()
    drawn: dict[str, Proposed] = {}
    for number, clip in enumerate(clips):
        mine = np.flatnonzero(owner == number)
        at = np.searchsorted(np.cumsum(probability[mine]), streams.at(seed, "kinds-choose", kind, clip).random())
        if at < len(mine):
            drawn[clip] = options[mine[at]][1]
    return {clip: drawn[clip] for clip in proposed if clip in drawn}


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
    """The probability of each option, such that of every feature as much is put in as is taken out.

    Dual ascent: a feature that is put in too often makes its options less likely, step by step. `owner`: the clip of
    each option, ascending.
    """
    seen = Counter(feature for change in changes for feature, n in change.items() if n)
    number = {feature: at for at, feature in enumerate(sorted(f for f, n in seen.items() if n >= _SEEN))}
    cells = [
        (row, number[feature], n) for row, change in enumerate(changes) for feature, n in change.items()
        if n and feature in number
    ]  # fmt: skip
    if not cells:
        return np.full(len(owner), 1.0) / np.bincount(owner, minlength=clips)[owner]
    rows, columns, signs = (np.array(column) for column in zip(*cells, strict=True))
    price = np.zeros(len(number))
    probability = np.empty(len(owner))
    for _ in range(STEPS):
        weight = np.exp(-np.bincount(rows, price[columns] * signs, len(owner)).clip(-25.0, 25.0))
        total = np.bincount(owner, weight, clips) + _NONE
        probability = weight / total[owner]
        moved = probability[rows]
        net = np.bincount(columns, moved * signs, len(number))
        size = np.bincount(columns, moved * np.abs(signs), len(number))
        beyond = np.sign(net) * np.maximum(np.abs(net) - _CHANCE * np.sqrt(size), 0.0)
        price += _RATE * beyond / (size + 1.0)
    return probability
