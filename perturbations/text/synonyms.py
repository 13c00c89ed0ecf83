"""SwapText by WordNet: a synonym, or a word that has several parts of speech (robustness paper, A.2)."""

from collections import Counter
from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.language import Token, inflect
from video_contrast.perturbations.language.fitting import fix_article, like_case
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import tables, wordnet
from video_contrast.perturbations.text.words import FUNCTION_WORDS, how_many, pick, sample

_PARTS = {"NN": "n", "VB": "v", "JJ": "a", "RB": "r"}
_MULTI = 2  # words that a multi_pos_swap replaces, at most
_SENSES = 3  # commonest senses of a word that are looked at
_FEWEST_USES = 2  # of a word in the sense, in a corpus of running text: "lag" is no word for "run" today
_AUXILIARIES = frozenset(("be", "have", "do"))


@text_perturbation(
    "swap_syn_wordnet", category="SwapText", origin="synthetic", version="2", requirements=("tags", "wordnet")
)
def swap_syn_wordnet(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """A tenth of the words become a WordNet synonym of their sense and part of speech."""
    words = [token for token in tokens if token.text[0].isalnum()]
    context = frozenset(t.lemma for t in words if t.text.lower() not in FUNCTION_WORDS and t.tag[:2] in _PARTS)
    options = []
    for place, token in enumerate(words):
        if token.text.lower() in FUNCTION_WORDS or not token.text.isalpha() or len(token.text) == 1:
            continue
        found = synonyms(token, context, any_sense=profile == "released")
        if any(words[at].tag[:2] == "NN" for at in (place - 1, place + 1) if 0 <= at < len(words)):
            found = tuple(word for word in found if " " not in word)  # no "bell black pepper"
        if found:
            options.append((token, found))
    changes = []
    for n in sample(len(options), how_many(0.1, len(words)), rng) if options else ():
        token, found = options[n]
        changes.append((token, pick(found, rng)))
    return replace(caption, changes, profile)


@text_perturbation("multi_pos_swap_NN", category="SwapText", origin="machine", requirements=("tags", "wordnet"))
def multi_pos_swap_nn(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Up to two singular nouns become random nouns that are other parts of speech as well."""
    return _multi_pos_swap(caption, tokens, tag="NN", rng=rng, profile=profile)


@text_perturbation("multi_pos_swap_JJ", category="SwapText", origin="machine", requirements=("tags", "wordnet"))
def multi_pos_swap_jj(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Up to two adjectives become random adjectives that are other parts of speech as well."""
    return _multi_pos_swap(caption, tokens, tag="JJ", rng=rng, profile=profile)


def synonyms(token: Token, context: frozenset[str], any_sense: bool = False) -> tuple[str, ...]:
    """The other words of the token's sense, and pairs of words ("adult male"); empty if it has none.

    The sense is one of the commonest `_SENSES` that are of the lexical class of the commonest (a thing stays a thing),
    the one whose gloss shares most words with the caption; its words are those that mostly mean it, or share another of
    these senses with the token, and that running text uses. The commonest words of captions have their sense stated
    (`caption_senses`). With `any_sense` the words of all senses count, and auxiliaries too.

    Args:
        token: the word.
        context: lemmas of the caption's content words.
        any_sense: take the words of all senses (`released`).
    """
    part = _PARTS.get(token.tag[:2])
    if part is None or (token.lemma in _AUXILIARIES and not any_sense):
        return ()
    net = wordnet.load()
    senses = net.senses(token.lemma, part)
    if any_sense:
        words = [word for sense in senses for word in sense.words if word.isalpha()]
        return tuple(dict.fromkeys(word for word in words if word.lower() != token.lemma))
    alike = [sense for sense in senses[:_SENSES] if sense.lexical_class == senses[0].lexical_class]
    if not alike:
        return ()
    stated = caption_senses().get((token.lemma, part))
    if stated is not None:
        return stated
    meant = max(alike, key=lambda sense: len(sense.gloss & context - {token.lemma}))
    shared = Counter(word for sense in alike for word in sense.words)
    return tuple(
        word
        for word in meant.words
        if word != token.lemma
        and word.isalpha()
        and word.islower()
        and net.uses(word, part, meant) >= _FEWEST_USES
        and (meant in net.senses(word, part)[:1] or shared[word] > 1)
    )


@cache
def caption_senses() -> dict[tuple[str, str], tuple[str, ...]]:
    """(lemma, part of speech) -> the synonyms of the sense that captions mean, for their commonest words."""
    table = {}
    for line in tables.lines("caption_senses.txt"):
        word, _, rest = line.partition(":")
        lemma, _, part = word.partition(" ")
        table[lemma, part] = tuple(synonym.strip() for synonym in rest.split(",") if synonym.strip())
    return table


def replace(caption: str, changes: list[tuple[Token, str]], profile: str) -> str:
    """Puts lemmas in place of tokens.

    Args:
        caption: the text.
        changes: token and lemma, in reading order.
        profile: "paper" gives a lemma the form of the old word and fits "a" and "an"; "released" does neither.
    """
    done, at = "", 0
    for token, new in changes:
        before = done + caption[at : token.start]
        if profile != "released":
            first, _, last = new.rpartition(" ")
            noun_pair = first and token.tag.startswith("NN")
            new = f"{first} {inflect(last, token.tag)}" if noun_pair else inflect(new, token.tag)
            new = like_case(new, token.text)
            before = fix_article(before, new)
        done, at = before + new, token.end
    return done + caption[at:]


def _multi_pos_swap(caption: str, tokens: list[Token], tag: str, rng: Generator, profile: str) -> str:
    words = wordnet.load().several_parts(_PARTS[tag])
    places = [token for token in tokens if token.tag == tag and token.text[0].isalpha()]
    changes = []
    for n in sample(len(places), _MULTI, rng) if places else ():
        new = pick(words, rng)
        while new == places[n].lemma:
            new = pick(words, rng)
        changes.append((places[n], new))
    return replace(caption, changes, profile)
