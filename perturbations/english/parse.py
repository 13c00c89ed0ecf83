"""Captions to sentences: one parser, which the package brings, and one store that keeps parses between runs.

A parse depends on the caption and on `PARSER` alone, never on the captions beside it, the batch or the process. The
store is one SQLite file, keyed by producer and caption; processes may share it.
"""

import os
import re
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path

from video_contrast.console import note
from video_contrast.errors import UsageError
from video_contrast.files import cache_dir
from video_contrast.launcher import worker_pool
from video_contrast.perturbations.english.forms import lemma
from video_contrast.perturbations.english.sentence import Sentence, Word
from video_contrast.sealed_files import set_aside
from video_contrast.untyped import SpacyPipeline

PARSER = "captions-2"  # rises with the parser's weights and with what it reads of a caption: stores and records name it
_MODEL = Path(__file__).parent / "model"  # made by benchmarks/caption_parser.py
_BATCH = 256
_ROUND = 20_000  # captions that are parsed before they are stored
_PART = 1_000  # captions that a process takes at a time
_CAPITALS = 0.8  # share of the words that begin with a capital, from which on a caption is read in lower case
_IN_MEMORY = 100_000  # sentences that stay in memory: about 200 MB
_TABLE = "texts (key BLOB PRIMARY KEY, text BLOB, digest BLOB) WITHOUT ROWID"
_NOT_OURS = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)  # the last: other columns
_PATIENCE = 60.0  # seconds for which another process may be writing
_PARAMETERS = 500  # SQLite allows some 1,000 parameters in one statement

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
                tag = "NNS" if tag == "VBZ" and dep in ("dobj", "pobj") else tag  # "blows soap bubbles"
                text = caption[start:end].lower()
                words.append(Word(text, tag, lemma(text, tag), dep=dep, head=int(head), start=start, end=end))
            sentences[caption] = _sentences[caption] = Sentence(caption, tuple(words))
        while len(_sentences) > _IN_MEMORY:
            _sentences.popitem(last=False)
        yield from (sentences[caption] for caption in part)


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


class CaptionStore:
    """A text a caption, such as its parse, with a digest. Losing the file costs time, never correctness.

    `path`: the file; made if absent. Several producers may share it. None: nothing is kept. `producer`: name and
    version of all that the texts depend on, the way they are written included.
    """

    def __init__(self, path: str | os.PathLike[str] | None, producer: str) -> None:
        self.path = Path(path) if path is not None else None
        self._producer = producer

    def read(self, captions: Iterable[str]) -> dict[str, str]:
        """Caption -> its text, for those that are stored."""
        if self.path is None or not self.path.is_file():
            return {}
        keys = {self._key(caption): caption for caption in captions}
        pending = list(keys)
        text_of: dict[str, str] = {}

        def look_up(connection: sqlite3.Connection) -> None:
            for first in range(0, len(pending), _PARAMETERS):
                part = pending[first : first + _PARAMETERS]
                marks = ",".join("?" * len(part))
                rows = connection.execute(f"SELECT key, text, digest FROM texts WHERE key IN ({marks})", part)
                for key, text, digest in rows:
                    if digest == _digest(key, text):
                        text_of[keys[key]] = text.decode("utf-8", "surrogatepass")

        self._connected(look_up)
        return text_of

    def completed(self, captions: Sequence[str], make: Callable[[list[str]], Iterable[str]]) -> dict[str, str]:
        """Caption -> its text: what is stored, and the rest as `make` makes it, which is stored then."""
        text_of = self.read(captions)
        missing = [caption for caption in captions if caption not in text_of]
        fresh = dict(zip(missing, make(missing), strict=True))
        if fresh:
            self.write(fresh)
        return text_of | fresh

    def write(self, texts: Mapping[str, str]) -> None:
        """Adds captions and their texts."""
        entries = [(self._key(caption), text.encode("utf-8", "surrogatepass")) for caption, text in texts.items()]
        rows = [(key, text, _digest(key, text)) for key, text in entries]

        def insert(connection: sqlite3.Connection) -> None:
            with connection:
                connection.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?, ?)", rows)

        self._connected(insert)

    def _connected(self, work: Callable[[sqlite3.Connection], None]) -> None:
        """Works with the file as far as SQLite can read it.

        A damaged or foreign one is set aside; where none can be written (a full disk, a place that is read only)
        nothing is kept.
        """
        if self.path is None:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as connection:
                connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE}")
                work(connection)
        except OSError as error:
            self._give_up(error)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in _NOT_OURS:
                set_aside(self.path, f"damaged, or not a store of this version ({error})")
            else:
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        note(f"{self.path}: {error}: what is made of captions is not kept")
        self.path = None

    def _key(self, caption: str) -> bytes:
        return blake2b(f"{self._producer}\0{caption}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _digest(key: bytes, text: bytes) -> bytes:
    return blake2b(key + text, digest_size=16).digest()


@contextmanager
def parse_cache() -> Iterator[None]:
    """Keeps parses between builds in the user's cache (unless VIDEO_CONTRAST_PARSES names another file)."""
    name = "VIDEO_CONTRAST_PARSES"
    if name in os.environ:
        yield
        return
    os.environ[name] = str(cache_dir() / "captions.sqlite")
    try:
        yield
    finally:
        del os.environ[name]
