"""What captions of many videos say: frames, company and wording, counted in distinct videos.

Tables of `FrameCounts.tables` (every count is a number of videos; parts of a key are joined by tabs):

unit            unit, noun, determiner   "cut", "onion", "det" ("passive": "an onion is cut"); no noun: ""
subject         subject, unit            "person", "cut"; the unit of verbs without any noun ends in "."
tail            phrase, tail             "cut", "with knife"; also with the preposition alone
context         phrase, context          "cut", "infinitive"
company         verb, verb               the two stand in one caption
adjective       adjective, noun
place           preposition, noun, determiner   of prepositions after nouns: "man in a bar"
after           noun, preposition
agent           noun, phrase, determiner  a noun as subject: "dog", "bark"
verbs, nouns    category, item           items of videos with several captions; item "" counts the videos
verb_spread, noun_spread                 item, "1" or "2": videos of which just one, two captions say it
verb_pairs, noun_pairs                   item, item: both are said of one video (by any of its captions)
same_noun       noun, phrase, phrase     both are said of this noun in one video
class, related                           of WordNet (`kinds`), not counts
words1, words2, words3                   runs of one, two, three words ("<" begins a caption, ">" ends it)
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from operator import add

from video_contrast.perturbations.contrast.generators.frames.reading import Reading

TABLES = (
    "unit",
    "subject",
    "tail",
    "context",
    "company",
    "adjective",
    "place",
    "after",
    "agent",
    "verbs",
    "nouns",
    "verb_spread",
    "noun_spread",
    "verb_pairs",
    "noun_pairs",
    "same_noun",
    "words1",
    "words2",
    "words3",
    "class",
    "related",
)
MANY = 5  # captions a video needs for what it says of true-at-once
LEAST_VERB = 8  # videos that an item needs to take part in pair counts
LEAST_NOUN = 12


# Category, how many captions of a video use each verb and each noun, and the verbs that are said of each noun.
_VideoItems = tuple[str, Counter[str], Counter[str], dict[str, set[str]]]


@dataclass
class FrameCounts:
    """Counts of captioned videos.

    Attributes:
        tables: table -> key -> number of videos.
        videos: how many videos were counted.
        captions: how many captions.
        sources: what was counted, for the record.
    """

    tables: dict[str, dict[str, int]] = field(default_factory=lambda: {name: {} for name in TABLES})
    videos: int = 0
    captions: int = 0
    sources: tuple[str, ...] = ()

    def get(self, table: str, *key: str) -> int:
        """The count of a key; 0 where it was not seen."""
        return self.tables[table].get("\t".join(key), 0)

    def add(self, other: "FrameCounts") -> "FrameCounts":
        """The sum of two counts."""
        tables = {name: dict(self.tables.get(name, {})) for name in TABLES}
        for name, table in tables.items():
            combined = max if name in ("class", "related") else add
            table |= {key: combined(table.get(key, 0), n) for key, n in other.tables.get(name, {}).items()}
        return FrameCounts(
            tables, self.videos + other.videos, self.captions + other.captions, (*self.sources, *other.sources)
        )

    def pruned(self, least: Mapping[str, int]) -> "FrameCounts":
        """Without the entries seen in fewer videos than `least` says for their table (default 2)."""
        tables = {
            name: {key: n for key, n in table.items() if n >= least.get(name, 2)} for name, table in self.tables.items()
        }
        return FrameCounts(tables, self.videos, self.captions, self.sources)


def count(videos: Iterable[tuple[str, Sequence[Reading]]], *, source: str = "") -> FrameCounts:
    """Counts the captions of videos.

    Args:
        videos: (category or "", readings of the video's captions), one for each video. Videos with fewer than `MANY`
            captions say nothing about what is true at once, and are left out of the pair tables.
        source: named in the record.
    """
    counters: dict[str, Counter[str]] = {name: Counter() for name in TABLES}
    of_videos: list[_VideoItems] = []
    n_videos = n_captions = 0
    for category, readings in videos:
        n_videos += 1
        n_captions += len(readings)
        keys = _keys(readings)
        for name, names in keys.items():
            counters[name].update(names)
        if len(readings) >= MANY:
            verbs = Counter(verb for reading in readings for verb in reading.verbs)
            nouns = Counter(noun for reading in readings for noun in reading.nouns)
            of_videos.append((category, verbs, nouns, _by_noun(readings)))
    _pairs(of_videos, counters)
    tables = {name: dict(counter) for name, counter in counters.items()}
    return FrameCounts(tables, n_videos, n_captions, (source,) if source else ())


def _keys(readings: Sequence[Reading]) -> dict[str, set[str]]:
    """The keys of one video, each once."""
    keys: dict[str, set[str]] = {name: set() for name in TABLES[:9]}
    keys |= {"words1": set(), "words2": set(), "words3": set()}
    for reading in readings:
        _add_actions(reading, keys)
        _add_things(reading, keys)
        texts = ["<", *(word.text for word in reading.words if word.text not in (".", ",")), ">"]
        keys["words1"].update(texts)
        keys["words2"].update(map("\t".join, pairwise(texts)))
        keys["words3"].update(map("\t".join, zip(texts, texts[1:], texts[2:], strict=False)))
    return keys


def _add_actions(reading: Reading, keys: dict[str, set[str]]) -> None:
    for act in reading.actions:
        if act.fault in ("passive", "not the verb of a clause", "not a word", "shares its object", "negation"):
            continue
        clause = act.fault in ("clause or second object", "clause after a preposition", "two prepositions")
        if not clause:
            nouns = [act.noun, f"{act.compound} {act.noun}"] if act.compound else [act.noun]
            how = "passive" if act.context == "passive" else act.determiner
            keys["unit"].update(f"{act.unit}\t{noun}\t{how}" for noun in nouns)
            keys["subject"].add(f"{act.subject}\t{act.unit}{'' if act.noun else '.'}")
            keys["context"].add(f"{act.phrase}\t{act.context}")
            for tail in act.tails:
                keys["tail"].add(f"{act.phrase}\t{tail}")
                keys["tail"].add(f"{act.phrase}\t{tail.split(' ')[0]}")
        keys["subject"].add(f"{act.subject}\t{act.phrase}")
        keys["company"].update(f"{act.verb}\t{other}" for other in act.company if other != act.verb)


def _add_things(reading: Reading, keys: dict[str, set[str]]) -> None:
    for thing in reading.things:
        for name in {thing.noun, thing.name}:
            keys["adjective"].update(f"{adjective}\t{name}" for adjective in thing.adjectives)
            if thing.governor.startswith("@"):
                keys["place"].add(f"{thing.governor[1:]}\t{name}\t{thing.determiner}")
            elif thing.governor.startswith("^"):
                keys["agent"].add(f"{name}\t{thing.governor[1:]}\t{thing.determiner}")
            keys["after"].update(f"{name}\t{item.split(' ')[0]}" for item in thing.after)


def _by_noun(readings: Sequence[Reading]) -> dict[str, set[str]]:
    """Noun -> the verbs (with particles) that a video's captions say of it."""
    phrases: dict[str, set[str]] = {}
    for reading in readings:
        for act in reading.actions:
            if act.noun not in ("", "*"):
                phrases.setdefault(act.noun, set()).add(act.phrase)
    return phrases


def _pairs(of_videos: Sequence[_VideoItems], counters: dict[str, Counter[str]]) -> None:
    """What is said of one video together; only of items that enough videos have."""
    verbs = Counter(verb for _, items, _, _ in of_videos for verb in items)
    nouns = Counter(noun for _, _, items, _ in of_videos for noun in items)
    common_verbs = {verb for verb, n in verbs.items() if n >= LEAST_VERB}
    common_nouns = {noun for noun, n in nouns.items() if n >= LEAST_NOUN}
    for category, own_verbs, own_nouns, by_noun in of_videos:
        for name, own, common in (("verb", own_verbs, common_verbs), ("noun", own_nouns, common_nouns)):
            own_common = sorted(item for item in own if item in common)
            counters[f"{name}s"].update([f"{category}\t", *(f"{category}\t{item}" for item in own_common)])
            counters[f"{name}_spread"].update(f"{item}\t{own[item]}" for item in own_common if own[item] <= 2)
            counters[f"{name}_pairs"].update(f"{a}\t{b}" for a, b in combinations(own_common, 2))
        for noun, phrases in by_noun.items():
            if noun in common_nouns:
                said_of = sorted(phrases & common_verbs)
                counters["same_noun"].update(f"{noun}\t{phrase}\t" for phrase in said_of)
                counters["same_noun"].update(f"{noun}\t{a}\t{b}" for a, b in combinations(said_of, 2))
