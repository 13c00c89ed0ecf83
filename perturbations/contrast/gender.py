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
from video_contrast.perturbations.contrast.lexicon import load_lexicon
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

# Whose gender does not show, whatever the caption's pronouns say.
_OF_NO_GENDER = ("baby", "infant", "toddler", "skeleton", "puppet", "robot", "animal", "pet", "panda")
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
        edit = None if persons else _swapped_pronouns(sentence)
        return edit or reason
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


def _swapped_pronouns(sentence: Sentence) -> Edit | None:
    """ "He opens his bag" -> "She opens her bag": the pronouns of a caption that names nobody of a gender.

    None where they are of both genders, may be of an animal or a baby, or go with clothing of one gender.
    """
    caption, words = sentence.caption, sentence.words
    places = [place for place, word in enumerate(words) if word.text in PRONOUNS["neutral"]]
    genders: set[Gender] = {"male" if words[place].text in PRONOUNS["female"] else "female" for place in places}
    if len(genders) != 1 or _persons(sentence, extended=True) or unfit(caption):
        return None
    gender = genders.pop()
    first = words[places[0]]
    if misfit(caption, Person(first.start, first.end, first.text, gender), ()):
        return None
    if any(word.is_noun and (word.lemma in _OF_NO_GENDER or _is_animal(word.lemma)) for word in words):
        return None
    to: Gender = "female" if gender == "male" else "male"
    changes = [
        (word.start, word.end, like_case(pronoun(sentence, place, to), caption[word.start : word.end]))
        for place in places
        for word in [words[place]]
    ]
    return replace_spans(caption, changes, 0, generator="pronouns")


def _is_animal(noun: str) -> bool:
    lexicon = load_lexicon()
    return any(lexicon.is_a(meaning.category, "animal") for meaning in lexicon.things(noun))


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
