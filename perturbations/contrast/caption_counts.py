"""Counts of nouns and verbs in captions, in distinct videos each: evidence for proposals, not their source.

Tables of `CaptionCounts.tables` (every count is a number of videos; parts of a key are joined by tabs):

object              unit, noun           "cut", "onion"; noun "" where the unit stands alone
subject             subject, unit        "person", "cut"
tail                verb, preposition    "cut", "with": what else hangs on the verb
place               preposition, noun    "in", "kitchen"
adjective           adjective, noun
number              noun, "article", "plural", "bare" or "determined"
verb, noun          item                 "" counts all videos
verbs, nouns        item, item           both stand in captions of one video
topic               verb, noun           likewise
again               word                 the captions that say it, but for the first of each video
words1, words2, words3                   runs of one, two, three words ("<" begins a caption, ">" ends it)
"""

import json
import lzma
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import combinations, islice, pairwise, product
from pathlib import Path

from video_contrast.files import write_bytes
from video_contrast.perturbations.contrast.slots import introduction, subject_key, verb_slots
from video_contrast.perturbations.english import Sentence

# Table -> videos that an entry needs to be kept: rarer ones are slips, and nobody's sentence.
TABLES = {
    "object": 2, "subject": 2, "tail": 2, "place": 2, "adjective": 2, "number": 2, "verb": 2, "noun": 2, "verbs": 3,
    "nouns": 4,
    "topic": 4, "again": 3, "words1": 3, "words2": 3, "words3": 4,
}  # fmt: skip


@dataclass
class CaptionCounts:
    """Counts of captioned videos."""

    # table -> key -> number of videos.
    tables: dict[str, dict[str, int]] = field(default_factory=lambda: {name: {} for name in TABLES})
    videos: int = 0  # how many were counted
    captions: int = 0
    sources: tuple[str, ...] = ()  # counted corpora, for the record

    def get(self, table: str, *key: str) -> int:
        """The count of a key; 0 where it was not seen."""
        return self.tables[table].get("\t".join(key), 0)

    def __add__(self, other: "CaptionCounts") -> "CaptionCounts":
        tables = {name: dict(Counter(self.tables[name]) + Counter(other.tables[name])) for name in TABLES}
        return CaptionCounts(
            tables, self.videos + other.videos, self.captions + other.captions, (*self.sources, *other.sources)
        )

    def pruned(self) -> "CaptionCounts":
        """The counts without entries that too few videos have (`TABLES`)."""
        tables = {
            name: {key: n for key, n in self.tables[name].items() if n >= least} for name, least in TABLES.items()
        }
        return CaptionCounts(tables, self.videos, self.captions, self.sources)

    def save(self, path: str | Path) -> Path:
        """Writes the counts (`encoded`)."""
        return write_bytes(path, self.encoded())

    def encoded(self) -> bytes:
        """The counts, compressed; equal counts give equal bytes. All keys stand before all numbers, and of a key that
        differs from the one before it in its last part alone only that part."""
        head = {
            "format": "caption-counts 2", "videos": self.videos, "captions": self.captions,
            "sources": list(self.sources), "tables": {name: len(self.tables[name]) for name in TABLES},
        }  # fmt: skip
        lines, numbers = [json.dumps(head, sort_keys=True)], []
        for name in TABLES:
            begin = ""
            for key, n in sorted(self.tables[name].items()):
                lines.append(key.removeprefix(begin))
                begin = key[: key.rfind("\t") + 1]
                numbers.append(str(n))
        return lzma.compress("\n".join(lines + numbers).encode(), preset=9 | lzma.PRESET_EXTREME)


def count(videos: Iterable[Sequence[Sentence]], *, source: str = "") -> CaptionCounts:
    """Counts the captions of videos. `videos`: the parsed captions of each video."""
    counters: dict[str, Counter[str]] = {name: Counter() for name in TABLES}
    n_videos = n_captions = 0
    for sentences in videos:
        n_videos += 1
        n_captions += len(sentences)
        for name, keys in _keys(sentences).items():
            counters[name].update(keys)
        captions_with = Counter(word for sentence in sentences for word in set(sentence.texts))
        counters["again"].update({word: n - 1 for word, n in captions_with.items() if n > 1})
    return CaptionCounts(
        {name: dict(counter) for name, counter in counters.items()}, n_videos, n_captions, (source,) if source else ()
    )


def _keys(sentences: Sequence[Sentence]) -> dict[str, set[str]]:
    keys: dict[str, set[str]] = {name: set() for name in TABLES}
    verbs: set[str] = set()
    nouns: set[str] = set()
    for sentence in sentences:
        for slot in verb_slots(sentence):
            verbs.add(slot.verb)
            if slot.rejection_reason in ("object not found by the parser", "form not known", "shares its object"):
                continue
            objects = {slot.noun, slot.noun.split(" ")[-1]} if slot.frame != "i" else {""}
            keys["object"].update(f"{slot.unit}\t{name}" for name in objects)
            if slot.subject:
                keys["subject"].add(f"{slot.subject}\t{slot.unit}")
            keys["tail"].update(f"{slot.verb}\t{tail.preposition}" for tail in slot.tails)
        for place in sentence.noun_phrases():
            word, key = sentence.words[place], sentence.noun_key(place)
            names = {key, word.lemma} - {""}
            nouns |= {subject_key(sentence, place), *names} - {""}
            for at in sentence.children_with(place, "amod"):
                keys["adjective"].update(f"{sentence.words[at].lemma}\t{name}" for name in names)
            keys["number"].update(f"{name}\t{introduction(sentence, place)}" for name in names)
            if word.dep == "pobj":
                keys["place"].update(f"{sentence.words[word.head].text}\t{name}" for name in names)
        texts = ["<", *sentence.texts, ">"]
        keys["words1"].update(texts)
        keys["words2"].update(map("\t".join, pairwise(texts)))
        keys["words3"].update(map("\t".join, zip(texts, texts[1:], texts[2:], strict=False)))
    keys["verb"] = {"", *verbs}
    keys["noun"] = {"", *nouns}
    if len(sentences) > 1:
        keys["verbs"].update(map("\t".join, combinations(sorted(verbs), 2)))
        keys["nouns"].update(map("\t".join, combinations(sorted(nouns), 2)))
    keys["topic"].update(map("\t".join, product(sorted(verbs), sorted(nouns))))
    return keys


@cache
def shipped_counts() -> CaptionCounts:
    """The counts that travel with the package."""
    return decoded(files("video_contrast.perturbations.contrast").joinpath("counts.xz").read_bytes())


def decoded(content: bytes) -> CaptionCounts:
    """The counts of `CaptionCounts.encoded`."""
    first, *lines = lzma.decompress(content).decode("utf-8").split("\n")
    head = json.loads(first)
    entries = zip(lines, map(int, lines[sum(head["tables"].values()) :]), strict=False)
    tables: dict[str, dict[str, int]] = {name: {} for name in TABLES}
    for name, table in tables.items():
        begin = ""
        for key, n in islice(entries, head["tables"][name]):
            begin = key[: key.rfind("\t") + 1] or begin
            table[begin + key.rpartition("\t")[2]] = n
    return CaptionCounts(tables, head["videos"], head["captions"], tuple(head["sources"]))
