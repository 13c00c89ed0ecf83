"""Which contrast of a clip is taken: no caption of the clip says it, and over the set texts alone do not tell.

Every unit ("red", "dog chase cat") shall stand as often in what replaces as in what is replaced: a model that sees only
captions then has nothing to count. Items that cannot be evened are left out.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.perturbations.contrast.kinds.contrast import Contrast
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.seeds import stream

SWEEPS = 12


@dataclass(frozen=True, slots=True)
class Proposed:
    """A contrast of one caption of a clip, by its number."""

    index: int
    contrast: Contrast


def proposals(
    kind: str, sentences: Sequence[Sentence], lexicon: Lexicon, others: Sequence[Sentence] = ()
) -> list[Proposed]:
    """The contrasts of a clip that none of its captions speaks for.

    Args:
        kind: of `RULES`.
        sentences: captions that may be contrasted.
        lexicon: of the package.
        others: further true captions of the clip.
    """
    rule = RULES[kind]
    of_caption = [rule(sentence, lexicon) for sentence in (*sentences, *others)]
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
    """One contrast a clip, for as many clips as can be evened.

    Args:
        proposed: clip id -> its contrasts.
        seed: of the order in which clips choose.
        kind: names the random stream, beside the seed.

    Returns:
        Clip id -> the contrast, in the order of `proposed`. No unit replaces much oftener than it is replaced.
    """
    order = sorted(clip for clip, options in proposed.items() if options)
    rng = stream(seed, "kinds-choose", kind)
    rng.shuffle(order)
    options = {clip: [proposed[clip][int(n)] for n in rng.permutation(len(proposed[clip]))] for clip in order}
    net: Counter[str] = Counter()  # how much oftener a unit replaces than it is replaced
    chosen: dict[str, Proposed] = {}
    for sweep in range(SWEEPS):
        changed = False
        for clip in order:
            before = chosen.pop(clip, None)
            _count(net, before, -1)
            best = min(options[clip], key=lambda option: _gain(net, option))
            after = best if sweep == 0 or _gain(net, best) <= 0 else None
            _count(net, after, 1)
            if after is not None:
                chosen[clip] = after
            changed |= after is not before
        if not changed:
            break
    return {clip: chosen[clip] for clip in proposed if clip in chosen}


def _gain(net: Counter[str], option: Proposed) -> int:
    """How much oftener than the old unit the new one replaces already: above 0, one more makes the set less even."""
    return net[option.contrast.other] - net[option.contrast.unit]


def _count(net: Counter[str], option: Proposed | None, times: int) -> None:
    if option is not None:
        net[option.contrast.other] += times
        net[option.contrast.unit] -= times
