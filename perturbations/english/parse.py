"""Captions to sentences: one parser, which the package brings, and one store of parses.

A parse depends on the caption and on `PARSER` alone, never on the captions beside it, the batch or the process.
"""

import os
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.launcher import worker_pool
from video_contrast.perturbations.english.caption_store import CaptionStore
from video_contrast.perturbations.english.forms import lemma
from video_contrast.perturbations.english.sentence import Sentence, Word
from video_contrast.untyped import SpacyPipeline

PARSER = "captions-2"  # rises with the parser's weights and with what it reads of a caption: stores and records name it
_MODEL = Path(__file__).parent / "model"  # made by benchmarks/caption_parser.py
_BATCH = 256
_ROUND = 20_000  # captions that are parsed before they are stored
_PART = 1_000  # captions that a process takes at a time
_CAPITALS = 0.8  # share of the words that begin with a capital, from which on a caption is read in lower case
_IN_MEMORY = 100_000  # sentences that stay in memory: about 200 MB

# A number with its separators, a word with inner hyphens and apostrophes, or one other visible character.
_WORD = re.compile(r"\d+(?:[.,:/]\d+)+|\w+(?:[-'’]\w+)*|[^\w\s]")
_CLITIC = re.compile(r"(?:n['’]t|['’](?:s|re|ve|ll|d|m)|(?<=^can)not)$", re.IGNORECASE)

_sentences: OrderedDict[str, Sentence] = OrderedDict()


def parse(captions: Sequence[str], *, num_proc: int = 1, cache: str | os.PathLike[str] | None = None) -> list[Sentence]:
    """Returns a sentence for each caption, in order. Equal captions are parsed once.

    Raises UsageError: `num_proc` is below 1.

    Args:
        captions: any texts, also empty ones (a sentence without words) or other scripts.
        num_proc: processes that share the parsing; the result is the same for any number.
        cache: an SQLite file that keeps parses between runs; made if absent. Default: the environment variable
            VIDEO_CONTRAST_PARSES, else none.

    >>> [(word.text, word.tag, word.dep) for word in parse(["two men run"])[0].words]
    [('two', 'CD', 'nummod'), ('men', 'NNS', 'nsubj'), ('run', 'VBP', 'ROOT')]
    """
    return list(iterate(captions, num_proc=num_proc, cache=cache))


def parse_one(caption: str) -> Sentence:
    """Returns the sentence of one caption (kept in memory)."""
    return parse([caption])[0]


def iterate(
    captions: Sequence[str], *, num_proc: int = 1, cache: str | os.PathLike[str] | None = None
) -> Iterator[Sentence]:
    """Yields what `parse` returns, one sentence at a time: a corpus of any size in bounded memory.

    Args:
        captions, num_proc, cache: as of `parse`.
    """
    if num_proc < 1:
        raise UsageError(f"num_proc must be at least 1, not {num_proc}")
    store = CaptionStore(cache or os.environ.get("VIDEO_CONTRAST_PARSES") or None, f"parses {PARSER}")
    for first in range(0, len(captions), _ROUND):
        part = captions[first : first + _ROUND]
        sentences = {caption: _sentences[caption] for caption in part if caption in _sentences}
        missing = [caption for caption in dict.fromkeys(part) if caption not in sentences]
        codes = store.completed(missing, lambda texts: _codes(texts, num_proc)) if missing else {}
        for caption in missing:
            words = []
            for (start, end), code in zip(word_spans(caption), codes[caption].split(), strict=True):
                tag, dep, head = code.rsplit("|", 2)
                text = caption[start:end].lower()
                words.append(Word(text, tag, lemma(text, tag), dep=dep, head=int(head), start=start, end=end))
            sentences[caption] = _sentences[caption] = Sentence(caption, tuple(words))
        while len(_sentences) > _IN_MEMORY:
            _sentences.popitem(last=False)
        for caption in part:
            yield sentences[caption]


def word_spans(caption: str) -> list[tuple[int, int]]:
    """The character spans of a caption's words, as the Penn Treebank cuts them: "isn't" is "is" + "n't".

    >>> caption = "the dog's tail isn't wagging!"
    >>> [caption[a:b] for a, b in word_spans(caption)]
    ['the', 'dog', "'s", 'tail', 'is', "n't", 'wagging', '!']
    """
    bounds = []
    for match in _WORD.finditer(caption):
        start, end = match.span()
        clitic = _CLITIC.search(match.group())
        if clitic and clitic.start() > 0:
            cut = start + clitic.start()
            bounds += [(start, cut), (cut, end)]
        else:
            bounds.append((start, end))
    return bounds


def _codes(captions: Sequence[str], num_proc: int) -> list[str]:
    """The parse of each caption as one line: tag, label and head of each word."""
    if num_proc == 1 or len(captions) <= _PART:
        return _codes_of_part(captions)
    parts = [captions[first : first + _PART] for first in range(0, len(captions), _PART)]
    _pipeline()  # forked workers share the loaded parser; elsewhere each loads its own
    with worker_pool(num_proc) as pool:
        return [code for codes in pool.map(_codes_of_part, parts) for code in codes]


def _codes_of_part(captions: Sequence[str]) -> list[str]:
    from spacy.tokens import Doc

    pipeline = _pipeline()
    documents = []
    for caption in captions:
        text = caption.encode("utf-8", "replace").decode()  # "?" for a lone surrogate, which has no UTF-8
        words = [text[start:end] for start, end in word_spans(caption)]
        capitals = [word[0].isupper() for word in words if word[0].isalpha()]
        if len(capitals) > 2 and sum(capitals) > _CAPITALS * len(capitals):  # else "A MAN", "A Man Rides" is a name
            words = [word.lower() for word in words]
        documents.append(Doc(pipeline.vocab, words=words))
    return [
        " ".join(f"{token.tag_ or 'NN'}|{token.dep_}|{token.head.i}" for token in document)
        for document in pipeline.pipe(documents, batch_size=_BATCH)
    ]


@cache
def _pipeline() -> SpacyPipeline:
    import spacy

    pipeline = spacy.load(_MODEL, exclude=["tokenizer"])
    for _, component in pipeline.pipeline:  # the weights are stored in half precision, and computed with in single
        for layer in component.model.walk():
            for name in layer.param_names:
                layer.set_param(name, layer.get_param(name).astype("float32"))
    return pipeline
