"""What a contrast is about: where such phrases stand in a caption, and in which surroundings."""

from collections.abc import Callable
from dataclasses import dataclass

from video_contrast.perturbations.contrast.near_verbs import vague
from video_contrast.perturbations.contrast.phrases import Phrase, is_content_verb, phrases, verb_lemmas
from video_contrast.perturbations.english.forms import verb_tags
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
        context: a phrase's frame (the class of its surroundings), and the neighbours that tell what it may say: at most
            one on each side.
        proposable: whether a word, in dictionary form, may stand in a contrast.
        inflect: (phrase in dictionary form, Penn tag) -> its form.
        other_tags: tags of the parts of speech that its words are mistaken for.
        generators: names of the generators that can propose such words; None for all.
    """

    name: str
    find: Callable[[list[Token]], list[Phrase]]
    lemmas: Callable[[list[Token]], frozenset[str]]
    within: Callable[[list[Token], int, int], list[Token]]
    context: Callable[[list[Token], Phrase], tuple[str, tuple[str, ...]]]
    proposable: Callable[[str], bool]
    inflect: Callable[[str, str], str]
    other_tags: tuple[str, ...]
    generators: tuple[str, ...] | None = None


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
    if token.tag[:2] == "JJ" and not any(following.tag in NOUNS for following in tokens[after + 1 : after + 4]):
        return "JJ"  # "getting mad"
    if token.tag in _NOMINAL:
        return "noun"
    if token.tag == "TO" and after + 1 < len(tokens) and tokens[after + 1].tag == "VB":
        return "infinitive"
    if token.tag in ("IN", "TO", "RP"):
        return "word:" + token.text.lower()
    if token.tag in (".", ",", "CC", "''", "-LRB-", "-RRB-"):
        return "end"
    return token.tag[:2]


def next_noun(tokens: list[Token], after: int) -> str | None:
    """The lemma of the head of the first noun phrase from `after` on, or a pronoun, if no verb comes before it."""
    for place in range(after, min(after + 6, len(tokens))):
        tag = tokens[place].tag
        if tag.startswith("VB"):
            return None
        if tag == "PRP":
            return "it" if tokens[place].text.lower() == "it" else "them"
        if tag in NOUNS and (place + 1 == len(tokens) or tokens[place + 1].tag not in NOUNS):
            return tokens[place].lemma
    return None


def last_noun(tokens: list[Token], before: int) -> str | None:
    """The lemma of the last noun before `before`, some words back at most: who does it, or to what it is done."""
    for token in reversed(tokens[max(0, before - 5) : before]):
        if token.tag in NOUNS:
            return token.lemma
    return None


def _verb_context(tokens: list[Token], phrase: Phrase) -> tuple[str, tuple[str, ...]]:
    after = phrase.place + 1 + len(phrase.particles)
    # Past participles are mostly passive ("dressed in", "used for"): other verbs fit there than in the active.
    helpers = {token.lemma for token in tokens[max(0, phrase.place - 2) : phrase.place]}
    passive = phrase.tag == "VBN" and ("have" not in helpers or "be" in helpers)
    follows, leads = next_noun(tokens, after), last_noun(tokens, phrase.place)
    neighbours = [f"{name} {noun}" for name, noun in (("after", follows), ("before", leads)) if noun]
    return ("passive " if passive else "") + frame(tokens, after), tuple(neighbours)


def _proposable_verb(lemma: str) -> bool:
    return bool(verb_tags(lemma)) and lemma not in vague()


def _verbs_within(tokens: list[Token], start: int, end: int) -> list[Token]:
    return [
        token
        for place, token in enumerate(tokens)
        if token.start >= start and token.end <= end and token.tag.startswith("VB") and is_content_verb(tokens, place)
    ]


VERB = Target(
    name="verb",
    find=phrases,
    lemmas=verb_lemmas,
    within=_verbs_within,
    context=_verb_context,
    proposable=_proposable_verb,
    inflect=inflect,
    other_tags=NOUNS,
)
