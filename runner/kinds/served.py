"""A video model behind an OpenAI-compatible endpoint (vLLM, TGI, hosted): frames go as images, answers are kept.

`yesno` asks once a caption, `letter` once an item (or once a rotation). Where the server gives log-probabilities
they are the score; where it does not, the exact answer is, and one that is no option is counted and is wrong.
"""

from __future__ import annotations

import base64
import io
import math
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any, Literal

import numpy as np

from video_contrast.chat_model import AnswerStore, ChatModel
from video_contrast.errors import UsageError
from video_contrast.files import cache_dir
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
from video_contrast.runner.kinds.chat_prompts import SWITCH

Scoring = Literal["yesno", "letter"]
MISSING = -100.0  # the log-probability of an answer that is not among the server's alternatives


class ServedScorer(PairScorer):
    """Scores captions of one clip by asking a served model.

    Args:
        chat: the endpoint; its `parameters` are set here to short, greedy answers with log-probabilities.
        scoring: "letter" or "yesno".
        rotations: "none", "rotate" or "latin" (of letter), as for local generative models.
        seed: of latin.
    """

    def __init__(
        self,
        chat: ChatModel,
        scoring: Scoring = "yesno",
        rotations: prompts.Rotations = "none",
        seed: int = 0,
    ) -> None:
        if scoring not in ("yesno", "letter"):
            raise UsageError(f"--scoring {scoring!r} is not one of yesno, letter (a served model has no loglik)")
        chat.parameters = {"max_tokens": 5, "temperature": 0.0, "logprobs": True, "top_logprobs": 20} | chat.parameters
        self.chat = chat
        self.scoring = scoring
        self.rotations = rotations
        self.seed = seed
        self.together = scoring == "letter"

    def score(
        self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> ScoreResult:
        """Scores of `captions` for one clip, and their raw parts.

        Args:
            clip: the frames as sampled, sent as images; None asks without images (the blind control).
            captions: k texts.
            position: the number of the item in its set (for `latin`).
            question: what the captions answer; it is asked with its own prompt, by yes or no or by letter.

        Returns:
            float64[k], and k dicts of parts. An unparseable answer gives NaN for what it was to decide, with the part
            `unparseable` = 1: the runner counts the item as wrong.
        """
        images = [] if clip is None else [_image(frame) for frame in clip.frames]
        question = None if question is None else question.of_frames(len(images))
        before = asdict(self.chat.cost)
        if question is not None and question.is_yes_no(captions):
            result = self._answered(images, captions, question)
        elif question is None and self.scoring == "yesno":
            result = self._yesno(images, captions)
        else:
            result = self._letter(images, captions, position, question)
        cost = {name: number - before[name] for name, number in asdict(self.chat.cost).items()}
        return replace(result, counts={**cost, **result.counts})

    @property
    def facts(self) -> dict[str, Any]:
        """The endpoint, and how it was asked."""
        return {
            "endpoint": self.chat.endpoint or "Hugging Face Inference Providers",
            "scoring": self.scoring,
            "rotations": self.rotations,
            "parameters": self.chat.parameters,
        }

    def _yesno(self, images: list[Any], captions: Sequence[str]) -> ScoreResult:
        answers = self.chat.ask([_message(images, prompts.YESNO.format(caption=c)) for c in captions])
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

    def _answered(self, images: list[Any], captions: Sequence[str], question: Question) -> ScoreResult:
        """One answer to a question of yes or no."""
        logs = _logs(self.chat.ask([_message(images, question.asked(captions))])[0], (prompts.YES, prompts.NO))
        return prompts.yes_no_scores(captions, None if logs is None else logs.tolist())

    def _letter(
        self, images: list[Any], captions: Sequence[str], position: int, question: Question | None
    ) -> ScoreResult:
        letters = [(c, f" {c}") for c in prompts.LETTERS[: len(captions)]]

        def log_probabilities(questions: list[str]) -> list[np.ndarray | None]:
            answers = self.chat.ask([_message(images, question) for question in questions])
            return [_logs(answer, letters) for answer in answers]

        return prompts.score_letters(
            captions,
            log_probabilities,
            rotations=self.rotations,
            position=position,
            seed=self.seed,
            question=question,
        )


def _logs(answer: dict[str, Any], forms: Sequence[tuple[str, ...]]) -> np.ndarray | None:
    """Log-probability of each of the answers that were asked for, whose forms are given.

    They are read from the first token's alternatives, or else from the exact answer. None where neither is one of
    them: the alternatives hold them with almost no probability (a model that thinks aloud begins with "<think>").
    """
    if answer["logprobs"]:
        found = [[log for token, log in answer["logprobs"] if token in of_one] for of_one in forms]
        logs = np.array([float(np.logaddexp.reduce(one)) if one else MISSING for one in found])
        if np.logaddexp.reduce(logs) >= math.log(prompts.MIN_MASS):
            return logs
    text = re.sub(r"^[\s\W]+|[\s\W]+$", "", answer["text"]).lower()
    exact = [text in {form.lower() for form in of_one} for of_one in forms]
    return np.where(exact, 0.0, MISSING) if any(exact) else None


def _message(images: list[dict[str, Any]], question: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [*images, {"type": "text", "text": question}]}]


def _image(frame: np.ndarray) -> dict[str, Any]:
    from PIL import Image

    sink = io.BytesIO()
    Image.fromarray(frame).save(sink, format="PNG")
    url = "data:image/png;base64," + base64.b64encode(sink.getvalue()).decode("ascii")
    return {"type": "image_url", "image_url": {"url": url}}


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
        KindOption("scoring", str, "yesno", "How a caption is scored.", choices=("yesno", "letter")),
        KindOption(
            "rotations", str, "none", "Orders of the options of --scoring letter.", choices=("none", "rotate", "latin")
        ),
        KindOption("option_seed", int, 0, "Seed of --rotations latin."),
        KindOption("thinking_switch", str, SWITCH, "Switch of its chat template, sent as false; none: is not sent."),
        KindOption("concurrency", int, 4, "Requests in flight at most."),
        KindOption("retries", int, 5, "How often a failing request is sent again."),
        KindOption("answers", str, "", "File that keeps the answers; empty: one a model in the cache."),
    ),
    tested=("an OpenAI-compatible endpoint",),
)
def load(source: ModelSource, settings: LoadOptions) -> ServedScorer:
    """Makes the client; the endpoint is first asked when the first item is scored."""
    given = settings.options
    model = source.name.removeprefix("served:")
    if not model:
        raise UsageError("--model served: needs the model's name at the endpoint, such as served:Qwen/Qwen3-VL-8B")
    path = given.get("answers") or cache_dir() / "answers" / (re.sub(r"[^\w.-]+", "--", model) + ".jsonl")
    chat = ChatModel(
        model,
        endpoint=given.get("endpoint") or None,
        api_key=os.environ.get(str(given.get("api_key_env", "HF_TOKEN"))) or None,
        store=AnswerStore(path),
        concurrency=given.get("concurrency", 4),
        retries=given.get("retries", 5),
    )
    switch = given.get("thinking_switch", SWITCH)
    if given.get("endpoint") and switch != "none":  # the providers behind Inference Providers refuse unknown fields
        chat.parameters = {"extra_body": {"chat_template_kwargs": {switch: False}}}
    return ServedScorer(
        chat, given.get("scoring", "yesno"), given.get("rotations", "none"), int(given.get("option_seed", 0))
    )
