"""A video model behind an OpenAI-compatible endpoint (vLLM, TGI, hosted): frames go as images, answers are kept.

`yesno` asks once a caption, `letter` once an item (or once a rotation). Where the server returns log-probabilities
they are the score; where it does not, the exact answer is, and one that is no option is counted and is wrong. `loglik`
asks for the log-probabilities of the captions themselves (`served_likelihood`), after a test of the server.
"""

from __future__ import annotations

import math
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Literal

import numpy as np

from video_contrast.chat_model import Answer, AnswerStore, ChatModel, Cost
from video_contrast.errors import UsageError
from video_contrast.files import JsonObject, cache_dir
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.base import (
    ClipFrames,
    KindOption,
    LoadOptions,
    ModelSource,
    PairScorer,
    Question,
    ScoreResult,
    kind,
)
from video_contrast.runner.kinds.chat_prompts import SWITCH, THINK
from video_contrast.runner.kinds.served_cost import PRICES, estimate
from video_contrast.runner.kinds.served_likelihood import Likelihood, LogprobsBy, is_log_probability
from video_contrast.runner.kinds.served_messages import FramesAs, SentClip
from video_contrast.runner.kinds.thinking import END_OF_THINKING

Scoring = Literal["yesno", "letter", "loglik"]
Norm = Literal["token", "sum", "char"]
AT_ONCE = 16  # clips whose requests may be in flight together; the pace of the endpoint bounds the requests
MISSING = -100.0  # the log-probability of an answer that is not among the server's alternatives


class ServedScorer(PairScorer):
    """Scores captions of one clip by asking a served model.

    Args:
        chat: the endpoint; its `parameters` are set here to short, greedy answers with log-probabilities.
        scoring: "letter", "yesno" or "loglik".
        rotations: "none", "rotate" or "latin" (of letter), as for local generative models.
        seed: of latin.
        frames_as: "images", or "video" for servers that take vLLM's video of pictures.
        norm: of loglik: by tokens, not at all, or by characters.
        logprobs_by: of loglik: how the server is asked for log-probabilities of its prompt.
    """

    parallel = AT_ONCE

    def __init__(
        self,
        chat: ChatModel,
        scoring: Scoring = "yesno",
        rotations: prompts.Rotations = "none",
        seed: int = 0,
        *,
        frames_as: FramesAs = "images",
        norm: Norm = "token",
        logprobs_by: LogprobsBy = "prompt_logprobs",
    ) -> None:
        if scoring not in ("yesno", "letter", "loglik"):
            raise UsageError(f"--scoring {scoring!r} is not one of yesno, letter, loglik")
        self.likelihood = Likelihood.of(chat, logprobs_by) if scoring == "loglik" else None
        chat.parameters = {"max_tokens": 5, "temperature": 0.0, "logprobs": True, "top_logprobs": 20} | chat.parameters
        self.chat = chat
        self.scoring = scoring
        self.rotations = rotations
        self.seed = seed
        self.together = scoring == "letter"
        self.frames_as = frames_as
        self.norm = norm
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
        sent = SentClip.of(clip, self.frames_as)
        question = None if question is None else question.of_frames(0 if clip is None else len(clip.frames))
        cost = Cost()
        if self.likelihood is not None:
            result = self._loglik(self.likelihood, sent, captions, question, cost=cost)
        elif question is not None and question.is_yes_no(captions):
            result = self._answered(sent, captions, question, cost)
        elif question is None and self.scoring == "yesno":
            result = self._yesno(sent, captions, cost)
        else:
            result = self._letter(sent, captions, position, question, cost=cost)
        return replace(result, counts={**asdict(cost), **result.counts})

    @property
    def facts(self) -> JsonObject:
        """The endpoint, and how it was asked."""
        return {
            "endpoint": self.chat.endpoint or "Hugging Face Inference Providers",
            "scoring": self.scoring,
            "rotations": self.rotations,
            "parameters": self.chat.parameters,
            "frames_as": self.frames_as,
            "requests_in_flight": self.chat.pace.most if self.chat.pace else 0,
            **({"norm": self.norm, "canary": self.canary or {}} if self.likelihood else {}),
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
        scores: list[float] = []
        parts: list[dict[str, float]] = []
        for caption, tokens in zip(captions, likelihood.log_probabilities(sent, captions, text, cost), strict=True):
            if not tokens or not all(is_log_probability(log) for _, log in tokens):
                scores.append(math.nan)
                parts.append({"unparseable": 1.0})
                continue
            total = sum(log for _, log in tokens)
            scores.append(total / {"sum": 1, "token": len(tokens), "char": len(caption)}[self.norm])
            parts.append({"sum": total, "n_tokens": float(len(tokens)), "n_chars": float(len(caption))})
        return ScoreResult(np.array(scores), parts, {"unparseable": sum("unparseable" in part for part in parts)})

    def _asked(self, sent: SentClip, questions: Sequence[str], cost: Cost) -> list[Answer]:
        """Answers to questions about a clip."""
        answers = sent.endpoint(self.chat).ask([sent.question(question) for question in questions], cost)
        self.in_steps = self.in_steps or any(answer["logprobs"] is None for answer in answers)
        return answers

    def _yesno(self, sent: SentClip, captions: Sequence[str], cost: Cost) -> ScoreResult:
        answers = self._asked(sent, [prompts.YESNO.format(caption=caption) for caption in captions], cost)
        scores: list[float] = []
        parts: list[dict[str, float]] = []
        for answer in answers:
            logs = _logs(answer, (prompts.YES, prompts.NO))
            if logs is None:
                scores.append(math.nan)
                parts.append({"unparseable": 1.0})
            else:
                yes, no = logs.tolist()
                scores.append(1.0 / (1.0 + math.exp(no - yes)) if no - yes < 700 else 0.0)
                parts.append({"yes": yes, "no": no})
        return ScoreResult(np.array(scores), parts, {"unparseable": sum("unparseable" in part for part in parts)})

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
            rotations=self.rotations,
            position=position,
            seed=self.seed,
            question=question,
        )


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
    options=(
        KindOption("endpoint", str, "", "Base URL, such as http://localhost:8000/v1; empty: Inference Providers."),
        KindOption("api_key_env", str, "HF_TOKEN", "Environment variable that holds the key."),
        KindOption("scoring", str, "yesno", "How a caption is scored.", choices=("yesno", "letter", "loglik")),
        KindOption(
            "norm", str, "token", "Of --scoring loglik: by what the sum is divided.", choices=("token", "sum", "char")
        ),
        KindOption(
            "logprobs_by",
            str,
            "prompt_logprobs",
            "Of --scoring loglik: how the server is asked for them.",
            choices=("prompt_logprobs", "echo"),
        ),
        KindOption(
            "frames_as", str, "images", "How frames are sent; video: as vLLM takes them.", choices=("images", "video")
        ),
        KindOption(
            "rotations", str, "none", "Orders of the options of --scoring letter.", choices=("none", "rotate", "latin")
        ),
        KindOption("option_seed", int, 0, "Seed of --rotations latin."),
        KindOption("thinking_switch", str, SWITCH, "Switch of its chat template, sent as false; none: is not sent."),
        KindOption("concurrency", int, 0, "Requests in flight; 0: more while latency holds.", numeric=False),
        KindOption("retries", int, 5, "How often a failing request is sent again.", numeric=False),
        KindOption("answers", str, "", "File that keeps the answers; empty: one a model in the cache.", numeric=False),
        *PRICES,
    ),
    tested=("an OpenAI-compatible endpoint",),
    estimate=estimate,
)
def load(source: ModelSource, settings: LoadOptions) -> ServedScorer:
    """Makes the client; the endpoint is first asked when the first item is scored."""
    options = settings.options
    model = source.name.removeprefix("served:")
    if not model:
        raise UsageError("--model served: needs the model's name at the endpoint, such as served:Qwen/Qwen3-VL-8B")
    path = options.get("answers") or cache_dir() / "answers" / (re.sub(r"[^\w.-]+", "--", model) + ".jsonl")
    chat = ChatModel(
        model,
        endpoint=options.get("endpoint") or None,
        api_key=os.environ.get(str(options.get("api_key_env", "HF_TOKEN"))) or None,
        store=AnswerStore(path),
        concurrency=options.get("concurrency", 0),
        retries=options.get("retries", 5),
    )
    switch = options.get("thinking_switch", SWITCH)
    if options.get("endpoint") and switch != "none":  # the providers behind Inference Providers refuse unknown fields
        chat.parameters = {"extra_body": {"chat_template_kwargs": {switch: False}}}
    return ServedScorer(
        chat,
        options.get("scoring", "yesno"),
        options.get("rotations", "none"),
        int(options.get("option_seed", 0)),
        frames_as=options.get("frames_as", "images"),
        norm=options.get("norm", "token"),
        logprobs_by=options.get("logprobs_by", "prompt_logprobs"),
    )
