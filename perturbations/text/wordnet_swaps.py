"""SwapText (robustness paper, A.2) by WordNet: a synonym, or any word that is another part of speech as well."""

from functools import cache

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence, Word, wordnet
from video_contrast.perturbations.english.forms import inflect, inflect_name, replaced_spans
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text.words import FUNCTION_WORDS, UNFIT, how_many, lines, pick, rewritten, sample

_PARTS = {"NN": "n", "VB": "v", "JJ": "a", "RB": "r"}
_MULTI = 2  # words that a multi_pos_swap replaces, at most
_MOSTLY = 0.6  # share of a word's uses that its commonest sense must have
_FEWEST_USES = 2  # of a word in the sense, in a corpus of running text: "lag" is no word for "run" today


@text_perturbation("swap_syn_wordnet", category="SwapText", origin="synthetic", version="7", requirements=("parse",))
def swap_syn_wordnet(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
    """A tenth of the words become a WordNet synonym of their sense and part of speech."""
    words = sentence.words
    lemmas = {word.lemma for word in words}
    options = []
    for place, word in enumerate(words):
        if word.text in FUNCTION_WORDS or not word.text.isalpha() or len(word.text) == 1:
            continue
        names = synonyms(word, any_sense=profile == "released")
        if profile != "released":  # no "mix to mix", no "frying cooking pan"
            single = place > 0 and words[place - 1].tag == "VBG"
            names = tuple(name for name in names if name not in lemmas and not (single and " " in name))
            names = names if _stands_alone(sentence, place) else ()
        if names:
            options.append((place, names))
    count = how_many(0.1, sum(word.text[0].isalnum() for word in words))
    drawn_options = [options[n] for n in sample(len(options), count, rng)] if options else ()
    return _with_lemmas(sentence, {place: pick(names, rng) for place, names in drawn_options}, profile)


def _stands_alone(sentence: Sentence, place: int) -> bool:
    """Whether a word has its own sense: no part of a compound ("news person", "rock song"), no verb with a particle.

    A verb without an object keeps its sense only if it never has one ("let it set" is not "let it put"); "little" is
    small of persons only.
    """
    word = sentence.words[place]
    if word.is_noun:
        return word.dep != "compound" and not sentence.compound(place)
    if word.is_verb:
        misread = word.tag in ("VBD", "VBN") and word.text == word.lemma  # "put it on the pan": an order
        whole = sentence.object(place) is not None or not has_class(word.lemma, "needs_object")
        return sentence.particle(place) is None and whole and not misread
    return word.lemma != "little" or sentence.is_person(word.head)


def _register(tag: str, summary: str) -> None:
    def rule(sentence: Sentence, rng: Generator, *, profile: str = "paper") -> str:
        words = wordnet.several_parts(_PARTS[tag])
        places = [place for place, word in enumerate(sentence.words) if word.tag == tag and word.text[0].isalpha()]
        changes = {}
        for n in sample(len(places), _MULTI, rng) if places else ():
            new = pick(words, rng)
            while new == sentence.words[places[n]].lemma or (new in UNFIT and profile != "released"):
                new = pick(words, rng)
            changes[places[n]] = new
        return _with_lemmas(sentence, changes, profile)

    rule.__doc__, name = summary, f"multi_pos_swap_{tag}"
    text_perturbation(name, category="SwapText", origin="machine", version="3", requirements=("parse",))(rule)


_register("NN", "Up to two singular nouns become random nouns that are other parts of speech as well.")
_register("JJ", "Up to two adjectives become random adjectives that are other parts of speech as well.")


def synonyms(word: Word, any_sense: bool = False) -> tuple[str, ...]:
    """The other words of the word's sense, and pairs of words ("adult male"); empty if it has none.

    The sense is the commonest one, of words that are mostly used in it; its synonyms are those whose own commonest
    sense it is, and that running text uses. The commonest words of captions have their sense stated (`caption_senses`).
    With `any_sense` (`released`) the words of all senses count, and auxiliaries too.
    """
    part = _PARTS.get(word.tag[:2])
    if part is None or (has_class(word.lemma, "auxiliary") and not any_sense):
        return ()
    senses = wordnet.senses(word.lemma, part)
    if any_sense:
        names = [name for sense in senses for name in sense.words if name.isalpha()]
        return tuple(dict.fromkeys(name for name in names if name.lower() != word.lemma))
    if not senses:
        return ()
    synonyms_in_captions = caption_senses().get((word.lemma, part))
    if synonyms_in_captions is not None:
        return synonyms_in_captions
    first, uses = senses[0], [sense.uses[word.lemma] for sense in senses]
    if uses[0] < _MOSTLY * sum(uses):
        return ()
    return tuple(
        name for name in first.words
        if name != word.lemma and name.isalpha() and name.islower()
        and first.uses[name] >= _FEWEST_USES and first in wordnet.senses(name, part)[:1]
    )  # fmt: skip


@cache
def caption_senses() -> dict[tuple[str, str], tuple[str, ...]]:
    """(lemma, part of speech) -> the synonyms of the sense that captions mean, for their commonest words."""
    table = {}
    for line in lines("caption_senses.txt"):
        word, _, rest = line.partition(":")
        lemma, _, part = word.partition(" ")
        table[lemma, part] = tuple(synonym.strip() for synonym in rest.split(",") if synonym.strip())
    return table


def _with_lemmas(sentence: Sentence, changes: dict[int, str], profile: str) -> str:
    """Puts lemmas in place of words: `paper` in the form of the old word, with a fitting "a" or "an"."""
    if profile == "released":
        spans = [(sentence.words[n].start, sentence.words[n].end, new) for n, new in sorted(changes.items())]
        return replaced_spans(sentence.caption, spans)
    forms = {}
    for place, new in changes.items():
        word = sentence.words[place]
        forms[place] = inflect_name(new, word.tag) if word.is_noun else inflect(new, word.tag)
    return rewritten(sentence, forms)
