"""Word vectors from a file that the user supplies, and the cosine limit on them (paper: counter-fitted vectors)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import atomic_path, sha256
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.perturbations.english.forms import verb_tags
from video_contrast.perturbations.english.vector_file import vector_lines


class VerbVectors:
    """Words and their unit vectors."""

    def __init__(self, words: Sequence[str], matrix: np.ndarray) -> None:
        self.words = {word: row for row, word in enumerate(words)}
        lengths = np.linalg.norm(matrix.astype(np.float32), axis=1, keepdims=True)
        self.matrix = matrix.astype(np.float32) / np.maximum(lengths, 1e-12)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> VerbVectors:
        """A text file with a word and its numbers a line (word2vec's header line is allowed), or a shrunk `.npz`.

        Raises:
            VideoContrastError: the file is absent or a line is not a word and as many numbers as the first line's.
        """
        place = Path(path)
        if not place.is_file():
            raise VideoContrastError(
                f"no word vectors at {place}: give the file of counter-fitted vectors (or any in text format) "
                "with the option vectors, or leave the constraint 'word_vectors' out"
            )
        if place.suffix == ".npz":
            with np.load(place, allow_pickle=False) as stored:
                return cls([str(word) for word in stored["words"]], stored["vectors"])
        words, rows = [], []
        for word, row in vector_lines(place):
            words.append(word)
            rows.append(row)
        if not words:
            raise VideoContrastError(f"{place} holds no word vectors")
        return cls(words, np.stack(rows))

    def cosine(self, first: str, second: str) -> float | None:
        """The cosine of two words; None if one of them has no vector."""
        a, b = self.words.get(first), self.words.get(second)
        return None if a is None or b is None else float(self.matrix[a] @ self.matrix[b])


def shrink(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> tuple[int, int]:
    """Keeps the dictionary forms of verbs, as float16: 3 MB instead of 100 and more.

    Args:
        source: vectors in text format.
        target: a file ending in `.npz`.

    Returns:
        How many words there were and how many were kept.

    Raises:
        UsageError: the target does not end in `.npz`.
        VideoContrastError: the source cannot be read, or holds no verb.
    """
    if Path(target).suffix != ".npz":
        raise UsageError(f"the shrunk vectors need a name that ends in .npz, not {Path(target).name!r}")
    if not Path(source).is_file():
        raise VideoContrastError(f"no word vectors at {source}")
    total, words, rows = 0, [], []
    for word, row in vector_lines(Path(source)):
        total += 1
        if "VB" in verb_tags(word):
            words.append(word)
            rows.append(row.astype(np.float16))
    if not words:
        raise VideoContrastError(f"{source} holds vectors of {total} words, but none of them is an English verb")
    with atomic_path(target) as temporary:
        np.savez_compressed(temporary, words=np.array(words), vectors=np.stack(rows))
    return total, len(words)


@dataclass
class WordVectors(Constraint):
    """Rejects a verb too close to the original's; antonyms, which vectors put close, are exempt. Score: the cosine.

    A verb without a vector passes, with no score: the file cannot say that it is close.

    Attributes:
        vectors: a file of word vectors, in text format or from `video-contrast vectors shrink`; it has no default.
        word_cosine: a verb must stay under it (paper: 0.4, A.3).
    """

    vectors: str | Path | None = None
    word_cosine: float = 0.4
    name = "word_vectors"
    group = "model"
    default_targets = ("verb",)  # the paper's vectors and their threshold were made for verbs

    def __post_init__(self) -> None:
        if self.vectors is None:
            raise UsageError(
                "the constraint 'word_vectors' needs a file of word vectors: give vectors= (in text format, or from "
                "`video-contrast vectors shrink`), or ask for constraints without it"
            )
        self._path = Path(self.vectors)
        self._vectors = VerbVectors.read(self._path)

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """The score is the highest cosine of a verb in the replacement to the original's verb."""
        cosines = [self._vectors.cosine(original.phrase.lemma, lemma) for lemma in candidate.lemmas or ()]
        closest = max((cosine for cosine in cosines if cosine is not None), default=None)
        return Verdict(candidate.antonym or closest is None or closest < self.word_cosine, closest)

    def record(self) -> dict[str, object]:
        """The file by its name and hash, and the limit."""
        return {"file": self._path.name, "sha256": sha256(self._path), "cosine_below": self.word_cosine}
