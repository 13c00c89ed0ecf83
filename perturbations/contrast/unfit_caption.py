"""Captions that are none: titles, hashtags, another language. No contrast of them would be natural and surely false."""

import re

from video_contrast.perturbations.english.forms import word_classes
from video_contrast.perturbations.english.lexicon import words_of

LONGEST = 60  # words
_FUNCTION = words_of("common_in_captions")
# Least share of the words that are English; a smaller one will do where some are "the", "is" ...
_KNOWN, _KNOWN_WITH_FUNCTION = 0.6, 0.4
_FUNCTIONS = 0.15  # least share of those
_LATIN = 0x250  # letters from here on are of other scripts
# Reason -> what tells it in a text of lower case.
_MARKS = {
    "hashtag or address": r"(?:^|\s)[#@][a-z]|https?://|www\.",
    "markup": r"</?[a-z][^>]*>",
    "title or question": r"^(?:how to|why|what|where|who|is|are|does) |\||\(\d{4}\)|\?$|\bofficial (?:trailer|video)|"
    r"\b(?:episode|part|top) \d",
    "alternatives with /": r"[a-z]/[a-z]",
    "a word twice": r"\b(?!nae|ha|bye|very|that|had|pom|cha)([a-z]+) \1\b",
}
_PATTERNS = {reason: re.compile(pattern) for reason, pattern in _MARKS.items()}


def unfit(caption: str) -> str:
    """Why nothing is contrasted in a caption; "" where something may be.

    >>> unfit("a man rides a horse"), unfit("un homme joue de la guitare"), unfit("how to change a tyre")
    ('', 'not English', 'title or question')
    """
    text = " ".join(caption.lower().split())
    words = re.findall(r"[^\W\d_]+", text)
    foreign = any(ord(letter) >= _LATIN for word in words for letter in word)
    if len(words) < 2 and not foreign:
        return "too few words"
    if len(text.split()) > LONGEST:
        return "caption too long"
    marked = next((reason for reason, pattern in _PATTERNS.items() if pattern.search(text)), "")
    functions = sum(word in _FUNCTION for word in words)
    least = _KNOWN_WITH_FUNCTION if functions > _FUNCTIONS * len(words) else _KNOWN
    known = sum(word in _FUNCTION or bool(word_classes(word)) for word in words)
    return marked or ("not English" if foreign or known < least * len(words) else "")
