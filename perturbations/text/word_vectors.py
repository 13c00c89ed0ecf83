"""SwapText (robustness paper, A.2): words become a neighbour of the same part of speech among word vectors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.english import Sentence, Word, parse
from video_contrast.perturbations.english.forms import like_case, replaced_spans
from video_contrast.perturbations.text import checkpoints
from video_contrast.perturbations.text.checkpoints import Given, model_perturbation
from video_contrast.perturbations.text.words import can_be, how_many, is_content, pick, sample

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
        options = [(word, near[word.text]) for word in sentence.words if is_content(word) and near.get(word.text)]
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
