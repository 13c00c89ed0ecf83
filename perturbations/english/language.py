"""Whether texts are English, by the share of their words that are English function words; and captions that are none:
titles, hashtags, another language. No contrast of them would be natural and surely false.
"""

import re
from collections.abc import Sequence

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.english.forms import is_noun, verb_tags, word_classes
from video_contrast.perturbations.english.lexicon import words_of

_FUNCTION = words_of("common_in_captions")
LEAST = 0.12  # English captions have 0.35-0.55; cooking orders 0.25 and more; German, French, Spanish under 0.08
LEAST_KNOWN = 0.5  # of their words that English captions use: "red car number 3" holds no function word
_TOO_FEW = 3  # words that tell no language
_SAMPLE = 2000  # captions that are looked at


class NotEnglish(VideoContrastError):
    """Captions of another language, of which no contrast can be made."""


def function_share(captions: Sequence[str]) -> float:
    """Share of the words that are English function words (or the commonest nouns of captions).

    >>> function_share(["a man rides a horse"]) > 0.5, function_share(["ein mann reitet ein pferd"]) < 0.1
    (True, True)
    """
    return _share([word in _FUNCTION for word in _words(captions)])


def require_english(captions: Sequence[str], *, name: str = "the captions") -> None:
    """Refuses captions of another language.

    `name`: what they are, for the message. Raises NotEnglish: hardly a word is an English function word, and most words
    are in no English dictionary.
    """
    words = [word for word in _words(captions) if word.isalpha() or not word.isascii()]
    if not words or (len(words) < _TOO_FEW and "".join(words).isascii()):
        return
    share = function_share(captions)
    if share < LEAST and _share([is_noun(word) or bool(verb_tags(word)) for word in words]) < LEAST_KNOWN:
        raise NotEnglish(
            f"{name} do not look English ({share:.0%} of their words are English function words, {LEAST:.0%} are "
            "needed): contrasts are made of English captions only; build sets that change no words (retrieval, "
            "random_mc), or bring your own pairs (build pairs)"
        )


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def _words(captions: Sequence[str]) -> list[str]:
    step = max(1, len(captions) // _SAMPLE)
    words = [word.strip(".,!?;:\"'()") for caption in captions[::step] for word in caption.lower().split()]
    return [word for word in words if word]


LONGEST = 60  # words
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
    # A denial has no surely false contrast: much else did not happen, either. Web captions leave the apostrophe out.
    "negated": r"\b(?:not|cannot|nobody|no one|never|neither)\b|n['’]t\b"
    r"|\b(?:ca|do|does|did|is|are|was|were|has|have|had|could|should|would|wo)nt\b",
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
    foreign = not text.isascii() and any(ord(letter) >= _LATIN for word in words for letter in word)
    if len(words) < 2 and not foreign:
        return "too few words"
    if len(text.split()) > LONGEST:
        return "caption too long"
    mark = next((reason for reason, pattern in _PATTERNS.items() if pattern.search(text)), "")
    functions = sum(word in _FUNCTION for word in words)
    least = _KNOWN_WITH_FUNCTION if functions > _FUNCTIONS * len(words) else _KNOWN
    english_words = sum(word in _FUNCTION or bool(word_classes(word)) for word in words)
    return mark or ("not English" if foreign or english_words < least * len(words) else "")
