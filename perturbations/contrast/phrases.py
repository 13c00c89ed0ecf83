"""Finds the verb phrases of a caption: verb; verb + particle or preposition; verb + particle + preposition."""

from collections.abc import Sequence
from typing import NamedTuple

from numpy.random import Generator

from video_contrast.perturbations.english import Word
from video_contrast.perturbations.english.forms import verb_tags
from video_contrast.perturbations.english.lexicon import has_class

# Auxiliaries and copulas: swapping them changes the grammar, not the action.
_COPULAS = frozenset({"be", "become", "seem", "let"})
# Captions often lack the apostrophe: "they re going", "he doesn t know"; parsers give these any lemma.
_CLITICS = frozenset(
    {"s", "ve", "re", "ll", "m", "d", "t", "don", "doesn", "didn", "isn", "aren", "wasn", "can", "won"}
)
# What an auxiliary's verb looks like: "do bark", "have run" and "have been", "get hurt".
_AUXILIARIES = {"have": ("VBN", "VBG"), "do": ("VB",), "get": ("VBN",)}
# "trying to get", "keeps running": what is done is said by the next verb.
_CATENATIVES = frozenset(
    "try attempt want start begin continue keep stop finish need like love decide plan seem appear happen".split()  # noqa: SIM905
)
# A participle between one of these and a noun describes a thing: "a running train", "of mashed potatoes".
_DETERMINERS = frozenset("a an the his her its their my your our".split())  # noqa: SIM905
_HELPERS = frozenset({"be", "have", "get", "become", "keep", "see", "show"})
_LIGHT = frozenset({"do", "go"})  # "doing wrestling", "go swimming": the second word says what is done
# "as", "while" ... open a clause: they are no part of the verb.
_CLAUSE = frozenset("as while because if that before after since although though until unless than whether".split())  # noqa: SIM905


class Phrase(NamedTuple):
    """A verb and its particles: `caption[start:end]` is the phrase; `tag` is the verb's Penn tag."""

    start: int
    end: int
    lemma: str
    tag: str
    particles: tuple[str, ...]
    place: int  # index of the verb in the caption's tokens

    @property
    def base(self) -> str:
        """The dictionary form with its particles, e.g. "stand up"."""
        return " ".join((self.lemma, *self.particles))


def phrases(tokens: Sequence[Word]) -> list[Phrase]:
    """All verb phrases, in reading order, each verb with the longer patterns after the shorter.

    >>> from video_contrast.perturbations.english import parse_one
    >>> [p.base for p in phrases(parse_one("a man is walking up to the door").words)]
    ['walk', 'walk up', 'walk up to']
    """
    listed: list[Phrase] = []
    for place, token in enumerate(tokens):
        if not token.tag.startswith("VB") or not is_content_verb(tokens, place):
            continue
        verb = Phrase(token.start, token.end, lemma=token.lemma, tag=token.tag, particles=(), place=place)
        if place + 1 < len(tokens) and _is_light(token, tokens[place + 1]):
            activity = tokens[place + 1]
            listed.append(verb._replace(end=activity.end, particles=(activity.text,)))
            continue
        if place and _is_light(tokens[place - 1], token):
            continue
        listed.append(verb)
        for next_token in tokens[place + 1 : place + 3]:
            low = next_token.text
            second = bool(verb.particles)  # after a particle only a preposition goes on with the phrase
            fits = next_token.tag == "IN" or (low == "to" if second else next_token.tag == "RP")
            if not fits or low in _CLAUSE:
                break
            verb = verb._replace(end=next_token.end, particles=(*verb.particles, low))
            listed.append(verb)
    return listed


def choose(candidates: list[Phrase], rng: Generator) -> Phrase | None:
    """One phrase: a verb drawn uniformly, then one of its patterns; None if there is none."""
    if not candidates:
        return None
    verbs = sorted({phrase.place for phrase in candidates})
    verb = verbs[int(rng.integers(len(verbs)))] if len(verbs) > 1 else verbs[0]
    patterns = [phrase for phrase in candidates if phrase.place == verb]
    return patterns[int(rng.integers(len(patterns)))] if len(patterns) > 1 else patterns[0]


def is_content_verb(tokens: Sequence[Word], place: int) -> bool:
    """Whether the verb at `place` says what is done: no copula, and no auxiliary of a later verb."""
    token = tokens[place]
    low = token.text
    if low in _CLITICS or token.lemma in _COPULAS or not low[0].isalpha() or not _looks_like_verb(low):
        return False
    if _is_attributive(tokens, place):
        return False
    if token.lemma in _CATENATIVES and _opens_another(tokens, place):
        return False
    if token.lemma not in _AUXILIARIES:
        return True
    for following in tokens[place + 1 : place + 4]:
        if following.tag in _AUXILIARIES[token.lemma]:
            return False
        if following.tag not in ("RB", "PRP"):
            break
    return token.lemma != "have"  # "a man has a hat" is a state as much as "is" is


def _is_attributive(tokens: Sequence[Word], place: int) -> bool:
    """Whether a participle stands before the thing that it describes: "a very expensive looking car"."""
    tag = tokens[place].tag
    if tag not in ("VBG", "VBN", "VBD") or place + 1 == len(tokens) or tokens[place + 1].tag[:2] not in ("NN", "JJ"):
        return False
    first = place
    while first and tokens[first - 1].tag in ("JJ", "RB") and not has_class(tokens[first - 1].lemma, "person"):
        first -= 1
    if first and tokens[first - 1].text in _DETERMINERS:
        return True
    if tag == "VBG":  # "enjoys riding horses", "about making pizza"
        return False
    before = tokens[place - 1] if place else None
    if tag == "VBN" and (before is None or before.tag == "IN"):
        return True
    return before is not None and before.tag[:2] == "VB" and before.lemma not in _HELPERS


def _opens_another(tokens: Sequence[Word], place: int) -> bool:
    """Whether the verb at `place` has an infinitive or a gerund as its object."""
    after = tokens[place + 1 : place + 3]
    if after and after[0].tag == "VBG":
        return True
    return len(after) == 2 and after[0].tag == "TO" and after[1].tag == "VB"


def _looks_like_verb(word: str) -> bool:
    """Whether a dictionary has the form, or its ending tells: parsers take names and adjectives for verbs at times."""
    return bool(verb_tags(word)) or word.endswith(("ing", "ed"))


def _is_light(token: Word, following: Word) -> bool:
    """Whether the two words are a light verb and its activity."""
    return (
        token.lemma in _LIGHT
        and token.tag[:2] == "VB"
        and following.text.endswith("ing")
        and (following.tag in ("NN", "VBG"))
    )


def verb_lemmas(tokens: Sequence[Word]) -> frozenset[str]:
    """The lemmas of all verbs but auxiliaries and copulas."""
    return frozenset(
        token.lemma for n, token in enumerate(tokens) if token.tag.startswith("VB") and is_content_verb(tokens, n)
    )
