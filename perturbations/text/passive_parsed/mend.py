"""Mistakes of the parser that its own words betray, mended before the passive is formed."""

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.contrast.generators.frames.words import Parse, Word
from video_contrast.perturbations.language import lemma, verb_tags
from video_contrast.perturbations.language.morphology import is_noun
from video_contrast.perturbations.text.passive_parsed.sentence import Sentence, is_person
from video_contrast.perturbations.text.passive_parsed.words import CROWDS, EXPLAINING, REGARDING, SHOWING
from video_contrast.perturbations.text.passive_words import PERCEIVING, TELLS_ITSELF


def mended(words: Parse) -> Parse:
    """The parse with things that are read as verbs made nouns, and clauses hung where they belong.

    "meat" in "cooks meat in a pan", a clause with "while" behind "a man giving a talk", and "watching" in "a video of a
    man watching a game", which the parser hangs on "video".
    """
    tree = Sentence("", words)
    return tuple(_mended(tree, place) for place in range(len(words)))


def _mended(tree: Sentence, place: int) -> Word:
    word = tree.words[place]
    if (
        word.dep in ("dobj", "pobj", "pcomp")
        and word.tag[:2] == "VB"
        and is_noun(word.text)
        and not _is_done(tree, place)
    ):
        tag = "NNS" if lemma(word.text, "NNS") != word.text and not word.text.endswith("ss") else "NN"
        dep = "pobj" if word.dep == "pcomp" else word.dep
        return word._replace(tag=tag, lemma=lemma(word.text, tag), dep=dep)
    over = tree.words[word.head]
    opens = word.tag == "UH" or (word.dep == "npadvmod" and place == word.head - 1 == 0)
    if opens and is_person(tree, place) and over.tag in ("VBZ", "VBG"):  # "boy plays" is read as an exclamation
        return word._replace(tag="NN", dep="nsubj")
    if word.tag == "VBG" and word.dep == "xcomp" and over.tag in NOUNS and place == word.head + 1:
        return word._replace(dep="acl")
    told = tree.child(word.head, "ccomp") if word.dep == "attr" else None  # "there is a man is talking"
    if told is not None and tree.child(word.head, "expl") is not None and tree.child(told, "nsubj") is None:
        return word._replace(dep="nsubj", head=told)
    verb = _second_verb(tree, place)
    if verb is not None:  # "playing piano and singing"
        return word._replace(tag="VBG", dep="conj", lemma=lemma(word.text, "VBG"), head=verb)
    if word.dep == "cc" and place + 1 < len(tree.words) and _second_verb(tree, place + 1) is not None:
        return word._replace(head=over.head)
    seen = _seen(tree, place)
    if seen is not None:
        return seen
    if _is_particle(tree, place):  # "shows off a car"
        return word._replace(dep="prt", tag="RP")
    if word.dep == "pobj" and _is_particle(tree, word.head):
        return word._replace(dep="dobj", head=over.head)
    if word.dep == "compound" and over.tag in ("VBZ", "VBP", "VBD") and place == word.head - 1:
        return word._replace(dep="nsubj")
    if word.dep == "advcl" and over.tag in NOUNS:
        acl = next((n for n in tree.children[word.head] if tree.words[n].dep == "acl" and n < place), None)
        if acl is not None and tree.words[acl].tag == "VBG":
            return word._replace(head=acl)
    if word.dep == "acl" and word.tag == "VBG" and over.lemma in SHOWING - CROWDS and word.lemma not in TELLS_ITSELF:
        of = next((n for n in tree.children[word.head] if tree.words[n].text == "of"), None)
        shown = tree.child(of, "pobj") if of is not None else None
        if shown is not None and (is_person(tree, shown) or tree.words[shown].tag == "NNP") and shown < place:
            return word._replace(head=shown)
    return word


def _is_done(tree: Sentence, place: int) -> bool:
    """Whether what is read as a verb in the place of a noun is one: "enjoys riding a bike", not "pours seasoning"."""
    children = {tree.words[n].dep for n in tree.children[place]}
    if tree.words[place].dep == "pcomp":
        return bool(children)
    thinks = tree.words[tree.words[place].head].lemma in EXPLAINING | REGARDING
    return bool(children & {"dobj", "nsubj", "aux", "prt", "advmod"}) or (thinks and tree.words[place].tag == "VBG")


def _is_particle(tree: Sentence, place: int) -> bool:
    """Whether a preposition behind a verb that needs an object is a particle: "puts on a hat"."""
    word = tree.words[place]
    verb = tree.words[word.head]
    apart = word.dep == "prep" and place == word.head + 1 and word.text in ("on", "off", "up", "out", "down", "away")
    return (
        apart and verb.lemma in ("put", "take", "show", "pick", "try", "set") and tree.child(word.head, "dobj") is None
    )


def _second_verb(tree: Sentence, place: int) -> int | None:
    """The verb to which "and" joins a word in -ing where the parser has its object: "playing piano and singing"."""
    word = tree.words[place]
    thing = tree.words[word.head]
    verb = tree.words[thing.head]
    ing = (
        word.dep == "conj" and word.text.endswith("ing") and "VBG" in verb_tags(word.text) and not tree.children[place]
    )
    joined = place > 0 and tree.words[place - 1].dep == "cc" and tree.words[place - 1].head == word.head
    return thing.head if ing and joined and thing.dep == "dobj" and verb.tag == "VBG" else None


def _seen(tree: Sentence, place: int) -> Word | None:
    """ "watches a man dancing": the man is what is watched, and dancing describes him."""
    word = tree.words[place]
    act = place if word.dep == "ccomp" else word.head if word.dep == "nsubj" else None
    if act is None or tree.words[act].dep != "ccomp" or tree.words[act].tag != "VBG":
        return None
    who, verb = tree.child(act, "nsubj"), tree.words[act].head
    sees = tree.words[verb].lemma in PERCEIVING and verb < act and tree.child(verb, "dobj") is None
    if not sees or who is None or tree.words[who].tag not in NOUNS or tree.child(act, "aux", "mark") is not None:
        return None
    return word._replace(dep="acl", head=who) if place == act else word._replace(dep="dobj", head=verb)
