"""Bindings: who has what, who does what. "a man sings and a woman dances" -> "a woman sings and a man dances"."""

from collections.abc import Iterator
from itertools import combinations

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.attribute import alternatives, described
from video_contrast.perturbations.contrast.kinds.contrast import alike, change, core, exchange, has_pronoun, living
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.lexicon import has_class


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """Two people change their actions, or two things their attributes."""
    return _swapped_actions(sentence, lexicon) + _swapped_attributes(sentence, lexicon)


def _swapped_actions(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    out, words = [], sentence.words
    pronouns = [at for at in range(len(sentence)) if has_pronoun(sentence, at, at + 1)]
    if any(words[at].text != "it" for at in pronouns) or any(word.text in ("how", "why", "that") for word in words):
        return []
    for (verb, doer), (other_verb, other) in combinations(sorted(_doers(sentence), key=lambda pair: pair[1]), 2):
        if not _comparable(sentence, doer, other, lexicon) or sentence.object(verb) == other:
            continue
        units = words[verb].lemma, words[other_verb].lemma
        if units[0] == units[1] or "ccomp" in (words[verb].dep, words[other_verb].dep):
            continue
        names = sentence.noun_key(doer), sentence.noun_key(other)
        one, two = core(sentence, doer), core(sentence, other)
        is_comparison = any(word.text == "like" for word in words[doer:other])
        if is_comparison or one is None or two is None or one[1] > two[0] or not alike(sentence, one, two):
            continue
        claims = [f"{a} {units[0]} {b} {units[1]}" for a, b in (names, names[::-1])]
        contrast = exchange(sentence, one, two, unit=claims[0], other=claims[1])
        out += [contrast] if contrast is not None else []
    return out


def _doers(sentence: Sentence) -> Iterator[tuple[int, int]]:
    """(verb, who does it), of verbs behind their subject, then of "a man singing"."""
    words = sentence.words
    for verb in sentence.verbs:
        subject = sentence.child(verb, "nsubj", "nsubjpass")
        if subject is not None and subject < verb:
            yield verb, subject
    for verb in sentence.verbs:
        if words[verb].dep == "acl" and words[verb].tag == "VBG" and words[words[verb].head].dep != "pobj":
            yield verb, words[verb].head


def _comparable(sentence: Sentence, doer: int, other: int, lexicon: Lexicon) -> bool:
    """Whether two nouns name different people, or different animals, each once and in the same number."""
    side = living(sentence, doer, lexicon)
    if not side or side != living(sentence, other, lexicon) or sentence.noun_key(doer) == sentence.noun_key(other):
        return False
    lemmas = [word.lemma for word in sentence.words]
    if any(lemmas.count(lemmas[noun]) > 1 or has_class(lemmas[noun], "group_word") for noun in (doer, other)):
        return False
    return sentence.is_plural(doer) == sentence.is_plural(other)


def _swapped_attributes(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    out = []
    places = [(place, at) for place in range(len(sentence)) if (at := described(sentence, place, lexicon))]
    for (first, (noun, one)), (second, (other, two)) in combinations(places, 2):
        fits = two in alternatives(sentence, noun, one, lexicon) and one in alternatives(sentence, other, two, lexicon)
        if one.group == two.group or noun == other or not fits:
            continue
        names = _noun_with_holder(sentence, noun), _noun_with_holder(sentence, other)
        claims = [f"{a} {names[0]} {b} {names[1]}" for a, b in ((one.group, two.group), (two.group, one.group))]
        changes = [(first, first + 1, two.adjective), (second, second + 1, one.adjective)]
        out.append(change(sentence, changes, unit=claims[0], other=claims[1]))
    return out


def _noun_with_holder(sentence: Sentence, noun: int) -> str:
    """A thing with who has it: "dress woman" of a woman in a dress."""
    name, words = sentence.noun_key(noun), sentence.words
    holder = next((n for n in sentence.ancestors(noun) if words[n].is_noun or words[n].dep != "prep"), None)
    return f"{name} {sentence.noun_key(holder)}" if holder is not None and words[holder].is_noun else name
