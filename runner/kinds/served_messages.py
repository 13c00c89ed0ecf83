"""The messages to a served model (frames as images or as one video of JPEG pictures, with a text).

Log-probabilities of captions are asked for in two ways: `prompt_logprobs` (vLLM and what follows it) and `echo`
(Fireworks, Together, vLLM). The caption is the assistant's message; its tokens are found in the prompt by their text,
spaces apart: servers that decode tokens one by one lose the space before a word. The template brings the first token of
the prompt: no server adds one to a chat.
"""

import base64
import io
import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal

import numpy as np

from video_contrast.chat_model import Answer, AnswerStore, ChatModel, Cost, Message, MessagePart, TokenLog
from video_contrast.errors import VideoContrastError
from video_contrast.files import Json, JsonObject
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.loading import metadata_of

FramesAs = Literal["images", "video"]
# The frames of one video as vLLM takes them: pictures after one another, separated by commas.
VIDEO_OF_PICTURES = "data:video/jpeg;base64,"
QUALITY = 95  # of JPEG
STEPS = 100  # frames between two that are sent, in the count of the video that they are said to come from


@dataclass(frozen=True, kw_only=True)
class EndpointOptions:
    """The options of an endpoint, whatever it is asked for, and its prices."""

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
    body: Mapping[str, object] = field(default_factory=dict)  # the request beside the messages

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
    """The fields of a request for a clip that goes as one video (https://github.com/vllm-project/vllm/pull/40133).

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


LogprobsBy = Literal["prompt_logprobs", "echo"]
TOLERANCE = 0.05  # nats a token, by which two answers to the same may differ: rounding in half precision
SAID_TOLERANCE = 0.2  # nats a token between generating and reading: different kernels
ROUNDING = 1e-3  # above 0, of a log-probability that is 0
PROBE = "a person walks across a room"
SAID_TOKENS = 16
Token = tuple[str, float]


class Likelihood:
    """Asks for log-probabilities of captions, by two clients of one endpoint that share its store, pace and cost."""

    def __init__(self, chat: ChatModel, by: LogprobsBy) -> None:
        body: JsonObject = chat.parameters.get("extra_body", {})
        reading: JsonObject = {"temperature": 0.0, "max_tokens": 1}
        if by == "echo":
            reading |= {"logprobs": True, "extra_body": {**body, "echo": True}}
        else:
            of_vllm = {"prompt_logprobs": 0, "add_generation_prompt": False, "continue_final_message": True}
            reading |= {"extra_body": {**body, **of_vllm}}
        writing: JsonObject = {"temperature": 0.0, "max_tokens": SAID_TOKENS, "logprobs": True}
        writing |= {"extra_body": body} if body else {}
        # one returns the log-probabilities of its prompt, the other one answers and returns those of its answer
        self.reader = replace(chat, parameters=reading, read=read_prompt_tokens)
        self.writer = replace(chat, parameters=writing, read=read_answer_tokens)

    def log_probabilities(
        self, clip: SentClip, captions: Sequence[str], question: str, cost: Cost
    ) -> list[tuple[float, int] | None]:
        """Log-probability and number of tokens of each caption as the answer to a question; None where not found."""
        answers = clip.endpoint(self.reader).ask([_as_answer(clip, question, caption) for caption in captions], cost)
        tokens_of = [
            caption_tokens(answer["tokens"], text) or () for answer, text in zip(answers, captions, strict=True)
        ]
        logs = [[log for _, log in tokens] for tokens in tokens_of]
        return [(sum(own), len(own)) if own and all(map(is_log_probability, own)) else None for own in logs]

    def canary(self, clip: SentClip, captions: Sequence[str]) -> dict[str, float]:
        """Tests the server; nothing is kept, and nothing comes from the store.

        With a prefix cache values depended on what was asked before (https://github.com/vllm-project/vllm/pull/42245):
        so the same captions are asked for twice, one after the other and then all at once in the reverse order.
        Returns the largest differences, in nats a token. Raises VideoContrastError: the server does not return
        log-probabilities, or wrong ones.
        """
        texts = list(dict.fromkeys([*captions, PROBE]))
        first = [self._read(clip, text) for text in texts]
        with ThreadPoolExecutor(len(texts)) as pool:
            second = list(pool.map(lambda text: self._read(clip, text), texts[::-1]))[::-1]
        gap = 0.0
        for text, *answers in zip(texts, first, second, strict=True):
            before, after = (caption_tokens(tokens, text) for tokens in answers)
            if before is None or after is None:
                raise self._refusal(f"the tokens of its prompt do not hold the caption {text!r}")
            if [token for token, _ in before] != [token for token, _ in after]:
                raise self._refusal(f"it split {text!r} into other tokens when it was asked again")
            if wrong := [log for _, log in (*before, *after) if not is_log_probability(log)]:
                raise self._refusal(f"{wrong[0]:g} is no log-probability")
            differences = [abs(a - b) for (_, a), (_, b) in zip(before, after, strict=True)]
            if max(differences) > TOLERANCE:
                totals = " and ".join(f"{sum(log for _, log in tokens):.3f}" for tokens in (before, after))
                raise self._refusal(f"asked twice for {text!r} it returned {totals}, by the company of other requests")
            gap = max(gap, *differences)
        return {"largest_gap": gap, "tolerance": TOLERANCE, **self._answer_gap(clip)}

    def _answer_gap(self, clip: SentClip) -> dict[str, float]:
        """The distance of its own answer from its scores of the same text in the prompt."""
        answer = clip.endpoint(self.writer).ask_anew(clip.question(prompts.DESCRIBE))
        text = answer["text"].strip()
        own = [(token, _number(log)) for token, log in answer["tokens"] if token.strip()]
        echo = caption_tokens(self._read(clip, text), text) if text else None
        same: list[tuple[float, float]] = []
        for (a, own_log), (b, echo_log) in zip(own, [t for t in echo or () if t[0].strip()], strict=False):
            if a.strip() != b.strip():  # another split of the same text from here on
                break
            same.append((own_log, echo_log))
        if not same:
            return {"said_tokens": 0}
        gap = sum(abs(a - b) for a, b in same) / len(same)
        if not gap <= SAID_TOLERANCE:
            raise self._refusal(
                f"it said {text!r} with log-probabilities that differ by {gap:.2f} a token from those that it returns "
                "for the same text in its prompt"
            )
        return {"said_tokens": len(same), "said_gap": gap}

    def _read(self, clip: SentClip, text: str) -> list[Token]:
        answer = clip.endpoint(self.reader).ask_anew(_as_answer(clip, prompts.DESCRIBE, text))
        return [(str(token), _number(log)) for token, log in answer["tokens"]]

    def _refusal(self, why: str) -> VideoContrastError:
        return VideoContrastError(
            f"{self.reader.model} at {self.reader.endpoint}: {why}, so nothing was scored; serve it without prefix "
            "cache, or give --scoring yesno or letter"
        )


def caption_tokens(tokens: Sequence[TokenLog], caption: str) -> list[Token] | None:
    """The tokens that make up the last occurrence of a caption in a prompt.

    Returns its tokens; None where it is not there, or a token holds a part of it and something else. `tokens`: (text,
    log-probability) of every token of the prompt. `caption`: its text; spaces do not count.

    >>> caption_tokens([("Say", 0.0), (":", -1.0), (" a", -0.5), (" dog", -2.0), ("<end>", 0.0)], "a dog")
    [(' a', -0.5), (' dog', -2.0)]
    >>> caption_tokens([(":", 0.0), ("", -4.0), ("犬", -0.5)], "犬")
    [('', -4.0), ('犬', -0.5)]
    """
    letters = ["".join(str(token).split()) for token, _ in tokens]
    whole, text = "".join(letters), "".join(caption.split())
    begin = whole.rfind(text)
    if begin < 0 or not text:
        return None
    end, place = begin + len(text), 0
    inside: list[Token] = []
    for (token, log), part in zip(tokens, letters, strict=True):
        start, place = place, place + len(part)
        if place <= begin:  # servers give the pieces of a first letter no text, but for the last
            piece = token == "" and start == begin and not text[0].isascii()
            inside = [*inside, (token, _number(log))] if piece else []
            continue
        if start >= end:
            continue
        if place > end or start < begin:
            return None
        inside.append((str(token), _number(log)))
    return inside


def is_log_probability(log: float) -> bool:
    """Whether a number can be one: finite, no more than 0 up to rounding, and not what a server puts for infinity."""
    return math.isfinite(log) and prompts.CLAMPED < log <= ROUNDING


def read_prompt_tokens(output: Json) -> Answer:
    """The prompt's `tokens` of a response to either way. Raises VideoContrastError: the server returned none."""
    rows = getattr(output, "prompt_logprobs", None)
    choice = output.choices[0] if getattr(output, "choices", None) else None
    rows = rows or getattr(choice, "prompt_logprobs", None)
    if rows:
        first = (next(iter(row.values())) for row in rows if row)  # vLLM lists the token of the prompt first
        return {"tokens": [(entry.get("decoded_token") or "", entry["logprob"]) for entry in first]}
    prompt = getattr(output, "prompt", None)
    if prompt and isinstance(prompt, list) and isinstance(prompt[0], Mapping) and prompt[0].get("logprobs"):  # Together
        return {"tokens": _paired(prompt[0]["logprobs"])}
    tokens = _listed(getattr(choice, "logprobs", None))
    if len(tokens) > 1:  # one is the token that was generated
        usage = getattr(output, "usage", None)
        of_prompt = getattr(usage, "prompt_tokens", None) or 0
        counts_answer = len(tokens) == of_prompt + (getattr(usage, "completion_tokens", None) or 0)
        return {"tokens": tokens[:of_prompt] if counts_answer else tokens}  # generated text may repeat the caption
    raise VideoContrastError(
        "the server does not return the log-probabilities of its prompt, which --scoring loglik needs; give "
        "--logprobs-by echo or prompt_logprobs, whichever it knows, or --scoring yesno or letter"
    )


def read_answer_tokens(output: Json) -> Answer:
    """The answer's text, and its tokens with their log-probabilities."""
    if not (choices := getattr(output, "choices", None)):
        raise ValueError("the server returned half an answer")
    return {"text": choices[0].message.content or "", "tokens": _listed(getattr(choices[0], "logprobs", None))}


def _listed(logprobs: Json) -> list[TokenLog]:
    """Tokens of either form: `content` of chat completions, `tokens` and `token_logprobs` of completions."""
    if content := getattr(logprobs, "content", None):
        return [(entry.token, entry.logprob) for entry in content]
    return _paired({name: getattr(logprobs, name, None) for name in ("tokens", "token_logprobs")})


def _paired(lists: Mapping[str, Json]) -> list[TokenLog]:
    return list(zip(lists.get("tokens") or [], lists.get("token_logprobs") or [], strict=False))


def _number(log: float | None) -> float:
    """A log-probability; NaN where the server has none, as of the first token."""
    return math.nan if log is None else float(log)


def _as_answer(clip: SentClip, question: str, caption: str) -> list[Message]:
    return [*clip.question(question), {"role": "assistant", "content": caption.strip()}]
