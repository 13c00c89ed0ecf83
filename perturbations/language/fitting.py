"""Fits a new word to its place: the case of the word that it replaces, and the article in front of it."""

import re
from collections.abc import Callable

from video_contrast.perturbations.language.morphology import is_describing

# Spelling tells the sound but for a few words: "a one-man show", "a university", "an hour".
_VOWEL_SOUND = re.compile(
    r"(?!uni(?!n)|us[eiu]|ut[ei]|ubiq|ukul|one|once|eu)[aeiou]|hour|honest|hono|heir", re.IGNORECASE
)
_ARTICLE = re.compile(r"(?<![\w'-])(an?)(\s+)$", re.IGNORECASE)

# Adjectives that keep their capital: of nations, of continents, of faiths.
_OF_NATIONS = re.compile(r"(?:[a-z]+(?:ian|ican|ese|ish|opean)|asian|german|french|greek|dutch|thai|swiss|arab|roman)$")
_LOWER = frozenset(("foolish", "childish", "stylish", "selfish", "reddish", "greenish", "bluish", "pedestrian"))


def within(phrase: str, tag: str) -> str:
    """A phrase that began a caption as it stands inside one: only a name keeps its capital.

    Args:
        phrase: one word or more.
        tag: the Penn tag of the first. Taggers read "Young men" as a name, so a dictionary adjective is none.

    >>> within("Young men", "NNP"), within("Indian man", "JJ"), within("Mary", "NNP"), within("The man", "DT")
    ('young men', 'Indian man', 'Mary', 'the man')
    """
    first, space, rest = phrase.partition(" ")
    low = first.lower()
    nation = _OF_NATIONS.fullmatch(low) is not None and low not in _LOWER
    name = tag.startswith("NNP") and not (space and is_describing(low) and rest[:1].islower())
    if first == "I" or nation or name or not first.istitle():
        return phrase
    return low + space + rest


def like_case(new: str, old: str) -> str:
    """`new` in the case of `old`: lower, Capitalised or UPPER.

    >>> like_case("woman", "Man"), like_case("woman", "MAN"), like_case("woman", "man"), like_case("she", "I")
    ('Woman', 'WOMAN', 'woman', 'She')
    """
    if old.islower():
        return new
    if len(old) > 1 and old.isupper():
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def article(word: str) -> str:
    """The indefinite article that `word` takes.

    >>> article("actor"), article("uniform"), article("heiress"), article("uncle"), article("uninteresting")
    ('an', 'a', 'an', 'an', 'an')
    """
    return "an" if _VOWEL_SOUND.match(word) else "a"


def fix_article(before: str, new: str) -> str:
    """`before`, the text in front of the new word, with a closing "a" or "an" made to fit it.

    >>> fix_article("there is a ", "uncle"), fix_article("An ", "man"), fix_article("pizza ", "egg")
    ('there is an ', 'A ', 'pizza ')
    >>> fix_article("A ", "UNCLE")
    'AN '
    """
    match = _ARTICLE.search(before)
    if match is None:
        return before
    shouted = len(new) > 1 and new.isupper() and match[1].isupper()
    fitting = article(new).upper() if shouted else like_case(article(new), match[1][0])
    return before[: match.start()] + fitting + match[2]


def replaced(
    caption: str, start: int, end: int, new: str, *, article_of: Callable[[str], str] = article
) -> tuple[str, int, str, str]:
    """Returns the caption with `new` at `start:end`, in the case of what stood there; the article before it fits.

    Args:
        caption: the text.
        start, end: characters that are replaced.
        new: what stands there instead, in lower case.
        article_of: the article that a word takes.

    Returns:
        text, start, old, new; where "a" becomes "an" the article belongs to both.

    >>> replaced("a man eats a carrot", 13, 19, "onion")
    ('a man eats an onion', 11, 'a carrot', 'an onion')
    """
    shown = like_case(new, caption[start:end])
    match = _ARTICLE.search(caption, 0, start)
    if match and match[1].lower() != article_of(new):
        start = match.start()
        shown = like_case(article_of(new), match[1]) + match[2] + shown
    return caption[:start] + shown + caption[end:], start, caption[start:end], shown
