"""Gendered words: which of them names a person, and what a pronoun's counterpart is by its role."""

from typing import Literal

from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.english.sentence import Sentence

Gender = Literal["female", "male", "neutral"]
TITLES = ("mr", "mrs", "miss", "ms", "sir", "madam")  # have no plural

# The pronouns that change when a text is made female, male, neutral: before what is owned, standing for what is owned,
# as an object, and those with one counterpart.
_OWNING: dict[Gender, str] = {"female": "her", "male": "his", "neutral": "their"}
_POSSESSIVE_PRONOUN: dict[Gender, str] = {"female": "hers", "male": "his", "neutral": "theirs"}
_OBJECT: dict[Gender, str] = {"female": "her", "male": "him", "neutral": "them"}
_OTHERS: dict[Gender, dict[str, str]] = {
    "female": {"he": "she", "him": "her", "himself": "herself"},
    "male": {"she": "he", "hers": "his", "herself": "himself"},
    "neutral": {"he": "they", "she": "they", "him": "them", "hers": "theirs"}
    | {"himself": "themselves", "herself": "themselves"},
}
PRONOUNS: dict[Gender, tuple[str, ...]] = {
    "female": ("he", "him", "his", "himself"),
    "male": ("she", "her", "hers", "herself"),
    "neutral": ("he", "him", "his", "himself", "she", "her", "hers", "herself"),
}


def pronoun(sentence: Sentence, place: int, to: Gender) -> str:
    """The counterpart of the pronoun at `place`, in lower case.

    `place`: of one of `PRONOUNS[to]` in it. `to`: the gender that the pronoun is changed to.

    >>> from video_contrast.perturbations.english import parse
    >>> [pronoun(s, 2, "neutral") for s in parse(["it is his", "she washes her car", "look at her"])]
    ['theirs', 'their', 'them']
    """
    word = sentence.words[place]
    if word.text not in ("his", "her"):
        return _OTHERS[to][word.text]
    if place + 1 < len(sentence) and (word.dep == "poss" or word.tag == "PRP$") and word.head != place - 1:
        return _OWNING[to]
    return (_POSSESSIVE_PRONOUN if word.text == "his" else _OBJECT)[to]


def names_person(sentence: Sentence, place: int) -> bool:
    """Whether a gendered word names a person there: no verb ("hosts a show"), no name ("lady gaga", "iron man").

    >>> from video_contrast.perturbations.english import parse
    >>> [names_person(s, 1) for s in parse(["two hosts talk", "he hosts a show", "the chick peas", "a king sits"])]
    [True, False, False, True]
    """
    word, head = sentence.words[place], sentence.words[sentence.words[place].head]
    inside = word.dep in ("compound", "amod", "nmod")
    follows = has_class(sentence.compound(place), "before_gendered_name")
    begins = inside and has_class(word.lemma, "in_names")
    is_name = (follows and begins) or has_class(f"{word.lemma} {head.lemma}", "person")  # "burger king", "king kong"
    is_title = inside and sentence.is_person(word.head) and not is_name
    return not word.is_verb and (word.text in TITLES or is_title or not (follows or begins))
