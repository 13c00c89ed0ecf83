"""What a served model is sent (frames as images or as one video of JPEG pictures, with a text), and what it costs."""

import base64
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from video_contrast.chat_model import AnswerStore, ChatModel, Message, MessagePart
from video_contrast.files import JsonObject
from video_contrast.runner.kinds.base import ClipFrames, KindOptions, Work
from video_contrast.runner.kinds.video_metadata import metadata_of

FramesAs = Literal["images", "video"]
# What vLLM takes as the frames of one video: pictures after one another, separated by commas.
VIDEO_OF_PICTURES = "data:video/jpeg;base64,"
QUALITY = 95  # of JPEG
STEPS = 100  # frames between two that are sent, in the count of the video that they are said to come from
CHARACTERS_A_TOKEN = 4.0  # of English text
PROMPT_TOKENS = 30  # the question around a caption, and the chat template
ANSWER_TOKENS = {"yesno": 2, "letter": 2, "loglik": 1}
MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class EndpointOptions:
    """How an endpoint is asked, whatever for, and at what price."""

    NOT_NUMERIC: ClassVar = ("concurrency", "retries", "answers", "price_in", "price_out", "tokens_per_frame")
    endpoint: Annotated[str, "Base URL, such as http://localhost:8000/v1."] = ""
    api_key_env: Annotated[str, "Environment variable that holds the key."] = "HF_TOKEN"
    frames_as: Annotated[FramesAs, "How frames are sent; video: as vLLM takes them."] = "images"
    concurrency: Annotated[int, "Requests in flight; 0: more while latency holds."] = 0
    retries: Annotated[int, "How often a failing request is sent again."] = 5
    price_in: Annotated[float, "Price of a million tokens that are sent."] = 0.0
    tokens_per_frame: Annotated[int, "Tokens of a frame, for the estimate."] = 256

    def chat(self, model: str, store: AnswerStore | None = None) -> ChatModel:
        """The client of a model at the endpoint."""
        return ChatModel(
            model,
            self.endpoint or None,
            api_key=os.environ.get(self.api_key_env) or None,
            store=AnswerStore(None) if store is None else store,  # one without answers yet is false
            concurrency=self.concurrency,
            retries=self.retries,
        )


@dataclass(frozen=True)
class SentClip:
    """A clip as it is sent."""

    parts: Sequence[MessagePart] = ()  # of a message; [] where nothing is shown (the blind control)
    body: Mapping[str, object] = field(default_factory=dict)  # what stands in the request beside the messages

    @classmethod
    def of(cls, clip: ClipFrames | None, frames_as: FramesAs = "images") -> "SentClip":
        """A clip, or nothing: a PNG a frame, or one video, for servers that know vLLM's format."""
        if clip is None:
            return cls()
        if frames_as == "video":
            url = VIDEO_OF_PICTURES + ",".join(_encoded(frame, "JPEG", quality=QUALITY) for frame in clip.frames)
            return cls([{"type": "video_url", "video_url": {"url": url}}], _video_arguments(clip))
        urls = ["data:image/png;base64," + _encoded(frame, "PNG") for frame in clip.frames]
        return cls([{"type": "image_url", "image_url": {"url": url}} for url in urls])

    def question(self, text: str) -> list[Message]:
        """A conversation of one question about it."""
        return [{"role": "user", "content": [*self.parts, {"type": "text", "text": text}]}]

    def endpoint(self, chat: ChatModel) -> ChatModel:
        """The endpoint with the body of this clip in its requests."""
        if not self.body:
            return chat
        body = {**(chat.parameters.get("extra_body") or {}), **self.body}
        return replace(chat, parameters={**chat.parameters, "extra_body": body})


def _video_arguments(clip: ClipFrames) -> JsonObject:
    """What a request says of a clip that goes as one video (https://github.com/vllm-project/vllm/pull/40133).

    vLLM would take its frames for one a second, and keep the first 32. It wants whole numbers of frames, so the video
    is said to have been `STEPS` times as fast as it was sampled.
    """
    metadata = metadata_of(clip)
    indices = [round(STEPS * index) for index in metadata["frames_indices"]]
    video = {
        "num_frames": -1,
        "fps": STEPS * metadata["fps"],
        "frames_indices": indices,
        "total_num_frames": max(STEPS * len(indices), max(indices) + 1),
    }
    return {"media_io_kwargs": {"video": video}}


def _encoded(frame: np.ndarray, container: str, **options: int) -> str:
    from PIL import Image

    sink = io.BytesIO()
    Image.fromarray(frame).save(sink, format=container, **options)
    return base64.b64encode(sink.getvalue()).decode("ascii")


def estimate(work: Work, options: KindOptions) -> dict[str, float]:
    """Requests, tokens and price of a run, before anything is asked; stored answers are not taken off."""
    scoring = options.get("scoring", "yesno")
    letter = scoring == "letter"
    turns = work.captions / max(1, work.items) if letter and options.get("rotations") == "rotate" else 1.0
    requests = work.items * turns if letter else float(work.captions + work.displaced)
    text = work.characters / CHARACTERS_A_TOKEN * (turns if letter else 1.0)
    frames = requests * work.frames * float(options.get("tokens_per_frame", 256))
    tokens_in = frames + requests * PROMPT_TOKENS + text
    tokens_out = requests * ANSWER_TOKENS.get(scoring, 0)
    counts = {"requests": round(requests), "prompt_tokens": round(tokens_in), "completion_tokens": round(tokens_out)}
    return counts | price_of(counts, options)


def price_of(counts: Mapping[str, float], options: KindOptions) -> dict[str, float]:
    """The price of tokens, in the currency of `--price-in` and `--price-out`; {} where neither is given."""
    price_in, price_out = float(options.get("price_in") or 0), float(options.get("price_out") or 0)
    if not price_in and not price_out:
        return {}
    paid = counts.get("prompt_tokens", 0) * price_in + counts.get("completion_tokens", 0) * price_out
    return {"price": round(paid / MILLION, 6)}
