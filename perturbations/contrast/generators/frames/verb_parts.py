"""What is measured of a verb contrast; the score is made of it (`quality`)."""

from collections import Counter
from functools import lru_cache
from math import log

from video_contrast.perturbations.contrast.generators.frames.actions import LIGHT, Action
from video_contrast.perturbations.contrast.generators.frames.clip import ReadClip
from video_contrast.perturbations.contrast.generators.frames.fluency import Fluency
from video_contrast.perturbations.contrast.generators.frames.groups import SPEECH, exclusive
from video_contrast.perturbations.contrast.generators.frames.reading import Reading
from video_contrast.perturbations.contrast.generators.frames.together import Together
from video_contrast.perturbations.contrast.generators.frames.verb_fits import VerbFits, VerbSwap
from video_contrast.perturbations.contrast.generators.frames.verb_index import VerbIndex


class VerbParts:
    """Measures verb contrasts. Args: the index of the counts, the rules of wording, what can be true together."""

    def __init__(self, index: VerbIndex, fits: VerbFits, together: Together) -> None:
        self.counts = index.counts
        self.index = index
        self.fits = fits
        self.together = together
        self.fluency = Fluency(index.counts)
        self._plainness = lru_cache(1 << 14)(self._plain_words)

    def _plain_words(self, words: tuple[str, ...]) -> float:
        """Mean log-probability of the caption's own words: how well the caption itself is written."""
        return self.fluency.window(["<", "<"], words, [">"]) / (len(words) + 1)

    def parts(self, clip: ReadClip, reading: Reading, action: Action, other: VerbSwap, new: str) -> dict[str, float]:
        """Returns what the score is made of: logarithms by name, the higher the better.

        Args:
            clip, reading: the clip and the caption.
            action: what is replaced.
            other: what replaces it, and `new` as it stands in the caption.
        """
        lifts, index = self.together, self.index
        noun = action.noun
        total = max(index.noun_total[noun], other.seen_total, 1)
        rare = bool(noun) and not index.by_noun.get(noun, {}).get(other.unit)
        words = [word.text for word in reading.words if word.text not in (".", ",")]
        plain = self._plainness(tuple(words))
        known = plain * (len(words) + 1)
        first = next(n for n, word in enumerate(reading.words) if word.start == action.start)
        offset = sum(word.text in (".", ",") for word in reading.words[:first])
        size = len(action.unit.split(" "))
        padded = ["<", "<", *words, ">", ">"]
        at = first - offset + 2
        fluency = self.fluency
        new_words = new.split(" ")
        old_words = padded[at : at + size]
        after = padded[at + size : at + size + 2]
        new_log = fluency.window(padded[:at], new_words, after)
        old_log = fluency.window(padded[:at], old_words, after)
        single, pair = fluency.pair_change(words, at=at - 2, size=size, new=new_words)
        parts = {
            "seen": log(other.seen),
            "share": log(other.seen_total / total)
            if noun
            else log(max(index.alone[other.unit], 1) / max(index.uses[other.unit], 1)),
            "pmi": log(other.seen_total * index.all_uses / (index.uses[other.unit] * total))
            if noun and not rare
            else 0.0,
            "bare": float(not noun),
            "rare": -float(rare and not other.sure),
            "sure": float(other.sure) * (0.5 if other.antonym else 1.0),
            "subject": self.fits.subject_share(self.fits.subject_key(action), other.phrase)
            if action.subject != "-"
            else -0.5,
            "fluency": new_log / (len(new_words) + 2) - old_log / (size + 2),
            "fluency_sum": new_log - old_log,
            "fluency_mean": (known + new_log - old_log) / (len(words) - size + len(new_words) + 1)
            - known / (len(words) + 1),
            "words_mean": single,
            "pairs_mean": pair,
            "hidden": -log(lifts.hidden(other.verb)),
            "own_hidden": -log(lifts.hidden(action.verb)),
            "said": log((clip.verbs[action.verb] + 1) / (len(clip.readings) + 1)),
            "exclusive": float(exclusive(action.verb, other.verb)),
            "antonym": float(other.antonym),
            "speech": -float(action.verb in SPEECH) - float(other.verb in SPEECH),
            "words": float(len(words)),
            "others": -float(len([verb for verb in action.company if verb not in LIGHT])),
            "plain": plain,
            "tails": -float(len(action.tails)),
            "step": float(action.step),
        }
        return parts | (self._between_steps(action, other) if action.step else self._together(clip, action, other))

    def _together(self, clip: ReadClip, action: Action, other: VerbSwap) -> dict[str, float]:
        """How surely two verbs exclude each other, by what many people say of one video."""
        lifts = self.together
        lift = -lifts.log_lift(action.verb, other.verb)
        # A clip's only caption says no more than the verb itself and its company, which stand for themselves.
        known = clip.captions > 1
        siblings = -sibling_lift(lifts, clip.verbs, other.verb, len(clip.readings)) if known else 0.0
        return {
            "lift": lift,
            "antonym_lift": min(0.0, lift) if other.antonym else 0.0,
            "same_noun": -log(lifts.same_noun(action.noun, action.phrase, other.phrase)) if action.noun else 0.0,
            "siblings": siblings,
            "company": min(
                (lifts.log_lift(other.verb, verb) for verb in action.company if verb not in LIGHT), default=0.0
            ),
        }

    def _between_steps(self, action: Action, other: VerbSwap) -> dict[str, float]:
        """The same by what one step tells to do: the steps of one video follow each other."""
        others = [verb for verb in action.company if verb not in LIGHT]
        return {
            "step_lift": -log(self.index.step_lift(action.verb, other.verb)),
            "step_company": min((log(self.index.step_lift(other.verb, verb)) for verb in others), default=0.0),
        }


def sibling_lift(lifts: Together, own_words: Counter[str], other: str, captions: int) -> float:
    """Returns the mean logarithm of lift between a word and all that the captions say.

    Args:
        lifts: how often words stand together.
        own_words: word -> how many of the captions say it, its weight.
        other: the word.
        captions: how many captions there are.
    """
    total = weight = 0.0
    for word, n in own_words.items():
        if word not in lifts.totals or word == "be":
            continue
        share = n / captions
        total += share * lifts.log_lift(word, other)
        weight += share
    return total / weight if weight else 0.0
