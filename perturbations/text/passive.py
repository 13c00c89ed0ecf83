"""Active captions made passive by rules: subject, verb, object -> object, is verbed, by subject.

Of a statement the main clause is turned, and only if every word of the caption has its place in it; imperatives ("add
the onions and stir") become statements ("the onions are added and stirred"). Every other caption stays as it is.
"""

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect, within
from video_contrast.perturbations.english.lexicon import has_class

_LONGEST = 13  # words: readers found 21 % of the passives of longer captions faulty, 7 % of those of the others
_BY = {"he": "him", "she": "her", "they": "them", "i": "me", "we": "us"}
# What may hang on the verb of a statement: no second verb, no clause, no second object.
_PARTS = ("nsubj", "dobj", "aux", "prt", "prep", "dative", "advmod", "punct")
_CLAUSE_TAGS = ("VB", "VBZ", "VBP", "VBD", "MD", "TO", "WDT", "WP", "WRB")
_NO_PLACE = ("as", "like", "of", "by", "than")  # prepositions that tell nothing of where, when or how
_WAYS = ("down", "over", "around", "through", "along")  # "rides down the street": no particle
_MOST_COMPOUNDS = 2  # a longer chain of nouns is most often a list without commas, of unknown number


def passive(sentence: Sentence) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    >>> from video_contrast.perturbations.english import parse
    >>> [passive(sentence) for sentence in parse(["a little girl does gymnastics", "add the onions to the pan"])]
    ['gymnastics is done by a little girl', 'the onions are added to the pan']
    """
    text = (_of_orders if sentence.orders else _of_statement)(sentence)
    if text is None:
        return sentence.caption
    return text[:1].upper() + text[1:] if sentence.caption[:1].isupper() else text


def _of_statement(s: Sentence) -> str | None:
    """The passive of the main clause; None where some word has no place in it."""
    clause = _main_clause(s) if len(s) <= _LONGEST else None
    if clause is None:
        return None
    verb, subject, obj = clause
    start, end = _without(s, subject, verb if subject == s.words[verb].head else None)
    object_start, object_end = s.span(obj)
    group = list(range(end, object_start))  # auxiliaries, adverbs, verb, particle
    stop = len(s) - 1 if s.words[-1].text in (".", "!") else len(s)
    be = _forms_of_be(s, verb, s.is_plural(obj))
    parts = [n for n in s.children_with(verb, "aux", "advmod", "prt") if end <= n < object_start]
    whole = sorted([verb, *parts]) == group and _is_adverbial(s, verb, 0, start)
    if be is None or not whole or not _is_adverbial(s, verb, object_end, stop):
        return None
    adverbs = [s.words[n].text for n in parts if s.words[n].dep == "advmod" and n < verb]
    past = [be, *adverbs, inflect(s.words[verb].lemma, "VBN"), s.text(verb + 1, object_start)]
    by = "by " + _BY.get(s.words[subject].text, within(s.text(start, end), s.words[start].tag))
    pieces = [s.text(0, start), s.text(object_start, object_end), *past, s.text(object_end, stop), by]
    return _spaced(pieces) + s.text(stop, len(s))


def _main_clause(s: Sentence) -> tuple[int, int, int] | None:
    """Verb, subject and object of the main clause; None without one that has a passive."""
    verb = s.root
    if verb is not None and s.words[verb].is_noun:
        verb = s.child(verb, "acl")  # "a man driving a car"
    if verb is None or not _is_turnable(s, verb):
        return None
    subject, obj = s.subject(verb), s.object(verb)
    if subject is None or obj is None or not _is_movable(s, obj):
        return None
    bare = s.words[subject].tag == "NN" and s.words[verb].tag == "VBP" and not s.children[subject]
    named = s.words[subject].tag[:2] in ("NN", "PR", "DT") and not bare  # "game play footage" has no verb
    return (verb, subject, obj) if named else None


def _without(s: Sentence, place: int, part: int | None) -> tuple[int, int]:
    """First place and place behind the last of a word with all that hangs on it but for one part."""
    left_out = s.subtree(part) if part is not None else []
    places = [n for n in s.subtree(place) if n not in left_out]
    return places[0], places[-1] + 1


def _spaced(pieces: list[str]) -> str:
    return " ".join(piece for piece in pieces if piece)


def _is_turnable(s: Sentence, verb: int) -> bool:
    """Whether a verb has a passive and nothing hangs on it that would lose its place."""
    particle = s.particle(verb)
    if particle is not None and s.words[particle].text in _WAYS:
        return False
    plain = all(s.words[n].dep in _PARTS for n in s.children[verb])
    return plain and s.is_verb_form(verb) and not has_class(s.words[verb].lemma, "no_passive")


def _forms_of_be(s: Sentence, verb: int, plural: bool) -> str | None:
    """The forms of "be" that carry a verb's tense in the passive; None for a group of auxiliaries that has none."""
    tag, words = s.words[verb].tag, [s.words[n] for n in s.auxiliaries(verb)]
    lemmas = [word.lemma for word in words]
    present, past = ("are", "were") if plural else ("is", "was")
    if not words:
        return {"VBZ": present, "VBP": present, "VBD": past, "VBG": "being"}.get(tag)
    if lemmas == ["be"] and tag == "VBG":
        return f"{past if words[0].tag == 'VBD' else present} being"
    if lemmas == ["have"] and tag == "VBN":
        return "had been" if words[0].tag == "VBD" else "have been" if plural else "has been"
    return f"{words[0].text} be" if len(words) == 1 and words[0].tag == "MD" and tag == "VB" else None


def _is_movable(s: Sentence, obj: int) -> bool:
    """Whether an object is a noun phrase that can be a subject: no clause, no pronoun, no "walk" of "takes a walk"."""
    inside = [s.words[n] for n in s.subtree(obj)]
    long = len(s.children_with(obj, "compound", "nmod")) > _MOST_COMPOUNDS
    if not s.words[obj].is_noun or long or has_class(s.words[obj].lemma, "light_object"):
        return False
    second_verb = any(w.dep == "conj" and w.text.endswith("ing") for w in inside)  # "drinking coffee and shopping"
    clause = any(w.tag in (*_CLAUSE_TAGS, "PRP", "PRP$") or w.dep in ("acl", "relcl", "appos") for w in inside)
    return not (second_verb or clause)


def _is_adverbial(s: Sentence, verb: int, start: int, end: int) -> bool:
    """Whether the words from `start` to `end` are prepositional phrases and adverbs of a verb, without a pronoun."""
    parts = [n for n in s.children_with(verb, "prep", "dative", "advmod", "prt") if start <= n < end]
    places = [n for part in parts for n in s.subtree(part)]
    if sorted(places) != list(range(start, end)) or any(s.words[n].text in _NO_PLACE for n in parts):
        return False
    return not any(s.words[n].tag in (*_CLAUSE_TAGS, "PRP", "PRP$", "VBG", "CC") for n in places)


def _of_orders(s: Sentence) -> str | None:
    """ "heat oil and add the onion" as "oil is heated and the onion is added"; None where an object is not clear."""
    if s.hides_order or s.object(s.orders[0]) is None:
        return None
    text, at = "", 0
    for verb in s.orders:
        turned = _of_order(s, verb, at)
        if turned is None:
            return None
        start, end, new = turned
        text, at = text + _gap(s, at, start) + new, end
    return text + _gap(s, at, len(s))


def _of_order(s: Sentence, verb: int, at: int) -> tuple[int, int, str] | None:
    """An order behind `at`: first place and place behind the last of verb and object, and what stands there instead."""
    obj, word = s.object(verb), s.words[verb]
    if has_class(word.lemma, "no_passive") or s.children_with(verb, "aux", "neg", "dative") or verb < at:
        return None
    after = verb + 2 if s.particle(verb) == verb + 1 else verb + 1
    past = inflect(word.text, "VBN")
    if obj is None:  # "... and stir": what was told of before is stirred
        unclear = s.child(verb, "dobj") is not None or (after < len(s) and s.words[after].is_noun)
        return None if unclear else (verb, verb + 1, past)
    end = _end_of_object(s, obj)
    pronoun, them = s.words[obj].tag == "PRP", s.words[obj].text == "them"
    if s.span(obj)[0] != after or s.words[end - 1].tag == "CC" or not (pronoun or _is_movable(s, obj)):
        return None
    lead = max(s.order_start(verb), at)
    subject, be = "they" if them else s.text(after, end), "are" if them or s.is_plural(obj) else "is"
    return lead, end, _spaced([subject, be, s.text(lead, verb), past, s.text(verb + 1, after)])


def _end_of_object(s: Sentence, obj: int) -> int:
    """The place behind an object; what says where or how belongs to the verb in an order ("put it on the rice")."""
    end = s.span(obj)[1]
    return next((n for n in range(obj + 1, end) if s.words[n].tag in ("RB", "IN") and s.words[n].text != "of"), end)


def _gap(s: Sentence, start: int, end: int) -> str:
    """The caption from behind the word before `start` up to the word at `end`, blanks included."""
    first = s.words[start - 1].end if start else 0
    return s.caption[first : s.words[end].start if end < len(s) else None]
