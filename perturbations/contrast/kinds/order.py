"""Order: what happens first. "walks in and then sits down" -> "sits down and then walks in"; before, after; first."""

import re
from typing import NamedTuple

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import change, living, replace_words, thing
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect
from video_contrast.perturbations.english.lexicon import words_of

_TIMES = ("before", "after")
_NUMBERS = ("first", "second", "last")
_PHASES = words_of("phase")  # verbs of a phase of the action before, or of no action
_SET_PHRASES = words_of("in_set_phrase")  # "well before", "after all"
_BETWEEN = frozenset((",", "and", "then", "but", ".", ";", "afterwards"))
_CLAUSE_LABELS = ("ROOT", "conj", "dep", "parataxis", "ccomp", "acl")  # labels of verbs that tell what happens
_MOVES = words_of("motion") | {"come", "get"}
_THEY = ("they", "he", "she")


class _Action(NamedTuple):
    """An action of somebody: its verb, its first word (auxiliaries counted), and the place behind its last word."""

    verb: int
    first: int
    end: int


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """Two actions around "then" or "before" change places; "before" becomes "after", "first" becomes "last"."""
    out = []
    for at, word in enumerate(sentence.words):
        if word.text in _TIMES:
            out += _other_time(sentence, at)
        elif word.text in _NUMBERS:
            out += _other_number(sentence, at, lexicon)
    return out + _sequences(sentence)


def _other_number(sentence: Sentence, at: int, lexicon: Lexicon) -> list[Contrast]:
    """ "for the first time" -> "for the last time", "the first man" -> "the second man"."""
    words, noun = sentence.words, sentence.words[at].head
    numbers = [word.text for word in words if word.text in _NUMBERS]
    if noun <= at or noun > at + 3 or len(numbers) > 1 or words[at].dep not in ("amod", "nummod", "compound"):
        return []
    meaning = thing(sentence, noun, lexicon)
    acts = words[noun].dep in ("nsubj", "ROOT") and living(sentence, noun, lexicon)
    can_be_counted = acts or (meaning and lexicon.is_a(meaning.category, "vehicle"))
    if not can_be_counted and words[noun].text not in ("time", "attempt", "jump", "throw", "shot", "car"):
        return []
    if at and (words[at - 1].tag == "PRP$" or words[at - 1].text == "a"):
        return []
    old = words[at].text
    return [replace_words(sentence, at, at + 1, new, unit=old, other=new) for new in _NUMBERS if new != old]


def _other_time(sentence: Sentence, at: int) -> list[Contrast]:
    """ "before cooking" -> "after cooking"; "washes before cooking" -> "cooks before washing"."""
    words = sentence.words
    if not 0 < at < len(words) - 1 or _SET_PHRASES & {words[at - 1].lemma, words[at + 1].text}:
        return []
    following = words[at + 1]
    participle = following.tag == "VBG" and sentence.child(at + 1, "nsubj") is None
    participle = participle and following.lemma not in words_of("lasting") | words_of("outcome")
    if any(word.text in ("how", "why", "what") for word in words) or not (participle or _opens_clause(sentence, at)):
        return []
    others = [other for other in _TIMES if other != words[at].text]
    out = [replace_words(sentence, at, at + 1, other, unit=words[at].text, other=other) for other in others]
    exchange = _swapped_around_preposition(sentence, at) if participle else None
    return [*out, exchange] if exchange is not None else out


def _opens_clause(sentence: Sentence, at: int) -> bool:
    """Whether a clause with a subject of its own follows: "before he leaves"."""
    words, head = sentence.words, sentence.words[at].head
    if words[at].dep != "mark" or head < at or words[head].lemma in _PHASES - {"do", "be", "go", "stop", "return"}:
        return False
    subject = sentence.child(head, "nsubj", "nsubjpass")
    return subject is not None and (words[subject].tag, words[head].tag) != ("NNS", "VBZ")


def _swapped_around_preposition(sentence: Sentence, at: int) -> Contrast | None:
    """ "washes his hands before eating" -> "eats before washing his hands"."""
    words = sentence.words
    before = [n for n in sentence.verbs if n < at and words[n].dep in _CLAUSE_LABELS]
    end = len(words) - (words[-1].text == ".")
    if not before or any(word.text in (*_BETWEEN, *_TIMES) for word in words[at + 1 : end]):
        return None
    first, second = before[-1], at + 1
    if any(not _may_move(sentence, verb, verb == second) for verb in (first, second)):
        return None
    return _exchanged(sentence, _Action(first, first, at), _Action(second, second, end))


def _sequences(sentence: Sentence) -> list[Contrast]:
    """The contrasts in which an action and the one behind "then" change places."""
    words = sentence.words
    verbs = [n for n in sentence.verbs if words[n].dep in _CLAUSE_LABELS and sentence.is_verb_form(n)]
    verbs = [n for n in verbs if words[n].dep != "acl" or words[n].head == sentence.root]
    stop = len(words) - bool(words and words[-1].text == ".")
    stops = [*(_conjunction_start(sentence, verb) for verb in verbs[1:]), stop]
    out = []
    for first, second, stop, end in zip(verbs, verbs[1:], stops, stops[1:], strict=False):
        words_between = [word.text for word in words[stop:second]]
        if words_between.count("then") != 1 or not _comparable(sentence, first, second):
            continue
        own = sentence.child(second, "nsubj") is not None
        end = stops[-1] if own else end
        actions = [
            _Action(verb, min([verb, *(sentence.auxiliaries(verb) if own else [])]), to)
            for verb, to in ((first, stop), (second, end))
        ]
        contrast = _exchanged(sentence, *actions)
        out += [contrast] if contrast is not None else []
    return out


def _conjunction_start(sentence: Sentence, verb: int) -> int:
    """The place of the first word that joins a verb, with its subject, to the words before it."""
    words, subject = sentence.words, sentence.child(verb, "nsubj")
    at = min([verb, *sentence.auxiliaries(verb)])
    while at > 0 and (words[at - 1].text.endswith("ly") or words[at - 1].text == "then"):
        at -= 1
    at = min(at, sentence.span(subject)[0]) if subject is not None and subject < verb else at
    while at > 0 and words[at - 1].text in _BETWEEN:
        at -= 1
    return at


def _may_move(sentence: Sentence, verb: int, last: bool) -> bool:
    """Whether an action can stand in another place: nobody who has left does more."""
    words = sentence.words
    leaves = words[verb].lemma in ("leave", "exit") or any(
        words[n].text in ("out", "away", "off") and words[verb].lemma in _MOVES for n in sentence.children[verb]
    )
    passive = sentence.is_passive(verb) or sentence.is_negated(verb)
    return words[verb].lemma not in _PHASES and not passive and not (last and leaves)


def _comparable(sentence: Sentence, first: int, second: int) -> bool:
    """Whether two verbs are of one doer and in one form, and tell actions that can change places."""
    words, subject = sentence.words, sentence.child(second, "nsubj")
    if not _may_move(sentence, first, last=False) or not _may_move(sentence, second, last=True):
        return False
    if any(n and words[n - 1].tag == "TO" for n in (first, second)):
        return False
    if subject is None:
        return not sentence.auxiliaries(second) and words[first].tag == words[second].tag
    many = words[subject].text == "they"
    present = many and {words[first].tag, words[second].tag} <= {"VBZ", "VBP", "VBG"}
    return words[subject].text in _THEY and (present or words[first].tag == words[second].tag)


def _exchanged(sentence: Sentence, first: _Action, second: _Action) -> Contrast | None:
    """Two actions change places, each verb in the other's form; None where one needs what the other names."""
    words = sentence.words
    tags = words[first.first].tag, words[second.first].tag
    names = words[first.verb].lemma, words[second.verb].lemma
    mine, others = (words[action.verb : action.end] for action in (first, second))
    named_in_both = {word.lemma for word in mine if word.is_noun} & {word.lemma for word in others if word.is_noun}
    pronoun = any(word.tag == "PRP" or word.text == "its" for word in (*mine, *others))  # of a noun of the other action
    if names[0] == names[1] or named_in_both or pronoun:
        return None
    one, other = _clause_text(sentence, first, tags[1]), _clause_text(sentence, second, tags[0])
    changes = [(first.first, first.end, other), (second.first, second.end, one)]
    claims = [f"{a} then {b}" for a, b in (names, names[::-1])]
    return change(sentence, changes, unit=claims[0], other=claims[1])


def _clause_text(sentence: Sentence, action: _Action, tag: str) -> str:
    """The words of an action with its verbs in another form."""
    words, own = sentence.words, sentence.words[action.first].tag
    forms = (own, "VB", "VBP") if own in ("VBZ", "VBP") else (own,)
    verbs = [n for n in sentence.joined(action.verb) if words[n].tag in forms] + [action.first] if tag != own else []
    parts = []
    for at in range(action.first, action.end):
        text = words[at].text if at == action.first and words[at].start == 0 else sentence.text(at, at + 1)
        parts.append(inflect(words[at].lemma, tag) if at in verbs else text)
    return re.sub(r" (?=[,.]|'s\b|n't\b)", "", " ".join(parts)).rstrip(" ,")
