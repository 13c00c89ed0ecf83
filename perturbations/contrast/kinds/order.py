"""Order: what happens first. "walks in and then sits down" -> "sits down and then walks in"; before, after."""

from video_contrast.perturbations.contrast.edit import Contrast
from video_contrast.perturbations.contrast.kinds.contrast import exchange, has_pronoun, replace_words
from video_contrast.perturbations.contrast.lexicon import Lexicon
from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.english.lexicon import words_of

_TIMES = ("before", "after")
_STATES = frozenset("stand lie lay wear be have hold look watch listen hang stay remain".split())  # last on  # noqa: SIM905
_PHASES = frozenset("begin start continue finish end conclude".split())  # of what was done before  # noqa: SIM905
_OUTCOMES = frozenset("win become lose finish score do be get hit hear find".split())  # what follows is of it  # noqa: SIM905
_SET_PHRASES = words_of("in_set_phrase")  # "well before", "after all"
_BETWEEN = frozenset((",", "and", "then", "but", "."))


def contrasts(sentence: Sentence, lexicon: Lexicon) -> list[Contrast]:
    """Two actions around "then" change places; "before" and "after" are exchanged."""
    places = [at for at, word in enumerate(sentence.words) if word.text in (*_TIMES, "then")]
    if len(places) != 1:
        return []
    if sentence.words[places[0]].text != "then":
        return _other_time(sentence, places[0])
    swapped = _swapped(sentence, places[0])
    return [swapped] if swapped is not None else []


def _other_time(sentence: Sentence, at: int) -> list[Contrast]:
    """ "before cooking" -> "after cooking"."""
    words = sentence.words
    following = words[at + 1] if at + 1 < len(words) else None
    if following is None or at == 0 or _SET_PHRASES & {words[at - 1].lemma, following.text}:
        return []
    if any(word.text in ("how", "why", "what") for word in words):
        return []
    head = words[at].head
    participle = (
        following.tag == "VBG"
        and following.lemma not in _STATES | _OUTCOMES
        and sentence.child(at + 1, "nsubj") is None
    )
    subject = sentence.child(head, "nsubj", "nsubjpass") if words[at].dep == "mark" and head > at else None
    clause = subject is not None and (words[subject].tag, words[head].tag) != ("NNS", "VBZ")
    if clause and words[head].lemma in _PHASES:
        return []
    if not participle and not clause:
        return []
    others = [other for other in _TIMES if other != words[at].text]
    return [replace_words(sentence, at, at + 1, other, unit=words[at].text, other=other) for other in others]


def _swapped(sentence: Sentence, then: int) -> Contrast | None:
    """The actions before and behind "then" change places, if both have one form and the second needs no first."""
    words = sentence.words
    second = next((n for n in range(then + 1, len(words)) if n in sentence.verbs), None)
    if second is None or any(words[n].is_noun for n in range(then + 1, second)):
        return None
    end = len(words) - (words[-1].text == ".")
    stop = then
    while stop > 0 and words[stop - 1].text in _BETWEEN:
        stop -= 1
    if words[stop - 1].text in ("who", "that", "which", "to", "they", "he", "she", "it"):
        return None
    if words[second].lemma in _PHASES or words[second - 1].text in ("its", "it"):
        return None
    first = _first_verb(sentence, second, stop)
    if first is None or has_pronoun(sentence, second, end) or not _equal(sentence, first, second):
        return None
    if _others_act(sentence, first, second, stop):
        return None
    shared = _nouns(sentence, first, stop) & _nouns(sentence, second, end)
    if shared and not sentence.is_imperative(first):
        return None
    names = words[first].lemma, words[second].lemma
    if names[0] == names[1]:
        return None
    claims = [f"{a} then {b}" for a, b in (names, names[::-1])]
    return exchange(sentence, (first, stop), (second, end), unit=claims[0], other=claims[1])


def _others_act(sentence: Sentence, first: int, second: int, stop: int) -> bool:
    """Whether somebody else does something between the two actions, or behind them."""
    between = [n for n in sentence.verbs if first < n < stop]
    behind = {sentence.subject(n) for n in sentence.verbs if n > second} - {None, sentence.subject(second)}
    return bool(behind) or any(sentence.child(n, "nsubj", "nsubjpass") is not None for n in between)


def _first_verb(sentence: Sentence, second: int, stop: int) -> int | None:
    """The verb before `stop` that the second hangs on, or the only one there of its form."""
    words = sentence.words
    before = [n for n in sentence.verbs if n < stop and words[n].tag == words[second].tag and words[n].dep != "amod"]
    return words[second].head if words[second].head in before else before[0] if len(before) == 1 else None


def _nouns(sentence: Sentence, first: int, last: int) -> set[str]:
    return {word.lemma for word in sentence.words[first:last] if word.is_noun}


def _equal(sentence: Sentence, first: int, second: int) -> bool:
    """Whether two verbs stand in one form, with the same auxiliaries before them or none."""
    words = sentence.words
    behind = [words[n].text for n in sentence.auxiliaries(second)]
    behind += ["to" for n in sentence.auxiliaries(first) if words[n].text == "to"]
    return words[first].tag == words[second].tag and not behind and sentence.child(second, "neg") is None
