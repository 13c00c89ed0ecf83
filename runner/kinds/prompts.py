"""The questions that a generative model is asked, and how its answer is read.

Of a server or a generated text the answer is looked for in the text; what stands before it ("**", a line break, "The
answer is (") does not count. Its log-probabilities are those of the token that carries it. All answers about the
candidates of one item are read in one way: by log-probabilities where every answer that can be read has them, by the
words alone otherwise.
"""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from video_contrast.chat_model import Answer
from video_contrast.errors import UsageError
from video_contrast.question_text import LETTERS, WHICH_SENTENCE, Question, letter_of, letter_place, yes_no_place
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
OptionTexts = Sequence[Sequence[str]]  # the texts behind letters, a list a question; [] for yes and no
# Questions, the answers that are asked for, and the texts behind letters -> the log-probability of each answer,
# float64[n] a question, or None where it was none of them.
ReadAnswers = Callable[[list[str], Sequence[str], OptionTexts], Sequence[np.ndarray | None]]


@dataclass(frozen=True, kw_only=True)
class AskOptions:
    """The options of asking about captions."""

    scoring: Annotated[Literal["yesno", "loglik", "letter"], "How a caption is scored."] = "yesno"
    rotations: Annotated[Rotations, "Orders of the options of --scoring letter."] = "none"
    option_seed: Annotated[int, "Seed of --rotations latin."] = 0


def prompt_hash(prompt: str) -> str:
    """The first 16 hexadecimal digits of the sha256 of a rendered prompt, for the record."""
    return hashlib.sha256(prompt.encode("utf-8")).hexdigest()[:16]


def latin_rotation(position: int, k: int, seed: int) -> int:
    """The number of places by which the candidates of item number `position` are rotated.

    Every k consecutive items get each rotation once (a balanced Latin square), in an order drawn from the seed.
    """
    order = stream(seed, "latin", k, position // k).permutation(k)
    return int(order[position % k])


def _orders(k: int, options: AskOptions, position: int) -> dict[int, list[int]]:
    """Rotation -> the numbers of `k` candidates (26 at most) as they are lettered, for each that is asked about."""
    if k > len(LETTERS):
        raise UsageError(f"--scoring letter asks about at most 26 options, not {k}; use yesno or loglik")
    seed = options.option_seed
    turns = {"none": [0], "rotate": list(range(k)), "latin": [latin_rotation(position, k, seed)]}[options.rotations]
    return {turn: [(place + turn) % k for place in range(k)] for turn in turns}


def questions_about(
    captions: Sequence[str], options: AskOptions, *, position: int = 0, question: Question | None = None
) -> list[str]:
    """The questions about captions: one (that of the set first), or one a caption or rotation."""
    if options.scoring == "loglik":
        return [DESCRIBE if question is None else question.text]
    if question is None and options.scoring == "yesno":
        return [YESNO.format(caption=caption) for caption in captions]
    if question is not None and question.is_yes_no(captions):
        return [question.prompt_for(captions)]
    asked_question = question or WHICH_SENTENCE
    orders = _orders(len(captions), options, position).values()
    return [asked_question.prompt_for([captions[n] for n in order]) for order in orders]


def scores_by_answers(
    captions: Sequence[str],
    options: AskOptions,
    read: ReadAnswers,
    *,
    position: int = 0,
    question: Question | None = None,
) -> ScoreResult:
    """Scores of captions by the answers to `questions_about` them.

    Returns float64[k], NaN where no answer can be read, and the part `unparseable` where an answer was probably none of
    those that were asked for. Of yes and no p(yes) / (p(yes) + p(no)), with parts `yes` and `no`; of letters the mean
    log-probability among them, over the rotations that can be read, with parts `rotation0` ...
    """
    questions = questions_about(captions, options, position=position, question=question)
    if question is None and options.scoring == "yesno":
        rows = read(questions, YES_NO, [])
        parts = list(map(_yes_no_part, rows))
        odds = np.array([np.nan if row is None else row[0] - row[1] for row in rows])
        scores = 1.0 / (1.0 + np.exp(np.minimum(-odds, 700.0)))
        return ScoreResult(scores, parts, {"unparseable": sum("unparseable" in part for part in parts)})
    if question is not None and question.is_yes_no(captions):  # the candidates are yes and no, in their order
        [logs] = read(questions, YES_NO, [])
        among = np.full(2, np.nan) if logs is None else logs - np.logaddexp.reduce(logs)
        order = [0 if text.strip(" .").lower() == "yes" else 1 for text in captions]
        part = _yes_no_part(logs)
        return ScoreResult(among[order], [dict(part) for _ in captions], {"unparseable": int("unparseable" in part)})
    orders = _orders(len(captions), options, position)
    options_of = [[captions[n] for n in order] for order in orders.values()]
    return _letter_scores(orders, read(questions, tuple(LETTERS[: len(captions)]), options_of))


def _letter_scores(orders: Mapping[int, Sequence[int]], rows: Sequence[np.ndarray | None]) -> ScoreResult:
    """Scores of candidates by the log-probabilities of the letters for each order."""
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
    if unparseable := sum(not _is_answer(logs) for logs in rows):
        parts = [{**part, "unparseable": float(unparseable)} for part in parts]
    n_read = sum(logs is not None for logs in rows)
    return ScoreResult(total / n_read if n_read else np.full(k, np.nan), parts, {"unparseable": unparseable})


def _is_answer(logs: np.ndarray | None) -> bool:
    """Whether the answers that were asked for, of which these are the log-probabilities, are at all probable."""
    return logs is not None and bool(np.logaddexp.reduce(logs) >= np.log(MIN_MASS))


def _yes_no_part(logs: np.ndarray | None) -> dict[str, float]:
    parts = {} if logs is None else {"yes": float(logs[0]), "no": float(logs[1])}
    return parts if _is_answer(logs) else parts | {"unparseable": 1.0}


def likelihood_scores(
    logs: Sequence[tuple[float, int] | None], captions: Sequence[str], norm: Literal["sum", "token", "char"]
) -> ScoreResult:
    """Scores of captions by their own log-probabilities, NaN with the part `unparseable` where these are not known.

    `logs`: the sum over the tokens of each caption and how many they are. `norm`: by what the sum is divided.
    """
    scores, parts = [], []
    for log, caption in zip(logs, captions, strict=True):
        if log is None:
            scores.append(math.nan)
            parts.append({"unparseable": 1.0})
        else:
            scores.append(log[0] / {"sum": 1, "token": log[1], "char": len(caption)}[norm])
            parts.append({"sum": log[0], "n_tokens": float(log[1]), "n_chars": float(len(caption))})
    return ScoreResult(np.array(scores, np.float64), parts, {"unparseable": list(logs).count(None)})


CLAMPED = -9999.0  # minus infinity as vLLM returns it
NOT_SAID = -100.0  # nats, of what a plain answer does not say
LEAST_REST = float(np.finfo(np.float32).eps)  # of the probability that no listed alternative has
_SPACES = re.compile(r"[\s▁ĠĊ]+")  # as tokenizers write them, too
_MARKS = re.compile(r"[\W_ĠĊ]+")
Alternatives = Sequence[tuple[str, float]]  # of one token, the token itself first
Place = tuple[str, int | None]  # the name that a text says, and where; None where the text is the option itself


def read_answers(
    answers: Sequence[Answer], names: Sequence[str], options: OptionTexts = ()
) -> tuple[list[np.ndarray | None], int]:
    """Reads the answers about one item, all in one way.

    Returns the log-probability of each name, float64[len(names)], one array an answer, None where it says none of them;
    and of how many answers a name was not among the listed alternatives, so that its log-probability is bounded.
    `names`: the answers that were asked for, `YES_NO` or the first letters. `options`: the texts behind the
    letters, a list an answer: one that is repeated word for word is said.
    """
    places = _places([answer["text"] for answer in answers], names, options)
    logs_of = [_log_probabilities(answer, place, names) for answer, place in zip(answers, places, strict=True)]
    if any(place and logs is None for logs, place in zip(logs_of, places, strict=True)):
        return [place and np.where([name == place[0] for name in names], 0.0, NOT_SAID) for place in places], 0
    n_bounded = sum(logs is not None and bool(np.isnan(logs[0]).any()) for logs in logs_of)
    return [None if logs is None else np.where(np.isnan(logs[0]), logs[1], logs[0]) for logs in logs_of], n_bounded


def _places(texts: Sequence[str], names: Sequence[str], options: OptionTexts) -> list[Place | None]:
    """The name that each text says, and its place; None where it says none."""
    if names == YES_NO:
        return [yes_no_place(text) for text in texts]
    places: list[Place | None] = [letter_place(text, len(names)) for text in texts]
    for n, (text, own) in enumerate(zip(texts, options, strict=False)):
        letter, place = letter_of(text, list(own)), places[n]
        if letter and (place is None or place[0] != letter):
            places[n] = (letter, None)
    return places


def _log_probabilities(answer: Answer, place: Place | None, names: Sequence[str]) -> tuple[np.ndarray, float] | None:
    """Log-probabilities of the names, NaN where they are not listed, and the bound of those that are not.

    None without log-probabilities, and where the text gives no answer and its first token almost certainly none either.
    """
    tokens = answer["alternatives"] or []
    number = 0 if place is None else _token_at(tokens, answer["text"], place)
    if not tokens or number is None:
        return None
    alternatives = tokens[number]
    small = place is not None and place[1] is not None and answer["text"][place[1]].islower()
    by_name: dict[str | None, list[float]] = {}
    for token, log in alternatives:
        by_name.setdefault(_named(token, names, small), []).append(log)
    likeliest = _named(alternatives[0][0], names, small)
    if place is not None and likeliest != place[0]:  # the first piece of a word
        by_name.setdefault(place[0], []).append(alternatives[0][1])
    elif place is None and likeliest is not None:  # "A" of "A man", which is no answer
        return None
    logs = np.array([np.logaddexp.reduce(by_name[name]) if name in by_name else np.nan for name in names])
    if not np.nansum(np.exp(logs)) >= MIN_MASS:
        return None
    rest = max(1.0 - sum(math.exp(log) for _, log in alternatives), LEAST_REST) / max(1, np.isnan(logs).sum())
    return logs, min([math.log(rest), *(log for _, log in alternatives if log > CLAMPED)])


def _named(token: str, names: Sequence[str], small: bool) -> str | None:
    """The answer that a token gives, marks and spaces around it apart; small letters where the answer is one only."""
    word = _MARKS.sub("", token)
    name = word.lower() if names == YES_NO else word.upper() if small else word
    return name if name in names else None


def _token_at(tokens: Sequence[Alternatives], text: str, place: Place) -> int | None:
    """The number of the token in which a name stands in a text; None where none does, or they are not the text's.

    Spaces do not count: servers that decode tokens one by one lose them. Thoughts may stand before the text.
    """
    name, start = place
    if start is None:
        return None
    pieces = [_SPACES.sub("", alternatives[0][0]) for alternatives in tokens]
    whole = "".join(pieces)
    head = _SPACES.sub("", text[: start + len(name)])
    begin = whole.rfind(_SPACES.sub("", text))
    begin = whole.find(head) if begin < 0 else begin
    if begin < 0:
        return None
    ends = np.cumsum([len(piece) for piece in pieces])
    return int(np.searchsorted(ends, begin + len(head) - len(name), side="right"))
