"""A small reader of WordNet's own files, found where NLTK keeps its data.

NLTK's reader spends some eight seconds on its first use to load everything. What is asked here, which lemmas have
several parts of speech and which words share a sense, is answered from the index and single lines of the data files.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from video_contrast.errors import VideoContrastError

COMMAND = "python -m nltk.downloader wordnet"
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


@dataclass(frozen=True)
class Sense:
    """One sense."""

    offset: int  # its place in the data file; the name of the sense
    words: tuple[str, ...]  # words that share it


class WordNet:
    """The index (lemma -> senses) and, read when asked for, the senses of a lemma."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files
        self._offsets: dict[str, dict[str, str]] = {}  # part of speech -> lemma -> offsets of its senses, as written
        for part, name in FILES.items():
            lines = files[f"index.{name}"].decode("ascii").splitlines()
            rows = (line.split() for line in lines if line[:1] != " ")  # the licence at the top starts with blanks
            self._offsets[part] = {fields[0]: " ".join(fields[-int(fields[2]) :]) for fields in rows}

    @cache  # noqa: B019  one instance a process
    def several_parts(self, part: str) -> tuple[str, ...]:
        """All single-word lemmas that have `part` and at least one other part of speech, sorted."""
        others = [index for other, index in self._offsets.items() if other != part]
        words = (word for word in self._offsets[part] if word.isalpha() and any(word in other for other in others))
        return tuple(sorted(words))

    @cached_property
    def _uses(self) -> dict[tuple[str, str, int], int]:
        """(lemma, part of speech, offset) -> how often a tagged corpus of English uses the lemma in this sense."""
        table = {}
        for line in self._files["index.sense"].decode("ascii").splitlines():
            key, offset, _, count = line.split()
            if count != "0":
                word, _, rest = key.partition("%")
                table[word, "nvara"[int(rest[0]) - 1], int(offset)] = int(count)
        return table

    def uses(self, lemma: str, part: str, sense: Sense) -> int:
        """How often a tagged corpus of English (SemCor) uses a lemma in a sense. `sense`: of `senses`."""
        return self._uses.get((lemma, part, sense.offset), 0)

    @lru_cache(1 << 14)  # noqa: B019  one instance a process
    def senses(self, lemma: str, part: str) -> tuple[Sense, ...]:
        """The senses of a lemma as a part of speech, commonest first; empty if it has none."""
        offsets = self._offsets[part].get(lemma)
        if offsets is None:
            return ()
        content = self._files[f"data.{FILES[part]}"]
        senses = []
        for offset in map(int, offsets.split()):
            line = content[offset : content.index(b"\n", offset)].decode("ascii")
            fields = line.partition(" | ")[0].split()
            # "(p)" behind a word marks where an adjective stands
            words = [fields[4 + 2 * n].partition("(")[0] for n in range(int(fields[3], 16))]
            senses.append(Sense(offset, tuple(words)))
        return tuple(senses)


def load() -> WordNet:
    """WordNet from NLTK's data folders.

    Raises VideoContrastError: it is not there; the message names the command that gets it.
    """
    import nltk.data

    return _load(tuple(nltk.data.path))


@cache
def _load(paths: tuple[str, ...]) -> WordNet:
    import nltk.data

    names = [f"{kind}.{name}" for kind in ("index", "data") for name in FILES.values()]
    contents: dict[str, bytes] = {}
    for name in (*names, "index.sense"):
        for place in (f"corpora/wordnet/{name}", f"corpora/wordnet.zip/wordnet/{name}"):
            with suppress(LookupError), nltk.data.find(place).open() as handle:
                contents[name] = handle.read()
                break
        else:
            raise VideoContrastError(
                f"WordNet's data is needed, which is not in NLTK's folders ({', '.join(paths)}): run {COMMAND}"
            )
    return WordNet(contents)
