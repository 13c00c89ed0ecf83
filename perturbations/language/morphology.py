"""Lemmas and inflected forms: a cached front of lemminflect, whose tables lie in its wheel (no download)."""

import sys
from functools import cache, lru_cache
from importlib import import_module
from types import ModuleType

_UNIVERSAL = {"V": "VERB", "N": "NOUN", "J": "ADJ", "R": "ADV"}
_BE = {"VB": "be", "VBP": "are", "VBZ": "is", "VBD": "was", "VBG": "being", "VBN": "been"}
_PAST = {"blend": "blended", "saute": "sauteed", "sautee": "sauteed"}  # not "blent"
_CLITICS = {"n't": "not", "n’t": "not", "'re": "be", "'m": "be", "'ve": "have", "'ll": "will", "'d": "would"}
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
    if low in _CLITICS:
        return _CLITICS[low]
    if low in ("'s", "’s"):
        return "be" if tag.startswith("V") else low
    universal = _UNIVERSAL.get(tag[:1]) if tag[:2] in ("VB", "NN", "JJ", "RB") else None
    if universal is None or not low.isascii() or not low.isalpha() or len(low) > 40:
        return low
    # Unknown adjectives and adverbs ("wagging") keep their form: the rules for them cut real endings.
    lemmas = _lemminflect().getLemma(low, universal, lemmatize_oov=universal in ("VERB", "NOUN"))
    return (lemmas[0] if lemmas else low) or low


@lru_cache(_CACHED_WORDS)
def inflect(lemma: str, tag: str) -> str:
    """The form of `lemma` that carries the Penn `tag`; of several words, the first is inflected.

    A lemma that has no such form comes back as it is.

    >>> inflect("run", "VBG"), inflect("pick up", "VBZ"), inflect("woman", "NNS"), inflect("be", "VBP")
    ('running', 'picks up', 'women', 'are')
    """
    head, space, rest = lemma.partition(" ")
    if head == "be" and tag in _BE:
        return _BE[tag] + space + rest
    if tag in ("VB", "NN", "NNP", "JJ", "RB"):
        return lemma
    if head in _PAST and tag in ("VBD", "VBN"):
        return _PAST[head] + space + rest
    forms = _lemminflect().getInflection(head, tag)
    if not forms and tag == "VBN":  # regular verbs share the form, and the table lists it once
        forms = _lemminflect().getInflection(head, "VBD")
    return (forms[0] if forms else head) + space + rest


def inflect_name(name: str, tag: str) -> str:
    """A thing's name in the number of a Penn tag: its last word is inflected.

    >>> inflect_name("video game", "NNS")
    'video games'
    """
    lead, space, head = name.rpartition(" ")
    return lead + space + inflect(head, tag)


@lru_cache(_CACHED_WORDS)
def verb_tags(word: str) -> frozenset[str]:
    """The verb tags that the form `word` can carry; empty if no dictionary verb has this form.

    >>> sorted(verb_tags("talks")), sorted(verb_tags("put")), sorted(verb_tags("tennis"))
    (['VBZ'], ['VB', 'VBD', 'VBN', 'VBP'], [])
    """
    low = word.lower()
    if not low.isascii() or not low.isalpha() or len(low) > 40:
        return frozenset()
    tags = set()
    for base in _lemminflect().getAllLemmas(low, upos="VERB").get("VERB", ()):
        for tag, forms in _lemminflect().getAllInflections(base, upos="VERB").items():
            if low in forms:
                tags |= {tag, "VBN"} if tag == "VBD" and low.endswith("ed") else {tag}
    return frozenset(tags)


@lru_cache(_CACHED_WORDS)
def is_describing(word: str) -> bool:
    """Whether a dictionary adjective or adverb has the form `word`.

    >>> is_describing("fast"), is_describing("origami")
    (True, False)
    """
    low = word.lower()
    known = low.isascii() and low.isalpha()
    return known and any(_lemminflect().getAllLemmas(low, upos=upos) for upos in ("ADJ", "ADV"))


@lru_cache(_CACHED_WORDS)
def is_noun(word: str) -> bool:
    """Whether a dictionary noun has the form `word`.

    >>> is_noun("tie"), is_noun("ears"), is_noun("sing")
    (True, True, False)
    """
    low = word.lower()
    return low.isascii() and low.isalpha() and bool(_lemminflect().getAllLemmas(low, upos="NOUN"))
