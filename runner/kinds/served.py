"""A video model behind an OpenAI-compatible endpoint (vLLM, TGI, hosted): frames go as images, answers are kept.

`yesno` asks once a caption, `letter` once an item (or once a rotation). Where the server returns log-probabilities
they are the score; where it does not, the answer's words are (`served_reading`), and one that is no option is counted.
`loglik` asks for the log-probabilities of the captions themselves (`served_likelihood`), after a test of the server.
"""

import math
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Annotated, Literal

import numpy as np

from video_contrast.chat_model import Answer, AnswerStore, ChatModel, Cost, Message, RefusedRequest
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject, cache_dir
from video_contrast.question_text import Question
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import AskedScorer, ClipFrames, LoadOptions, ModelSource, ScoreResult, kind
from video_contrast.runner.kinds.chat_prompts import SWITCH
from video_contrast.runner.kinds.served_likelihood import ROUNDING, Likelihood, LogprobsBy, is_log_probability
from video_contrast.runner.kinds.served_messages import EndpointOptions, SentClip, estimate
from video_contrast.runner.kinds.served_reading import read_answers

AT_ONCE = 16  # clips whose requests may be in flight together; the pace of the endpoint bounds the requests
ANSWER_TOKENS = 16  # "**", "The answer is (" or an empty block of thoughts may stand before an answer
# What is asked for with the tokens of an answer. A server that refuses one is asked for the next.
LOG_PROBABILITIES: tuple[JsonObject, ...] = (
    {"logprobs": True, "top_logprobs": 20},
    {"logprobs": True, "top_logprobs": 10},
    {"logprobs": True, "top_logprobs": 5},
    {"logprobs": True},
    {},
)


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


class ServedScorer(AskedScorer):
    """Scores captions of one clip by asking a served model.

    `chat`: the endpoint; its `parameters` are set here to short, greedy answers with log-probabilities.
    """

    parallel = AT_ONCE

    def __init__(self, chat: ChatModel, options: ServedOptions | None = None) -> None:
        self.options = options or ServedOptions()
        loglik = self.options.scoring == "loglik"
        self.likelihood = Likelihood.of(chat, self.options.logprobs_by) if loglik else None
        chat.parameters = {"max_tokens": ANSWER_TOKENS, "temperature": 0.0} | chat.parameters
        chat.read = _refusing(chat)
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
        sent = SentClip.of(clip, self.options.frames_as)
        question = None if question is None else question.of_frames(0 if clip is None else len(clip.frames))
        cost = ServedCost()
        if self.likelihood is not None:
            result = self._loglik(self.likelihood, sent, captions, question, cost=cost)
        else:
            read = partial(self._read, sent, cost)
            result = prompts.scores_by_answers(captions, self.options, read, position=position, question=question)
        return replace(result, counts={**asdict(cost), **result.counts})

    @property
    def facts(self) -> JsonObject:
        """The endpoint, and how it was asked."""
        return {
            "endpoint": self.chat.where,
            "scoring": self.options.scoring,
            "rotations": self.options.rotations,
            "parameters": self.chat.parameters,
            "frames_as": self.options.frames_as,
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

    def _loglik(
        self,
        likelihood: Likelihood,
        sent: SentClip,
        captions: Sequence[str],
        question: Question | None,
        *,
        cost: ServedCost,
    ) -> ScoreResult:
        with self._testing:  # once a process, before anything is scored
            if self.canary is None:
                self.canary = likelihood.canary(sent, captions)
        [text] = prompts.questions_about(captions, self.options, question=question)
        scored: list[tuple[float, dict[str, float]] | None] = []
        for caption, tokens in zip(captions, likelihood.log_probabilities(sent, captions, text, cost), strict=True):
            if not tokens or not all(is_log_probability(log) for _, log in tokens):
                scored.append(None)
                continue
            total = sum(log for _, log in tokens)
            per = {"sum": 1, "token": len(tokens), "char": len(caption)}[self.options.norm]
            scored.append((total / per, {"sum": total, "n_tokens": len(tokens), "n_chars": len(caption)}))
        return _result(scored)

    def _read(
        self,
        sent: SentClip,
        cost: ServedCost,
        questions: list[str],
        names: Sequence[str],
        options: Sequence[Sequence[str]],
    ) -> list[np.ndarray | None]:
        """Log-probabilities of the answers `names`, one array a question about a clip; None: neither."""
        messages = [sent.question(question) for question in questions]
        with self._testing:
            if not self._agreed:
                self._agree(sent, messages[0], cost)
                self._agreed = True
        answers = sent.endpoint(self.chat).ask(messages, cost)
        self.in_steps = self.in_steps or any(answer["alternatives"] is None for answer in answers)
        read, bounded = read_answers(answers, names, options)
        cost.add(bounded_answers=bounded)
        return read

    def _agree(self, sent: SentClip, message: list[Message], cost: ServedCost) -> None:
        """Asks for as many log-probabilities as the server takes; what it has answered before is not asked again."""
        plain, refused = self.chat.parameters, None
        for ask in (False, True):
            for way in LOG_PROBABILITIES:
                self.chat.parameters = plain | way
                chat = sent.endpoint(self.chat)
                try:
                    if chat.store.get(chat.key(message)) is not None or (ask and chat.ask([message], cost)):
                        return
                except RefusedRequest as error:
                    refused = refused or error
        raise refused or AssertionError("each way was refused or returned")


def _refusing(chat: ChatModel) -> Callable[[object], Answer]:
    """The `read` of an endpoint, which keeps no answer with alternatives whose log-probabilities cannot be some.

    -9999 can be one here: so servers write minus infinity, for an alternative that cannot be.
    """
    read = chat.read

    def checked(output: object) -> Answer:
        answer = read(output)
        for token, log in (pair for alternatives in answer.get("alternatives") or () for pair in alternatives):
            if not (math.isfinite(log) and log <= ROUNDING):
                raise VideoContrastError(
                    f"{chat.model} at {chat.where}: {log:g} is no "
                    f"log-probability (of {token!r}), so it cannot be scored by its answers"
                )
        return answer

    return checked


def _result(scored: Sequence[tuple[float, dict[str, float]] | None]) -> ScoreResult:
    """Scores and parts of captions; None is an answer that says nothing of its caption."""
    rows = [(math.nan, {"unparseable": 1.0}) if row is None else row for row in scored]
    parts = [{name: float(value) for name, value in part.items()} for _, part in rows]
    return ScoreResult(np.array([score for score, _ in rows]), parts, {"unparseable": list(scored).count(None)})


@kind(
    "served",
    family="pair",
    summary="a video model behind an OpenAI-compatible endpoint: --model served:NAME --endpoint URL",
    requirements="an endpoint (vLLM, TGI, hosted); the key in the variable that --api-key-env names",
    names=("served:",),
    asks=True,
    options=ServedOptions,
    tested=("an OpenAI-compatible endpoint",),
    estimate=estimate,
    version="2",
)
def load(source: ModelSource, settings: LoadOptions) -> ServedScorer:
    """Makes the client; the endpoint is first asked when the first item is scored."""
    options = ServedOptions(**settings.options)
    model = source.name.removeprefix("served:")
    if not model:
        raise UsageError("--model served: needs the model's name at the endpoint, such as served:Qwen/Qwen3-VL-8B")
    path = options.answers or cache_dir() / "answers" / (re.sub(r"[^\w.-]+", "--", model) + ".jsonl")
    chat = options.chat(model, store=AnswerStore(path))
    if options.endpoint and options.thinking_switch != "none":  # behind Inference Providers unknown fields are refused
        chat.parameters = {"extra_body": {"chat_template_kwargs": {options.thinking_switch: False}}}
    return ServedScorer(chat, options)
