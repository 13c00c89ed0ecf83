"""Roles: who does it to whom. "a boy chases a dog" -> "a dog chases a boy"."""

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import core, exchange, has_pronoun, living, thing
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence

# What both do, or what also holds the other way round.
from video_contrast.perturbations.english.lexicon import words_of

_MUTUAL = words_of("mutual")
_RELATIVE = words_of("relative_noun")
# Prepositions behind which somebody undergoes an action.
_TOWARDS = frozenset("after at toward towards on over from away".split())  # noqa: SIM905
_SIZES = "thab"


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """Doer and undergoer of an action change places, where both can do it and it is not mutual."""
    swapped = (_swapped(sentence, verb, lexicon) for verb in sentence.verbs if not sentence.is_negated(verb))
    return [contrast for contrast in swapped if contrast is not None]


def _swapped(sentence: Sentence, verb: int, lexicon: Lexicon) -> Contrast | None:
    parties = _parties(sentence, verb)
    if parties is None:
        return None
    doer, undergoer, unit = parties
    if any(n != verb and sentence.subject(n) in (doer, undergoer) for n in sentence.verbs):  # who does more than that
        return None
    first, second = core(sentence, doer), core(sentence, undergoer)
    if first is None or second is None or sentence.is_plural(doer) != sentence.is_plural(undergoer):
        return None
    names = tuple(sentence.noun_key(place) for place in (doer, undergoer))
    sides = tuple(living(sentence, place, lexicon) for place in (doer, undergoer))
    if not all(sides) or not _reversible(unit, names, lexicon):
        return None
    if sides[0] != sides[1] and not _strong_enough(sentence, undergoer, doer, lexicon):
        return None
    if sides == ("people", "people") and {"person", "people"} & set(names):  # "a man" is a person, too
        return None
    if has_pronoun(sentence, max(first[1], second[1])) or any(_is_bound(sentence, span) for span in (first, second)):
        return None
    claims = [f"{a} {unit} {b}" for a, b in (names, names[::-1])]
    return exchange(sentence, first, second, unit=claims[0], other=claims[1])


def _parties(sentence: Sentence, verb: int) -> tuple[int, int, str] | None:
    """Doer, undergoer and verb unit."""
    words = sentence.words
    particle = sentence.particle(verb)
    unit = words[verb].lemma if particle is None else f"{words[verb].lemma} {words[particle].text}"
    subject = sentence.subject(verb)
    if subject is None or words[verb].dep == "xcomp" or sentence.child(verb, "xcomp", "ccomp", "dative") is not None:
        return None
    if sentence.is_passive(verb):
        agent = sentence.agent(verb)
        return (agent, subject, unit) if agent is not None else None
    target = sentence.object(verb)
    if target is None and not sentence.children_with(verb, "dobj"):
        behind = [(at, noun) for at, noun in sentence.prepositions(verb) if noun is not None]
        if not behind or words[behind[0][0]].text not in _TOWARDS or behind[0][0] > (particle or verb) + 1:
            return None
        target, unit = behind[0][1], f"{unit} {words[behind[0][0]].text}"
    return (subject, target, unit) if target is not None and subject < verb else None


def _reversible(unit: str, names: tuple[str, ...], lexicon: Lexicon) -> bool:
    actions = lexicon.actions(unit)
    if not any(action.seen for action in actions):
        return False
    if names[0] == names[1] or unit.partition(" ")[0] in _MUTUAL or unit.endswith(" with"):
        return False
    heads = [name.rpartition(" ")[2] for name in names]
    return lexicon.fits(unit, heads[1], heads[0]) or lexicon.fits(unit, heads[1], names[0])


def _strong_enough(sentence: Sentence, doer: int, undergoer: int, lexicon: Lexicon) -> bool:
    """Whether an animal that is to do something to a person (or the reverse) is not smaller."""
    sizes = [meaning.size for place in (doer, undergoer) if (meaning := thing(sentence, place, lexicon))]
    return len(sizes) == 2 and _SIZES.find(sizes[0]) >= _SIZES.find(sizes[1]) - 1


def _is_bound(sentence: Sentence, span: tuple[int, int]) -> bool:
    """Whether a noun phrase is a name, says who by another ("another man", "a dummy of a man"), or nobody who acts."""
    words = sentence.words[slice(*span)]
    part = span[1] < len(sentence) and sentence.words[span[1]].text == "of"
    named = any(word.tag == "NNP" or word.text in _RELATIVE or word.lemma in _RELATIVE for word in words)
    return part or named or has_pronoun(sentence, *span)
