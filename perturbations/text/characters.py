"""ChangeChar: characters change inside some words (robustness paper, A.2); one word is changed in one place.

Words are chosen among those that the rule can change: no function word, and a word that the table knows.
"""

from collections.abc import Callable
from functools import cache
from itertools import chain

from numpy.random import Generator

from video_contrast.perturbations.english.forms import like_case
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import FUNCTION_WORDS, UNFIT, WORD, how_many, lines, parsed, pick

Able = Callable[[str], bool]
Change = Callable[[str, float], str]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@text_perturbation("keyboard", category="ChangeChar", origin="natural")
def keyboard(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """In a fifth of the words one character becomes a neighbour on the keyboard."""
    return _change_words(caption, 0.2, rng, *_character_rule(_neighbours, profile))


@text_perturbation("ocr", category="ChangeChar", origin="natural")
def ocr(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """In a fifth of the words one character becomes one that a text scanner confuses with it."""
    return _change_words(caption, 0.2, rng, *_character_rule(_lookalikes, profile))


@text_perturbation("typos", category="ChangeChar", origin="natural", version="2")
def typos(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """In three tenths of the words one inner letter is replaced, swapped, inserted or deleted."""
    change = _typo if profile == "released" else _fit_typo
    return _change_words(caption, 0.3, rng, lambda word: len(word) > 2 and word.isalpha(), change)


@text_perturbation("spelling_error", category="ChangeChar", origin="natural", version="2")
def spelling_error(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """Three tenths of the words are spelled as people misspell them (a table of 10,000 words; no other word)."""
    return _change_words(caption, 0.3, rng, *_spelling_rule(profile))


def _change_words(caption: str, share: float, rng: Generator, able: Able, change: Change) -> str:
    """Changes a share of the words, drawn among those that can change; marks at a word's ends are left alone.

    Drawing all words in random order and passing over the unable ones is the same, and looks at a few words only.
    """
    # 16 numbers at a time: a fifth of the cost of single ones
    draw = chain.from_iterable(iter(lambda: rng.random(16).tolist(), None)).__next__
    words = caption.split(" ")
    untried = list(range(len(words))) if "  " not in caption else [n for n, word in enumerate(words) if word]
    remaining = how_many(share, len(untried))
    while remaining and untried:
        place = untried.pop(int(draw() * len(untried)))
        word = words[place]
        if word.isalpha():
            if word.lower() not in FUNCTION_WORDS and able(word):
                words[place] = change(word, draw())
                remaining -= 1
        elif (core := WORD.search(word)) and core.group().lower() not in FUNCTION_WORDS and able(core.group()):
            words[place] = word[: core.start()] + change(core.group(), draw()) + word[core.end() :]
            remaining -= 1
    return " ".join(words)


# A change takes one number in [0, 1): its whole part, scaled, says where, and what is left over says by what.


@cache
def _character_rule(table: Callable[[str], dict[str, str]], profile: str) -> tuple[Able, Change]:
    """Whether a word has a character of the table, and the word with one of them replaced."""
    others = table(profile)
    characters = frozenset(others)

    def change(word: str, chance: float) -> str:
        places = [n for n, character in enumerate(word) if character in characters]
        which, rest = divmod(chance * len(places), 1)
        place = places[int(which)]
        new = others[word[place]]
        return word[:place] + new[int(rest * len(new))] + word[place + 1 :]

    return lambda word: not characters.isdisjoint(word), change


@cache
def _spelling_rule(profile: str) -> tuple[Able, Change]:
    """Whether a word has a misspelling, and the word misspelled."""
    table = _misspellings(profile)

    def change(word: str, chance: float) -> str:
        wrong = table[word.lower()]
        return like_case(wrong[int(chance * len(wrong))], word)

    return lambda word: word.lower() in table, change


def _fit_typo(word: str, chance: float) -> str:
    """The first typo that makes no unfit word ("shirt" has one); the word itself if there is none."""
    typo = _typo(word, chance)
    if typo.lower() not in UNFIT:
        return typo
    others = (_typo(word, (chance + step / 7) % 1) for step in range(1, 7))
    return next((other for other in others if other.lower() not in UNFIT), word)


def _typo(word: str, chance: float) -> str:
    """One inner letter replaced by another, swapped with a different inner one beside it, inserted or deleted."""
    which, rest = divmod(chance * 4 * (len(word) - 2), 1)
    place, kind = divmod(int(which), 4)
    place += 1
    if kind == 1:
        pairs = [n for n in range(1, len(word) - 2) if word[n] != word[n + 1]]
        if pairs:
            n = pairs[int(rest * len(pairs))]
            return word[:n] + word[n + 1] + word[n] + word[n + 2 :]
        kind = 0  # "see", "cat": no two inner letters to swap
    if kind == 3:
        return word[:place] + word[place + 1 :]
    if kind == 2:
        return word[:place] + _LETTERS[int(rest * 26)] + word[place:]
    letters = _LETTERS.replace(word[place].lower(), "")
    return word[:place] + letters[int(rest * len(letters))] + word[place + 1 :]


@cache
def _neighbours(profile: str) -> dict[str, str]:
    """Character -> the keys beside it; capitals have capital neighbours.

    The table gives "u" the neighbour " t" and "a" itself; `paper` leaves both out, `released` keeps them as they are.
    """
    table: dict[str, str] = {}
    for key, near in parsed("keyboard_en.json").items():
        table[key] = "".join(c for c in near if profile == "released" or (len(c) == 1 and c != key))
    if profile != "released":
        table |= {key.upper(): near.upper() for key, near in table.items() if key.isalpha()}
    return table


@cache
def _lookalikes(profile: str) -> dict[str, str]:
    """Character -> those that look like it, in both directions; the same in both profiles."""
    alike: dict[str, list[str]] = {}
    for letter, others in parsed("ocr_en.json").items():
        for other in others:
            alike.setdefault(letter, []).append(other)
            alike.setdefault(other, []).append(letter)
    return {letter: "".join(dict.fromkeys(others)) for letter, others in alike.items()}


@cache
def _misspellings(profile: str) -> dict[str, tuple[str, ...]]:
    """Lower-case word -> its misspellings, without those that only differ in case.

    What stands behind "|" in the table is no misspelling (markup, another word, an offence): for `released` only.
    """
    table: dict[str, list[str]] = {}
    for line in lines("spelling_en.txt"):
        spelled_wrong, _, other = line.partition(" |")
        word, *wrong = (spelled_wrong + other if profile == "released" else spelled_wrong).split()
        table.setdefault(word.lower(), []).extend(w for w in wrong if w.lower() != word.lower())
    return {word: tuple(dict.fromkeys(wrong)) for word, wrong in table.items() if wrong}


PAIRS = ('""', "{}", "[]", "()", "``", "【】")
MARKS = ("...", ".", ",", ";")


@text_perturbation("punctuation", category="ChangeChar", origin="natural")
def punctuation(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """The caption stands between quotes or brackets, with a mark before the closing one."""
    inner = caption.strip().rstrip(".,;:!?… ")
    pair = pick(PAIRS, rng)
    return f"{pair[0]}{inner}{pick(MARKS, rng)}{pair[1]}"
