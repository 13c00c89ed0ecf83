"""A video model behind an OpenAI-compatible endpoint (vLLM, TGI, hosted): frames go as images, answers are kept.

`yesno` asks once a caption, `letter` once an item (or once a rotation). Where the server returns log-probabilities
they are the score; where it does not, the exact answer is, and one that is no option is counted and is wrong. `loglik`
asks for the log-probabilities of the captions themselves (`served_likelihood`), after a test of the server.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Literal

import numpy as np

from video_contrast.chat_model import Answer, AnswerStore, ChatModel, Cost
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject, cache_dir
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import (
    ClipFrames,
    LoadOptions,
    ModelSource,
    PairScorer,
    Question,
    ScoreResult,
    kind,
)
from video_contrast.runner.kinds.chat_prompts import SWITCH, THINK
from video_contrast.runner.kinds.registry import kind_options
from video_contrast.runner.kinds.served_cost import estimate
from video_contrast.runner.kinds.served_likelihood import ROUNDING, Likelihood, LogprobsBy, is_log_probability
from video_contrast.runner.kinds.served_messages import EndpointOptions, SentClip
from video_contrast.runner.kinds.thinking import END_OF_THINKING

AT_ONCE = 16  # clips whose requests may be in flight together; the pace of the endpoint bounds the requests
MISSING = -100.0  # the log-probability of an answer that is not among the server's alternatives


@dataclass(frozen=True, kw_only=True)
class ServedOptions(EndpointOptions):
    """How a served model scores captions."""

    endpoint: Annotated[str, "Base URL, such as http://localhost:8000/v1; empty: Inference Providers."] = ""
    scoring: Annotated[Literal["yesno", "letter", "loglik"], "How a caption is scored."] = "yesno"
    norm: Annotated[Literal["token", "sum", "char"], "Of --scoring loglik: by what the sum is divided."] = "token"
    logprobs_by: Annotated[LogprobsBy, "Of --scoring loglik: how the server is asked for them."] = "prompt_logprobs"
    rotations: Annotated[prompts.Rotations, "Orders of the options of --scoring letter."] = "none"
    option_seed: Annotated[int, "Seed of --rotations latin."] = 0
    thinking_switch: Annotated[str, "Switch of its chat template, sent as false; none: is not sent."] = SWITCH
    answers: Annotated[str, "File that keeps the answers; empty: one a model in the cache."] = ""
    price_out: Annotated[float, "Price of a million tokens that are answered."] = 0.0


class ServedScorer(PairScorer):
    """Scores captions of one clip by asking a served model.

    Args:
        chat: the endpoint; its `parameters` are set here to short, greedy answers with log-probabilities.
        options: how it is asked.
    """

    parallel = AT_ONCE

    def __init__(self, chat: ChatModel, options: ServedOptions | None = None) -> None:
        self.options = options or ServedOptions()
        loglik = self.options.scoring == "loglik"
        self.likelihood = Likelihood.of(chat, self.options.logprobs_by) if loglik else None
        chat.parameters = {"max_tokens": 5, "temperature": 0.0, "logprobs": True, "top_logprobs": 20} | chat.parameters
        chat.read = _refusing(chat)
        self.chat = chat
        self.together = self.options.scoring == "letter"
        self.canary: dict[str, float] | None = None
        self._testing = threading.Lock()

    def score(
        self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> ScoreResult:
        """Scores of `captions` for one clip, and their raw parts.

        Args:
            clip: the frames as sampled; None asks without images (the blind control).
            captions: k texts.
            position: the number of the item in its set (for `latin`).
            question: what the captions answer; it is asked with its own prompt, by yes or no or by letter.

        Returns:
            float64[k], and k dicts of parts. An unparseable answer gives NaN for what it was to decide, with the part
            `unparseable` = 1: the runner counts the item as wrong.
        """
        sent = SentClip.of(clip, self.options.frames_as)
        question = None if question is None else question.of_frames(0 if clip is None else len(clip.frames))
        cost = Cost()
        if self.likelihood is not None:
            result = self._loglik(self.likelihood, sent, captions, question, cost=cost)
        elif question is not None and question.is_yes_no(captions):
            result = self._answered(sent, captions, question, cost)
        elif question is None and self.options.scoring == "yesno":
            result = self._yesno(sent, captions, cost)
        else:
            result = self._letter(sent, captions, position, question, cost=cost)
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

    def _loglik(
        self,
        likelihood: Likelihood,
        sent: SentClip,
        captions: Sequence[str],
        question: Question | None,
        *,
        cost: Cost,
    ) -> ScoreResult:
        with self._testing:  # once a process, before anything is scored
            if self.canary is None:
                self.canary = likelihood.canary(sent, captions)
        text = prompts.DESCRIBE if question is None else question.text
        scored: list[tuple[float, dict[str, float]] | None] = []
        for caption, tokens in zip(captions, likelihood.log_probabilities(sent, captions, text, cost), strict=True):
            if not tokens or not all(is_log_probability(log) for _, log in tokens):
                scored.append(None)
                continue
            total = sum(log for _, log in tokens)
            per = {"sum": 1, "token": len(tokens), "char": len(caption)}[self.options.norm]
            scored.append((total / per, {"sum": total, "n_tokens": len(tokens), "n_chars": len(caption)}))
        return _result(scored)

    def _asked(self, sent: SentClip, questions: Sequence[str], cost: Cost) -> list[Answer]:
        """Answers to questions about a clip."""
        answers = sent.endpoint(self.chat).ask([sent.question(question) for question in questions], cost)
        self.in_steps = self.in_steps or any(answer["logprobs"] is None for answer in answers)
        return answers

    def _yesno(self, sent: SentClip, captions: Sequence[str], cost: Cost) -> ScoreResult:
        answers = self._asked(sent, [prompts.YESNO.format(caption=caption) for caption in captions], cost)
        scored: list[tuple[float, dict[str, float]] | None] = []
        for answer in answers:
            logs = _logs(answer, (prompts.YES, prompts.NO))
            if logs is None:
                scored.append(None)
                continue
            yes, no = logs.tolist()
            scored.append((1.0 / (1.0 + math.exp(no - yes)) if no - yes < 700 else 0.0, {"yes": yes, "no": no}))
        return _result(scored)

    def _answered(self, sent: SentClip, captions: Sequence[str], question: Question, cost: Cost) -> ScoreResult:
        """One answer to a question of yes or no."""
        [answer] = self._asked(sent, [question.prompt_for(captions)], cost)
        logs = _logs(answer, (prompts.YES, prompts.NO))
        return prompts.yes_no_scores(captions, None if logs is None else logs.tolist())

    def _letter(
        self, sent: SentClip, captions: Sequence[str], position: int, question: Question | None, *, cost: Cost
    ) -> ScoreResult:
        letters = [(c, f" {c}") for c in prompts.LETTERS[: len(captions)]]

        def log_probabilities(questions: list[str]) -> list[np.ndarray | None]:
            return [_logs(answer, letters) for answer in self._asked(sent, questions, cost)]

        return prompts.score_letters(
            captions,
            log_probabilities,
            rotations=self.options.rotations,
            position=position,
            seed=self.options.option_seed,
            question=question,
        )


def _refusing(chat: ChatModel) -> Callable[[object], Answer]:
    """The `read` of an endpoint, which keeps no answer with alternatives whose log-probabilities cannot be some.

    -9999 can be one here: so servers write minus infinity, for an alternative that cannot be.
    """
    read = chat.read

    def checked(output: object) -> Answer:
        answer = read(output)
        for token, log in answer.get("logprobs") or ():
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


def _logs(answer: Answer, forms: Sequence[tuple[str, ...]]) -> np.ndarray | None:
    """Log-probability of each of the answers that were asked for, whose forms are given.

    They are read from the first token's alternatives, or else from the exact answer. None where neither is one of
    them: the alternatives hold them with almost no probability (a model that thinks aloud begins with "<think>").
    """
    alternatives = answer["logprobs"]
    if alternatives:
        by_answer = [[log for token, log in alternatives if token in texts] for texts in forms]
        logs = np.array([float(np.logaddexp.reduce(terms)) if terms else MISSING for terms in by_answer])
        if np.logaddexp.reduce(logs) >= math.log(prompts.MIN_MASS):
            return logs
    answered = re.sub(rf"^\s*{THINK}.*?{END_OF_THINKING}", "", answer["text"], flags=re.DOTALL)
    text = re.sub(r"^[\s\W]+|[\s\W]+$", "", answered).lower()
    exact = [text in {form.lower() for form in texts} for texts in forms]
    return np.where(exact, 0.0, MISSING) if any(exact) else None


@kind(
    "served",
    family="pair",
    summary="a video model behind an OpenAI-compatible endpoint: --model served:NAME --endpoint URL",
    requirements="an endpoint (vLLM, TGI, hosted); the key in the variable that --api-key-env names",
    names=("served:",),
    asks=True,
    options=kind_options(ServedOptions),
    tested=("an OpenAI-compatible endpoint",),
    estimate=estimate,
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
