"""What a generative model is asked, and the surface forms under which its answer counts."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from video_contrast.answer_text import LETTERS
from video_contrast.errors import UsageError
from video_contrast.runner.kinds.base import Question, ScoreResult
from video_contrast.untyped import Tokenizer

YESNO = 'Does this video show: "{caption}"? Answer Yes or No.'
DESCRIBE = "Describe what happens in this video in one sentence."
LETTER = "Which of these sentences describes the video?\n{options}\nAnswer with the letter of the one that fits."
YES = ("Yes", " Yes", "yes", " yes", "YES", " YES")
NO = ("No", " No", "no", " no", "NO", " NO")
# Where all answers together are less probable than this, the model is saying something else.
MIN_MASS = 0.01

Rotations = Literal["none", "rotate", "latin"]


def single_tokens(tokenizer: Tokenizer, forms: Sequence[str]) -> list[int]:
    """Ids of the forms that are one token, each once, in order of the ids."""
    ids = [tokenizer.encode(form, add_special_tokens=False) for form in forms]
    return sorted({tokens[0] for tokens in ids if len(tokens) == 1})


def prompt_hash(prompt: str) -> str:
    """The first 16 hexadecimal digits of the sha256 of a rendered prompt, for the record."""
    return hashlib.sha256(prompt.encode("utf-8")).hexdigest()[:16]


def latin_rotation(position: int, k: int, seed: int) -> int:
    """By how many places the candidates of item number `position` are rotated.

    Every k consecutive items get each rotation once (a balanced Latin square), in an order drawn from the seed.

    Args:
        position: the number of the item.
        k: how many candidates it has.
        seed: of the order.
    """
    from video_contrast.seeds import stream

    order = stream(seed, "latin", k, position // k).permutation(k)
    return int(order[position % k])


def score_letters(
    captions: Sequence[str],
    log_probabilities: Callable[[list[str]], list[np.ndarray | None]],
    *,
    rotations: Rotations,
    position: int,
    seed: int,
    question: Question | None = None,
) -> ScoreResult:
    """Scores of candidates by the letters under which a model is asked about them.

    Args:
        captions: k candidates, at most 26.
        log_probabilities: questions -> log-probabilities of the first k letters, float64[k] a question, or None where
            the answer was no letter.
        rotations: "none", "rotate" (a question a rotation) or "latin" (one, balanced over items).
        position: the number of the item (for "latin").
        seed: of "latin".
        question: what the candidates answer; None asks which of them describes the video.

    Returns:
        The mean log-probability among the letters over the rotations that can be read, float64[k], NaN where none can;
        parts `rotation0` ..., and `unparseable`, in how many rotations the answer was probably no letter.
    """
    k = len(captions)
    if k > len(LETTERS):
        raise UsageError(f"--scoring letter asks about at most 26 options, not {k}; use yesno or loglik")
    turns = {"none": [0], "rotate": list(range(k)), "latin": [latin_rotation(position, k, seed)]}[rotations]
    orders = [[(i + turn) % k for i in range(k)] for turn in turns]  # turn r shows candidate (i + r) mod k at place i
    question = question or Question("", LETTER)
    rows = log_probabilities([question.prompt_for([captions[n] for n in order]) for order in orders])
    parts: list[dict[str, float]] = [{} for _ in captions]
    total = np.zeros(k)
    unparseable = sum(not is_answer(logs) for logs in rows)
    for turn, order, logs in zip(turns, orders, rows, strict=True):
        if logs is None:
            continue
        among = logs - np.logaddexp.reduce(logs)
        for place, n in enumerate(order):
            parts[n][f"rotation{turn}"] = float(among[place])
            total[n] += among[place]
    if unparseable:
        parts = [{**part, "unparseable": float(unparseable)} for part in parts]
    read = sum(logs is not None for logs in rows)
    return ScoreResult(total / read if read else np.full(k, np.nan), parts, {"unparseable": unparseable})


def is_answer(logs: Sequence[float] | np.ndarray | None) -> bool:
    """Whether the answers that were asked for, of which these are the log-probabilities, are at all probable."""
    return logs is not None and bool(np.logaddexp.reduce(logs) >= np.log(MIN_MASS))


def caption_scores(rows: Sequence[np.ndarray | None]) -> ScoreResult:
    """Scores of captions by the answers to a question of yes or no about each of them.

    Args:
        rows: log-probabilities of yes and of no, float64[2] a caption; None where the answer was neither.

    Returns:
        p(yes) / (p(yes) + p(no)), NaN for None; parts `yes`, `no`, and `unparseable` where the answer is probably
        neither.
    """
    parts = [{} if row is None else {"yes": float(row[0]), "no": float(row[1])} for row in rows]
    for part, row in zip(parts, rows, strict=True):
        if not is_answer(row):
            part["unparseable"] = 1.0
    odds = np.array([np.nan if row is None else row[0] - row[1] for row in rows])
    counts = {"unparseable": sum("unparseable" in part for part in parts)}
    return ScoreResult(1.0 / (1.0 + np.exp(np.minimum(-odds, 700.0))), parts, counts)


def yes_no_scores(captions: Sequence[str], logs: Sequence[float] | np.ndarray | None) -> ScoreResult:
    """Scores of the candidates "yes" and "no", in their order, by the one answer to a question.

    Args:
        captions: the two candidates.
        logs: log-probabilities of yes and of no; None where the answer was neither.

    Returns:
        float64[2]; NaN where the answer was neither. The part `unparseable` says that it was, or probably.
    """
    unparseable = {} if is_answer(logs) else {"unparseable": 1.0}
    if logs is None:
        return ScoreResult(np.full(2, np.nan), [unparseable, unparseable], {"unparseable": 1})
    among = np.array(logs) - np.logaddexp.reduce(logs)
    order = [0 if text.strip(" .").lower() == "yes" else 1 for text in captions]
    parts = [{"yes": float(logs[0]), "no": float(logs[1]), **unparseable} for _ in captions]
    return ScoreResult(among[order], parts, {"unparseable": len(unparseable)})
