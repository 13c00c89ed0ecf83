"""Annotated captions beside what a parser reads in them (benchmarks/readings/parses.tsv)."""

from collections import Counter

from parts.caption_trees import Tree
from video_contrast.perturbations.english.sentence import Sentence, Word

MEASURES = ("tag", "verb", "subject", "object", "prt", "prep")
Fact = tuple[str, int, str, int | None]  # measure, the verb's place, name or preposition, place of the noun
CLASSES = {
    "n": "NN NNP", "s": "NNS NNPS", "b": "VB", "d": "VBD", "g": "VBG", "v": "VBN", "w": "VBP", "z": "VBZ",
    "j": "JJ JJR JJS", "r": "RB RBR RBS", "i": "IN TO", "q": "RP", "m": "MD", "e": "DT PDT WDT", "o": "PRP WP EX",
    "p": "PRP$ WP$", "c": "CC", "x": "CD", "h": "WRB", "k": "POS", "u": "UH", ".": ". , :",
    "a": "JJ VBN VBG NN",  # a participle before its noun
}  # fmt: skip


def compare(tree: Tree, classes: str, verbs: str) -> Counter[tuple[str, str]]:
    """Returns how many of each measure were right, read and annotated (true), for one caption."""
    columns = (tree.words, tree.tags, tree.words, tree.deps, tree.heads)
    sentence = Sentence("", tuple(Word(*row, start=0, end=0) for row in zip(*columns, strict=True)))
    true, free = annotated(verbs)
    read = {fact for fact in facts(sentence) if (fact[1], fact[2]) not in free and (fact[1], "") not in free}
    true |= {("tag", i, letter, None) for i, letter in enumerate(classes) if letter != "?"}
    for i, (letter, tag) in enumerate(zip(classes, tree.tags, strict=False)):
        if letter != "?":
            read.add(("tag", i, letter if tag in CLASSES[letter].split() else tag, None))
    counts: Counter[tuple[str, str]] = Counter()
    for kind, places in (("right", read & true), ("read", read), ("true", true)):
        counts.update((fact[0], kind) for fact in places)
    return counts


def facts(sentence: Sentence) -> set[Fact]:
    """Returns what the rules ask of a sentence: its verbs, and what hangs on each."""
    read: set[Fact] = set()
    for verb in sentence.verbs:
        single = {"subject": sentence.subject(verb), "object": sentence.object(verb), "prt": sentence.particle(verb)}
        read |= {
            ("verb", verb, "verb", None),
            *((name, verb, name, at) for name, at in single.items() if at is not None),
        }
        read |= {("prep", verb, sentence.words[at].text, noun) for at, noun in sentence.prepositions(verb)}
    return read


def annotated(verbs: str) -> tuple[set[Fact], set[tuple[int, str]]]:
    """Returns the facts of an annotation, and which of a verb's facts are free: both ways of reading are right."""
    true: set[Fact] = set()
    free: set[tuple[int, str]] = set()
    for place, *rest in (text.split() for text in verbs.split("; ") if text):
        verb = int(place.rstrip("?"))
        if place.endswith("?"):
            free.add((verb, ""))
            continue
        true.add(("verb", verb, "verb", None))
        for name, _, value in (text.partition("=") for text in rest):
            if value.endswith("?"):
                free.add((verb, name))
            else:
                true.add((name if name in MEASURES else "prep", verb, name, int(value) if value else None))
    return true, free
