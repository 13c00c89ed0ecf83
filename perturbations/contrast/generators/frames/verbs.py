"""Verb contrasts: the verb with its particle and preposition replaced by one that people say of the same noun."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from math import log
from typing import NamedTuple

from video_contrast.perturbations.contrast.generators.frames.actions import ELASTIC, LIGHT, Action
from video_contrast.perturbations.contrast.generators.frames.clip import ReadClip
from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts
from video_contrast.perturbations.contrast.generators.frames.fluency import Fluency
from video_contrast.perturbations.contrast.generators.frames.groups import (
    ASIDE,
    EMPTY,
    POSTURE,
    SPEECH,
    VAGUE,
    exclusive,
    near,
    opposite,
)
from video_contrast.perturbations.contrast.generators.frames.proposal import Proposal, replaced
from video_contrast.perturbations.contrast.generators.frames.reading import Reading
from video_contrast.perturbations.contrast.generators.frames.together import Together
from video_contrast.perturbations.contrast.generators.frames.verb_index import VerbIndex, phrase_of
from video_contrast.perturbations.language import inflect

SEEN = 2  # videos in which the unit was said of that very noun (rarer entries are not counted)
SUBJECTS = 4  # videos in which such a subject did it without an object
_RARE_SUBJECT = -1.2
LIFT = 0.8  # above, the two verbs go together
SPEECH_LIFT = 0.6
_IDIOMS = frozenset("make do have show look work play come hang find figure".split())  # noqa: SIM905
_PARTICLES = frozenset("up out over off down around away back on".split())  # noqa: SIM905
_SCENE = 12  # verbs that a tail is said with, to be a scene that fits any of them
_PLACES = frozenset("in on at near by outside inside behind under beside along around front next".split())  # noqa: SIM905


class Other(NamedTuple):
    """A unit that could stand in place of an action's own, with its parts."""

    unit: str
    verb: str
    phrase: str
    seen: int
    seen_total: int
    antonym: bool


class VerbContrasts:
    """Proposes verb contrasts by counts.

    Args:
        counts: of frames (`FrameCounts`).
    """

    def __init__(self, counts: FrameCounts) -> None:
        self.counts = counts
        self.index = VerbIndex(counts)
        self.together = Together(counts, "verb")
        self.fluency = Fluency(counts)

    def propose(self, clip: ReadClip) -> tuple[list[Proposal], Counter[str]]:
        """Every eligible edit of every caption (unranked, without a score), and why the rest fell out."""
        found: list[Proposal] = []
        reasons: Counter[str] = Counter()
        for index, reading in enumerate(clip.readings):
            if not reading.actions:
                reasons["no verb"] += 1
            for action in reading.actions:
                if action.fault:
                    reasons[action.fault] += 1
                    continue
                if inflect(action.verb, action.tag) != reading.words[action.place].text:
                    reasons["form not known"] += 1
                    continue
                if action.particle and action.verb in _IDIOMS:
                    reasons["says little"] += 1
                    continue
                if action.noun in EMPTY:
                    reasons["a noun that says nothing"] += 1
                    continue
                if not action.noun and action.preposition:
                    reasons["preposition without a noun"] += 1
                    continue
                if (
                    action.verb in ("show", "display", "feature", "animate", "title", "dress")
                    or "to do" in action.tails
                ):
                    reasons["clause or second object" if "to do" in action.tails else "says little"] += 1
                    continue
                before = len(found)
                why: Counter[str] = Counter()
                for other in self._others(action):
                    reason = self._misfit(clip, reading, action, other)
                    if reason:
                        why[reason] += 1
                        continue
                    found.append(self._proposal(clip, index, reading, action, other))
                if len(found) == before:
                    reasons[why.most_common(1)[0][0] if why else "no other verb known of this noun"] += 1
        return found, reasons

    def _others(self, action: Action) -> Iterator[Other]:
        """Units said of the noun (or said without one), with what they are made of."""
        index = self.index
        if action.noun:
            noun = f"{action.compound} {action.noun}" if action.compound else action.noun
            if index.noun_total[noun] < 12:
                noun = action.noun
            units = index.by_noun.get(noun, {})
        else:
            noun, units = "", index.by_noun.get("", {})
        for unit in units:
            if unit == action.unit:
                continue
            phrase = phrase_of(unit, index.phrases)
            verb = phrase.split(" ")[0]
            same_rest = unit.removeprefix(phrase) == action.unit.removeprefix(action.phrase)
            antonym = opposite(action.unit, unit) or (same_rest and opposite(action.phrase, phrase))
            if verb == action.verb and not antonym:
                continue
            seen, total = index.seen(unit, noun, "passive" if action.context == "passive" else action.determiner)
            yield Other(unit, verb, phrase, seen if noun else total, total, antonym)

    def _misfit(self, clip: ReadClip, reading: Reading, action: Action, other: Other) -> str:
        """Why a unit cannot stand here or may be true; "" if it can and is surely false."""
        return self._unnatural(action, other, reading) or self._perhaps_true(clip, reading, action, other)

    def _unnatural(self, action: Action, other: Other, reading: Reading) -> str:
        counts, index = self.counts, self.index
        if (
            other.verb in LIGHT
            or other.verb in ELASTIC
            or (other.verb in VAGUE and not other.antonym)
            or other.phrase in VAGUE
        ):
            return "says little"
        if other.verb in ASIDE and not other.antonym:
            return "goes with what it replaces"
        if other.verb in _IDIOMS and other.unit.split(" ")[1:2] and other.unit.split(" ")[1] in _PARTICLES:
            return "says little"
        if index.uses[other.unit] < 5:
            return "not seen with this noun"
        if other.seen < SEEN:
            return "not seen with this noun"
        if not action.noun:
            alone = index.alone[other.unit]
            if alone < 10 or alone < 0.25 * index.uses[other.unit]:
                return "needs an object"
            if self._subject(action, f"{other.unit}.") < SUBJECTS:
                return "not seen with this subject"
        if action.context == "passive" and other.unit != other.verb:
            return "needs an object"
        if action.subject != "-" and not self._does(action, other.phrase):
            return "not seen with this subject"
        if (
            action.context in ("infinitive", "order", "noun", "passive")
            and counts.get("context", other.phrase, action.context) < 2
        ):
            return "not seen in such a clause"
        if not all(self._tail_fits(other.phrase, tail) for tail in action.tails):
            return "does not go with what follows"
        if not all(self._loosely_fits(other.phrase, tail) for tail in action.loose):
            return "does not go with what follows"
        for verb in action.company:
            if verb == other.verb:
                return "said in this caption"
            if exclusive(verb, other.verb) or opposite(verb, other.verb):
                return "does not go with the caption's other verb"
            if verb not in LIGHT and not self._goes_along(other.verb, verb):
                return "does not go with the caption's other verb"
        return ""

    def _does(self, action: Action, phrase: str) -> bool:
        """Whether such a subject was seen to do it: often enough, and not by a mistake of the parser now and then."""
        if action.context == "passive":
            return True
        n = self._subject(action, phrase)
        key = action.subject if self.counts.get("subject", action.subject, phrase) == n else self._subject_key(action)
        share = self._subject_share(key, phrase)
        if key not in ("person", "people") and n < SUBJECTS and share < 0:
            return False
        return n >= SEEN and share > _RARE_SUBJECT

    def _subject_share(self, key: str, phrase: str) -> float:
        """How much more often a subject does something than subjects do on average (a logarithm)."""
        index = self.index
        n = self.counts.get("subject", key, phrase)
        return log((n + 0.5) / (index.subjects[key] + 20) * index.all_subjects / (index.verbs[phrase] + 5))

    def _subject_key(self, action: Action) -> str:
        """A person's own noun if it is well known, else any person."""
        subject = action.subject
        if subject in ("-", "person", "people") or not self.counts.get("class", subject, "person"):
            return subject
        return "people" if self.index.subjects[subject] < 40 and action.plural else "person"

    def _subject(self, action: Action, unit: str) -> int:
        own = self.counts.get("subject", action.subject, unit)
        return max(own, self.counts.get("subject", self._subject_key(action), unit) if own < SEEN else own)

    def _tail_fits(self, phrase: str, tail: str) -> bool:
        first = tail.split(" ")[0]
        if first in ("as", "while", "like", "than", "so", "until") or tail == "to do":
            return False
        exact = self.counts.get("tail", phrase, tail)
        if exact >= 3 or (exact == 2 and self.index.verbs[phrase] < 150):
            return True
        if first in ("while", "~") or not self.counts.get("tail", phrase, first):
            return False
        return first in _PLACES and self.index.scenes[tail] >= _SCENE and self.counts.get("tail", phrase, first) >= 5

    def _loosely_fits(self, phrase: str, tail: str) -> bool:
        """As `_tail_fits`, for what hangs on the noun and rather stays true of it ("a song by a band")."""
        first = tail.split(" ")[0]
        if first in ("with", "from", "about", "by", "of"):
            return True
        return self._tail_fits(phrase, tail) or (first in _PLACES and self.counts.get("tail", phrase, first) >= 3)

    def _goes_along(self, verb: str, company: str) -> bool:
        """Whether people say the two of one doer in one caption, and not by chance."""
        least = 0.55 if verb in POSTURE or verb in ("walk", "run") else 0.95
        return self.counts.get("company", verb, company) >= 4 and self.together.lift(verb, company) >= least

    def _perhaps_true(self, clip: ReadClip, reading: Reading, action: Action, other: Other) -> str:
        if other.phrase in clip.verbs or (other.verb in clip.verbs and not other.antonym):
            return "another caption says it"
        if other.antonym:
            # Others may see it the other way; one that says so is enough.
            said = clip.verbs[action.verb]
            return "" if said else "another caption says it"
        if near(action.verb, other.verb) or any(near(verb, other.verb) for verb, n in clip.verbs.items() if n > 1):
            return "near to what another caption says"
        if (action.verb in POSTURE or other.verb == "stand") and not exclusive(action.verb, other.verb):
            return "goes with what it replaces"
        lifts = self.together
        # What nobody leaves out where it happens ("dance") is false where nobody says it; speech goes with the rest.
        speech = other.verb in SPEECH or (action.verb in SPEECH and lifts.hidden(other.verb) > 1.0)
        limit = SPEECH_LIFT if speech else LIFT
        if lifts.lift(action.verb, other.verb) > limit or lifts.lift(action.phrase, other.phrase) > limit:
            return "goes with what it replaces"
        if action.noun and lifts.same_noun(action.noun, action.phrase, other.phrase) > limit + 0.2:
            return "goes with what it replaces"
        return ""

    def _proposal(self, clip: ReadClip, index: int, reading: Reading, action: Action, other: Other) -> Proposal:
        rest = other.unit.split(" ")[1:]
        new = " ".join([inflect(other.verb, action.tag), *rest])
        text, start, old, shown = replaced(reading.caption, action.start, action.end, new)
        parts = self._parts(clip, reading, action, other, new)
        return Proposal(
            clip.id, index, reading.caption, text, start, old, shown, action.unit, other.unit, other.antonym, 0.0, parts
        )

    @lru_cache(1 << 14)  # noqa: B019  as long-lived as the counts
    def _plainness(self, words: tuple[str, ...]) -> float:
        return self.fluency.window(["<", "<"], words, [">"]) / (len(words) + 1)

    def _plain(self, words: list[str]) -> float:
        """Mean log-probability of the caption's own words: how well the caption itself is written."""
        return self._plainness(tuple(words))

    def _parts(self, clip: ReadClip, reading: Reading, action: Action, other: Other, new: str) -> dict[str, float]:
        """What the score is made of; logarithms, the higher the better."""
        lifts, index = self.together, self.index
        noun = action.noun
        total = max(index.noun_total[noun], 1)
        siblings = sibling_lift(lifts, clip.verbs, other.verb, len(clip.readings))
        words = [word.text for word in reading.words if word.text not in (".", ",")]
        plain = self._plain(words)
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
        return {
            "seen": log(other.seen),
            "share": log(other.seen_total / total)
            if noun
            else log(index.alone[other.unit] / max(index.uses[other.unit], 1)),
            "pmi": log(other.seen_total * index.all_uses / (index.uses[other.unit] * total)) if noun else 0.0,
            "bare": float(not noun),
            "subject": self._subject_share(self._subject_key(action), other.phrase) if action.subject != "-" else -0.5,
            "fluency": new_log / (len(new_words) + 2) - old_log / (size + 2),
            "fluency_sum": new_log - old_log,
            "fluency_mean": (known + new_log - old_log) / (len(words) - size + len(new_words) + 1)
            - known / (len(words) + 1),
            "lift": -lifts.log_lift(action.verb, other.verb),
            "same_noun": -log(lifts.same_noun(noun, action.phrase, other.phrase)) if noun else 0.0,
            "siblings": -siblings,
            "hidden": -log(lifts.hidden(other.verb)),
            "said": log((clip.verbs[action.verb] + 1) / (len(clip.readings) + 1)),
            "exclusive": float(exclusive(action.verb, other.verb)),
            "antonym": float(other.antonym),
            "speech": -float(action.verb in SPEECH) - float(other.verb in SPEECH),
            "words": float(len(words)),
            "company": min(
                (lifts.log_lift(other.verb, verb) for verb in action.company if verb not in LIGHT), default=0.0
            ),
            "others": -float(len([verb for verb in action.company if verb not in LIGHT])),
            "plain": plain,
            "tails": -float(len(action.tails)),
        }


def sibling_lift(lifts: Together, said: Counter[str], other: str, captions: int) -> float:
    """Mean logarithm of lift between a word and all that the captions say, each weighted by how many say it."""
    total = weight = 0.0
    for word, n in said.items():
        if word not in lifts.totals or word == "be":
            continue
        share = n / captions
        total += share * lifts.log_lift(word, other)
        weight += share
    return total / weight if weight else 0.0
