"""Evidence of lexicon and counts together: the units and nouns of one frame, and how usual a run of words is."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from math import log, log1p
from typing import Any, NamedTuple

import numpy as np

from video_contrast.perturbations.contrast.caption_counts import CaptionCounts
from video_contrast.perturbations.contrast.lexicon import MASS, Action, Lexicon, Selection, load_lexicon
from video_contrast.perturbations.contrast.slots import Gap, ThingKey, VerbChoice
from video_contrast.perturbations.english.forms import inflect, verb_word
from video_contrast.perturbations.english.lexicon import has_class

_BACKOFF = log(0.4)
_SAID_AGAIN = 10.0  # videos by which captions that say a word again are smoothed
_PRIOR = 1.5  # videos by which observed and expected are smoothed
_CACHED = 1 << 18
_MOST_RESULTS = 1 << 16
_ROWS = 1 << 10
_ORDERED = {"topic": ("verb", "noun"), "words2": ("words1", "words1")}  # pairs whose order counts -> their items
_NOWHERE = (np.array([], dtype=int), np.array([]))
WELL_KNOWN = 20  # videos that name a noun (verb)
_PEERS = 150  # nouns that may take a noun's place
_COMMON = 8  # videos that name a noun which the lexicon's class alone proposes
_STUFF = (*MASS, "material", "weather", "water", "hair", "sport", "terrain")  # classes of what is not counted in pieces
RESTS = frozenset({"sit", "stand", "lie", "kneel"})  # postures
Postings = dict[Any, tuple[np.ndarray, np.ndarray]]


class UnitFacts(NamedTuple):
    """The facts that lexicon and counts hold of a verb unit, wherever it stands."""

    verb: str
    forms: frozenset[str]  # forms of the verb that a parser may read as a noun
    actions: tuple[Action, ...]
    groups: frozenset[str]
    features: Mapping[str, float]  # for the judge; nothing of what the lexicon lacks


def _indexed(table: Mapping[str, int], by: int) -> dict[str, dict[str, int]]:
    """The counts of pairs by their first (0) or second (1) part: part -> the other part -> videos."""
    index: dict[str, dict[str, int]] = defaultdict(dict)
    for key, n in table.items():
        parts = key.split("\t")
        index[parts[by]][parts[1 - by]] = n
    return index


def _totals(index: Mapping[str, Mapping[str, int]]) -> Counter[str]:
    return Counter({part: sum(videos_of.values()) for part, videos_of in index.items()})


def _cosine(a: Mapping[Any, float], b: Mapping[Any, float]) -> float:
    if len(b) < len(a):
        a, b = b, a
    return sum(weight * b[name] for name, weight in a.items() if name in b)


def largest(values: np.ndarray, count: int) -> list[int]:
    """The places of the largest values, the largest first, and the first of equals before the others."""
    least = np.partition(values, -count)[-count] if count < len(values) else -np.inf
    places = np.flatnonzero(values >= least)
    return list(places[np.argsort(-values[places], kind="stable")[:count]].tolist())


class Evidence:
    """Indexes of the counts and answers of the lexicon, kept for a whole set.

    `lexicon`: default: that of the package.
    """

    def __init__(self, counts: CaptionCounts, lexicon: Lexicon | None = None) -> None:
        self.counts = counts
        self.lexicon = lexicon or load_lexicon()
        self.parents = self.lexicon.parents
        # noun -> unit -> videos; noun "" for units without an object; and the reverse, without that
        self.units_of, self.nouns_of = (_indexed(counts.tables["object"], by) for by in (1, 0))
        self.unit_total, self.noun_total = _totals(self.nouns_of), _totals(self.units_of)
        for nouns in self.nouns_of.values():
            nouns.pop("", None)
        self.nouns_behind = _indexed(counts.tables["place"], 0)  # preposition -> noun -> videos
        self.subjects_of = _indexed(counts.tables["subject"], 1)  # unit -> subject -> videos
        self.behind_total = _totals(self.nouns_behind)
        self._sizes = {name: sum(counts.tables[name].values()) + 1 for name in ("object", "subject", "place")}
        self.facts = lru_cache(_CACHED)(self._find_facts)
        self.result_of: Callable[..., Any] = lru_cache(_MOST_RESULTS)(
            lambda function, *key: function(self, *key)  # sets repeat their verbs and things
        )
        self._classmates = lru_cache(_CACHED)(self._find_classmates)
        self.classmates = lru_cache(_CACHED)(self._find_peers)
        self.choice = lru_cache(_CACHED)(VerbChoice)  # one object for equal ones: there are many
        self.opposites = lru_cache(_CACHED)(self.lexicon.opposites)
        # cosine of what people are filmed doing to two things, rarer actions weighing more: 0..1
        self.alike_in_use = lru_cache(_CACHED)(lambda a, b: _cosine(self._vector_of_uses(a), self._vector_of_uses(b)))
        self._vector_of_uses = lru_cache(_MOST_RESULTS)(self._find_vector_of_uses)
        # cosine of what two nouns stand with, 0..1: whether one can take the other's place
        self.similarity = lru_cache(_CACHED)(lambda a, b: _cosine(self._contexts.get(a, {}), self._contexts.get(b, {})))
        self.well_known = lru_cache(_ROWS)(  # the nouns of a caption that are
            lambda nouns: sorted(noun for noun in nouns if counts.get("noun", noun) > WELL_KNOWN)
        )
        self.fits = lru_cache(_CACHED)(self.lexicon.fits)
        self.excludes = lru_cache(_CACHED)(self.lexicon.excludes)
        self._doers = lru_cache(_CACHED)(  # of the lexicon's actions (`Action.subject`), that admit a subject
            lambda subject: frozenset(doer for doer in self._subjects if self.lexicon.admits(doer, subject))
        )
        self._takers = lru_cache(_CACHED)(self._find_takers)
        self.units_for = lru_cache(_CACHED)(self._find_units)
        self.groups = lru_cache(_CACHED)(self.groups)  # type: ignore[method-assign]
        self.category = lru_cache(_CACHED)(self.category)  # type: ignore[method-assign]
        self.takes = lru_cache(_CACHED)(self.takes)  # type: ignore[method-assign]
        self.lift = lru_cache(_CACHED)(self._lift)
        self._verb_row = lru_cache(_ROWS)(self._find_verb_row)
        self._verb_places = {verb: n for n, verb in enumerate(["", *filter(None, counts.tables["verb"])])}
        self._verb_totals = np.array([counts.get("verb", verb) if verb else 0 for verb in self._verb_places], float)
        self._videos = max(counts.get("noun", ""), 1)
        self._size = log(sum(counts.tables["words1"].values()) + 1)
        self._log = lru_cache(_CACHED)(self._find_log)

    def _find_facts(self, unit: str) -> UnitFacts:
        verb, actions = verb_word(unit), self.lexicon.actions(unit)
        features = {"verb known": log1p(self.counts.get("verb", verb)) / 6}
        for action in actions[:1]:
            features |= {
                "hands busy": float(action.hands == "busy"),
                "takes minutes": float(action.span == "m"),
                "changes something": float(action.result != "-"),
                "rests": float(action.posture in RESTS),
            }
        forms = frozenset((verb, inflect(verb, "VBG"), inflect(verb, "VBZ")))
        return UnitFacts(verb, forms, actions, self.groups(unit), features)

    def category(self, noun: str) -> str:
        """The class of a noun (of its head, if the compound is unknown); "" for an unknown one."""
        things = self.lexicon.things(noun) or self.lexicon.things(noun.rpartition(" ")[2])
        return things[0].category if things else ""

    def categories(self, noun: str) -> frozenset[str]:
        """All classes of a noun."""
        things = self.lexicon.things(noun) or self.lexicon.things(noun.rpartition(" ")[2])
        return frozenset(thing.category for thing in things)

    def looks(self, noun: str) -> str:
        """The tag of what looks like a noun, or like the head of a compound of its class; itself if nothing does."""
        head = noun.rpartition(" ")[2]
        meanings = [things[0] for name in (noun, head) if (things := self.lexicon.things(name))]
        alike = [thing.looks for thing in meanings if thing.category == meanings[0].category]
        return next(filter(None, alike), noun)

    def uses(self, noun: str) -> tuple[str, ...]:
        """The units that the lexicon lists for a noun, or for the head of a compound."""
        return self.lexicon.uses(noun) or self.lexicon.uses(noun.rpartition(" ")[2])

    def groups(self, unit: str) -> frozenset[str]:
        """The groups of a unit in all of its meanings; itself if it is unknown."""
        actions = self.lexicon.actions(unit) or self.lexicon.actions(unit.partition(" ")[0])
        return frozenset(action.group for action in actions) or frozenset({unit})

    def knows(self, unit: str) -> bool:
        """Whether the lexicon has a unit, or its verb alone."""
        return bool(self.lexicon.actions(unit) or self.lexicon.actions(unit.partition(" ")[0]))

    def takes(self, noun: str, introduction: str) -> bool:
        """Whether people say a noun in a number: "a carrot", "carrots", not "a parsley" or "parsleys".

        `introduction`: as of `slots.introduction`.
        """
        if introduction == "determined":
            return True
        videos = {name: self.counts.get("number", noun, name) for name in ("article", "plural", "bare", "determined")}
        if videos[introduction]:
            return videos[introduction] * 12 >= sum(videos.values())
        stuff = any(self.lexicon.is_a(self.category(noun), name) for name in _STUFF)
        return not sum(videos.values()) and stuff == (introduction == "bare")

    def peers(self, key: ThingKey) -> dict[str, int]:
        """The nouns that are written to stand for a thing -> how many groups say so beside its verb or behind its
        preposition."""
        role = "place" if key.preposition else key.relation
        verb = verb_word(key.unit) if role == "subject" else ""
        heads = {"*", key.behind, key.unit, verb, "anyone" if has_class(verb, "done_by_anyone") else ""}
        peers: Counter[str] = Counter()
        for group in self.lexicon.peers(key.noun):
            here = group.role in (role, "*") and not heads.isdisjoint(group.heads)
            peers.update(dict.fromkeys(group.nouns, int(here)))
        return peers

    def said_here(self, key: ThingKey) -> dict[str, int]:
        """Noun -> the videos whose captions say it in a thing's frame."""
        if key.relation == "place":
            return self.nouns_behind.get(key.preposition, {})
        return (self.subjects_of if key.relation == "subject" else self.nouns_of).get(key.unit, {})

    def said_again(self, noun: str) -> float:
        """A logarithm of how many further captions of a video say a thing (a compound: its head) that one of them says:
        few say what stands in the background."""
        head = noun.rpartition(" ")[2]
        videos, again = (
            sum(self.counts.get(table, word) for word in {head, inflect(head, "NNS")}) for table in ("words1", "again")
        )
        return log((again + _SAID_AGAIN) / (videos + _SAID_AGAIN))

    def _find_units(self, subject: str, noun: str = "", *, passive: bool = False) -> dict[str, VerbChoice]:
        """The lexicon's seen units that fit a subject (and object); in a passive, those without a preposition."""
        own = frozenset((noun, noun.rpartition(" ")[2]))
        wide = {name for category in self.categories(noun) for name in (category, *self.parents(category))}
        units: dict[str, VerbChoice] = {}
        for name in sorted(own | wide if noun else own):
            # An action that is listed under a noun or its classes takes it, unless it excepts the noun.
            always, others = self._takers(subject, name, passive)
            units = units | always | units if units else always.copy()
            for action in others:
                if own.isdisjoint(action.object.exceptions):
                    units.setdefault(action.unit, self.choice(action.unit, action.frame))
        return units

    def _find_takers(self, subject: str, name: str, passive: bool) -> tuple[dict[str, VerbChoice], list[Action]]:
        """The seen units of a subject that are listed under a noun or class; and its actions that except nouns."""
        doers = self._doers(subject)
        actions = [action for action in self._by_object.get(name, ()) if action.subject in doers]
        actions = [action for action in actions if action.frame == "t" or not passive]
        always: dict[str, VerbChoice] = {}
        for action in (action for action in actions if not action.object.exceptions):
            always.setdefault(action.unit, self.choice(action.unit, action.frame))
        return always, [action for action in actions if action.object.exceptions]

    @cached_property
    def _subjects(self) -> frozenset[Selection]:
        return frozenset(action.subject for actions in self._by_object.values() for action in actions)

    @cached_property
    def _by_object(self) -> dict[str, list[Action]]:
        """Class or noun -> the seen actions that take it; "" -> those without an object."""
        index: dict[str, list[Action]] = defaultdict(list)
        for unit in self.lexicon.units:
            for action in self.lexicon.actions(unit):
                names = {*action.object.classes, *action.object.nouns} if action.frame != "i" else {""}
                for name in sorted(names) if action.is_visible else ():
                    index[name].append(action)
        return dict(index)

    @cached_property
    def by_category(self) -> dict[str, list[str]]:
        """Class -> the nouns of which it is the commonest meaning, commonest noun first."""
        nouns_of: dict[str, list[str]] = defaultdict(list)
        for noun in self.lexicon.nouns():
            nouns_of[self.lexicon.things(noun)[0].category].append(noun)
        for nouns in nouns_of.values():
            nouns.sort(key=lambda noun: (-self.counts.get("noun", noun), noun))
        return dict(nouns_of)

    def neighbour_classes(self, category: str) -> list[str]:
        """The classes below the class above a class, itself first."""
        above = self.parents(category)
        others = (other for other in sorted(self.by_category) if other != category and self.parents(other) == above)
        return [category, *others]

    def _find_peers(self, noun: str, category: str) -> dict[str, float]:
        """The nouns of a class and of those beside it that captions use, with how well they can take a noun's place."""
        nouns, places, same = self._classmates(category)
        same_company = self._cosines(self._contexts.get(noun, {}), self._postings)
        same_uses = self._cosines(self._vector_of_uses(noun), self._use_postings)
        scores = 0.7 * same + 2.5 * same_company[places] + 2.0 * same_uses[places]
        return {nouns[n]: float(scores[n]) for n in largest(scores, _PEERS)}

    def _find_classmates(self, category: str) -> tuple[list[str], np.ndarray, np.ndarray]:
        """The common nouns of a class and of those beside it, sorted: their places in a row of similarities (the last
        place: none), and 1 for those of the class itself."""
        own = set(self.by_category.get(category, ()))
        nouns = sorted(
            noun
            for name in self.neighbour_classes(category)
            for noun in self.by_category.get(name, ())
            if self.counts.get("noun", noun) >= _COMMON
        )
        places = [self._noun_places.get(noun, len(self._noun_places)) for noun in nouns]
        return nouns, np.array(places, dtype=int), np.array([float(noun in own) for noun in nouns])

    @cached_property
    def _noun_places(self) -> dict[str, int]:
        return {noun: n for n, noun in enumerate(sorted(self._contexts))}

    @cached_property
    def _postings(self) -> Postings:
        return self._make_postings(self._contexts)

    @cached_property
    def _use_postings(self) -> Postings:
        return self._make_postings({noun: self._vector_of_uses(noun) for noun in self._noun_places})

    def _make_postings(self, vectors: Mapping[str, Mapping[Any, float]]) -> Postings:
        """Context (or use) -> the places of the nouns that have it, and its weight for each."""
        pairs_of: dict[Any, list[tuple[int, float]]] = defaultdict(list)
        for noun, n in self._noun_places.items():
            for name, weight in vectors[noun].items():
                pairs_of[name].append((n, weight))
        return {
            name: (np.array([n for n, _ in pairs]), np.array([weight for _, weight in pairs]))
            for name, pairs in pairs_of.items()
        }

    def _cosines(self, vector: Mapping[Any, float], postings: Postings) -> np.ndarray:
        """Cosines of a noun's vector with those of every noun, in the order of `_noun_places`; then a 0."""
        row = np.zeros(len(self._noun_places) + 1)
        for name, weight in vector.items():
            places, weights = postings.get(name, _NOWHERE)
            row[places] += weight * weights
        return row

    def _find_vector_of_uses(self, noun: str) -> dict[tuple[str, str], float]:
        weights = {name: self._rarity[name] for name in sorted(self._names_of_uses(noun))}  # sums are in this order
        length = sum(weight * weight for weight in weights.values()) ** 0.5
        return {name: weight / length for name, weight in weights.items()} if length else {}

    def _names_of_uses(self, noun: str) -> set[tuple[str, str]]:
        """The units, verbs and groups of a noun's uses."""
        names = set()
        for unit in self.uses(noun):
            names |= {("unit", unit), ("verb", unit.partition(" ")[0])}
            names |= {("group", group) for group in self.groups(unit)}
        return names

    @cached_property
    def _rarity(self) -> dict[tuple[str, str], float]:
        """Unit, verb or group -> log of the nouns that have uses over those that have this one."""
        name_sets = [
            names for noun in self.lexicon.nouns() if self.lexicon.uses(noun) and (names := self._names_of_uses(noun))
        ]
        noun_counts = Counter(name for names in name_sets for name in names)
        return {name: log(len(name_sets) / n) for name, n in noun_counts.items()}

    def _lift(self, table: str, first: str, other: str) -> float:
        """Log of the videos that say both over those that would by chance; 0 where nothing is known."""
        tables, single = self.counts.tables, table[:-1]
        if table not in _ORDERED and other < first:
            first, other = other, first
        of_first, of_other = _ORDERED.get(table, (single, single))
        observed = tables[table].get(f"{first}\t{other}", 0)
        expected = tables[of_first].get(first, 0) * tables[of_other].get(other, 0) / self._videos
        return log((observed + _PRIOR) / (expected + _PRIOR))

    def verb_lifts(self, groups: Sequence[tuple[str, Sequence[str]]], verbs: Sequence[str]) -> list[list[float]]:
        """Each verb's mean lift with the nouns ("topic") or verbs ("verbs") of each group, a table and names."""
        at = np.array([self._verb_places.get(verb, 0) for verb in verbs])
        rows = [[self._verb_row(table, name)[at] for name in names] for table, names in groups]
        means = [sum(of_group) / len(of_group) if of_group else np.zeros(len(verbs)) for of_group in rows]
        return list(np.stack(means, 1).tolist())

    def _find_verb_row(self, table: str, name: str) -> np.ndarray:
        """The lift of every verb with a noun or verb; a verb that was not counted comes first."""
        observed, counts = np.zeros(len(self._verb_places)), self.counts
        beside = self._beside[table].get(name, {})
        observed[[self._verb_places.get(verb, 0) for verb in beside]] = list(beside.values())
        observed[0] = 0.0
        share = counts.get("noun" if table == "topic" else "verb", name) / self._videos
        return np.log((observed + _PRIOR) / (self._verb_totals * share + _PRIOR))

    @cached_property
    def _beside(self) -> dict[str, dict[str, dict[str, int]]]:
        """Table -> noun or verb -> the verbs that captions of the same videos say."""
        beside = {name: _indexed(self.counts.tables[name], 1) for name in ("topic", "verbs")}
        for first, others in _indexed(self.counts.tables["verbs"], 0).items():
            beside["verbs"][first] = others | beside["verbs"].get(first, {})
        return beside

    @cached_property
    def _contexts(self) -> dict[str, dict[str, float]]:
        """Noun -> the units, prepositions, adjectives and predicates that it stands with, weighed by surprise."""
        videos_of: dict[str, dict[str, int]] = defaultdict(dict)
        for name, noun_at in (("object", 1), ("place", 1), ("adjective", 1), ("subject", 0)):
            for key, n in self.counts.tables[name].items():
                parts = key.split("\t")
                if parts[noun_at]:
                    videos_of[parts[noun_at]][f"{name} {parts[1 - noun_at]}"] = n
        total: Counter[str] = Counter()
        for contexts in videos_of.values():
            total.update(contexts)
        size = sum(total.values()) + 1
        vectors = {}
        for noun, contexts in videos_of.items():
            own = sum(contexts.values())
            weights = {name: log(n * size / (own * total[name])) for name, n in contexts.items()}
            vector = {name: weight for name, weight in weights.items() if weight > 0}
            length = sum(weight * weight for weight in vector.values()) ** 0.5
            vectors[noun] = {name: weight / length for name, weight in vector.items()} if length else {}
        return vectors

    def surprise(self, table: str, videos: int, of_first: int, of_other: int) -> float:
        """Log of how much oftener two things stand together than by chance, smoothed, over 3.

        `videos`: videos in which they stand together.
        """
        expected = of_first * of_other / self._sizes.get(table, self._sizes["object"])
        return log((videos + 0.5) / (expected + 0.5)) / 3

    def gap(self, words: Sequence[str], first: int, size: int) -> Gap:
        """The surroundings of `size` words of a caption that will be replaced; `first`: the number of the first."""
        before, after = ["<", "<", *words[:first]][-2:], [*words[first + size :], ">", ">"][:2]
        usual = self._mean((*before, *words[first : first + size], *after))
        return Gap((before[0], before[1]), (after[0], after[1]), usual)

    def run_change(self, gap: Gap, new: Sequence[str]) -> float:
        """The gain in usualness of a caption by new words in a gap: mean log-probability, new less old."""
        return self._mean((*gap.before, *new, *gap.after)) - gap.usual

    def familiarity(self, gap: Gap, new: Sequence[str]) -> tuple[float, float]:
        """How much of the runs at both ends of new words was counted: 1 for all three words, .5 for two, 0 for none."""
        three, two = self.counts.tables["words3"], self.counts.tables["words2"]
        (farther, before), (after, behind) = gap.before, gap.after
        left_share = float(f"{farther}\t{before}\t{new[0]}" in three) or 0.5 * (f"{before}\t{new[0]}" in two)
        right = float(f"{new[-1]}\t{after}\t{behind}" in three) or 0.5 * (f"{new[-1]}\t{after}" in two)
        return left_share, right

    def style(self, words: Sequence[str]) -> dict[str, float]:
        """How near a caption is to those that were counted: the share of its runs of three words (its ends included)
        that were counted, and how common its words are."""
        tables, texts = self.counts.tables, ["<", *words, ">"]
        runs = list(zip(texts, texts[1:], texts[2:], strict=False))
        commonness = [min(log1p(tables["words1"].get(word, 0)) / 8, 1.0) for word in words]
        return {
            "runs counted": sum("\t".join(run) in tables["words3"] for run in runs) / max(len(runs), 1),
            "words counted": sum(commonness) / max(len(commonness), 1),
        }

    def _mean(self, texts: Sequence[str]) -> float:
        """The mean log-probability of words behind their first two."""
        return sum(map(self._log, texts, texts[1:], texts[2:])) / (len(texts) - 2)

    def _find_log(self, first: str, second: str, word: str) -> float:
        tables, before = self.counts.tables, f"{first}\t{second}"
        if three := tables["words3"].get(f"{before}\t{word}"):
            return log(three / max(tables["words2"].get(before, 0), three))
        if two := tables["words2"].get(f"{second}\t{word}"):
            return _BACKOFF + log(two / max(tables["words1"].get(second, 0), two))
        return 2 * _BACKOFF + log(tables["words1"].get(word, 0) + 0.5) - self._size
