"""Mistakes of the parser that the words betray, mended before clauses are looked for.

A noun behind a verb is read as another verb ("cooks meat"), someone who is watched as the subject of a clause
("watches a man dancing"), the first noun of a caption as a part of the verb ("boy plays"), a second act as a second
object ("is playing a guitar and singing").
"""

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.contrast.generators.frames.words import Parse, Word
from video_contrast.perturbations.english.forms import is_noun
from video_contrast.perturbations.language import lemma, verb_tags
from video_contrast.perturbations.text.passive import lists
from video_contrast.perturbations.text.passive.sentence import Sentence

_OF_ACTS = lists.REGARDING | {"do", "practice", "teach", "learn"}


def repaired(words: Parse) -> Parse:
    """The parse with those mistakes mended."""
    tree = Sentence("", words)
    return tuple(_mended(tree, place) for place in range(len(words)))


def _mended(tree: Sentence, place: int) -> Word:
    word, over = tree.words[place], tree.words[tree.words[place].head]
    if word.dep in ("dobj", "pobj", "pcomp") and word.tag[:2] == "VB" and is_noun(word.text):
        below = {tree.words[n].dep for n in tree.children[place]}
        done = below & {"dobj", "nsubj", "aux", "prt", "advmod", *(("prep",) if word.dep == "pcomp" else ())}
        if not done and not (word.tag == "VBG" and over.lemma in lists.REGARDING):
            tag = "NNS" if lemma(word.text, "NNS") != word.text and not word.text.endswith("ss") else "NN"
            return word._replace(tag=tag, lemma=lemma(word.text, tag), dep="dobj" if word.dep == "dobj" else "pobj")
    if word.dep == "acl" and word.tag == "NN" and "VBG" in verb_tags(word.text):
        return word._replace(tag="VBG", lemma=lemma(word.text, "VBG"))
    opens = word.tag == "UH" or (word.dep in ("npadvmod", "compound") and place == word.head - 1)
    if opens and (tree.is_person(place) or word.tag == "NNP") and over.tag in ("VBZ", "VBP", "VBG"):
        return word._replace(tag="NN" if word.tag == "UH" else word.tag, dep="nsubj")
    if word.dep == "xcomp" and word.tag == "VBG" and over.tag in NOUNS and place == word.head + 1:
        return word._replace(dep="acl")
    if word.dep == "acl" and word.tag == "VBG" and over.lemma in lists.HOLDING and word.lemma not in lists.TELLS_ITSELF:
        of = next((n for n in tree.children[word.head] if tree.words[n].text == "of"), None)
        shown = tree.child(of, "pobj") if of is not None else None
        if shown is not None and shown < place and tree.is_person(shown):
            return word._replace(head=shown)  # "a video of a man | watching a game"
    if word.dep == "conj" and word.tag == "NNS" and over.tag in ("VBZ", "VBG") and "VBZ" in verb_tags(word.text):
        return word._replace(tag="VBZ", lemma=lemma(word.text, "VBZ"))
    return _watched(tree, place) or _second_act(tree, place) or word


def _watched(tree: Sentence, place: int) -> Word | None:
    """ "watches a man dancing": the man is what is watched, and dancing describes him."""
    word = tree.words[place]
    act = place if word.dep == "ccomp" else word.head if word.dep == "nsubj" else None
    if act is None or tree.words[act].dep != "ccomp" or tree.words[act].tag != "VBG":
        return None
    who, verb = tree.child(act, "nsubj"), tree.words[act].head
    sees = tree.words[verb].lemma in lists.PERCEIVING and verb < act and tree.child(verb, "dobj") is None
    if not sees or who is None or tree.words[who].tag not in NOUNS or tree.child(act, "aux", "mark") is not None:
        return None
    return word._replace(dep="acl", head=who) if place == act else word._replace(dep="dobj", head=verb)


def _second_act(tree: Sentence, place: int) -> Word | None:
    """ "playing a guitar and singing": what is joined to the object is a second verb."""
    word = tree.words[place]
    noun, act = word.head, place if word.dep == "conj" else place + 1
    verb = tree.words[noun].head
    if word.dep not in ("conj", "cc") or noun > place or tree.words[noun].dep != "dobj" or act >= len(tree.words):
        return None
    base = lemma(tree.words[act].text, "VBG")
    after = tree.words[act + 1].tag if act + 1 < len(tree.words) else ""
    joined = tree.words[act - 1].text == "and" and tree.child(noun, "cc") == act - 1
    if not joined or tree.words[verb].tag != "VBG" or tree.words[verb].lemma in _OF_ACTS:
        return None
    if "VBG" not in verb_tags(tree.words[act].text) or (base not in lists.ALONE and after not in ("PRP", "PRP$", "DT")):
        return None
    return word._replace(head=verb) if word.dep == "cc" else word._replace(head=verb, tag="VBG", lemma=base)
