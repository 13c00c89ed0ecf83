"""Whether texts are English, by the share of their words that are English function words."""

from collections.abc import Sequence

from video_contrast.errors import VideoContrastError

_FUNCTION = frozenset(
    """a an the of in on at to with and or is are was were be been being by for from into onto over up down out off
    his her their its it he she they them him this that these those there here who which while as two three some
    people man woman person men women boy girl""".split()  # noqa: SIM905
)
LEAST = 0.12  # English captions have 0.35-0.55; cooking orders 0.25 and more; German, French, Spanish under 0.08
_SAMPLE = 2000  # captions that are looked at


def function_share(captions: Sequence[str]) -> float:
    """Share of the words that are English function words (or the commonest nouns of captions).

    >>> function_share(["a man rides a horse"]) > 0.5, function_share(["ein mann reitet ein pferd"]) < 0.1
    (True, True)
    """
    step = max(1, len(captions) // _SAMPLE)
    words = [word for caption in captions[::step] for word in caption.lower().split()]
    return sum(word.strip(".,!?;:\"'()") in _FUNCTION for word in words) / len(words) if words else 0.0


def require_english(captions: Sequence[str]) -> None:
    """Refuses captions of another language.

    Raises:
        VideoContrastError: hardly a word is an English function word.
    """
    share = function_share(captions)
    if captions and any(caption.strip() for caption in captions) and share < LEAST:
        raise VideoContrastError(
            f"the captions do not look English ({share:.0%} of their words are English function words, "
            f"{LEAST:.0%} are needed): frames are counted and parsed in English only; give a parser and counts of the "
            "captions' language, or use another generator"
        )
