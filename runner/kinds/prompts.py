"""What a generative model is asked, and the surface forms under which its answer counts."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from video_contrast.errors import UsageError
from video_contrast.question_text import LETTERS, WHICH_SENTENCE, Question
from video_contrast.runner.kinds.base import ScoreResult
from video_contrast.seeds import stream

YESNO = 'Does this video show: "{caption}"? Answer Yes or No.'
DESCRIBE = "Describe what happens in this video in one sentence."
YES_NO = ("yes", "no")
# The surface forms of an answer; those of a letter are the letter with and without a space.
FORMS = {"yes": ("Yes", " Yes", "yes", " yes", "YES", " YES"), "no": ("No", " No", "no", " no", "NO", " NO")}
# Where all answers together are less probable than this, the model is saying something else.
MIN_MASS = 0.01


Rotations = Literal["none", "rotate", "latin"]
# Questions, the answers that are asked for, and the texts behind letters, a list a question ([] for yes and no) -> the
# log-probability of each answer, float64[n] a question, or None where it was none of them.
ReadAnswers = Callable[[list[str], Sequence[str], Sequence[Sequence[str]]], Sequence[np.ndarray | None]]


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """How captions are asked about."""

    scoring: Annotated[Literal["yesno", "loglik", "letter"], "How a caption is scored."] = "yesno"
    rotations: Annotated[Rotations, "Orders of the options of --scoring letter."] = "none"
    option_seed: Annotated[int, "Seed of --rotations latin."] = 0


def prompt_hash(prompt: str) -> str:
    """The first 16 hexadecimal digits of the sha256 of a rendered prompt, for the record."""
    return hashlib.sha256(prompt.encode("utf-8")).hexdigest()[:16]


def latin_rotation(position: int, k: int, seed: int) -> int:
    """By how many places the candidates of item number `position` are rotated.

    Every k consecutive items get each rotation once (a balanced Latin square), in an order drawn from the seed.
    """
    order = stream(seed, "latin", k, position // k).permutation(k)
    return int(order[position % k])


def orders_of(k: int, options: AskOptions, position: int) -> dict[int, list[int]]:
    """Rotation -> the numbers of `k` candidates in the order in which they are lettered, for each that is asked about.

    `k`: how many candidates; 26 at most. `position`: the number of the item (for "latin").
    """
    if k > len(LETTERS):
        raise UsageError(f"--scoring letter asks about at most 26 options, not {k}; use yesno or loglik")
    seed = options.option_seed
    turns = {"none": [0], "rotate": list(range(k)), "latin": [latin_rotation(position, k, seed)]}[options.rotations]
    return {turn: [(place + turn) % k for place in range(k)] for turn in turns}


def questions_about(
    captions: Sequence[str], options: AskOptions, *, position: int = 0, question: Question | None = None
) -> list[str]:
    """What a model is asked about captions: one question, or one a caption or rotation.

    `position`: the number of the item (for "latin"). `question`: what the captions answer; it is asked with its own
    prompt, by yes or no or by letter.
    """
    if options.scoring == "loglik":
        return [DESCRIBE if question is None else question.text]
    if question is None and options.scoring == "yesno":
        return [YESNO.format(caption=caption) for caption in captions]
    if question is not None and question.is_yes_no(captions):
        return [question.prompt_for(captions)]
    lettered = question or WHICH_SENTENCE
    orders = orders_of(len(captions), options, position).values()
    return [lettered.prompt_for([captions[n] for n in order]) for order in orders]


def scores_by_answers(
    captions: Sequence[str],
    options: AskOptions,
    read: ReadAnswers,
    *,
    position: int = 0,
    question: Question | None = None,
) -> ScoreResult:
    """Scores of captions by the answers to `questions_about` them.

    Returns float64[k]: of yes and no p(yes) / (p(yes) + p(no)); of letters the mean log-probability among them, over
    the rotations that can be read. NaN where no answer can be. The part `unparseable` says that an answer was probably
    none of those that were asked for.
    """
    questions = questions_about(captions, options, position=position, question=question)
    if question is None and options.scoring == "yesno":
        return caption_scores(read(questions, YES_NO, []))
    if question is not None and question.is_yes_no(captions):
        return yes_no_scores(captions, read(questions, YES_NO, [])[0])
    orders = orders_of(len(captions), options, position)
    options_of = [[captions[n] for n in order] for order in orders.values()]
    return letter_scores(orders, read(questions, tuple(LETTERS[: len(captions)]), options_of))


def letter_scores(orders: Mapping[int, Sequence[int]], rows: Sequence[np.ndarray | None]) -> ScoreResult:
    """Scores of candidates by the letters under which a model was asked about them.

    Returns the mean log-probability among the letters over the rotations that can be read, float64[k], NaN where none
    can; parts `rotation0` ..., and `unparseable`, in how many rotations the answer was probably no letter. `orders`: of
    `orders_of`. `rows`: log-probabilities of the letters for each order, None where the answer was no letter.
    """
    k = len(next(iter(orders.values())))
    parts: list[dict[str, float]] = [{} for _ in range(k)]
    total = np.zeros(k)
    for (turn, order), logs in zip(orders.items(), rows, strict=True):
        if logs is None:
            continue
        among = logs - np.logaddexp.reduce(logs)
        for place, n in enumerate(order):
            parts[n][f"rotation{turn}"] = float(among[place])
            total[n] += among[place]
    if unparseable := sum(not is_answer(logs) for logs in rows):
        parts = [{**part, "unparseable": float(unparseable)} for part in parts]
    read = sum(logs is not None for logs in rows)
    return ScoreResult(total / read if read else np.full(k, np.nan), parts, {"unparseable": unparseable})


def is_answer(logs: Sequence[float] | np.ndarray | None) -> bool:
    """Whether the answers that were asked for, of which these are the log-probabilities, are at all probable."""
    return logs is not None and bool(np.logaddexp.reduce(logs) >= np.log(MIN_MASS))


def caption_scores(rows: Sequence[np.ndarray | None]) -> ScoreResult:
    """Scores of captions by the answers to a question of yes or no about each of them.

    Returns p(yes) / (p(yes) + p(no)), NaN for None; parts `yes`, `no`, and `unparseable` where the answer is probably
    neither. `rows`: log-probabilities of yes and of no, float64[2] a caption; None where the answer was neither.
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

    Returns float64[2]; NaN where the answer was neither. The part `unparseable` says that it was, or probably. `logs`:
    log-probabilities of yes and of no; None where the answer was neither.
    """
    unparseable = {} if is_answer(logs) else {"unparseable": 1.0}
    if logs is None:
        return ScoreResult(np.full(2, np.nan), [unparseable, unparseable], {"unparseable": 1})
    among = np.array(logs) - np.logaddexp.reduce(logs)
    order = [0 if text.strip(" .").lower() == "yes" else 1 for text in captions]
    parts = [{"yes": float(logs[0]), "no": float(logs[1]), **unparseable} for _ in captions]
    return ScoreResult(among[order], parts, {"unparseable": len(unparseable)})
