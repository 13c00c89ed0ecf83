"""The teacher's similarity of captions: a sentence encoder, or latent semantic analysis where there is none."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.hub import asked_once
from video_contrast.teacher.caption_rows import CaptionNegatives
from video_contrast.teacher.needed_models import check_encoder

DIMENSIONS = 64
Encode: TypeAlias = Callable[[Sequence[str]], npt.NDArray[np.float32]]  # n texts to float32[n, d]


def latent_semantics(documents: Sequence[Sequence[str]]) -> Encode:
    """Latent semantic analysis of the training captions: which words are said of the same clips.

    The captions of one clip are one document, so words that describe one thing in two ways ("rises", "goes up") come
    close, and words that never describe the same clip ("rises", "falls") do not, however alike their sentences are.
    `documents`: the captions of each clip. Raises UsageError: fewer than two clips, or captions without words.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    try:
        table = vectorizer.fit_transform([" . ".join(captions) for captions in documents])
    except ValueError as error:
        raise UsageError(f"the captions are too few for --encoder lsa ({error}); give a sentence encoder") from error
    size = min(DIMENSIONS, min(table.shape) - 1)
    if size < 1:
        raise UsageError("--encoder lsa needs words that captions of several clips share; give a sentence encoder")
    svd = TruncatedSVD(size, random_state=0).fit(table)
    # Directions count by how much they explain, damped: else the commonest words decide alone.
    weights = svd.singular_values_ / svd.singular_values_[0]
    words = (svd.components_ * np.sqrt(weights)[:, None]).T.astype(np.float32)
    return lambda texts: np.asarray(vectorizer.transform(texts) @ words, np.float32)


def load_encoder(name: str, documents: Sequence[Sequence[str]]) -> Encode:
    """The encoder called `name`: "lsa", fitted on `documents` (the captions of each clip), or a sentence encoder.

    Raises VideoContrastError: the model cannot be loaded.
    """
    if name == "lsa":
        return latent_semantics(documents)
    check_encoder(name)
    from sentence_transformers import SentenceTransformer

    try:
        with asked_once(name):
            model = SentenceTransformer(name)
    except (OSError, ValueError, RuntimeError) as error:
        raise VideoContrastError(f"--encoder {name} cannot be loaded as a sentence encoder: {error}") from error
    return lambda texts: np.asarray(model.encode(list(texts), batch_size=64, show_progress_bar=False), np.float32)


def cosines(encode: Encode, rows: Sequence[CaptionNegatives]) -> list[list[float]]:
    """Returns those of each row's caption with itself (1) and with each of its negatives.

    Every distinct text is encoded once. Raises VideoContrastError: the encoder's vectors are not numbers, or not one a
    text.
    """
    texts = list(dict.fromkeys(text for row in rows for text in (row["caption"], *row["negatives"])))
    vectors = encode(texts)
    if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
        raise VideoContrastError(f"the teacher's encoder gave {vectors.shape} for {len(texts)} texts, or not numbers")
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    at = {text: n for n, text in enumerate(texts)}
    similarities = []
    for row in rows:
        own = vectors[at[row["caption"]]]
        rest = vectors[[at[text] for text in row["negatives"]]] @ own if row["negatives"] else np.zeros(0)
        similarities.append([1.0, *(float(value) for value in rest)])
    return similarities
