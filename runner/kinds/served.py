"""A video model or an embedder behind an OpenAI-compatible endpoint (vLLM, TGI, hosted): frames go as images.

Where the server returns log-probabilities they are the score; where it does not, the answer's words are
(`prompts.read_answers`), and one that is no option is counted. `loglik` asks for the log-probabilities of the captions
themselves, after a test of the server. An embedder takes captions and clips as chat messages at `/v1/embeddings`, as
vLLM does.
"""

import math
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Literal

import numpy as np

from video_contrast.chat_model import Answer, AnswerStore, ChatModel, Cost, Message, MessagePart, RefusedRequest
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject, cache_dir
from video_contrast.question_text import Question
from video_contrast.runner.kinds import base, prompts, served_messages
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, ScoreResult, kind
from video_contrast.runner.kinds.chat_prompts import SWITCH
from video_contrast.runner.kinds.served_messages import EndpointOptions, Likelihood, LogprobsBy, SentClip

AT_ONCE = 16  # clips whose requests may be in flight together; the pace of the endpoint bounds the requests
ANSWER_TOKENS = 16  # "**", "The answer is (" or an empty block of thoughts may stand before an answer
# What is asked for with the tokens of an answer. A server that refuses one is asked for the next.
LOG_PROBABILITIES: list[JsonObject] = [{"logprobs": True, "top_logprobs": n} for n in (20, 10, 5)]
LOG_PROBABILITIES += [{"logprobs": True}, {}]


@dataclass
class ServedCost(Cost):
    """What asking cost, and of how many answers an alternative was not listed."""

    bounded_answers: int = 0


@dataclass(frozen=True, kw_only=True)
class ServedOptions(prompts.AskOptions, EndpointOptions):
    """How a served model scores captions."""

    endpoint: Annotated[str, "Base URL, such as http://localhost:8000/v1; empty: Inference Providers."] = ""
    norm: Annotated[Literal["token", "sum", "char"], "Of --scoring loglik: by what the sum is divided."] = "token"
    logprobs_by: Annotated[LogprobsBy, "Of --scoring loglik: how the server is asked for them."] = "prompt_logprobs"
    thinking_switch: Annotated[str, "Switch of its chat template, sent as false; none: is not sent."] = SWITCH
    answers: Annotated[str, "File that keeps the answers; empty: one a model in the cache."] = ""
    price_out: Annotated[float, "Price of a million tokens that are answered."] = 0.0


class ServedScorer(base.AskedScorer):
    """Scores captions of one clip by asking a served model for short, greedy answers with log-probabilities."""

    parallel = AT_ONCE

    def __init__(self, chat: ChatModel, options: ServedOptions | None = None) -> None:
        self.options = options or ServedOptions()
        loglik = self.options.scoring == "loglik"
        self.likelihood = Likelihood(chat, self.options.logprobs_by) if loglik else None
        chat.parameters = {"max_tokens": ANSWER_TOKENS, "temperature": 0.0} | chat.parameters
        chat.read = partial(_checked_answer, chat, chat.read)
        self.chat = chat
        self.together = self.options.scoring == "letter"
        self.canary: dict[str, float] | None = None
        self._agreed = False  # how many log-probabilities the server returns
        self._testing = threading.Lock()

    def score(
        self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> ScoreResult:
        """Scores, and their raw parts.

        An unparseable answer gives NaN for what it was to decide, with the part `unparseable`: the runner puts it below
        all others of its item.
        """
        sent_clip = SentClip.of(clip, self.options.frames_as)
        question = None if question is None else question.of_frames(0 if clip is None else len(clip.frames))
        cost = ServedCost()
        if self.likelihood is not None:
            with self._testing:  # once a process, before anything is scored
                if self.canary is None:
                    self.canary = self.likelihood.canary(sent_clip, captions)
            [text] = prompts.questions_about(captions, self.options, question=question)
            logs = self.likelihood.log_probabilities(sent_clip, captions, text, cost)
            result = prompts.likelihood_scores(logs, captions, self.options.norm)
        else:
            read = partial(self._read, sent_clip, cost)
            result = prompts.scores_by_answers(captions, self.options, read, position=position, question=question)
        return replace(result, counts={**asdict(cost), **result.counts})

    @property
    def facts(self) -> JsonObject:
        """The endpoint, and how it was asked."""
        return {
            **{name: getattr(self.options, name) for name in ("scoring", "rotations", "frames_as")},
            "endpoint": self.chat.where,
            "parameters": self.chat.parameters,
            "requests_in_flight": self.chat.pace.most if self.chat.pace else 0,
            **({"norm": self.options.norm, "canary": self.canary or {}} if self.likelihood else {}),
        }

    def rendered_input(
        self, clip: ClipFrames, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> JsonObject:
        """The first question about the captions; the server puts it into its chat template."""
        question = None if question is None else question.of_frames(len(clip.frames))
        questions = prompts.questions_about(captions, self.options, position=position, question=question)
        return super().rendered_input(clip, captions) | {"prompt": questions[0]}

    def _read(
        self, clip: SentClip, cost: ServedCost, questions: list[str], names: Sequence[str], options: prompts.OptionTexts
    ) -> list[np.ndarray | None]:
        """Log-probabilities of the answers `names`, one array a question about a clip; None: neither."""
        messages = [clip.question(question) for question in questions]
        with self._testing:
            if not self._agreed:
                self._agree(clip, messages[0], cost)
                self._agreed = True
        answers = clip.endpoint(self.chat).ask(messages, cost)
        self.in_steps = self.in_steps or any(answer["alternatives"] is None for answer in answers)
        rows, n_bounded = prompts.read_answers(answers, names, options)
        cost.add(bounded_answers=n_bounded)
        return rows

    def _agree(self, clip: SentClip, message: list[Message], cost: ServedCost) -> None:
        """Asks for as many log-probabilities as the server takes; what it has answered before is not asked again."""
        plain, refusal = self.chat.parameters, None
        for ask in (False, True):
            for way in LOG_PROBABILITIES:
                self.chat.parameters = plain | way
                chat = clip.endpoint(self.chat)
                try:
                    if chat.store.get(chat.key(message)) is not None or (ask and chat.ask([message], cost)):
                        return
                except RefusedRequest as error:
                    refusal = refusal or error
        raise refusal or AssertionError("each way was refused or returned")


def _checked_answer(chat: ChatModel, read: Callable[[object], Answer], output: object) -> Answer:
    """An answer that holds no impossible log-probabilities; -9999 is minus infinity here."""
    answer = read(output)
    for token, log in (pair for alternatives in answer.get("alternatives") or () for pair in alternatives):
        if not (math.isfinite(log) and log <= served_messages.ROUNDING):
            what = f"{log:g} is no log-probability (of {token!r})"
            raise VideoContrastError(f"{chat.model} at {chat.where}: {what}, so it cannot be scored by its answers")
    return answer


@kind(
    "served",
    family="pair",
    summary="a video model behind an OpenAI-compatible endpoint: --model served:NAME --endpoint URL",
    requirements="an endpoint (vLLM, TGI, hosted); the key in the variable that --api-key-env names",
    names=("served:",),
    asks=True,
    options=ServedOptions,
    tested=("an OpenAI-compatible endpoint",),
    estimate=served_messages.estimate,
    version="2",
)
def load(source: ModelSource, settings: LoadOptions) -> ServedScorer:
    """Makes the client; the endpoint is first asked when the first item is scored."""
    options = ServedOptions(**settings.options)
    if not (model := source.name.removeprefix("served:")):
        raise UsageError("--model served: needs the model's name at the endpoint, such as served:Qwen/Qwen3-VL-8B")
    path = options.answers or cache_dir() / "answers" / (re.sub(r"[^\w.-]+", "--", model) + ".jsonl")
    chat = options.chat(model, store=AnswerStore(path))
    if options.endpoint and options.thinking_switch != "none":  # behind Inference Providers unknown fields are refused
        chat.parameters = {"extra_body": {"chat_template_kwargs": {options.thinking_switch: False}}}
    return ServedScorer(chat, options)


SCHEME = "served-embedder:"
SAME = 0.999  # the least cosine of two vectors of one text: half precision in other batches
PROBES = ("a man opens a door", "a woman closes a window", "two dogs run on a beach")


@dataclass(frozen=True, kw_only=True)
class EmbedderOptions(EndpointOptions):
    """How a served embedder is asked."""

    texts_as: Annotated[Literal["messages", "input"], "How captions go out; input: without chat template."] = "messages"
    prompt_text: Annotated[str, "Instruction for captions."] = ""
    prompt_video: Annotated[str, "Instruction for clips."] = ""


class ServedEmbedder(base.DualEncoder):
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
    estimate=served_messages.embedder_estimate,
)
def load_embedder(source: ModelSource, settings: LoadOptions) -> ServedEmbedder:
    """Makes the client; the endpoint is first asked when the first text is encoded."""
    options = EmbedderOptions(**settings.options)
    model = source.name.removeprefix(SCHEME)
    if not model or not options.endpoint:
        raise UsageError(f"--model {SCHEME}NAME needs the model's name at the endpoint, and --endpoint URL")
    return ServedEmbedder(options.chat(model), options)
