"""Gender contrasts: one gendered noun swapped, and the pronouns that go with it (contrast-set paper, 3.1 and A.1).

Only one noun is swapped, since "man and woman" with both swapped describes the same video. Pronouns of the noun's
gender follow in correct English: "her" becomes "his" or "him" by its role. A noun is left alone where the caption would
make no sense without it (`gender_fit`): people who become alike, partners, clothing, roles, names.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.contrast.edit import Edit, replace_spans
from video_contrast.perturbations.contrast.gender_fit import ALIKE, Person, alike, another, counterparts, misfit
from video_contrast.perturbations.contrast.unfit_caption import unfit
from video_contrast.perturbations.english import Sentence, parse, parse_one
from video_contrast.perturbations.english.forms import inflect, like_case
from video_contrast.perturbations.english.gender import PRONOUNS, TITLES, Gender, names_person, pronoun
from video_contrast.perturbations.english.tables import lines
from video_contrast.seeds import Streams

VERSION = "1"

# Table 6 of the paper, word for word; number is kept.
MALE = {
    "man": ("woman",),
    "men": ("women",),
    "boy": ("girl",),
    "boys": ("girls",),
    "guy": ("woman", "girl"),
    "guys": ("women", "girls", "ladies"),
}
FEMALE = {
    "woman": ("man",),
    "women": ("men", "guys"),
    "girl": ("boy", "guy"),
    "girls": ("boys", "guys"),
    "lady": ("man", "guy"),
    "ladies": ("men", "guys"),
}

_NO_PLURAL = ("masculine", "feminine", *TITLES)


def swap(caption: str, rng: Generator, extended: bool = False) -> Edit | None:
    """The caption with one gendered noun swapped and its pronouns with it; None where no noun can be.

    Args:
        caption: any text. Only whole words match: "man" not in "woman", "manly", "man-made" or "batman".
        rng: chooses the noun where there are several, and its counterpart where there are several.
        extended: use a list of some 70 more pairs (father, actress, cowboys ...) beside the paper's Table 6.

    >>> import numpy as np
    >>> swap("A woman is pushing her stroller", np.random.default_rng(0)).text
    'A man is pushing his stroller'
    >>> swap("a man and a woman", np.random.default_rng(0)) is None
    True
    """
    edit = _swap(parse_one(caption), rng, extended)
    return edit if isinstance(edit, Edit) else None


def _swap(sentence: Sentence, rng: Generator, extended: bool) -> Edit | str:
    """The edit, or why there is none: a key of the counts."""
    caption, persons = sentence.caption, _persons(sentence, extended)
    choices, reason = _choices(caption, persons, extended)
    if not choices:
        return reason
    if unfit(caption) == "not English":
        return "not_english"
    noun, options = choices[int(rng.integers(len(choices)))] if len(choices) > 1 else choices[0]
    new = options[int(rng.integers(len(options)))] if len(options) > 1 else options[0]
    changes = [(noun.start, noun.end, like_case(new, caption[noun.start : noun.end]))]
    main = changes[0]
    replaced = another(caption, noun, persons)
    if replaced is not None:
        start, end = replaced
        following = caption[end : noun.start].strip() or new
        article = "an" if following[0].lower() in "aeiou" else "a"
        changes.append((start, end, like_case(article, caption[start:end])))
    # "a man hugs his boy": a pronoun between another noun of the gender and the swapped one belongs to the other.
    others = [person.start for person in persons if person.end <= noun.start and person.gender == noun.gender]
    to: Gender = "female" if noun.gender == "male" else "male"
    for place, word in enumerate(sentence.words):
        if word.text in PRONOUNS[to] and not (others and others[0] < word.start < noun.start):
            new = like_case(pronoun(sentence, place, to), caption[word.start : word.end])
            changes.append((word.start, word.end, new))
    changes.sort()
    return replace_spans(caption, changes, changes.index(main), generator="extended" if extended else "table6")


def contrasts(
    captions: Sequence[str], ids: Sequence[str], *, seed: int = 0, extended: bool = False
) -> tuple[list[Edit | None], Counter[str]]:
    """`swap` for many captions, each with the stream of its id, and how many came out how.

    Returns one edit or None a caption, and counts: "edited", "no_gender_noun", "not_english", and the reasons of
    `gender_fit` why the nouns that there are cannot be swapped. `ids`: one a caption; with the seed it names the
    caption's random stream.
    """
    streams, edits = Streams(), []
    for sentence, identifier in zip(parse(captions), ids, strict=True):
        rng = streams.at(seed, "gender", VERSION, identifier)
        edits.append(_swap(sentence, rng, extended))
    counts = Counter(edit if isinstance(edit, str) else "edited" for edit in edits)
    return [edit if isinstance(edit, Edit) else None for edit in edits], counts


def _persons(sentence: Sentence, extended: bool) -> list[Person]:
    male, female = _maps(extended)
    return [
        Person(word.start, word.end, word.text, "male" if word.text in male else "female")
        for place, word in enumerate(sentence.words)
        if (word.text in male or word.text in female) and names_person(sentence, place)
    ]


def _choices(
    caption: str, persons: Sequence[Person], extended: bool
) -> tuple[list[tuple[Person, tuple[str, ...]]], str]:
    """The nouns that can be swapped, each with its counterparts; and why the first cannot, where there are none."""
    male, female = _maps(extended)
    choices, reasons = [], []
    for noun in persons:
        reason = misfit(caption, noun, persons)
        fitting = counterparts(caption, noun, (male if noun.gender == "male" else female)[noun.word])
        options = tuple(new for new in fitting if not alike(caption, new, noun, persons))
        if reason or not options:
            reasons.append(reason or ALIKE)
        else:
            choices.append((noun, options))
    return choices, reasons[0] if reasons else "no_gender_noun"


@cache
def _maps(extended: bool) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Male -> female and female -> male nouns. Table 6 wins over the extended pairs."""
    if not extended:
        return MALE, FEMALE
    male: dict[str, tuple[str, ...]] = {}
    female: dict[str, tuple[str, ...]] = {}
    for line in lines("video_contrast.perturbations.contrast", "gender_pairs.tsv"):  # the extended list, singulars
        a, b = line.split("\t")
        pairs = [(a, b)] if a in _NO_PLURAL else [(a, b), (inflect(a, "NNS"), inflect(b, "NNS"))]
        for he, she in pairs:
            male[he] = (*male.get(he, ()), she)
            female[she] = (*female.get(she, ()), he)
    return male | MALE, female | FEMALE
