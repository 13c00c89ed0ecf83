"""Roles: who does it to whom. "a boy chases a dog" -> "a dog chases a boy"."""

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import alike, core, exchange, has_pronoun, living, thing
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.lexicon import has_class, words_of

_RELATIVE = words_of("relative_noun")
_SIZES = "thab"
_POINTED = frozenset(("point", "wave", "bow"))
# Done to people of any size, which the lexicon's objects of these verbs do not all name.
_TO_PEOPLE = words_of("done_to_anyone")
_GIVEN = _POINTED | words_of("done_for_somebody")  # to somebody


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """Doer and undergoer of an action change places, where both can do it and it is not mutual."""
    swaps = (_role_swap(sentence, verb, lexicon) for verb in sentence.verbs if not sentence.is_negated(verb))
    return [contrast for contrast in swaps if contrast is not None]


def _role_swap(sentence: Sentence, verb: int, lexicon: Lexicon) -> Contrast | None:
    parties = _agent_and_patient(sentence, verb)
    if parties is None:
        return None
    doer, undergoer, unit = parties
    if any(n != verb and sentence.subject(n) in (doer, undergoer) for n in sentence.verbs):  # who does more than that
        return None
    first, second = core(sentence, doer), core(sentence, undergoer)
    if first is None or second is None or sentence.is_plural(doer) != sentence.is_plural(undergoer):
        return None
    if has_pronoun(sentence, max(first[1], second[1])) or any(_is_bound(sentence, span) for span in (first, second)):
        return None
    names = tuple(sentence.noun_key(place) for place in (doer, undergoer))
    could = alike(sentence, first, second) and _both_could(sentence, unit, (doer, undergoer), lexicon)
    if not could or names[0] == names[1]:
        return None
    claims = [f"{a} {unit} {b}" for a, b in (names, names[::-1])]
    return exchange(sentence, first, second, unit=claims[0], other=claims[1])


def _both_could(sentence: Sentence, unit: str, parties: tuple[int, int], lexicon: Lexicon) -> bool:
    """Whether who undergoes an action could do it, too, unless both do it ("meet"). `parties`: doer and undergoer."""
    names = tuple(sentence.noun_key(place) for place in parties)
    kinds = tuple(living(sentence, place, lexicon) for place in parties)
    to_anybody = unit in _TO_PEOPLE or unit.endswith(" to")
    if not all(kinds):
        return False
    if not unit.endswith(" to"):
        if unit not in _TO_PEOPLE and not any(action.is_visible for action in lexicon.actions(unit)):
            return False
        doer, undergoer = (name.rpartition(" ")[2] for name in names)
        if has_class(unit.partition(" ")[0], "mutual") or not (to_anybody or lexicon.fits(unit, undergoer, doer)):
            return False
    if kinds[0] == kinds[1]:
        return kinds[0] != "people" or not {"person", "people"} & set(names)  # "a man" is a person, too
    # An animal and a person: the undergoer is not smaller.
    sizes = [meaning.size for place in parties if (meaning := thing(sentence, place, lexicon))]
    return not to_anybody and len(sizes) == 2 and _SIZES.find(sizes[1]) >= _SIZES.find(sizes[0]) - 1


def _agent_and_patient(sentence: Sentence, verb: int) -> tuple[int, int, str] | None:
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
    receiver = _recipient(sentence, verb) if subject < verb else None
    if receiver is not None:
        return subject, receiver, f"{unit} to"
    if target is None and not sentence.children_with(verb, "dobj"):
        behind = [(at, noun) for at, noun in sentence.prepositions(verb) if noun is not None]
        if not behind or not has_class(words[behind[0][0]].text, "towards") or behind[0][0] > (particle or verb) + 1:
            return None
        target, unit = behind[0][1], f"{unit} {words[behind[0][0]].text}"
    return (subject, target, unit) if target is not None and subject < verb else None


def _recipient(sentence: Sentence, verb: int) -> int | None:
    """The receiver: who is given, read or shown something, or pointed to ("hands a ball to a boy")."""
    words = sentence.words
    if words[verb].lemma not in _GIVEN or (sentence.object(verb) is None and words[verb].lemma not in _POINTED):
        return None
    return next((noun for at, noun in sentence.prepositions(verb) if words[at].text == "to"), None)


def _is_bound(sentence: Sentence, span: tuple[int, int]) -> bool:
    """Whether a noun phrase is a name, says who by another ("another man", "a dummy of a man"), or nobody who acts."""
    words = sentence.words[slice(*span)]
    part = span[1] < len(sentence) and sentence.words[span[1]].text == "of"
    is_name = any(word.tag == "NNP" or word.text in _RELATIVE or word.lemma in _RELATIVE for word in words)
    return part or is_name or has_pronoun(sentence, *span)
