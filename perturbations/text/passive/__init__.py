"""Active captions made passive by rules: subject, verb, object -> object, is verbed, by subject.

Clauses are looked for in the caption's parse (its tags, where no parser is installed); the first that has a passive is
turned, every other caption stays as it is, since half a passive ("added by in a kitchen someone") is no rewriting. The
steps, a file each: `plain` or `repair` (the parse), `doer`, `object` and `tails` (the parts), `verb_words`, `order`.

passive(caption, tokens, words)    the caption in the passive; unchanged where the rules are not sure
refusals(caption, tokens, words)   why its clauses stay active
parses(captions), parser()         the parses, and what they depend on; None where no parser is installed
"""

import itertools
from collections.abc import Iterator, Sequence

from video_contrast.perturbations.contrast.generators.frames.tree import NOUNS
from video_contrast.perturbations.contrast.generators.frames.words import Parse
from video_contrast.perturbations.language import Token
from video_contrast.perturbations.text.imperative import imperatives, passive_imperative
from video_contrast.perturbations.text.passive.order import NewClause, turned
from video_contrast.perturbations.text.passive.parses import parser, parses
from video_contrast.perturbations.text.passive.plain import read
from video_contrast.perturbations.text.passive.repair import repaired
from video_contrast.perturbations.text.passive.sentence import Refused, Sentence, Why, refuse

__all__ = ["Why", "parser", "parses", "passive", "refusals"]

_LONGEST = 13  # words: readers found 21 % of the passives of longer captions faulty, 7 % of those of the others
_THERE = ("is", "are", "was", "were")
_GOES_ON = ("NN", "NNS", "NNP", "NNPS", "CD", "JJ", "DT", "PRP", "VB", "VBN", "VBD", "VBZ", "VBP", "MD")


def passive(caption: str, tokens: list[Token], words: Parse | None = None) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    Args:
        caption: the text.
        tokens: its tags.
        words: its parse, where there is one.

    >>> from video_contrast.perturbations.language import tag
    >>> passive("a little girl does gymnastics", tag(["a little girl does gymnastics"], tagger="hanta")[0])
    'gymnastics is done by a little girl'
    """
    orders = imperatives(tokens)
    if orders:
        return passive_imperative(caption, tokens, orders)
    for _, clause in _clauses(caption, tokens, words):
        if isinstance(clause, NewClause):
            return _put(caption, clause, words or read(tokens) or ())
    return caption


def refusals(caption: str, tokens: list[Token], words: Parse | None = None) -> list[tuple[str, Why]]:
    """The verbs of a caption that stays active and why each does.

    Args:
        caption: the text.
        tokens: its tags.
        words: its parse, where there is one.
    """
    return [(verb, why) for verb, why in _clauses(caption, tokens, words) if isinstance(why, Why)]


def _clauses(caption: str, tokens: list[Token], words: Parse | None) -> Iterator[tuple[str, NewClause | Why]]:
    """Each verb of a caption, those of outer clauses first, and its clause in the passive or why there is none."""
    words = words or read(tokens) or ()
    stop = len(words) - 1 if words and words[-1].text in (".", "!") else len(words)
    stop = len(words) if any(word.head >= stop for word in words[:stop]) else stop
    tree = Sentence(caption, repaired(words[:stop]))
    no_verbs = {token.start for token in tokens if token.tag[:2] != "VB"}
    verbs = [n for n, word in enumerate(tree.words) if word.tag[:2] == "VB" and word.lemma != "be"]
    long = sum(word.tag[:1].isalpha() for word in tree.words) > _LONGEST
    for verb in sorted(verbs, key=lambda place: (_depth(tree, place), place)):
        try:
            refuse(Why.LONG, long)
            if (tree.words[verb].start in no_verbs and not _doing(tree, verb)) or _hides_verb(tree, verb, tokens):
                raise Refused(Why.NO_VERB)
            yield tree.words[verb].text, _behind_there(tree, _whole(tree, verb))
        except Refused as refused:
            yield tree.words[verb].text, refused.args[0]


def _depth(tree: Sentence, place: int) -> int:
    steps = 0
    while tree.words[place].head != place and steps < 50:
        place, steps = tree.words[place].head, steps + 1
    return steps


def _whole(tree: Sentence, verb: int) -> NewClause:
    if any(word.text == "displaying" and tree.words[word.head].dep != "ROOT" for word in tree.words):
        raise Refused(Why.TWO_CLAUSES)  # notes, no sentence: "a girl sitting inside displaying on screen"
    clause = turned(tree, verb)
    after = tree.words[clause.end].tag if clause.end < len(tree.words) else ""
    if after in _GOES_ON or _run_together(tree, clause):
        raise Refused(Why.TWO_CLAUSES)  # "a woman is wearing a dress is making a dish"
    later = [n for n in range(clause.end, len(tree.words)) if tree.words[n].dep == "conj"]
    later = [n for n in later if tree.words[n].tag[:2] == "VB" and tree.words[n].head < clause.end]
    lost = any(tree.child(n, "nsubj", "expl") is None for n in later)
    refuse(Why.SECOND_VERB, lost)  # "a fish is caught by it | and takes it away"
    return clause


def _run_together(tree: Sentence, clause: NewClause) -> bool:
    """Whether words of a clause belong to no phrase: "the movie | the matrix", "making | s | dish"."""
    inside = list(enumerate(tree.words))[clause.start + 1 : clause.end]
    articles = any(word.text in ("a", "an", "the") and tree.words[n - 1].tag in NOUNS for n, word in inside)
    return articles or any(word.text == "s" and tree.words[n - 1].tag[:2] == "VB" for n, word in inside)


def _doing(tree: Sentence, verb: int) -> bool:
    """Whether a word can be nothing but a verb: "is unboxing", "folding a paper", "a girl talks about"."""
    word, after = tree.words[verb], tree.words[verb + 1].tag if verb + 1 < len(tree.words) else ""
    said = word.tag == "VBZ" and word.dep == "ROOT" and after in ("IN", "DT") and tree.words[verb - 1].dep == "nsubj"
    going = word.tag == "VBG" and (tree.child(verb, "aux") == verb - 1 or after in ("DT", "CD", "PRP$"))
    return going or (said and verb > 0 and tree.is_person(verb - 1))


def _hides_verb(tree: Sentence, verb: int, tokens: Sequence[Token]) -> bool:
    """Whether the tagger sees a finite verb in subject or object where the parser reads a noun: "a cub looks in"."""
    phrases = [n for n in tree.children[verb] if tree.words[n].dep in ("nsubj", "dobj")]
    phrases += [tree.words[verb].head] if tree.words[verb].dep == "acl" else []
    phrases += [n for prep in tree.children[verb] for n in tree.children[prep] if tree.words[n].dep == "pobj"]
    pairs = [(a, b) for a, b in itertools.pairwise(tokens) if a.tag[:2] in ("NN", "CC", "RB") and b.text != "s"]
    finite = [b.start for _, b in pairs if b.tag in ("VBZ", "VBD", "MD")]
    for start, end in (tree.span(phrase) for phrase in phrases):
        inside = range(tree.words[start].start, tree.words[end - 1].end)
        clause = {"relcl", "ccomp", "advcl", "acl"} & tree.deps(start, end)
        if not clause and any(place in inside for place in finite):
            return True
    return False


def _behind_there(tree: Sentence, clause: NewClause) -> NewClause:
    """Behind "there is": "there is a song being sung", "there are songs being sung"."""
    start = clause.start
    if start < 2 or tree.words[start - 2].text != "there" or tree.words[start - 1].text not in (*_THERE, "s", "'s"):
        return clause
    text, finite = clause.text, next((be for be in (" is being ", " are being ") if be in clause.text), None)
    if finite is None and (" being " not in text or " was being " in text or " were being " in text):
        raise Refused(Why.VERB_WORDS)
    refuse(Why.VERB_WORDS, text.split()[0].lower() in ("the", "this", "that", "these", "those"))
    text = text if finite is None else text.replace(finite, " being ", 1)
    return NewClause(start - 1, clause.end, f"{'are' if clause.plural else 'is'} {text}", clause.plural)


def _put(caption: str, clause: NewClause, words: Parse) -> str:
    text = clause.text[:1].upper() + clause.text[1:] if clause.start == 0 and caption[:1].isupper() else clause.text
    return caption[: words[clause.start].start] + text + caption[words[clause.end - 1].end :]
