"""What a contrast is about: where such phrases stand in a caption, and in which surroundings."""

from collections.abc import Callable
from dataclasses import dataclass

from video_contrast.perturbations.contrast.verb.phrases import Phrase, is_content_verb, phrases, verb_lemmas
from video_contrast.perturbations.language import Token, inflect, lemma

_NOMINAL = ("DT", "PRP$", "PRP", "NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "CD", "WP", "EX")
NOUNS = ("NN", "NNS", "NNP", "NNPS")


@dataclass(frozen=True)
class Target:
    """The part of speech that a pipeline changes.

    Attributes:
        name: "verb" or "object"; part of the random streams.
        find: the phrases of a caption.
        lemmas: the lemmas of all such words of a caption.
        within: the words of this kind between two characters, the main one first.
        context: a phrase's frame (the class of its surroundings) and its neighbour, if there is one.
        inflect: (phrase in dictionary form, Penn tag) -> its form.
        other_tags: tags of the parts of speech that its words are mistaken for.
    """

    name: str
    find: Callable[[list[Token]], list[Phrase]]
    lemmas: Callable[[list[Token]], frozenset[str]]
    within: Callable[[list[Token], int, int], list[Token]]
    context: Callable[[list[Token], Phrase], tuple[str, str | None]]
    inflect: Callable[[str, str], str]
    other_tags: tuple[str, ...]


def words_used(tokens: list[Token]) -> frozenset[str]:
    """Everything that a caption calls things and actions by: its verbs, and its nouns and adjectives read as verbs."""
    used = set(verb_lemmas(tokens))
    for token in tokens:
        if token.tag[:2] in ("NN", "JJ"):
            used |= {token.lemma, lemma(token.text, "VB")}
    return frozenset(used)


def frame(tokens: list[Token], after: int) -> str:
    """The class of what stands at `after`: a noun phrase, one certain preposition, an adverb, the end ...

    A phrase seen in the same frame fits there: "looking at" before a noun phrase, "sitting" before "on".
    """
    if after >= len(tokens):
        return "end"
    token = tokens[after]
    if token.tag in _NOMINAL:
        return "noun"
    if token.tag in ("IN", "TO", "RP"):
        return "word:" + token.text.lower()
    if token.tag in (".", ",", "CC", "''", "-LRB-", "-RRB-"):
        return "end"
    return token.tag[:2]


def next_noun(tokens: list[Token], after: int) -> str | None:
    """The lemma of the head of the first noun phrase from `after` on, if no verb comes before it."""
    for place in range(after, min(after + 6, len(tokens))):
        tag = tokens[place].tag
        if tag.startswith("VB"):
            return None
        if tag in NOUNS and (place + 1 == len(tokens) or tokens[place + 1].tag not in NOUNS):
            return tokens[place].lemma
    return None


def _verb_context(tokens: list[Token], phrase: Phrase) -> tuple[str, str | None]:
    after = phrase.place + 1 + len(phrase.particles)
    # Past participles are mostly passive ("dressed in", "used for"): other verbs fit there than in the active.
    voice = "passive " if phrase.tag == "VBN" else ""
    return voice + frame(tokens, after), next_noun(tokens, after)


def _verbs_within(tokens: list[Token], start: int, end: int) -> list[Token]:
    return [
        token
        for place, token in enumerate(tokens)
        if token.start >= start and token.end <= end and token.tag.startswith("VB") and is_content_verb(tokens, place)
    ]


VERB = Target("verb", phrases, verb_lemmas, _verbs_within, _verb_context, inflect, NOUNS)
