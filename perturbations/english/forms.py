"""Forms of words: lemmas and inflections (a cached front of lemminflect, no download), articles, and letter case."""

import re
import sys
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType

from video_contrast.perturbations.english.lexicon import has_class

_UNIVERSAL = {"V": "VERB", "N": "NOUN", "J": "ADJ", "R": "ADV"}
_BE = {"VB": "be", "VBP": "are", "VBZ": "is", "VBD": "was", "VBG": "being", "VBN": "been"}
_FORMS = {"be": _BE, "repot": {"VBG": "repotting", "VBD": "repotted", "VBN": "repotted"}}
_PAST = {"blend": "blended", "lean": "leaned", "quit": "quit", "saute": "sauteed", "sautee": "sauteed", "ski": "skied"}
_CLITICS = {"n't": "not", "n’t": "not", "'re": "be", "'m": "be", "'ve": "have", "'ll": "will", "'d": "would"}
_LEMMAS = {"headbutting": "headbutt", "harmonica": "harmonica", "repotted": "repot"}  # that the rules get wrong
_AUXILIARIES = frozenset({"is", "are", "was", "were", "be", "been", "being", "has", "have", "had", "am"})
_CACHED_WORDS = 1 << 17


class _WithoutSpacy:
    """An import finder that refuses spaCy: lemminflect imports it only to register an extension (two seconds)."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuses `spacy`, leaves every other name to the next finder."""
        if name == "spacy":
            raise ModuleNotFoundError("not needed here", name=name)


@cache
def _lemminflect() -> ModuleType:
    """lemminflect, without loading spaCy where nobody has loaded it."""
    if "lemminflect" in sys.modules or "spacy" in sys.modules:
        return import_module("lemminflect")
    sys.meta_path.insert(0, _WithoutSpacy)
    try:
        module = import_module("lemminflect")
    finally:
        sys.meta_path.remove(_WithoutSpacy)
    # A later `import lemminflect` by someone else runs its __init__ again and registers the extension then.
    del sys.modules["lemminflect"]
    return module


@lru_cache(_CACHED_WORDS)
def lemma(word: str, tag: str = "NN") -> str:
    """The dictionary form of `word` read as `tag` (Penn), in lower case.

    >>> lemma("Men", "NNS"), lemma("dicing", "VBG"), lemma("sat", "VBD"), lemma("is", "VBZ"), lemma("the", "DT")
    ('man', 'dice', 'sit', 'be', 'the')
    """
    low = word.lower()
    if exception := _CLITICS.get(low) or _LEMMAS.get(low):
        return exception
    if low in ("'s", "’s"):
        return "be" if tag.startswith("V") else low
    universal = _UNIVERSAL.get(tag[:1]) if tag[:2] in ("VB", "NN", "JJ", "RB") else None
    if universal is None or not low.isascii() or not low.isalpha() or len(low) > 40:
        return low
    # Unknown adjectives and adverbs ("wagging") keep their form: the rules for them cut real endings.
    lemmas = _lemminflect().getLemma(low, universal, lemmatize_oov=universal in ("VERB", "NOUN"))
    return (lemmas[0] if lemmas else low) or low


@lru_cache(_CACHED_WORDS)
def verb_word(unit: str) -> str:
    """The verb of a verb with its particle, preposition or object.

    >>> verb_word("pick up"), verb_word("deep fry")
    ('pick', 'fry')
    """
    head, _, rest = unit.partition(" ")
    second = rest.partition(" ")[0]
    return second if has_class(f"{head}_{second}", "compound_verb") else head


@lru_cache(_CACHED_WORDS)
def inflect(lemma: str, tag: str) -> str:
    """The form of `lemma` that carries the Penn `tag`; of several words, the one that is the verb is inflected.

    A lemma that has no such form comes back as it is.

    >>> inflect("run", "VBG"), inflect("pick up", "VBZ"), inflect("gift-wrap", "VBG"), inflect("woman", "NNS")
    ('running', 'picks up', 'gift-wrapping', 'women')
    """
    lead, hyphen, last = lemma.partition("-")
    if hyphen and tag.startswith("V") and " " not in lead and last:
        return f"{lead}-{inflect(last, tag)}"
    head, separator, rest = lemma.partition(" ")
    if separator and verb_word(lemma) != head:
        return f"{head} {inflect(rest, tag)}"
    if exception := _FORMS.get(head, {}).get(tag):
        return exception + separator + rest
    if tag in ("VB", "VBP", "NN", "NNP", "JJ", "RB"):
        return lemma
    if head in _PAST and tag in ("VBD", "VBN"):
        return _PAST[head] + separator + rest
    # Regular verbs share the forms of VBD and VBN, and the table lists them once.
    forms = _lemminflect().getInflection(head, tag) or (tag == "VBN" and _lemminflect().getInflection(head, "VBD"))
    return (str(forms[0]) if forms else head) + separator + rest


def inflect_name(name: str, tag: str) -> str:
    """A thing's name in the number of a Penn tag: its last word is inflected.

    >>> inflect_name("video game", "NNS")
    'video games'
    """
    lead, separator, head = name.rpartition(" ")
    plural = tag == "NNS" and lemma(head, "NNS") != head  # "shorts"
    return lead + separator + (head if plural else inflect(head, tag))


@lru_cache(_CACHED_WORDS)
def verb_tags(word: str) -> frozenset[str]:
    """The verb tags that the form `word` can carry; empty if no dictionary verb has this form.

    >>> sorted(verb_tags("talks")), sorted(verb_tags("put")), sorted(verb_tags("tennis"))
    (['VBZ'], ['VB', 'VBD', 'VBN', 'VBP'], [])
    """
    low = word.lower()
    if not low.isascii() or not low.isalpha() or len(low) > 40:
        return frozenset()
    tags = {"VB", "VBP"} if low in _PAST else set()
    for base in _lemminflect().getAllLemmas(low, upos="VERB").get("VERB", ()):
        for tag, forms in _lemminflect().getAllInflections(base, upos="VERB").items():
            if low in forms:
                tags |= {tag, "VBN"} if tag == "VBD" and low.endswith("ed") else {tag}
    return frozenset(tags)


@lru_cache(_CACHED_WORDS)
def word_classes(word: str) -> frozenset[str]:
    """The universal parts of speech (NOUN, VERB, ADJ, ADV) that the dictionary has for the form `word`.

    >>> sorted(word_classes("ears")), sorted(word_classes("sing")), sorted(word_classes("origami"))
    (['NOUN', 'VERB'], ['VERB'], ['NOUN'])
    """
    low = word.lower()
    if not low.isascii() or not low.isalpha() or len(low) > 40:
        return frozenset()
    return frozenset(_lemminflect().getAllLemmas(low))


def is_noun(word: str) -> bool:
    """Whether a dictionary noun has the form `word`.

    >>> is_noun("tie"), is_noun("ears"), is_noun("sing")
    (True, True, False)
    """
    return "NOUN" in word_classes(word)


@cache
def main_verb(phrase: str) -> str:
    """The dictionary form of a phrase's main verb: of the first word that is no auxiliary; "" of an empty phrase.

    >>> main_verb("is sitting on"), main_verb("Sings")
    ('sit', 'sing')
    """
    return lemma(next(iter(without_auxiliaries(phrase.lower())), ""), "VB")


def without_auxiliaries(phrase: str) -> list[str]:
    """The words of a verb phrase from its main verb on.

    >>> without_auxiliaries("has been sitting down")
    ['sitting', 'down']
    """
    words = phrase.split()
    while len(words) > 1 and words[0] in _AUXILIARIES:
        words = words[1:]
    return words


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

    `phrase`: one word or more. `tag`: the Penn tag of the first. Taggers read "Young men" as a name, so a dictionary
    adjective is none.

    >>> within("Young men", "NNP"), within("Indian man", "JJ"), within("Mary", "NNP"), within("The man", "DT")
    ('young men', 'Indian man', 'Mary', 'the man')
    """
    first, separator, rest = phrase.partition(" ")
    low = first.lower()
    nation = _OF_NATIONS.fullmatch(low) is not None and low not in _LOWER
    name = tag.startswith("NNP") and not (separator and word_classes(low) & {"ADJ", "ADV"} and rest[:1].islower())
    if first == "I" or nation or name or not first.istitle():
        return phrase
    return low + separator + rest


def like_case(new: str, old: str) -> str:
    """`new` in the case of `old`: lower, Capitalised or UPPER.

    >>> like_case("woman", "Man"), like_case("woman", "MAN"), like_case("woman", "man"), like_case("she", "I")
    ('Woman', 'WOMAN', 'woman', 'She')
    """
    if old.islower():
        return new
    if len(old) > 1 and old.isupper():
        return new.upper()
    if " " in old and old.istitle():  # "A Man Rides"
        return new.title()
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
    in_capitals = len(new) > 1 and new.isupper() and match[1].isupper()
    fitting = article(new).upper() if in_capitals else like_case(article(new), match[1][0])
    return before[: match.start()] + fitting + match[2]


def replaced_spans(caption: str, changes: Sequence[tuple[int, int, str]]) -> str:
    """The caption with each span (start, end) replaced; spans in reading order, not overlapping.

    >>> replaced_spans("a man runs", [(2, 5, "boy"), (6, 10, "sits")])
    'a boy sits'
    """
    parts: list[str] = []
    at = 0
    for start, end, new in changes:
        parts += (caption[at:start], new)
        at = end
    parts.append(caption[at:])
    return "".join(parts)


def replaced(
    caption: str, start: int, end: int, new: str, *, article_of: Callable[[str], str] = article
) -> tuple[str, int, str, str]:
    """Returns the caption with `new` at `start:end`, in the case of what stood there; the article before it fits.

    Returns text, start, old, new; where "a" becomes "an" the article belongs to both. `new`: what stands there instead,
    in lower case. `article_of`: the article that a word takes.

    >>> replaced("a man eats a carrot", 13, 19, "onion")
    ('a man eats an onion', 11, 'a carrot', 'an onion')
    """
    new_words = like_case(new, caption[start:end])
    match = _ARTICLE.search(caption, 0, start)
    if match and match[1].lower() != article_of(new):
        start = match.start()
        new_words = like_case(article_of(new), match[1]) + match[2] + new_words
    return caption[:start] + new_words + caption[end:], start, caption[start:end], new_words
