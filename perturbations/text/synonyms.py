"""SwapText by WordNet: a synonym, or a word that has several parts of speech (robustness paper, A.2)."""

from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english import wordnet
from video_contrast.perturbations.english.forms import fix_article, like_case
from video_contrast.perturbations.language import Token, inflect
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import tables
from video_contrast.perturbations.text.passive.lists import PEOPLE, PERSONS
from video_contrast.perturbations.text.verb_places import with_orders
from video_contrast.perturbations.text.words import FUNCTION_WORDS, UNFIT, how_many, pick, sample

_PARTS = {"NN": "n", "VB": "v", "JJ": "a", "RB": "r"}
_MULTI = 2  # words that a multi_pos_swap replaces, at most
_MOSTLY = 0.6  # share of a word's uses that its commonest sense must have
_FEWEST_USES = 2  # of a word in the sense, in a corpus of running text: "lag" is no word for "run" today
_PARTICLES = frozenset(("on", "off", "up", "down", "out", "together", "away", "back"))
_NEED_OBJECTS = frozenset(("set", "place", "lay"))  # verbs whose synonyms are said of an object
_OPENS_OBJECT = ("DT", "PR", "CD", "PD", "NN", "JJ", "VB")
_AUXILIARIES = frozenset(("be", "have", "do"))


@text_perturbation(
    "swap_syn_wordnet", category="SwapText", origin="synthetic", version="5", requirements=("tags", "wordnet")
)
def swap_syn_wordnet(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """A tenth of the words become a WordNet synonym of their sense and part of speech."""
    if profile != "released":
        tokens = with_orders(tokens)
    words = [token for token in tokens if token.text[0].isalnum()]
    lemmas = {token.lemma for token in words}
    options = []
    for place, token in enumerate(words):
        if token.text.lower() in FUNCTION_WORDS or not token.text.isalpha() or len(token.text) == 1:
            continue
        names = synonyms(token, any_sense=profile == "released")
        if profile != "released":
            names = _beside(words, place, tuple(name for name in names if name not in lemmas))  # no "mix to mix"
        if names:
            options.append((token, names))
    changes = []
    for n in sample(len(options), how_many(0.1, len(words)), rng) if options else ():
        token, names = options[n]
        if token.tag == "NN" and token.text.lower().endswith("s") and not token.lemma.endswith("s"):
            token = token._replace(tag="NNS")  # "potatos" is read as one
        changes.append((token, pick(names, rng)))
    return replace(caption, changes, profile)


def _beside(words: list[Token], place: int, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those synonyms that can stand beside the word's neighbours.

    None behind another noun ("a news person") nor of a verb with a particle ("putting on a hat"); in front of a noun
    single words with a stated sense ("soy sauce", not "a rock song").
    """
    token = words[place]
    before, after = (words[at].tag if 0 <= at < len(words) else "" for at in (place - 1, place + 1))
    noun = token.tag[:2] == "NN"
    particle = after == "RP" or (after and words[place + 1].text.lower() in _PARTICLES)
    if token.lemma == "little" and (not after or words[place + 1].lemma not in PERSONS):
        return ()  # "a little girl" is small, "a little oil" is not
    if token.lemma in _NEED_OBJECTS and not noun and after[:2] not in _OPENS_OBJECT:
        return ()  # "let it set" is not "let it put"
    if (noun and before[:2] == "NN") or (token.tag[:2] == "VB" and particle):
        return ()
    if before == "VBG":
        names = tuple(word for word in names if " " not in word)  # no "frying cooking pan"
    if after[:2] == "NN" and noun:
        stated = (token.lemma, _PARTS[token.tag[:2]]) in caption_senses() and token.lemma not in PEOPLE  # "a boy band"
        return tuple(word for word in names if " " not in word) if stated else ()
    return names


@text_perturbation(
    "multi_pos_swap_NN", category="SwapText", origin="machine", version="2", requirements=("tags", "wordnet")
)
def multi_pos_swap_nn(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Up to two singular nouns become random nouns that are other parts of speech as well."""
    return _multi_pos_swap(caption, tokens, tag="NN", rng=rng, profile=profile)


@text_perturbation(
    "multi_pos_swap_JJ", category="SwapText", origin="machine", version="2", requirements=("tags", "wordnet")
)
def multi_pos_swap_jj(caption: str, rng: Generator, *, tokens: list[Token], profile: str = "paper") -> str:
    """Up to two adjectives become random adjectives that are other parts of speech as well."""
    return _multi_pos_swap(caption, tokens, tag="JJ", rng=rng, profile=profile)


def synonyms(token: Token, any_sense: bool = False) -> tuple[str, ...]:
    """The other words of the token's sense, and pairs of words ("adult male"); empty if it has none.

    The sense is the commonest one, of words that are mostly used in it; its synonyms are those whose own commonest
    sense it is, and that running text uses. The commonest words of captions have their sense stated
    (`caption_senses`). With `any_sense` the words of all senses count, and auxiliaries too.

    Args:
        token: the word.
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
    if not senses:
        return ()
    stated = caption_senses().get((token.lemma, part))
    if stated is not None:
        return stated
    meant = senses[0]
    uses = [net.uses(token.lemma, part, sense) for sense in senses]
    if uses[0] < _MOSTLY * sum(uses):
        return ()
    return tuple(
        word
        for word in meant.words
        if word != token.lemma
        and word.isalpha()
        and word.islower()
        and net.uses(word, part, meant) >= _FEWEST_USES
        and meant in net.senses(word, part)[:1]
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
        while new == places[n].lemma or (new in UNFIT and profile != "released"):
            new = pick(words, rng)
        changes.append((places[n], new))
    return replace(caption, changes, profile)
