"""Gender contrasts: one gendered noun swapped, and the pronouns that go with it (contrast-set paper, 3.1 and A.1).

Only one noun is swapped, since "man and woman" with both swapped describes the same video. Pronouns of the noun's
gender follow in correct English: "her" becomes "his" or "him" by its role. A noun is left alone where the caption would
make no sense without it (`misfit`): people who become alike, partners, clothing, roles, names. Those rules are about
kinds of words; the lists are general English. What modifies a person (`_PRAISED`) was checked against counts of
training captions: 0 of 138 "beautiful" are said of a man.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from numpy.random import Generator

from video_contrast.perturbations.contrast.edit import Edit, replace_spans
from video_contrast.perturbations.contrast.lexicon import load_lexicon
from video_contrast.perturbations.english import Sentence, parse, parse_one
from video_contrast.perturbations.english.forms import inflect, like_case
from video_contrast.perturbations.english.gender import PRONOUNS, TITLES, Gender, names_person, pronoun
from video_contrast.perturbations.english.language import unfit
from video_contrast.perturbations.english.lexicon import lines, words_of
from video_contrast.seeds import Streams

# Why a noun cannot be swapped: keys of the counts.
ALIKE = "people_become_alike"
OTHER = "one_person_and_the_other"
TWICE = "person_named_twice"
PARTNER = "partner_of_the_person"
WORN = "clothing_or_body_of_one_gender"
ROLE = "role_of_one_gender"
NAME = "name_of_a_role"


def whole_words(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that matches any of the words as a whole: "man" not in "woman", "man-made" or "batman"."""
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(rf"(?<![\w-])(?:{'|'.join(longest_first)})(?![\w-])", re.IGNORECASE)


class Person(NamedTuple):
    """A gendered noun of a caption: its place, its lower-case form and its gender."""

    start: int
    end: int
    word: str
    gender: Gender


# Kind of sign, gender, and a pattern; of kind "person" the words for one kind of person, of which two are alike.
_SIGNS = [line.split("\t") for line in lines("video_contrast.perturbations.contrast", "gender_signs.tsv")]
_OF_ANY_AGE = (frozenset({"guys", "boys"}), frozenset({"ladies", "girls"}))  # "guys and boys": of any age
_KIND = {word: n for n, (kind, _, words) in enumerate(_SIGNS) if kind == "person" for word in words.split()}
_MEN = whole_words(["gentleman", "gentlemen", "dude", "dudes"])  # of `_KIND`, and in no table of the paper
_SINGULAR = {"men": "man", "women": "woman", "guys": "guy", "boys": "boy", "girls": "girl", "ladies": "lady"}
_PARTNER = whole_words([*words_of("partner"), r"boy\s+friend", r"girl\s+friend"])


def _signs(kind: str, gender: Gender) -> re.Pattern[str]:
    patterns = "|".join(pattern for kind_of_row, of, pattern in _SIGNS if (kind_of_row, of) == (kind, gender))
    return re.compile(rf"\b(?:{patterns})\b", re.IGNORECASE)


_WORN: dict[Gender, re.Pattern[str]] = {"female": _signs("worn", "female"), "male": _signs("worn", "male")}
_SEX: dict[Gender, re.Pattern[str]] = {"female": _signs("sex", "female"), "male": _signs("sex", "male")}
_PRAISED: dict[Gender, frozenset[str]] = {"female": words_of("praises_women"), "male": words_of("praises_men")}
_ROLES: dict[Gender, frozenset[str]] = {"female": words_of("role_of_women"), "male": words_of("role_of_men")}
# The first word of names that end in a gendered noun, and the last word of those that begin with one.
_NAMES_BEFORE = words_of("before_gendered_name")
_NAMES_AFTER = words_of("after_gendered_name")
_CHILDREN = frozenset({"boy", "boys", "girl", "girls"})
_ONLY_CHILDREN_AFTER = frozenset({"scout", "scouts", "band", "group"})
_ADJECTIVE = r"(?:young|old|elderly|little|small|big|tall|short|black|white|asian|indian|blonde?|funny|cartoon)"
_SINGLE = re.compile(rf"\b(?:an?|one|this|that|another)\s+(?:{_ADJECTIVE}\s+){{0,2}}$", re.IGNORECASE)
_ANOTHER = re.compile(r"\b(another|(?:the\s+)?other|second|third)\s+(?:[\w'-]+\s+){0,2}$", re.IGNORECASE)
_NEXT_WORD = re.compile(r"\s+([\w'-]+)")
_THE = re.compile(r"\b(?:the|this|that)\s+(?:[\w'-]+\s+){0,1}$", re.IGNORECASE)


def counterparts(caption: str, noun: Person, options: Sequence[str]) -> tuple[str, ...]:
    """The counterparts of a noun that fit the words beside it: "little girl" is no "guy", "a women" is a "man".

    >>> counterparts("a little girl", Person(9, 13, "girl", "female"), ("boy", "guy"))
    ('boy',)
    """
    fitting = tuple(options)
    if noun.word in _SINGULAR and _SINGLE.search(caption[_near(noun.start) : noun.start]):
        fitting = tuple(dict.fromkeys(_SINGULAR.get(word, word) for word in fitting))
    before, after = _words_before(caption, noun), _word_after(caption, noun)
    if words_of("of_children").intersection(before) or after in _ONLY_CHILDREN_AFTER:
        fitting = tuple(word for word in fitting if word in _CHILDREN) or fitting
    elif words_of("of_adults").intersection(before):
        fitting = tuple(word for word in fitting if word not in _CHILDREN) or fitting
    return fitting


def misfit(caption: str, noun: Person, persons: Sequence[Person]) -> str:
    """Why the caption makes no sense with `noun` swapped, whatever its counterpart; "" if it does.

    `persons`: all gendered nouns of the caption, in reading order; `noun` among them.

    >>> misfit("a pregnant woman", Person(11, 16, "woman", "female"), [])
    'clothing_or_body_of_one_gender'
    """
    before = _words_before(caption, noun)
    if (before and before[-1] in _NAMES_BEFORE) or _word_after(caption, noun) in _NAMES_AFTER:
        return NAME
    if _matches(_PARTNER, caption) - {noun.word}:
        return PARTNER
    if _PRAISED[noun.gender].intersection(before) or _matches(_WORN[noun.gender], caption):
        return WORN
    if _matches(_role(noun.gender), caption):
        return ROLE
    everyone = tuple(persons)
    match = _ANOTHER.search(caption[_near(noun.start) : noun.start])
    is_other = match and match[1].lower() != "another" and _earlier(noun, everyone)
    others = _those_after(_ANOTHER, caption, everyone)
    if is_other or any(p.start > noun.start and p.gender == noun.gender for p in others):
        return OTHER
    definite = _those_after(_THE, caption, everyone)
    earlier = _earlier(noun, everyone) if noun in definite else []
    again = any(_same_kind(p, noun) for p in (*earlier, *(p for p in definite if p.start > noun.start)))
    return TWICE if again or _matches(_SEX[noun.gender], caption) - {noun.word} else ""


def _same_kind(first: Person, second: Person) -> bool:
    same = first.word == second.word or (first.word in _KIND and _KIND[first.word] == _KIND.get(second.word))
    return same and first.gender == second.gender


def _earlier(noun: Person, persons: Sequence[Person]) -> list[Person]:
    return [person for person in persons if person.start < noun.start and person.gender == noun.gender]


def alike(caption: str, new: str, noun: Person, persons: Sequence[Person]) -> bool:
    """Whether the swapped noun says the same as another person of the caption.

    `persons`: all gendered nouns of the caption.

    >>> alike("a guy and a woman", "man", Person(12, 17, "woman", "female"), [Person(2, 5, "guy", "male")])
    True
    """
    others = {person.word for person in persons if person is not noun}
    return any(
        word == new or (new in _KIND and _KIND.get(word) == _KIND[new]) or frozenset({word, new}) in _OF_ANY_AGE
        for word in others | (_matches(_MEN, caption) - {noun.word})
    )


def another(caption: str, noun: Person, persons: Sequence[Person]) -> tuple[int, int] | None:
    """The "another" that no longer holds: "a man talks to another man" becomes "a man talks to a woman".

    `persons`: all gendered nouns of the caption.
    """
    match = _ANOTHER.search(caption[: noun.start])
    if match is None or match[1].lower() != "another":
        return None
    same = any(person.gender == noun.gender and person.start < noun.start for person in persons)
    return match.span(1) if same else None


# A caption may hold thousands of nouns, each of which is looked at beside all others: what is asked of the same text
# again is remembered, and no more of it is read than a pattern of a few words can reach.
@lru_cache(maxsize=64)
def _matches(pattern: re.Pattern[str], caption: str) -> frozenset[str]:
    return frozenset(match.group().lower() for match in pattern.finditer(caption))


@lru_cache(maxsize=64)
def _those_after(pattern: re.Pattern[str], caption: str, persons: tuple[Person, ...]) -> frozenset[Person]:
    """The persons whose nouns stand after what a pattern matches."""
    return frozenset(p for p in persons if pattern.search(caption[_near(p.start) : p.start]))


def _near(place: int) -> int:
    return max(place - 200, 0)


@cache
def _role(gender: Gender) -> re.Pattern[str]:
    """A role of one gender that the caption gives somebody: "dressed as a princess", "in a princess costume"."""
    words = "|".join(sorted(_ROLES[gender]))
    return re.compile(
        rf"\b(?:as|like|(?<!there )(?:is|was)|being|becomes?)\s+(?:an?\s+|the\s+)?(?:{words})\b"
        rf"|\b(?:{words})\s+(?:costumes?|outfits?|clothes)\b",
        re.IGNORECASE,
    )


def _words_before(caption: str, noun: Person) -> list[str]:
    """The up to three words before a noun, back to the last article or preposition."""
    words: list[str] = []
    for word in reversed(re.findall(r"[\w'-]+", caption[_near(noun.start) : noun.start].lower())[-3:]):
        if word in ("a", "an", "the", "of", "and", "with", "in", "on", "is", "by", "to", "as", "two", "three"):
            break
        words.insert(0, word)
    return words


def _word_after(caption: str, noun: Person) -> str:
    match = _NEXT_WORD.match(caption, noun.end)
    return match[1].lower() if match else ""


VERSION = "1"
_TABLE = [line.split("\t") for line in lines("video_contrast.perturbations.contrast", "gender_table.tsv")]
MALE, FEMALE = ({a: tuple(b.split(",")) for of, a, b in _TABLE if of == side} for side in ("male", "female"))
# Whose gender does not show, whatever the caption's pronouns say.
_OF_NO_GENDER = ("baby", "infant", "toddler", "skeleton", "puppet", "robot", "animal", "pet", "panda")
_NO_PLURAL = ("masculine", "feminine", *TITLES)


def swap(caption: str, rng: Generator, extended: bool = False) -> Edit | None:
    """The caption with one gendered noun swapped and its pronouns with it; None where no noun can be.

    `caption`: any text. Only whole words match: "man" not in "woman", "manly", "man-made" or "batman". `rng`: chooses
    the noun where there are several, and its counterpart where there are several. `extended`: use a list of some 60
    more pairs (father, actress, cowboys ...) beside the paper's Table 6.

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
    if (reason := unfit(caption)) in ("not English", "markup", "hashtag or address", "negated"):
        return reason.lower().replace(" ", "_")
    noun, options = choices[int(rng.integers(len(choices)))] if len(choices) > 1 else choices[0]
    new = options[int(rng.integers(len(options)))] if len(options) > 1 else options[0]
    changes = [(noun.start, noun.end, like_case(new, caption[noun.start : noun.end]))]
    main = changes[0]
    article_span = another(caption, noun, persons)
    if article_span is not None:
        start, end = article_span
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
    first, nouns, lexicon = words[places[0]], {word.lemma for word in words if word.is_noun}, load_lexicon()
    animal = any(lexicon.is_a(thing.category, "animal") for noun in nouns for thing in lexicon.things(noun))
    person = Person(first.start, first.end, first.text, gender)
    if animal or nouns.intersection(_OF_NO_GENDER) or misfit(caption, person, ()):
        return None
    to: Gender = "female" if gender == "male" else "male"
    changes = [
        (word.start, word.end, like_case(pronoun(sentence, place, to), caption[word.start : word.end]))
        for place in places
        for word in [words[place]]
    ]
    return replace_spans(caption, changes, 0, generator="pronouns")


def contrasts(
    captions: Sequence[str], ids: Sequence[str], *, seed: int = 0, extended: bool = False
) -> tuple[list[Edit | None], Counter[str]]:
    """`swap` for many captions, each with the stream of its id, and how many came out how.

    Returns one edit or None a caption, and counts: "edited", "no_gender_noun", "not_english" and other reasons of
    `unfit`, and those of `misfit` why the nouns that there are cannot be swapped. `ids`: one a caption; with the seed
    it names the caption's random stream.
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
        if (word.text in male or word.text in female)
        and (names_person(sentence, place) or sentence.compound(place) in _NAMES_BEFORE)
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
