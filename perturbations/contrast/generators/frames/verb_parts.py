"""What is measured of a verb contrast; the score is made of it (`quality`)."""

from math import log

from video_contrast.perturbations.contrast.generators.frames.actions import LIGHT, Action
from video_contrast.perturbations.contrast.generators.frames.fluency import Fluency, without_marks
from video_contrast.perturbations.contrast.generators.frames.groups import SPEECH, exclusive
from video_contrast.perturbations.contrast.generators.frames.reading import ReadClip, Reading
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
        words = without_marks(reading.words)
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
            **self.fluency.change(reading.words, action.place, len(action.unit.split(" ")), new.split(" ")),
            "hidden": -log(lifts.hidden(other.verb)),
            "own_hidden": -log(lifts.hidden(action.verb)),
            "said": log((clip.verbs[action.verb] + 1) / (len(clip.readings) + 1)),
            "exclusive": float(exclusive(action.verb, other.verb)),
            "antonym": float(other.antonym),
            "speech": -float(action.verb in SPEECH) - float(other.verb in SPEECH),
            "words": float(len(words)),
            "others": -float(len([verb for verb in action.company if verb not in LIGHT])),
            "plain": self.fluency.plain(tuple(words)),
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
        siblings = -lifts.mean_log_lift(clip.verbs, other.verb, len(clip.readings)) if known else 0.0
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
