"""The passive of a statement: subject, verb, object -> object, is verbed, by subject.

The main clause is turned, and only if every word of the caption has its place in it.
"""

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.forms import inflect, is_noun, within
from video_contrast.perturbations.english.lexicon import has_class

_MOST_WORDS = 13  # words: readers found 21 % of the passives of longer captions faulty, 7 % of those of the others
_BY = {"he": "him", "she": "her", "they": "them", "i": "me", "we": "us"}
# Labels of words that may hang on the verb of a statement: no second verb, no clause, no second object.
_PARTS = ("nsubj", "dobj", "aux", "prt", "prep", "dative", "advmod", "punct")
_CLAUSE_TAGS = ("VB", "VBZ", "VBP", "VBD", "MD", "TO", "WDT", "WP", "WRB")
_NO_PLACE = ("as", "like", "of", "by", "than")  # prepositions that tell nothing of where, when or how
_TELLING = ("demonstrate", "narrate", "present", "report", "review")
_WAYS = ("down", "over", "around", "through", "along")  # "rides down the street": no particle


def passive_of_statement(s: Sentence) -> str | None:
    """The passive of the main clause; None where some word has no place in it."""
    clause = _main_clause(s) if len(s) <= _MOST_WORDS else None
    if clause is None:
        return None
    verb, subject, obj = clause
    clause_of_subject = s.subtree(verb) if subject == s.words[verb].head else []  # "a man driving a car"
    subject_phrase = [n for n in s.subtree(subject) if n not in clause_of_subject]
    start, end = subject_phrase[0], subject_phrase[-1] + 1
    object_start, object_end = s.span(obj)
    group = list(range(end, object_start))  # auxiliaries, adverbs, verb, particle
    stop = len(s) - 1 if s.words[-1].text in (".", "!") else len(s)
    be = _forms_of_be(s, verb, s.is_plural(obj))
    parts = [n for n in s.children_with(verb, "aux", "advmod", "prt") if end <= n < object_start]
    whole = sorted([verb, *parts]) == group and _is_adverbial(s, verb, 0, start)
    if be is None or not whole or not _is_adverbial(s, verb, object_end, stop) or _is_ambiguous(s, verb, obj):
        return None
    adverbs = [s.words[n].text for n in parts if s.words[n].dep == "advmod" and n < verb]
    past = [be, *adverbs, inflect(s.words[verb].lemma, "VBN"), s.text(verb + 1, object_start)]
    by = "by " + _BY.get(s.words[subject].text, within(s.text(start, end), s.words[start].tag))
    pieces = [s.text(0, start), s.text(object_start, object_end), *past, s.text(object_end, stop), by]
    return " ".join(filter(None, pieces)) + s.text(stop, len(s))


def _is_ambiguous(s: Sentence, verb: int, obj: int) -> bool:
    """Whether a phrase may belong to another word: a tool read with the object, a topic with the verb."""
    behind = [n for n in s.children_with(verb, "prep", "dative", "advmod", "prt") if n > verb]
    tells = has_class(s.words[verb].lemma, "speech") or s.words[verb].lemma in _TELLING
    moved = any(tells if n > obj else s.words[n].dep == "advmod" for n in behind)
    return moved or any(s.words[n].text not in ("of", "about") for n in s.children_with(obj, "prep"))


def _main_clause(s: Sentence) -> tuple[int, int, int] | None:
    """Verb, subject and object of the main clause; None without one that has a passive."""
    verb = s.root
    if verb is not None and s.words[verb].is_noun:
        verb = s.child(verb, "acl")  # "a man driving a car"
    if verb is None or has_class(s.words[verb].lemma, "no_passive") or not s.is_verb_form(verb):
        return None
    particle = s.particle(verb)
    loses_words = any(s.words[n].dep not in _PARTS for n in s.children[verb])
    if loses_words or (particle is not None and s.words[particle].text in _WAYS):
        return None
    subject, obj = s.subject(verb), s.object(verb)
    if subject is None or obj is None or not is_movable(s, obj):
        return None
    bare = (s.words[verb].tag == "VBP" and not s.is_plural(subject)) or has_class(s.words[0].text, "question_word")
    bare = bare or (s.words[verb].tag == "VBD" and s.words[s.span(subject)[0]].is_noun and not s.is_person(subject))
    has_subject = s.words[subject].tag[:2] in ("NN", "PR", "DT") and not bare  # "game play footage" has no verb
    return (verb, subject, obj) if has_subject else None


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


def is_movable(s: Sentence, obj: int) -> bool:
    """Whether an object is a noun phrase that can be a subject: no clause, no pronoun, no "walk" of "takes a walk"."""
    inside, word = [s.words[n] for n in s.subtree(obj)], s.words[obj]
    unclear = len(word.text) == 1 or (word.text.endswith("s") and not is_noun(word.text))  # one, or several?
    unclear = unclear or any(n > obj and s.words[n].tag == "RB" for n in s.children[obj])  # "reads notes outside"
    if not word.is_noun or unclear or _is_list(s, obj) or has_class(word.lemma, "light_object"):
        return False
    second_verb = any(w.dep == "conj" and w.text.endswith("ing") for w in inside)  # "drinking coffee and shopping"
    clause = any(w.tag in (*_CLAUSE_TAGS, "PRP", "PRP$") or w.dep in ("acl", "relcl", "appos") for w in inside)
    return not (second_verb or clause)


def _is_list(s: Sentence, obj: int) -> bool:
    """Whether an object may be several things without commas ("salt ground pepper") or two objects ("a boy chips")."""
    before = [n for n in range(s.span(obj)[0], obj) if s.words[n].head >= n]
    nouns = [n for n in before if s.words[n].is_noun]
    broken = any(s.words[n].tag in ("JJ", "VBN", "VBG", "CD") for n in before if n > min(nouns, default=obj))
    bare = len(nouns) > 1 and s.words[before[0]].tag not in ("DT", "PRP$")
    takes_two = has_class(s.words[s.words[obj].head].lemma, "two_objects")
    of_two = takes_two and any(s.words[n].dep == "compound" and s.is_person(n) for n in nouns)
    named = has_class(s.words[obj].lemma, "uncountable") and any(s.words[n].tag == "NNP" for n in nouns)
    return ((broken or bare) and not s.is_plural(obj)) or named or (of_two and not s.is_person(obj))


def _is_adverbial(s: Sentence, verb: int, start: int, end: int) -> bool:
    """Whether the words from `start` to `end` are prepositional phrases and adverbs of a verb, without a pronoun."""
    parts = [n for n in s.children_with(verb, "prep", "dative", "advmod", "prt") if start <= n < end]
    places = [n for part in parts for n in s.subtree(part)]
    alone = any(s.words[n].text in _NO_PLACE or (s.words[n].dep == "prep" and not s.children[n]) for n in parts)
    if alone or sorted(places) != list(range(start, end)):
        return False
    return not any(s.words[n].tag in (*_CLAUSE_TAGS, "PRP", "PRP$", "VBG", "CC") for n in places)
