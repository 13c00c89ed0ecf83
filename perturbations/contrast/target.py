"""What a model's contrast is about: where such phrases stand in a caption."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from video_contrast.perturbations.contrast.near_verbs import vague
from video_contrast.perturbations.contrast.phrases import Phrase, is_content_verb, phrases, verb_lemmas
from video_contrast.perturbations.english import Word
from video_contrast.perturbations.english.forms import lemma, verb_tags


@dataclass(frozen=True)
class Target:
    """The part of speech that a pipeline changes.

    Attributes:
        name: "verb" or "object"; part of the random streams.
        find: the phrases of a caption.
        lemmas: the lemmas of all such words of a caption.
        within: the words of this kind between two characters, the main one first.
        proposable: whether a word, in dictionary form, may stand in a contrast.
        generators: names of the generators that can propose such words; None for all.
    """

    name: str
    find: Callable[[Sequence[Word]], list[Phrase]]
    lemmas: Callable[[Sequence[Word]], frozenset[str]]
    within: Callable[[Sequence[Word], int, int], Sequence[Word]]
    proposable: Callable[[str], bool]
    generators: tuple[str, ...] | None = None


def words_used(tokens: Sequence[Word]) -> frozenset[str]:
    """Everything that a caption calls things and actions by: its verbs, and its nouns and adjectives read as verbs."""
    used = set(verb_lemmas(tokens))
    for token in tokens:
        if token.tag[:2] in ("NN", "JJ"):
            used |= {token.lemma, lemma(token.text, "VB")}
    return frozenset(used)


def _proposable_verb(lemma: str) -> bool:
    return bool(verb_tags(lemma)) and lemma not in vague()


def _verbs_within(tokens: Sequence[Word], start: int, end: int) -> Sequence[Word]:
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
    proposable=_proposable_verb,
)
