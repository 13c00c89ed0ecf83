"""Semantic proximity (contrast-set paper, table 5): accuracy by the similarity of caption and contrast."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from video_contrast.errors import UsageError
from video_contrast.files import JsonObject
from video_contrast.metrics import proximity as accuracy_by_proximity
from video_contrast.reports.paper_analyses.stored_hits import scored_contrasts
from video_contrast.rows import MultipleChoiceRow

TextEncoder = Callable[[Sequence[str]], NDArray[np.float32]]  # texts -> one vector a text


def proximity(
    rows: Sequence[MultipleChoiceRow],
    hits: Mapping[str, float],
    encoders: Mapping[str, TextEncoder],
    *,
    share: float = 0.15,
) -> JsonObject:
    """Table 5: accuracy on antonyms, and on the highest and lowest 15 % of the others by sentence similarity.

    Args:
        rows: of a set of verb contrasts.
        hits: item id -> 1 right, 0 wrong (`read_hits`).
        encoders: name -> encoder of sentences; the paper takes Sentence-BERT and CLIP's text encoder.
        share: size of the two subsets.

    Returns:
        `overall`, `n`, and under each encoder's name what `metrics.proximity` gives.

    Raises:
        UsageError: no row with a contrast was scored.
    """
    pairs = scored_contrasts(rows, hits)
    right = [hits[row["id"]] for row, _ in pairs]
    antonym = [bool(edit["antonym"]) for row, n in pairs if (edit := row["edits"][n])]
    table: JsonObject = {"overall": float(np.mean(right)), "n": len(pairs)}
    for name, encode in encoders.items():
        similarity = cosines(
            [row["candidates"][row["label"]] for row, _ in pairs], [row["candidates"][n] for row, n in pairs], encode
        )
        table[name] = accuracy_by_proximity(right, similarity, antonym=antonym, share=share)
    return table


def cosines(first: Sequence[str], second: Sequence[str], encode: TextEncoder) -> NDArray[np.float64]:
    """Returns the cosine of each pair of sentences, float64[n]; each unique sentence is encoded once.

    Args:
        first, second: n sentences each.
        encode: texts -> float32[m, d].
    """
    unique = list(dict.fromkeys([*first, *second]))
    vectors = np.asarray(encode(unique), np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    row = {text: number for number, text in enumerate(unique)}
    cosine: NDArray[np.float64] = np.einsum(
        "nd,nd->n", vectors[[row[text] for text in first]], vectors[[row[text] for text in second]]
    )
    return cosine


def sentence_encoder(model: str, device: str = "auto") -> TextEncoder:
    """The text encoder of a model: any sentence-transformers model, or the text tower of a dual encoder (CLIP ...).

    Args:
        model: Hub id, folder, or packaged checkpoint.
        device: where it runs.

    Raises:
        UsageError: the model has no text encoder of its own.
        VideoContrastError: it cannot be loaded.
    """
    from video_contrast.pretrained import device_of
    from video_contrast.runner.kinds import choose, options_for
    from video_contrast.runner.kinds.base import Encoder as Dual
    from video_contrast.runner.kinds.base import LoadOptions
    from video_contrast.runner.locate import locate

    source = locate(model)
    if source.modules is not None:
        from sentence_transformers import SentenceTransformer

        encoder = SentenceTransformer(str(source.path or model), device=device_of(device))
        return lambda texts: np.asarray(encoder.encode(list(texts), show_progress_bar=False), np.float32)
    kind = choose(source)
    loaded = kind.load(source, LoadOptions(device=device_of(device), options=options_for(kind, {})))
    if not isinstance(loaded, Dual):
        raise UsageError(f"--encoder {model}: a model of kind {kind.name} has no text encoder of its own")

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        parts = [loaded.encode_texts(list(texts[first : first + 64])) for first in range(0, len(texts), 64)]
        return np.concatenate(parts)

    return encode
