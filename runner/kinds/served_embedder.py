"""A video embedder behind an OpenAI-compatible endpoint: captions and clips as chat messages at `/v1/embeddings`."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from video_contrast.chat_model import ChatModel, Cost, Message, MessagePart
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.kinds.base import ClipFrames, DualEncoder, LoadOptions, ModelSource, kind
from video_contrast.runner.kinds.served_messages import EndpointOptions, SentClip
from video_contrast.runner.price import embedder_estimate

SCHEME = "served-embedder:"
SAME = 0.999  # the least cosine of two vectors of one text: half precision in other batches
PROBES = ("a man opens a door", "a woman closes a window", "two dogs run on a beach")


@dataclass(frozen=True, kw_only=True)
class EmbedderOptions(EndpointOptions):
    """The options of a served embedder."""

    texts_as: Annotated[Literal["messages", "input"], "How captions go out; input: without chat template."] = "messages"
    prompt_text: Annotated[str, "Instruction for captions."] = ""
    prompt_video: Annotated[str, "Instruction for clips."] = ""


class ServedEmbedder(DualEncoder):
    """Rows of length 1 from an embeddings endpoint; prompts go as the system message."""

    def __init__(self, chat: ChatModel, options: EmbedderOptions | None = None) -> None:
        self.chat = chat
        self.options = options or EmbedderOptions()
        self.cost = Cost()
        self.canary: dict[str, float] | None = None
        self._testing = threading.Lock()
        self._widths: set[int] = set()

    @property
    def facts(self) -> JsonObject:
        """The endpoint, how it was asked, and what this process counted."""
        return {
            "endpoint": self.chat.endpoint,
            **{name: getattr(self.options, name) for name in ("frames_as", "texts_as", "prompt_text", "prompt_video")},
            "requests_in_flight": self.chat.pace.most if self.chat.pace else 0,
            "canary": self.canary or {},
            "requests": self.cost.requests,
            "prompt_tokens": self.cost.prompt_tokens,
        }

    def prepare(self, clip: ClipFrames) -> JsonObject:
        """The request about a clip."""
        sent_clip = SentClip.of(clip, self.options.frames_as)
        return {"messages": self._messages(list(sent_clip.parts), self.options.prompt_video), **sent_clip.body}

    def encode_prepared(self, prepared: Sequence[JsonObject]) -> np.ndarray:
        """Rows of clips, float32[N, D]; a request each."""
        self._test()
        return self._rows(prepared)

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        """Rows of captions, float32[M, D]; a request each."""
        self._test()
        return self._rows([self._text_body(text) for text in texts])

    def rendered_input(self, clip: ClipFrames, captions: Sequence[str]) -> JsonObject:
        """The request about the first caption, and how the clip is sent."""
        entry: JsonObject = {"frames": list(clip.frames.shape), "times": [round(time, 3) for time in clip.times]}
        return entry | {"text_request": self._text_body(captions[0]), "frames_as": self.options.frames_as}

    def _text_body(self, text: str) -> JsonObject:
        if self.options.texts_as == "input":
            return {"input": self.options.prompt_text + text}
        return {"messages": self._messages([{"type": "text", "text": text}], self.options.prompt_text)}

    def _messages(self, parts: list[MessagePart], prompt: str) -> list[Message]:
        system: list[Message] = [{"role": "system", "content": [{"type": "text", "text": prompt}]}] if prompt else []
        return [*system, {"role": "user", "content": parts}]

    def _test(self) -> None:
        """Once a process, before anything is encoded: the same texts in other company must come back the same."""
        with self._testing:
            if self.canary is not None:
                return
            bodies = [self._text_body(text) for text in PROBES]
            alone = np.concatenate([self._rows([body]) for body in bodies])
            together = self._rows(bodies[::-1])[::-1]
            same = float((alone * together).sum(axis=1).min())
            if same < SAME:
                raise self._refusal(
                    f"embedded the same text differently when it was asked again in another order (cosine {same:.4f})"
                )
            self.canary = {"least_cosine": same, "needed": SAME}

    def _refusal(self, what: str) -> VideoContrastError:
        return VideoContrastError(f"{self.chat.model} at {self.chat.endpoint} {what}, so nothing was scored")

    def _rows(self, bodies: Sequence[JsonObject]) -> np.ndarray:
        assert self.chat.pace is not None
        with ThreadPoolExecutor(min(len(bodies), self.chat.pace.threads)) as pool:
            vectors = list(pool.map(self._row, bodies))
        widths = sorted({*map(len, vectors), *self._widths})
        if len(widths) > 1:
            raise self._refusal(f"returned vectors of {widths[0]} and of {widths[-1]} numbers")
        self._widths = set(widths)
        rows = np.asarray(vectors, np.float32)
        if not np.isfinite(rows).all():
            raise self._refusal("returned a vector with an entry that is no number")
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths > 0, lengths, 1.0)

    def _row(self, body: JsonObject) -> list[float]:
        from huggingface_hub.utils import get_session, hf_raise_for_status

        def send() -> tuple[list[float], int]:
            response = get_session().post(
                f"{str(self.chat.endpoint).rstrip('/')}/embeddings",
                json={"model": self.chat.model, "encoding_format": "float", **body},
                headers={"Authorization": f"Bearer {self.chat.api_key}"} if self.chat.api_key else {},
                timeout=self.chat.timeout,
            )
            hf_raise_for_status(response)
            answer = response.json()
            vectors = answer.get("data") or [{}]
            if len(vectors) > 1:
                raise self._refusal(f"returned {len(vectors)} vectors for one input")
            row = vectors[0].get("embedding")
            if not isinstance(row, list) or not all(isinstance(value, float | int) for value in row):
                raise ValueError("the server returned half an answer")
            tokens = int((answer.get("usage") or {}).get("prompt_tokens") or 0)
            return [float(value) for value in row], tokens

        vector, tokens = self.chat.retried(send, self.cost)
        self.cost.add(requests=1, prompt_tokens=tokens)
        return vector


@kind(
    "served_embedder",
    family="encoder",
    by_rate=True,
    summary=f"a video embedder behind an OpenAI-compatible endpoint: --model {SCHEME}NAME --endpoint URL",
    requirements="an endpoint with /v1/embeddings that takes messages (vLLM); the key as --api-key-env says",
    names=(SCHEME,),
    options=EmbedderOptions,
    tested=("an OpenAI-compatible endpoint",),
    estimate=embedder_estimate,
)
def load_embedder(source: ModelSource, settings: LoadOptions) -> ServedEmbedder:
    """Makes the client; the endpoint is first asked when the first text is encoded."""
    options = EmbedderOptions(**settings.options)
    model = source.name.removeprefix(SCHEME)
    if not model or not options.endpoint:
        raise UsageError(f"--model {SCHEME}NAME needs the model's name at the endpoint, and --endpoint URL")
    return ServedEmbedder(options.chat(model), options)
