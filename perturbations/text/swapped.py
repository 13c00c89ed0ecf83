"""SwapText (robustness paper, A.2), by words of one part of speech: a neighbour among word vectors, what a masked
language model puts in, a WordNet synonym or a word of several parts of speech; and by translating to and fro.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.english import Sentence, Word, parse, wordnet
from video_contrast.perturbations.english.forms import inflect, inflect_name, like_case, replaced_spans
from video_contrast.perturbations.english.lexicon import has_class
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import checkpoints
from video_contrast.perturbations.text.checkpoints import Given, model_perturbation
from video_contrast.perturbations.text.words import (
    FUNCTION_WORDS,
    UNFIT,
    can_be,
    how_many,
    is_content,
    lines,
    pick,
    rewritten,
    sample,
)
from video_contrast.untyped import Tokenizer, TorchModel

NEIGHBOURS = 10  # nearest words that are looked at for some of the same part of speech
_ROWS = 64  # words whose cosines to all 400,000 of GloVe are in memory at a time


@model_perturbation("swap_syn_word_embedding", category="SwapText", origin="synthetic", version="2", needs=("parse",))
def swap_syn_word_embedding(
    sentences: list[Sentence], rngs: list[Generator], *, profile: str = "paper", models: Given = None
) -> list[str]:
    """A tenth of the words become a neighbour of the same part of speech among word vectors (GloVe)."""
    (checkpoint,) = checkpoints.available("swap_syn_word_embedding", models)
    vectors = load(checkpoint)
    words = {word.text for sentence in sentences for word in sentence.words if is_content(word)}
    words_with_vectors = sorted(words & vectors.rows.keys())
    near = dict(zip(words_with_vectors, vectors.neighbours(words_with_vectors, NEIGHBOURS), strict=True))
    captions = []
    for sentence, rng in zip(sentences, rngs, strict=True):
        content = [word for word in sentence.words if is_content(word) and near.get(word.text)]
        options = [(word, near[word.text]) for word in content]
        count = how_many(0.1, sum(word.text[0].isalnum() for word in sentence.words))
        captions.append(_with_neighbours(sentence.caption, options, count, rng))
    return captions


def _with_neighbours(caption: str, options: list[tuple[Word, tuple[str, ...]]], count: int, rng: Generator) -> str:
    """Swaps up to `count` words, in random order, passing over those without a neighbour of their part of speech."""
    changes: list[tuple[int, int, str]] = []
    untried = list(options)
    while untried and len(changes) < count:
        word, names = untried.pop(sample(len(untried), 1, rng)[0])
        trials = parse([replaced_spans(caption, [(word.start, word.end, name)]) for name in names])
        same_tags = [any((w.start, w.tag) == (word.start, word.tag) for w in trial.words) for trial in trials]
        fits = [name for name, alike in zip(names, same_tags, strict=True) if alike and can_be(name, word.tag)]
        if fits:
            changes.append((word.start, word.end, like_case(pick(fits, rng), caption[word.start : word.end])))
    return replaced_spans(caption, sorted(changes))


@dataclass(frozen=True)
class SynonymVectors:
    """Word vectors: `table` float32 [words, dimensions], rows of length 1."""

    words: tuple[str, ...]
    rows: dict[str, int]
    table: np.ndarray

    def neighbours(self, words: Sequence[str], count: int) -> list[tuple[str, ...]]:
        """The nearest other alphabetic words of each of `words` by cosine, nearest first."""
        nearest = []
        for first in range(0, len(words), _ROWS):
            part = list(words[first : first + _ROWS])
            cosines = self.table[[self.rows[word] for word in part]] @ self.table.T
            size = min(2 * count + 2, len(self.words))
            near = np.argpartition(-cosines, size - 1, axis=1)[:, :size]
            for word, places, values in zip(part, near, cosines, strict=True):
                nearest_places = sorted(places.tolist(), key=lambda place: (-values[place], place))
                others = [self.words[p] for p in nearest_places if self.words[p].isalpha() and self.words[p] != word]
                nearest.append(tuple(others[:count]))
        return nearest


@lru_cache(2)
def load(source: str) -> SynonymVectors:
    """Word vectors from a text file (one word and its numbers a line), a sentence-transformers checkpoint of averaged
    word embeddings, or the input embeddings of any transformers checkpoint.

    Raises MissingCheckpoint: it cannot be had; the message names the command that gets it; VideoContrastError: the file
    is no table of vectors; the message names the line.
    """
    if Path(source).is_file():
        lines = list(_vector_lines(Path(source)))
        if not lines:
            raise VideoContrastError(f"{source} holds no word vectors")
        return _vectors([word for word, _ in lines], np.stack([row for _, row in lines]))
    from transformers.utils import cached_file

    try:
        if cached_file(source, "modules.json", _raise_exceptions_for_missing_entries=False) is not None:
            from sentence_transformers import SentenceTransformer

            first = SentenceTransformer(source, device="cpu")[0]
            if hasattr(first, "emb_layer"):
                return _vectors(list(first.tokenizer.get_vocab()), first.emb_layer.weight.detach().numpy())
        tokenizer, model = checkpoints.pretrained("AutoModel", source, "swap_syn_word_embedding")
    except OSError as error:
        raise checkpoints.missing([source], "swap_syn_word_embedding") from error
    ids = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    whole = [(word.lstrip("▁Ġ"), n) for word, n in ids if word not in tokenizer.all_special_tokens]
    whole = [(word, n) for word, n in whole if word.isalpha()]
    table = model.get_input_embeddings().weight.detach().cpu().numpy()
    return _vectors([word for word, _ in whole], table[[n for _, n in whole]])


def _vectors(words: Sequence[str], table: ArrayLike) -> SynonymVectors:
    """The first vector of every lower-case word, scaled to length 1."""
    rows: dict[str, int] = {}
    keep: list[int] = []
    for place, word in enumerate(words):
        if word.lower() not in rows and word.strip():
            rows[word.lower()] = len(keep)
            keep.append(place)
    vectors = np.asarray(table, dtype=np.float32)[keep]
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return SynonymVectors(tuple(rows), rows, vectors / np.maximum(length, 1e-12))


def _vector_lines(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Words and float32 vectors of a text file, one line in memory at a time; word2vec's header line is passed over.

    Raises VideoContrastError: a line is not a word and as many numbers as the first line's; the message names it.
    """
    width = 0
    with open(path, encoding="utf-8", errors="replace") as handle:
        for number, line in enumerate(handle, 1):
            parts = line.split()
            if not parts or (number == 1 and len(parts) == 2):
                continue
            try:
                row = np.array(parts[1:], np.float32)
            except ValueError:
                row = np.zeros(0, np.float32)
            width = width or len(row)
            if not len(row) or len(row) != width:
                raise VideoContrastError(
                    f"{path}: line {number} is not a word and {width or 'some'} numbers: {line[:40].rstrip()!r}"
                )
            yield parts[0], row


PROPOSED = 50  # best tokens of the model that are looked at for one of the word's part of speech


@model_perturbation("mlm_suggestion", category="SwapText", origin="machine", version="2", needs=("parse",))
def mlm_suggestion(
    sentences: list[Sentence], rngs: list[Generator], *, profile: str = "paper", models: Given = None
) -> list[str]:
    """A fifth of the words become the masked language model's best other word of the same part of speech."""
    (checkpoint,) = checkpoints.available("mlm_suggestion", models)
    tokenizer, model = checkpoints.pretrained("AutoModelForMaskedLM", checkpoint, "mlm_suggestion")
    captions = [sentence.caption for sentence in sentences]
    targets: list[list[Word]] = []
    for sentence, rng in zip(sentences, rngs, strict=True):
        content = [word for word in sentence.words if is_content(word)]
        count = how_many(0.2, sum(word.text[0].isalnum() for word in sentence.words))
        targets.append([content[n] for n in sample(len(content), count, rng)] if content else [])
    return _filled_masks(captions, targets, _masked_proposals(captions, targets, tokenizer, model))


def _masked_proposals(
    captions: list[str], targets: list[list[Word]], tokenizer: Tokenizer, model: TorchModel
) -> list[list[list[str]]]:
    """For each masked word the model's best whole words, best first."""
    import torch

    places = [place for place, target in enumerate(targets) if target]
    masks = [[(word.start, word.end, tokenizer.mask_token) for word in target] for target in targets]
    masked_captions = [replaced_spans(captions[place], masks[place]) for place in places]
    longest = min(tokenizer.model_max_length, 512)
    inputs = [tokenizer(text, truncation=True, max_length=longest)["input_ids"] for text in masked_captions]
    proposals: list[list[list[str]]] = [[] for _ in captions]
    for batch in checkpoints.batches(inputs, len):
        ids = torch.tensor([inputs[n] for n in batch], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        best = logits.topk(min(PROPOSED, logits.shape[-1]), dim=-1).indices.cpu()
        mask = (ids == tokenizer.mask_token_id).cpu()
        for row, n in enumerate(batch):
            for token_ids in best[row][mask[row]].tolist():
                pieces = tokenizer.convert_ids_to_tokens(token_ids)
                # Byte-level and sentencepiece vocabularies mark where a word starts; a piece inside one is no word.
                starts = [piece[1:] for piece in pieces if piece.startswith(("Ġ", "▁"))]
                words = starts if starts else pieces
                specials = tokenizer.all_special_tokens
                proposals[places[n]].append([word for word in words if word.isalpha() and word not in specials])
    return proposals


def _filled_masks(captions: list[str], targets: list[list[Word]], proposals: list[list[list[str]]]) -> list[str]:
    """Puts, for each masked word, the first proposal in that has the word's part of speech where it would stand.

    Proposals are parsed in rounds over all captions: most words are settled in the first one or two.
    """
    waiting = [
        (row, *target)
        for row in range(len(captions))
        for target in zip(targets[row], proposals[row], strict=False)  # a mask that was cut off has no proposals
    ]
    changes: list[list[tuple[int, int, str]]] = [[] for _ in captions]
    for attempt in range(PROPOSED):
        trials = [(row, word, words) for row, word, words in waiting if attempt < len(words)]
        spans = [
            (word.start, word.end, like_case(words[attempt], captions[row][word.start : word.end]))
            for row, word, words in trials
        ]
        rows = [row for row, _, _ in trials]
        sentences = parse([replaced_spans(captions[row], [span]) for row, span in zip(rows, spans, strict=True)])
        waiting = []
        for target, span, sentence in zip(trials, spans, sentences, strict=True):
            row, word, _ = target
            there = next((other for other in sentence.words if other.start == word.start), None)
            fits = there is not None and there.tag[:2] == word.tag[:2] and can_be(span[2], there.tag)
            if fits and span[2].lower() != word.text:
                changes[row].append(span)
            else:
                waiting.append(target)
    return [replaced_spans(caption, sorted(of_caption)) for caption, of_caption in zip(captions, changes, strict=True)]


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


_BEAMS = 5
_LONGEST = 128  # tokens


@model_perturbation("back_trans", category="SwapText", origin="machine")
def back_trans(
    captions: list[str], rngs: list[Generator], *, profile: str = "paper", models: Given = None
) -> list[str]:
    """The caption is translated to German and back (any pair of translation checkpoints can be given)."""
    names = checkpoints.available("back_trans", models)
    there, back = (checkpoints.pretrained("AutoModelForSeq2SeqLM", name, "back_trans") for name in names)
    texts = translate(translate(captions, *there), *back)
    return [text or caption for text, caption in zip(texts, captions, strict=True)]


def translate(texts: list[str], tokenizer: Tokenizer, model: TorchModel) -> list[str]:
    """The best translation of each text by beam search. `texts`: any texts; cut at 128 tokens."""
    inputs = [tokenizer(text, truncation=True, max_length=_LONGEST)["input_ids"] for text in texts]
    translations = [""] * len(texts)
    for batch in checkpoints.batches(inputs, len):
        ids = [inputs[n] for n in batch]
        outputs = checkpoints.outputs(ids, tokenizer, model, num_beams=_BEAMS, max_new_tokens=_LONGEST)
        for n, text in zip(batch, outputs, strict=True):
            translations[n] = text
    return translations
