"""The passive of imperatives, a statement: "add the onions and stir", "the onions are added and stirred"."""

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.text.statement_passive import is_movable

_OTHERS = ("cover", "open", "remove", "serve")  # "remove the lid and stir", "add oil and cover": another thing


def passive_of_imperatives(s: Sentence) -> str | None:
    """ "heat oil and add the onion" as "oil is heated and the onion is added"; None where an object is not clear."""
    if s.hides_imperative or s.object(s.imperatives[0]) is None:
        return None
    text, at = "", 0
    for verb in s.imperatives:
        as_passive = _passive_of_imperative(s, verb, at)
        if as_passive is None:
            return None
        start, end, new = as_passive
        text, at = text + _text_between(s, at, start) + new, end
    return text + _text_between(s, at, len(s))


def _passive_of_imperative(s: Sentence, verb: int, at: int) -> tuple[int, int, str] | None:
    """An imperative behind `at`: its first place, the place behind its object, and what stands there instead."""
    obj, word = s.object(verb), s.words[verb]
    if has_class(word.lemma, "no_passive") or s.children_with(verb, "aux", "neg", "dative") or verb < at:
        return None
    after = verb + 2 if s.particle(verb) == verb + 1 else verb + 1
    past = inflect(word.text, "VBN")
    if obj is None:  # "... and stir": what was told of before is stirred
        return None if _is_of_another(s, verb, after) else (verb, verb + 1, past)
    end = s.span(obj)[1]  # what says where or how belongs to the verb in an imperative ("put it on the rice")
    end = next((n for n in range(obj + 1, end) if s.words[n].tag in ("RB", "IN") and s.words[n].text != "of"), end)
    pronoun, them = s.words[obj].tag == "PRP", s.words[obj].text == "them"
    if s.span(obj)[0] != after or s.words[end - 1].tag == "CC" or not (pronoun or is_movable(s, obj)):
        return None
    lead = max(s.imperative_start(verb), at)
    subject, be = "they" if them else s.text(after, end), "are" if them or s.is_plural(obj) else "is"
    pieces = [subject, be, s.text(lead, verb), past, s.text(verb + 1, after)]
    return lead, end, " ".join(filter(None, pieces))


def _is_of_another(s: Sentence, verb: int, after: int) -> bool:
    """Whether an imperative without an object may be about another thing than that before: "remove the lid and stir".

    `after`: the place behind the verb and its particle.
    """
    word, behind = s.words[verb], s.words[after : after + 2]
    stirred_in = [w.text == "in" or w.is_noun or w.tag == "CD" for w in behind] == [True, True]  # "stir in flour"
    noun = s.child(verb, "dobj") is not None or stirred_in or (bool(behind) and behind[0].is_noun)
    return noun or word.text in _OTHERS or s.words[word.head].text in _OTHERS


def _text_between(s: Sentence, start: int, end: int) -> str:
    """The caption from behind the word before `start` up to the word at `end`, blanks included."""
    first = s.words[start - 1].end if start else 0
    return s.caption[first : s.words[end].start if end < len(s) else None]
