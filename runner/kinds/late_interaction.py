"""Late interaction (ColPali, ColQwen2, ColModernVBERT; multi-vector encoders of sentence-transformers).

Clip and caption are many vectors each, and a score is their MaxSim. A model of images is shown the frames one by one,
and the vectors of all of them together are those of the clip: a word may be matched in any frame.

Rows hold several vectors of one length, one after the other, and end in vectors of zeros where others are longer; those
are no vectors, and never match.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions, ModelSource, kind
from video_contrast.runner.kinds.loading import Tensors, images_of, load_model, load_processor, on_device, to_numpy
from video_contrast.runner.kinds.sentence import PROMPT_TEXT, PROMPT_VIDEO, SentenceModel, load_saved, prompt_of
from video_contrast.untyped import Processor, TorchModel

ARCHITECTURES = ("ColQwen2ForRetrieval", "ColPaliForRetrieval", "ColModernVBertForRetrieval")
FRAMES_AT_ONCE = 8


class ColEncoder(Encoder):
    """A transformers `Col...ForRetrieval`. `prompt_text`: before captions, for the processor's `query_prefix`."""

    def __init__(self, model: TorchModel, processor: Processor, *, prompt_text: str | None = None) -> None:
        self.model = model
        self.processor = processor
        if not hasattr(model.config, "embedding_dim"):
            raise VideoContrastError(f"{type(model).__name__} is no model of late interaction; leave --kind out")
        self.vector_length: int = int(model.config.embedding_dim)
        if prompt_text is not None:
            processor.query_prefix = prompt_text

    @property
    def facts(self) -> JsonObject:
        """The class that ran, its prompts, and how many numbers a vector has."""
        return {
            "class": type(self.model).__name__,
            "prompt_text": self.processor.query_prefix,
            "prompt_video": self.processor.visual_prompt_prefix,
            "vector_length": self.vector_length,
        }

    def prepare(self, clip: ClipFrames) -> Tensors:
        """The processor's arrays for the frames, all of one size, so that no padding stands among their tokens."""
        arrays = self.processor.process_images(images=images_of(clip))
        return {name: value for name, value in arrays.items() if name != "labels"}

    def encode_prepared(self, prepared: Sequence[Tensors]) -> np.ndarray:
        """float32[N, V * D]: the vectors of all frames of a clip, one after the other."""
        return stacked([self._vectors(arrays).reshape(1, -1) for arrays in prepared])

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, T * D]; captions of as many tokens go through the model together, so none is padded."""
        import torch

        tokens = [self.processor.process_queries(text=[text]) for text in texts]
        groups: dict[int, list[int]] = {}
        for n, arrays in enumerate(tokens):
            groups.setdefault(arrays["input_ids"].shape[1], []).append(n)
        rows: dict[int, np.ndarray] = {}
        for members in groups.values():
            arrays = {name: torch.cat([tokens[n][name] for n in members]) for name in tokens[members[0]]}
            vectors = self._vectors(arrays).reshape(len(members), -1)
            rows.update(zip(members, vectors, strict=True))
        return stacked([rows[n][None] for n in range(len(texts))])

    def join(self, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        """float32[N, M]: MaxSim."""
        return maxsim(videos, texts, self.vector_length, device=str(self.model.device))

    def rendered_input(self, clip: ClipFrames, captions: Sequence[str]) -> JsonObject:
        """The first caption and a frame as their tokens read, how many they are, and the shapes of the pixels."""
        query = self.processor.process_queries(text=[captions[0]])["input_ids"][0]
        prepared = self.prepare(clip)
        decode = self.processor.tokenizer.decode
        return super().rendered_input(clip, captions) | {
            "prompt": decode(query),
            "tokens": len(query),
            "frame_tokens": int(prepared["input_ids"].shape[1]),
            "frame_decoded": decode(prepared["input_ids"][0][-16:]),
        }

    def _vectors(self, arrays: Tensors) -> np.ndarray:
        """float32[n, L, D] of inputs without padding."""
        import torch

        count = len(arrays["input_ids"])
        parts = []
        with torch.inference_mode():
            for begin in range(0, count, FRAMES_AT_ONCE):
                batch = {name: value[begin : begin + FRAMES_AT_ONCE] for name, value in arrays.items()}
                parts.append(self.model(**on_device(batch, self.model)).embeddings.float().cpu())
        return to_numpy(torch.cat(parts))


class MultiVectorSentence(SentenceModel):
    """A `sentence_transformers.MultiVectorEncoder` with text and video, or text and images."""

    @property
    def facts(self) -> JsonObject:
        """The facts of the model: its inputs, its prompts, and its similarity."""
        return super().facts | {"similarity": self.model.similarity_fn_name, "vector_length": self.vector_length}

    @cached_property
    def vector_length(self) -> int:  # type: ignore[override]  # an attribute of the contract
        """The number of components of a vector."""
        return int(self.model.encode_query(["a"], show_progress_bar=False)[0].shape[-1])

    def encode_prepared(self, prepared: Sequence[ClipFrames]) -> np.ndarray:
        """float32[N, V * D]: a clip's vectors, or those of all its frames."""
        return stacked([np.concatenate(self._documents([clip]), axis=1) for clip in prepared])

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, T * D]; divided by the number of vectors where the similarity is their mean."""
        rows = self._queries(texts)
        if self.model.similarity_fn_name == "meanmaxsim":
            rows = [row / np.float32(row.shape[1] // self.vector_length) for row in rows]
        return stacked(rows)

    def join(self, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        """float32[N, M]: MaxSim."""
        return maxsim(videos, texts, self.vector_length, device=str(self.model.device))


@kind(
    "late_interaction",
    family="encoder",
    by_rate=True,
    summary="late interaction: many vectors of a clip and of a caption, joined by MaxSim",
    architectures=ARCHITECTURES,
    model_types=("colqwen2", "colpali", "colmodernvbert", "modules.json of a MultiVectorEncoder"),
    tested=("ColQwen2ForRetrieval", "ColPaliForRetrieval", "ColModernVBertForRetrieval", "MultiVectorEncoder"),
    options=(PROMPT_TEXT, PROMPT_VIDEO),
    requirements="torchvision built for your torch (`pip install video-contrast[vlm]`)",
)
def load(source: ModelSource, settings: LoadOptions) -> ColEncoder | MultiVectorSentence:
    """Loads a `Col...ForRetrieval`, or a saved `MultiVectorEncoder`."""
    if source.modules is not None:
        return MultiVectorSentence(load_saved("MultiVectorEncoder", source, settings), source.name, **settings.options)
    if settings.options.get("prompt_video"):
        raise UsageError(
            f"--prompt-video: the prompt of images of {source.name} holds the image itself; leave the option "
            "out, or save the model with another visual_prompt_prefix (none is no choice either)"
        )
    name = source.architecture if source.architecture in ARCHITECTURES else None
    model = load_model(source, settings, name)
    prompt = prompt_of(settings.options.get("prompt_text", ""))
    return ColEncoder(model, load_processor(source, settings), prompt_text=prompt)


AT_ONCE = 1 << 24  # products in memory


def stacked(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Rows of different widths as one array, padded with zeros: float32[n, W].

    >>> stacked([np.ones((1, 2), np.float32), np.ones((1, 4), np.float32)]).tolist()
    [[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0]]
    """
    width = max(part.shape[1] for part in parts)
    if all(part.shape[1] == width for part in parts):
        return np.concatenate(parts)
    return np.concatenate([np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts])


def maxsim(videos: np.ndarray, texts: np.ndarray, dimension: int, *, device: str = "cpu") -> np.ndarray:
    """Sums over a text's vectors of the largest product with a vector of the clip: float32[N, M].

    Computed clip by clip, in blocks of texts, on a CPU in float64: equal rows then tie exactly, wherever they stand.
    `videos`: float32[N, V * dimension]. `texts`: float32[M, T * dimension].

    >>> texts = np.float32([[1, 0, 0, 0], [0.6, 0.8, 0, 1]])
    >>> maxsim(np.float32([[1, 0, 0, 1]]), texts, 2).astype(float).round(2).tolist()
    [[1.0, 1.8]]
    """
    import torch

    dtype = torch.float64 if device == "cpu" else torch.float32
    queries = [vectors(row, dimension) for row in texts]
    places = np.cumsum([0, *map(len, queries)])
    flat = torch.from_numpy(np.concatenate(queries)).to(device, dtype)
    out = np.empty((len(videos), len(texts)), np.float32)
    for n, row in enumerate(videos):
        clip = torch.from_numpy(vectors(row, dimension)).to(device, dtype)
        step = max(1, AT_ONCE // len(clip))
        best = torch.cat([(clip @ block.T).amax(0) for block in flat.split(step)]).cpu().double().numpy()
        out[n] = np.add.reduceat(best, places[:-1])
    return out


def vectors(row: np.ndarray, dimension: int) -> np.ndarray:
    """The vectors of one row, float32[n, dimension], n at least 1."""
    rows = row.reshape(-1, dimension)
    return rows[: max(1, int(rows.any(axis=1).sum()))]
