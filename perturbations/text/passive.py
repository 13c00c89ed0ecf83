"""Active captions made passive by rules: subject, verb, object, rest -> object, is verbed, by subject, rest.

A caption is turned only where all of it fits a pattern that the rules know; every other caption stays as it is, since
half a passive ("added by in a kitchen someone") is no natural rewriting. The checkpoint form is in `style`.
"""

from video_contrast.perturbations.contrast.generators.frames.words import Parse
from video_contrast.perturbations.language import Token, lemma
from video_contrast.perturbations.language.fitting import within
from video_contrast.perturbations.text.imperative import imperatives, participle, passive_imperative
from video_contrast.perturbations.text.noun_phrases import NounPhrase, attached, noun_phrase
from video_contrast.perturbations.text.passive_object import BOUND, FINITE, OBJECT_FORMS, last_word, object_of
from video_contrast.perturbations.text.passive_parsed import parsed_passive
from video_contrast.perturbations.text.passive_words import ALONE, CLAUSES
from video_contrast.perturbations.text.verb_group import (
    VerbGroup,
    clause_start,
    further_verb,
    inner_clauses,
    subject_and_verb,
    verb_group,
)

_AFTER = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}


def passive(caption: str, tokens: list[Token], words: Parse | None = None) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    Args:
        caption: the text.
        tokens: its tags.
        words: its parse, which decides where there is one.

    >>> from video_contrast.perturbations.language import tag
    >>> passive("a little girl does gymnastics", tag(["a little girl does gymnastics"], tagger="hanta")[0])
    'gymnastics is done by a little girl'
    """
    orders = imperatives(tokens)
    if orders:
        return passive_imperative(caption, tokens, orders)
    if words is not None:
        return parsed_passive(caption, words, tokens)
    return _tagged_passive(caption, tokens)


def _tagged_passive(caption: str, tokens: list[Token]) -> str:
    """The caption in the passive by its tags alone, where nothing follows the object but a clause of its own.

    Tags do not say with which word a phrase goes ("a man leaves a house with a dog").
    """

    if tokens and tokens[0].text.lower() == "there":
        return caption
    for start in (clause_start(tokens), *inner_clauses(tokens)):
        turned = _clause(caption, tokens, start)
        if turned is not None:
            return turned
    return caption


def _clause(caption: str, tokens: list[Token], lead: int) -> str | None:
    """The caption with the clause that begins at `lead` in the passive; None where the rules do not fit."""
    read = subject_and_verb(tokens, lead)
    if read is None or further_verb(tokens, read[1]) is not None:
        return None
    subject_end, verb = read
    clause = object_of(tokens, verb)
    if clause is None:
        return None
    particle, thing = clause
    named = [token.text.lower() for token in tokens[thing.start : thing.end]]
    if BOUND.intersection(named) and (len(named) > 1 or named[0] in ("others", "another")):
        return None  # "his hands" or "another man" would come before whom they mean
    joined = tokens[thing.head + 1 : thing.end]
    if tokens[subject_end - 1].text.lower() == "test" or any(lemma(token.text, "VBZ") in ALONE for token in joined):
        return None  # "a man test drives a car"; "holds hands and laughs"
    if thing.end < last_word(tokens) and not _clause_follows(tokens, thing.end):
        return None
    words = caption[tokens[thing.start].start : tokens[thing.end - 1].end]
    subject = caption[tokens[lead].start : tokens[subject_end - 1].end]
    agent = _AFTER.get(subject.lower()) or within(subject, tokens[lead].tag)
    group = " ".join(word for word in (*_group(tokens, verb, thing), particle) if word)
    done = f"{OBJECT_FORMS.get(words.lower(), words)} {group} by {agent}{caption[tokens[thing.end - 1].end :]}"
    if not lead and caption[:1].isupper():
        done = done[:1].upper() + done[1:]
    return caption[: tokens[lead].start] + done


def _clause_follows(tokens: list[Token], start: int) -> bool:
    """Whether a clause with a subject of its own begins: "while music plays", "and another man sings"."""
    joined = tokens[start].text.lower() in ("and", "but")
    if not joined and tokens[start].text.lower() not in CLAUSES:
        return False
    subject = noun_phrase(tokens, start + 1)
    if subject is None:
        return False
    place = attached(tokens, subject.end)
    own = place < len(tokens) and tokens[place].tag in FINITE
    return own or (not joined and verb_group(tokens, place) is not None)


def _group(tokens: list[Token], verb: VerbGroup, thing: NounPhrase) -> list[str]:
    """The passive verb words: "is done", "was being done", "can be done", "has been done"."""
    head = tokens[verb.head]
    done = participle(head.lemma)
    if verb.adverbs[-1:] == ("test",):  # "test drives a car"
        done, verb = f"test {done}", verb._replace(adverbs=verb.adverbs[:-1])
    if verb.auxiliary is None:
        if head.tag == "VBG":  # "a man singing a song": the song being sung
            return [*verb.adverbs, "being", done]
        return [_be(head.tag == "VBD", tokens, thing), *verb.adverbs, done]
    first = tokens[verb.auxiliary]
    if verb.plan:
        return [_be(first.tag == "VBD", tokens, thing), *verb.adverbs, verb.plan, "be", done]
    if first.tag == "MD":
        return [first.text, *verb.adverbs, "be", done]
    if first.lemma == "have":
        had = "had" if first.tag == "VBD" else "have" if thing.plural else "has"
        return [had, *verb.adverbs, "been", done]
    return [_be(first.tag == "VBD", tokens, thing), *verb.adverbs, "being", done]


def _be(past: bool, tokens: list[Token], thing: NounPhrase) -> str:
    if tokens[thing.head].text.lower() == "me" and thing.end == thing.start + 1:
        return "was" if past else "am"
    if past:
        return "were" if thing.plural else "was"
    return "are" if thing.plural else "is"
