"""Multimodal sentence-transformers models (repositories with a modules.json), and rerankers, which score pairs.

A model that takes video is given the clip; one that takes images is given its frames, whose normalised embeddings are
averaged. Always arrays: a path string given to a text-and-image model would be embedded as text, without a word.
Captions are queries and clips are documents, each under the prompt that the checkpoint saved for it.
"""

import re
from collections.abc import Sequence

import numpy as np

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.options import Option
from video_contrast.runner.kinds import base, loading
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, PairScorer, kind, unit_rows
from video_contrast.runner.kinds.prompts import prompt_hash
from video_contrast.untyped import TorchModel

NO_PROMPT = "none"
PROMPT_TEXT = Option("prompt_text", str, "", "Prompt of captions; empty: the checkpoint's own; none: without one.")
PROMPT_VIDEO = Option("prompt_video", str, "", "Prompt of clips; empty: the checkpoint's own; none: without one.")
TASK = Option("adapter_task", str, "", "Task of a checkpoint with several (jina: retrieval); empty: query, document.")


class SentenceModel(base.Encoder):
    """The parts of the encoders of sentence-transformers: modalities, prompts, and the limit of captions.

    `prompt_text`, `prompt_video`: instead of the checkpoint's query and document prompts; "none" leaves one out.
    `adapter_task`: by which the checkpoint chooses its adapters. Raises UsageError: it takes text only.
    """

    def __init__(
        self, model: TorchModel, name: str, *, prompt_text: str = "", prompt_video: str = "", adapter_task: str = ""
    ) -> None:
        self.model = model
        self.task = adapter_task
        self.modalities = [str(modality) for modality in getattr(model, "modalities", ["text"])]
        if "video" not in self.modalities and "image" not in self.modalities:
            raise UsageError(
                f"{name} embeds {', '.join(self.modalities)} only, so it cannot be shown a video; as a language model "
                "that never sees the video there is `--model blind`"
            )
        self.takes_video = "video" in self.modalities
        self.prompt_text = prompt_of(prompt_text)
        self.prompt_video = prompt_of(prompt_video)

    @property
    def facts(self) -> JsonObject:
        """The facts of the model: its inputs, the way in which clips were given, and its prompts."""
        text, video = saved_prompt(self.model, ("query",)), saved_prompt(self.model, ("document", "passage", "corpus"))
        return {
            "class": type(self.model).__name__,
            "modalities": self.modalities,
            "as_video": self.takes_video,
            **({"task": self.task} if self.task else {}),
            "prompt_text": text if self.prompt_text is None else self.prompt_text,
            "prompt_video": video if self.prompt_video is None else self.prompt_video,
        }

    def truncated_texts(self, texts: Sequence[str]) -> int | None:
        """The number of texts that are longer, with their prompt, than the model reads."""
        inside = self.model[0] if hasattr(self.model, "__getitem__") else None
        expansion = getattr(inside, "query_expansion", None) or {}
        fixed_length = expansion.get("length") if expansion.get("strategy") == "fixed" else None
        # a limit of queries alone goes before that of all texts
        limit = fixed_length or getattr(inside, "query_length", None) or getattr(self.model, "max_seq_length", None)
        processor = getattr(self.model, "tokenizer", None)
        if processor is None or not limit:
            return None
        prompt = str(self.facts["prompt_text"])
        return loading.count_longer(loading.tokenizer_of(processor), [prompt + text for text in texts], int(limit))

    def prepare(self, clip: ClipFrames) -> ClipFrames:
        """The clip, with the times of its frames."""
        return clip

    def rendered_input(self, clip: ClipFrames, captions: Sequence[str]) -> JsonObject:
        """The first caption and the clip (or its first frame) as the model reads them, each with its prompt."""
        facts = self.facts
        text = rendered(self.model, captions[0], str(facts["prompt_text"]))
        inputs, more = self._inputs([clip])
        entry = rendered(self.model, inputs[0], str(facts["prompt_video"]), **more)
        clips = {name if name in ("pixels", "times_told") else f"clip_{name}": value for name, value in entry.items()}
        return super().rendered_input(clip, captions) | text | clips

    def _inputs(self, clips: Sequence[ClipFrames]) -> tuple[list[object], JsonObject]:
        """Clips of one rate, or all their frames, as the model takes them; and what its processor is told of them."""
        if self.takes_video:
            videos = [{"array": clip.frames, "video_metadata": loading.metadata_of(clip)} for clip in clips]
            return [*videos], {"processing_kwargs": {"video": sampled(self.model, clips[0])}}
        return [image for clip in clips for image in loading.images_of(clip)], {}

    def _documents(self, clips: Sequence[ClipFrames]) -> list[np.ndarray]:
        """float32[1, n] of each of `_inputs`, in one call."""
        inputs, more = self._inputs(clips)
        encode = self.model.encode if self.task else self.model.encode_document  # which has a task of its own
        return self._rows(encode(inputs, **self._arguments(inputs, "prompt_video"), **more))

    def _queries(self, texts: Sequence[str]) -> list[np.ndarray]:
        """float32[1, n] of each caption."""
        encode = self.model.encode if self.task else self.model.encode_query
        return self._rows(encode(list(texts), **self._arguments(texts, "prompt_text")))

    def _arguments(self, inputs: Sequence[object], side: str) -> JsonObject:
        """The arguments of an encoding method; `side`: "prompt_text" or "prompt_video"."""
        arguments = {"batch_size": len(inputs), "convert_to_numpy": True, "show_progress_bar": False}
        if self.task:  # the saved prompt must be named: which side of a search it is, is not
            return arguments | {"prompt": self.facts[side] or None, "task": self.task}
        return arguments | {"prompt": getattr(self, side)}

    def _rows(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        return [np.asarray(array, np.float32).reshape(1, -1) for array in arrays]


class SentenceEncoder(SentenceModel, base.DualEncoder):
    """A `SentenceTransformer` with text and video, or text and images."""

    def encode_prepared(self, prepared: Sequence[ClipFrames]) -> np.ndarray:
        """float32[N, D], rows of length 1."""
        if not self.takes_video:
            frames = unit_rows(np.concatenate(self._documents(prepared))).astype(np.float32)
            by_clip = np.split(frames, np.cumsum([len(clip.frames) for clip in prepared])[:-1])
            return unit_rows(np.stack([clip.mean(axis=0, dtype=np.float64) for clip in by_clip])).astype(np.float32)
        # One call for clips of one rate, where the processor must be told it.
        rates = [str(sampled(self.model, clip)) for clip in prepared]
        rows: dict[int, np.ndarray] = {}
        for rate in dict.fromkeys(rates):
            members = [n for n, other in enumerate(rates) if other == rate]
            rows.update(zip(members, self._documents([prepared[n] for n in members]), strict=True))
        return unit_rows(np.concatenate([rows[n] for n in range(len(prepared))])).astype(np.float32)

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """float32[M, D], rows of length 1."""
        return unit_rows(np.concatenate(self._queries(texts))).astype(np.float32)


def rendered(model: TorchModel, content: object, prompt: str, **more: object) -> JsonObject:
    """The input that a model of sentence-transformers makes of one content: prompt with hash, tokens, shapes, times."""
    features = model.preprocess([content], prompt=prompt or None, **more)
    shapes = {name: list(value.shape) for name, value in features.items() if hasattr(value, "shape")}
    entry: JsonObject = {"pixels": shapes}
    if "input_ids" in features:
        processor = model.tokenizer
        text = loading.tokenizer_of(processor).decode(features["input_ids"][0])
        short = re.sub(r"(<[^<>]+>)\1+", lambda run: f"{run[1]} (x {len(run[0]) // len(run[1])}) ", text)
        entry |= {"prompt": short, "prompt_hash": prompt_hash(text), "tokens": int(features["input_ids"].shape[1])}
        if times := loading.times_in_prompt(text, features):
            entry["times_told"] = times
    return entry


def sampled(model: TorchModel, clip: ClipFrames) -> JsonObject:
    """The arguments of a model's video processor besides the metadata: the frames are sampled already, at a rate."""
    inside = model[0] if hasattr(model, "__getitem__") else None
    processor = getattr(inside, "processor", None)
    rate = {"fps": loading.metadata_of(clip)["fps"]} if loading.takes_rate(processor) else {}
    return {"do_sample_frames": False, **rate}


def prompt_of(option: str) -> str | None:
    """The prompt that an option names: None leaves it to the checkpoint, "" is none."""
    return None if option == "" else "" if option == NO_PROMPT else option


def saved_prompt(model: TorchModel, names: Sequence[str]) -> str:
    """The prompt that a checkpoint saved under the first of some names, else its default one, else ""."""
    prompts = getattr(model, "prompts", None) or {}
    name = next((name for name in names if name in prompts), getattr(model, "default_prompt_name", None))
    return str(prompts.get(name) or "")


def load_saved(class_name: str, source: ModelSource, settings: LoadOptions) -> TorchModel:
    """A saved model of a class of sentence-transformers, in evaluation mode."""
    import sentence_transformers
    import torch

    placement = {"device_map": settings.device_map} if settings.device_map else {}
    with loading.explained(source):
        model_options = {"dtype": getattr(torch, settings.dtype), **placement}
        device = None if settings.device_map else settings.device
        load_class = getattr(sentence_transformers, class_name)
        model = load_class(str(source.path), device=device, model_kwargs=model_options, **settings.from_here)
        loading.reading(source, model.tokenizer)
    in_evaluation: TorchModel = model.eval()
    return in_evaluation


@kind(
    "sentence_transformers",
    family="encoder",
    by_rate=True,
    summary="sentence-transformers models that embed text and video, or text and images",
    model_types=("modules.json",),
    tested=("SentenceTransformer of CLIPModel",),
    options=(PROMPT_TEXT, PROMPT_VIDEO, TASK),
    version="4",
)
def load(source: ModelSource, settings: LoadOptions) -> SentenceEncoder:
    """Loads a `SentenceTransformer`."""
    return SentenceEncoder(load_saved("SentenceTransformer", source, settings), source.name, **settings.options)


class RerankerScorer(PairScorer):
    """Scores captions of one clip with a multimodal `CrossEncoder`.

    `encoder`: the `sentence_transformers.CrossEncoder`. `prompt_text`: the instruction instead of the checkpoint's own;
    "none" leaves it out. Raises VideoContrastError: the reranker does not take video. (On such a model a video would be
    read as text.)
    """

    def __init__(self, encoder: TorchModel, batch_size: int = 8, *, prompt_text: str = "") -> None:
        modalities = list(getattr(encoder, "modalities", ["text"]))
        if "video" not in modalities:
            raise VideoContrastError(f"this reranker takes {', '.join(modalities)}, not video")
        self.encoder = encoder
        self.batch_size = batch_size
        prompt = prompt_of(prompt_text)
        self.prompt = saved_prompt(encoder, ()) if prompt is None else prompt

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> base.ScoreResult:
        """float64[k]: the reranker's own score of each (caption, clip) pair."""
        if clip is None:
            raise UsageError("a reranker cannot score a caption without a video; leave the blind control out")
        scores: list[np.ndarray] = []
        for begin in range(0, len(captions), self.batch_size):
            batch = captions[begin : begin + self.batch_size]
            # Pairs have no place for the metadata of a video, so each batch is given its own.
            videos = sampled(self.encoder, clip) | {"video_metadata": [loading.metadata_of(clip) for _ in batch]}
            pairs = [({"text": caption}, {"video": clip.frames}) for caption in batch]
            options = {"prompt": self.prompt or None, "batch_size": len(batch), "processing_kwargs": {"video": videos}}
            of_batch = self.encoder.predict(pairs, show_progress_bar=False, convert_to_numpy=True, **options)
            scores.append(np.asarray(of_batch, dtype=np.float64).reshape(len(batch)))
        return base.ScoreResult(np.concatenate(scores))

    def rendered_input(self, clip: ClipFrames, captions: Sequence[str]) -> JsonObject:
        """The first caption with the clip, as the model reads them."""
        videos = sampled(self.encoder, clip) | {"video_metadata": [loading.metadata_of(clip)]}
        pair = ({"text": captions[0]}, {"video": clip.frames})
        entry = rendered(self.encoder, pair, self.prompt, processing_kwargs={"video": videos})
        return super().rendered_input(clip, captions) | entry

    @property
    def facts(self) -> JsonObject:
        """The class that ran, and its instruction."""
        return {"class": type(self.encoder).__name__, "prompt_text": self.prompt}


@kind(
    "reranker",
    family="pair",
    summary="sentence-transformers rerankers that take video",
    requirements="torchvision built for your torch (`pip install video-contrast[vlm]`)",
    model_types=("modules.json of a CrossEncoder",),
    tested=("CrossEncoder",),
    options=(PROMPT_TEXT,),
    version="4",
)
def load_reranker(source: ModelSource, settings: LoadOptions) -> RerankerScorer:
    """Loads a saved `CrossEncoder`."""
    return RerankerScorer(load_saved("CrossEncoder", source, settings), settings.batch_size, **settings.options)
