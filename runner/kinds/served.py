"""A video model behind an OpenAI-compatible endpoint (vLLM, TGI, hosted): frames go as images.

Where the server returns log-probabilities they are the score; where it does not, the answer's words are
(`prompts.read_answers`), and one that is no option is counted. `loglik` asks for the log-probabilities of the captions
themselves, after a test of the server.
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
from video_contrast.runner.kinds import base, prompts, served_messages
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, ModelSource, ScoreResult, kind
from video_contrast.runner.kinds.chat_prompts import SWITCH
from video_contrast.runner.kinds.served_messages import EndpointOptions, Likelihood, LogprobsBy, SentClip
from video_contrast.runner.price import estimate

AT_ONCE = 16  # clips whose requests may be in flight together; the pace of the endpoint bounds the requests
ANSWER_TOKENS = 16  # "**", "The answer is (" or an empty block of thoughts may stand before an answer
# Parameters that ask for the tokens of an answer with alternatives. A server that refuses one is asked for the next.
LOG_PROBABILITIES: list[JsonObject] = [{"logprobs": True, "top_logprobs": n} for n in (20, 10, 5)]
LOG_PROBABILITIES += [{"logprobs": True}, {}]


@dataclass
class ServedCost(Cost):
    """The cost of asking, and the number of answers of which an alternative was not listed."""

    bounded_answers: int = 0


@dataclass(frozen=True, kw_only=True)
class ServedOptions(prompts.AskOptions, EndpointOptions):
    """The options of a served model that scores captions."""

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
    estimate=estimate,
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
