"""What is no caption gets no contrast, and a reason that is counted."""

import pytest

from video_contrast.perturbations.contrast.generate import choose, load_counts, propose
from video_contrast.perturbations.contrast.kinds import RULES, proposals
from video_contrast.perturbations.contrast.lexicon import load_lexicon
from video_contrast.perturbations.english import parse
from video_contrast.perturbations.english.language import unfit

UNFIT = {
    "not English": [
        "ein mann spielt gitarre in der küche",
        "un chien court dans le parc avec deux enfants",
        "男の人が走っている",
        "мужчина играет на гитаре",
        "IMG_2034.MOV",
    ],
    "hashtag or address": ["#dance #tiktok two girls dancing", "@ann look at this", "https://a.com/b a man dances"],
    "title or question": [
        "how to change a tyre",
        "HOW TO FIX A BIKE",
        "The Dark Knight (2008) - Official Trailer",
        "Best goals | Top 10",
        "is the man running?",
    ],
    "caption too long": ["a man walks into a room and sits on a red chair while two women sing " * 8],
    "too few words": ["", "null", "  ", "...", "🎉🎉", "5:32"],
    "markup": ["<b>a man runs</b>"],
    "alternatives with /": ["a man/woman is talking"],
    "negated": ["the boy does not open the door", "a man isn't wearing a hat", "nobody sits on the bench",
                "he cannot swim", "she doesnt run"],
    "a word twice": ["the the red car", "a man is is running"],
}  # fmt: skip
FIT = [
    "a man rides a horse",
    "spongebob and patrick are walking backwards",
    "saute the onions",
    "add 1/2 cup of milk",
    "a café owner talks to a woman",
    "football player #80 performs a touchdown",
    "a man 😀 is dancing on a stage",
    "TWO WOMEN ARE DANCING",
    "when the soup boils add the leeks",
]


@pytest.mark.parametrize(("reason", "caption"), [(reason, text) for reason in UNFIT for text in UNFIT[reason]])
def test_what_is_no_caption_has_a_reason(reason: str, caption: str) -> None:
    assert unfit(caption) == reason


@pytest.mark.parametrize("caption", FIT)
def test_captions_are_fit(caption: str) -> None:
    assert unfit(caption) == ""


def test_no_generator_contrasts_what_is_no_caption() -> None:
    captions = [text for texts in UNFIT.values() for text in texts]
    fit = [f"a woman opens door {n}" for n in range(len(captions))]
    clips = [(f"c{n}", [text]) for n, text in enumerate([*captions, *fit])]
    for kind in ("verb", "object"):
        proposed = propose(clips, load_counts(), target=kind, quality=0.0)
        assert not {f"c{n}" for n in range(len(captions))} & choose(proposed).keys()
        assert proposed.missing["c0"] == "not English" and proposed.reasons["hashtag or address"] == 3
    for kind in RULES:
        assert not any(proposals(kind, [sentence], load_lexicon()) for sentence in parse(captions))


@pytest.mark.parametrize(
    ("kind", "caption"), [("count", "TWO WOMEN ARE DANCING"), ("place", "A MAN IS PLAYING THE GUITAR ON A STAGE")]
)
def test_capitals_stay_capitals(kind: str, caption: str) -> None:
    texts = [option.contrast.text for option in proposals(kind, parse([caption]), load_lexicon())]
    assert texts and all(text.isupper() for text in texts)
