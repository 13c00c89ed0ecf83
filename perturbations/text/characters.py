"""ChangeChar: characters change inside some words (robustness paper, A.2); one word is changed in one place.

Words are chosen among those that the rule can change: no function word, and a word that the table knows.
"""

from collections.abc import Callable
from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import tables
from video_contrast.perturbations.text.words import FUNCTION_WORDS, WORD, how_many, like_case, pick

Able = Callable[[str], bool]
Change = Callable[[str, Generator], str]
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@text_perturbation("keyboard", category="ChangeChar", origin="natural")
def keyboard(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """In a fifth of the words one character becomes a neighbour on the keyboard."""
    near = _neighbours(profile)
    keys = near.keys()
    return _change_words(
        caption, 0.2, rng, lambda word: not keys.isdisjoint(word), lambda word, rng: _one_character(word, near, rng)
    )


@text_perturbation("ocr", category="ChangeChar", origin="natural")
def ocr(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """In a fifth of the words one character becomes one that a text scanner confuses with it."""
    alike = _lookalikes()
    keys = alike.keys()
    return _change_words(
        caption, 0.2, rng, lambda word: not keys.isdisjoint(word), lambda word, rng: _one_character(word, alike, rng)
    )


@text_perturbation("typos", category="ChangeChar", origin="natural")
def typos(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """In three tenths of the words one inner letter is replaced, swapped, inserted or deleted."""
    return _change_words(caption, 0.3, rng, _has_inner_letter, _typo)


@text_perturbation("spelling_error", category="ChangeChar", origin="natural")
def spelling_error(caption: str, rng: Generator, *, profile: str = "paper") -> str:
    """Three tenths of the words are spelled as people misspell them (a table of 13,550 words)."""
    known = _misspellings()
    return _change_words(
        caption,
        0.3,
        rng,
        lambda word: word in known or word.lower() in known,
        lambda word, rng: _misspelled(word, known, rng),
    )


def _change_words(caption: str, share: float, rng: Generator, able: Able, change: Change) -> str:
    """Changes a share of the words, drawn among those that can change; marks at a word's ends are left alone.

    Drawing all words in random order and passing over the unable ones is the same, and looks at a few words only.
    """
    words = caption.split(" ")
    left = [n for n, word in enumerate(words) if word]
    wanted = how_many(share, len(left))
    while wanted and left:
        place = left.pop(int(rng.random() * len(left)))
        word = words[place]
        if word.isalpha():
            if word.lower() not in FUNCTION_WORDS and able(word):
                words[place] = change(word, rng)
                wanted -= 1
        elif (core := WORD.search(word)) and core.group().lower() not in FUNCTION_WORDS and able(core.group()):
            words[place] = word[: core.start()] + change(core.group(), rng) + word[core.end() :]
            wanted -= 1
    return " ".join(words)


def _misspelled(word: str, known: dict[str, tuple[str, ...]], rng: Generator) -> str:
    return like_case(pick(known[word.lower()], rng), word)


def _has_inner_letter(word: str) -> bool:
    return len(word) > 2 and word.isalpha()


def _one_character(word: str, table: dict[str, str], rng: Generator) -> str:
    places = [n for n, character in enumerate(word) if character in table]
    place = places[int(rng.random() * len(places))]
    return word[:place] + pick(table[word[place]], rng) + word[place + 1 :]


def _typo(word: str, rng: Generator) -> str:
    """One inner letter replaced by another, swapped with a different inner one beside it, doubled up or deleted."""
    place, kind = divmod(int(rng.random() * 4 * (len(word) - 2)), 4)
    place += 1
    if kind == 1:
        pairs = [n for n in range(1, len(word) - 2) if word[n] != word[n + 1]]
        if pairs:
            n = pairs[int(rng.random() * len(pairs))]
            return word[:n] + word[n + 1] + word[n] + word[n + 2 :]
        kind = 0  # "see", "cat": no two inner letters to swap
    if kind == 3:
        return word[:place] + word[place + 1 :]
    if kind == 2:
        return word[:place] + pick(_LETTERS, rng) + word[place:]
    return word[:place] + pick(_LETTERS.replace(word[place].lower(), ""), rng) + word[place + 1 :]


@cache
def _neighbours(profile: str) -> dict[str, str]:
    """Character -> the keys beside it; capitals have capital neighbours.

    The table gives "u" the neighbour " t" and "a" itself; `paper` leaves both out, `released` keeps them as they are.
    """
    table: dict[str, str] = {}
    for key, near in tables.parsed("keyboard_en.json").items():
        if profile == "released":
            table[key] = "".join(near)
        else:
            table[key] = "".join(c for c in near if len(c) == 1 and c != key)
    if profile != "released":
        table |= {key.upper(): near.upper() for key, near in table.items() if key.isalpha()}
    return table


@cache
def _lookalikes() -> dict[str, str]:
    """Character -> those that look like it, in both directions."""
    alike: dict[str, list[str]] = {}
    for one, others in tables.parsed("ocr_en.json").items():
        for other in others:
            alike.setdefault(one, []).append(other)
            alike.setdefault(other, []).append(one)
    return {one: "".join(dict.fromkeys(others)) for one, others in alike.items()}


@cache
def _misspellings() -> dict[str, tuple[str, ...]]:
    """Lower-case word -> its misspellings, without those that only differ in case."""
    table: dict[str, list[str]] = {}
    for line in tables.lines("spelling_en.txt"):
        word, *wrong = line.split()
        table.setdefault(word.lower(), []).extend(w for w in wrong if w.lower() != word.lower())
    return {word: tuple(dict.fromkeys(wrong)) for word, wrong in table.items() if wrong}
