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
from dataclasses import asdict
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
    ScoreResult,
    kind,
)

Scoring = Literal["yesno", "letter"]
MISSING = -100.0  # the log-probability of an answer that is not among the server's alternatives


class ServedScorer(PairScorer):
    """Scores captions of one clip by asking a served model.

    Args:
        chat: the endpoint; its `parameters` are set here to short, greedy answers with log-probabilities.
        scoring: "letter" or "yesno".
        rotations: "none", "rotate" or "latin" (of letter), as for local generative models.
        seed: of latin.

    Attributes:
        unparseable: answers so far that were no option.
    """

    def __init__(
        self,
        chat: ChatModel,
        scoring: Scoring = "yesno",
        rotations: Literal["none", "rotate", "latin"] = "none",
        seed: int = 0,
    ) -> None:
        if scoring not in ("yesno", "letter"):
            raise UsageError(f"--scoring {scoring!r} is not one of yesno, letter (a served model has no loglik)")
        chat.parameters = {"max_tokens": 5, "temperature": 0.0, "logprobs": True, "top_logprobs": 20} | chat.parameters
        self.chat = chat
        self.scoring = scoring
        self.rotations = rotations
        self.seed = seed
        self.unparseable = 0
        self.together = scoring == "letter"

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        """Scores of `captions` for one clip, and their raw parts.

        Args:
            clip: the frames as sampled, sent as images; None asks without images (the blind control).
            captions: k texts.
            position: the number of the item in its set (for `latin`).

        Returns:
            float64[k], and k dicts of parts. An unparseable answer gives NaN for what it was to decide, with the part
            `unparseable` = 1: the runner counts the item as wrong.
        """
        images = [] if clip is None else [_image(frame) for frame in clip.frames]
        return self._yesno(images, captions) if self.scoring == "yesno" else self._letter(images, captions, position)

    @property
    def facts(self) -> dict[str, Any]:
        """The endpoint, how it was asked, what that cost, and how many answers were no option."""
        return {
            "endpoint": self.chat.endpoint or "Hugging Face Inference Providers",
            "scoring": self.scoring,
            "rotations": self.rotations,
            "parameters": self.chat.parameters,
            "cost": asdict(self.chat.cost),
            "unparseable": self.unparseable,
        }

    def _yesno(self, images: list[Any], captions: Sequence[str]) -> ScoreResult:
        answers = self.chat.ask([_message(images, prompts.YESNO.format(caption=c)) for c in captions])
        scores, parts = [], []
        for answer in answers:
            part = _choice(answer, {"yes": prompts.YES, "no": prompts.NO})
            if part is None:
                self.unparseable += 1
                scores.append(math.nan)
                parts.append({"unparseable": 1.0})
            else:
                scores.append(
                    1.0 / (1.0 + math.exp(part["no"] - part["yes"])) if part["no"] - part["yes"] < 700 else 0.0
                )
                parts.append(part)
        return ScoreResult(np.array(scores, dtype=np.float64), parts)

    def _letter(self, images: list[Any], captions: Sequence[str], position: int) -> ScoreResult:
        k = len(captions)
        if k > len(prompts.LETTERS):
            raise UsageError(f"--scoring letter asks about at most 26 options, not {k}; use yesno")
        rotations = {
            "none": [0],
            "rotate": list(range(k)),
            "latin": [prompts.latin_rotation(position, k, self.seed)],
        }[self.rotations]
        orders = [[(i + r) % k for i in range(k)] for r in rotations]
        questions = [prompts.letter_question([captions[i] for i in order]) for order in orders]
        answers = self.chat.ask([_message(images, question) for question in questions])
        letters: dict[str, tuple[str, ...]] = {c: (c, f" {c}") for c in prompts.LETTERS[:k]}
        parts: list[dict[str, float]] = [{} for _ in captions]
        total = np.zeros(k)
        for rotation, order, answer in zip(rotations, orders, answers, strict=True):
            found = _choice(answer, letters)
            if found is None:
                self.unparseable += 1
                total += math.nan
                for part in parts:
                    part["unparseable"] = part.get("unparseable", 0.0) + 1.0
                continue
            logs = np.array([found[c] for c in letters])
            logs -= np.logaddexp.reduce(logs)
            for place, caption in enumerate(order):
                parts[caption][f"rotation{rotation}"] = float(logs[place])
                total[caption] += logs[place]
        return ScoreResult(total / len(rotations), parts)


def _choice(answer: dict[str, Any], options: dict[str, tuple[str, ...]]) -> dict[str, float] | None:
    """Log-probability of each option, from the alternatives or from the exact answer; None if it is no option."""
    if answer["logprobs"]:
        logs = {}
        for option, forms in options.items():
            found = [log for token, log in answer["logprobs"] if token in forms]
            logs[option] = float(np.logaddexp.reduce(found)) if found else MISSING
        if max(logs.values()) > MISSING:
            return logs
    said = re.sub(r"^[\s\W]+|[\s\W]+$", "", answer["text"]).lower()
    chosen = [option for option in options if option.lower() == said]
    return {option: 0.0 if option == chosen[0] else MISSING for option in options} if chosen else None


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
    needs="an endpoint (vLLM, TGI, hosted); the key in the variable that --api-key-env names",
    names=("served:",),
    options=(
        KindOption("endpoint", str, "", "Base URL, such as http://localhost:8000/v1; empty: Inference Providers."),
        KindOption("api_key_env", str, "HF_TOKEN", "Environment variable that holds the key."),
        KindOption("scoring", str, "yesno", "How a caption is scored.", ("yesno", "letter")),
        KindOption("rotations", str, "none", "Orders of the options of --scoring letter.", ("none", "rotate", "latin")),
        KindOption("option_seed", int, 0, "Seed of --rotations latin."),
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
    return ServedScorer(
        chat, given.get("scoring", "yesno"), given.get("rotations", "none"), int(given.get("option_seed", 0))
    )
