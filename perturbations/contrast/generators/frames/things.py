"""What a caption names: each common noun with its determiner, adjectives and what governs it."""

from dataclasses import dataclass

from video_contrast.perturbations.contrast.generators.frames.actions import Action
from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS, QUANTITIES, Tree, subject_key
from video_contrast.perturbations.contrast.generators.frames.words import Parse


@dataclass(frozen=True, slots=True)
class Thing:
    """One noun of a caption, with its compound word if it has one.

    Attributes:
        place: of the noun among the caption's words.
        noun, compound: "game", "video".
        determiner: "pl", "bare" or "det".
        governor: what it depends on: "cut" (object), "talk about" (object of a preposition), "@in person" (of a
            preposition after a noun), "^bark" (subject of a verb).
        verb: the verb lemma in `governor`, or "".
        adjectives: lemmas that stand before it.
        tag: Penn tag of the noun.
        start, end: characters of compound and noun.
        after: what hangs on the noun: prepositions with nouns ("with handle").
        fault: why it cannot be replaced; "" where it can.
    """

    place: int
    noun: str
    compound: str
    determiner: str
    governor: str
    verb: str
    adjectives: tuple[str, ...]
    tag: str
    start: int
    end: int
    after: tuple[str, ...]
    fault: str

    @property
    def name(self) -> str:
        """Compound and noun: "video game"."""
        return f"{self.compound} {self.noun}" if self.compound else self.noun


def things(words: Parse, acts: list[Action]) -> list[Thing]:
    """The common nouns of a caption in its order, with those that cannot be replaced (and why)."""
    tree = Tree(words)
    units = {act.place: act for act in acts}
    listed = []
    for place, word in enumerate(words):
        if word.tag in ("NN", "NNS") and word.dep not in ("compound", "nmod", "npadvmod"):
            listed.append(_thing(tree, place, units))
    return listed


def _thing(tree: Tree, place: int, units: dict[int, Action]) -> Thing:
    words, word = tree.words, tree.words[place]
    compounds = [n for n in tree.children[place] if words[n].dep in ("compound", "nmod") and n < place]
    fault = ""
    if not word.text.isalpha() or len(word.text) < 3:
        fault = "not a word"
    compound, start = "", word.start
    if compounds:
        if compounds == [place - 1] and words[place - 1].tag in ("NN", "NNS") and words[place - 1].text.isalpha():
            compound, start = words[place - 1].lemma, words[place - 1].start
        else:
            fault = fault or "long compound"
    adjectives = []
    for child in tree.children[place]:
        part = words[child]
        if part.dep in ("conj", "cc", "appos", "acl", "relcl"):
            if part.dep == "acl" and part.tag == "VBG" and word.dep in ("ROOT", "attr"):
                continue  # "a dog running": the participle is what it does
            fault = fault or ("joined with another thing" if part.dep in ("conj", "cc") else "described by a clause")
        elif part.dep in ("amod", "poss") and part.tag != "PRP$" and child < place:
            adjectives.append(part.lemma)
    if word.dep == "conj":
        fault = fault or "joined with another thing"
    after = []
    for child in tree.children[place]:
        if words[child].dep == "prep" and child > place:
            inner = tree.child(child, "pobj")
            after.append(f"{words[child].text} {tree.noun(inner) if inner is not None else ''}".strip())
    if any(item.startswith("of") for item in after):
        fault = fault or "described by of"
    governor, verb = _governor(tree, place, units)
    if not governor:
        fault = fault or "governed by nothing known"
    return Thing(
        place=place,
        noun=word.lemma,
        compound=compound,
        determiner=tree.determiner(place),
        governor=governor,
        verb=verb,
        adjectives=tuple(adjectives),
        tag=word.tag,
        start=start,
        end=word.end,
        after=tuple(after),
        fault=fault,
    )


def _governor(tree: Tree, place: int, units: dict[int, Action]) -> tuple[str, str]:
    words, word = tree.words, tree.words[place]
    head = words[word.head]
    if word.dep == "dobj" and word.head in units:
        act = units[word.head]
        return act.phrase, act.verb
    if (word.dep == "pobj" and head.tag == "IN") or (word.dep == "pobj" and head.dep in ("prep", "agent")):
        above = words[head.head]
        if head.text == "of":
            if above.lemma in QUANTITIES:
                outer, verb = _governor(tree, head.head, units)
                return outer, verb
            return "", ""
        if head.head in units and above.tag.startswith("VB"):
            act = units[head.head]
            if act.verb == "be":
                return f"@{head.text} {act.subject}", ""
            if above.tag == "VBN":
                return f"{act.verb}+ {head.text}", act.verb
            return f"{act.phrase} {head.text}", act.verb
        if above.tag.startswith("VB") or (head.dep == "prep" and above.tag not in NOUNS):
            return "", ""
        return f"@{head.text} {subject_key(tree, head.head)}", ""
    if word.dep == "nsubjpass" and word.head in units:
        return units[word.head].phrase, units[word.head].verb
    if word.dep == "nsubj" and word.head in units:
        act = units[word.head]
        return (f"^{act.phrase}", act.verb) if act.verb != "be" else ("", "")
    for child in tree.children[place]:  # "a dog running": the participle hangs on the noun
        if words[child].dep == "acl" and words[child].tag == "VBG" and child in units:
            return f"^{units[child].phrase}", units[child].verb
    return "", ""
