"""What answers of a served model say: log-probabilities of the answers that were asked for, or else its words.

The answer is looked for in the text; what stands before it ("**", a line break, "The answer is (") does not count. Its
log-probabilities are those of the token that carries it. All answers about the candidates of one item are read in one
way: by log-probabilities where every answer that can be read has them, by the words alone otherwise.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from video_contrast.chat_model import Answer
from video_contrast.question_text import letter_place, yes_no_place
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.served_likelihood import CLAMPED

NOT_SAID = -100.0  # nats, of what a plain answer does not say
LEAST_REST = float(np.finfo(np.float32).eps)  # of the probability that no listed alternative has
_SPACES = re.compile(r"[\s▁ĠĊ]+")  # as tokenizers write them, too
_MARKS = re.compile(r"[\W_ĠĊ]+")
Alternatives = Sequence[tuple[str, float]]  # of one token, the token itself first


def read_answers(answers: Sequence[Answer], names: Sequence[str]) -> tuple[list[np.ndarray | None], int]:
    """Reads the answers about one item, all in one way.

    Returns the log-probability of each name, float64[len(names)], one array an answer, None where it says none of them;
    and of how many answers a name was not among the listed alternatives, so that its log-probability is bounded.
    `names`: the answers that were asked for, `prompts.YES_NO` or the first letters.
    """
    yes_no = names == prompts.YES_NO
    places = [
        yes_no_place(answer["text"]) if yes_no else letter_place(answer["text"], len(names)) for answer in answers
    ]
    read = [_log_probabilities(answer, place, names) for answer, place in zip(answers, places, strict=True)]
    if any(place and logs is None for logs, place in zip(read, places, strict=True)):
        return read_words([answer["text"] for answer in answers], names), 0
    bounded = sum(logs is not None and bool(np.isnan(logs[0]).any()) for logs in read)
    return [None if logs is None else np.where(np.isnan(logs[0]), logs[1], logs[0]) for logs in read], bounded


def read_words(texts: Sequence[str], names: Sequence[str]) -> list[np.ndarray | None]:
    """What answers in words say: 0 for the name that is said and `NOT_SAID` for the others; None where none is said.

    >>> [None if row is None else row.tolist() for row in read_words(["(B).", "It moves"], ("A", "B"))]
    [[-100.0, 0.0], None]
    """
    yes_no = names == prompts.YES_NO
    places = [yes_no_place(text) if yes_no else letter_place(text, len(names)) for text in texts]
    return [place and np.where([name == place[0] for name in names], 0.0, NOT_SAID) for place in places]


def _log_probabilities(
    answer: Answer, place: tuple[str, int] | None, names: Sequence[str]
) -> tuple[np.ndarray, float] | None:
    """Log-probabilities of the names, NaN where they are not listed, and the bound of those that are not.

    None without log-probabilities, and where the text gives no answer and its first token almost certainly none either.
    """
    tokens = answer["alternatives"] or []
    number = 0 if place is None else _token_at(tokens, answer["text"], place)
    if not tokens or number is None:
        return None
    alternatives = tokens[number]
    by_name: dict[str | None, list[float]] = {}
    for token, log in alternatives:
        by_name.setdefault(_named(token, names), []).append(log)
    said = _named(alternatives[0][0], names)
    if place is not None and said != place[0]:  # "b", or the first piece of a word
        by_name.setdefault(place[0], []).append(alternatives[0][1])
    elif place is None and said is not None:  # "A" of "A man", which is no answer
        return None
    logs = np.array([np.logaddexp.reduce(by_name[name]) if name in by_name else np.nan for name in names])
    if not np.nansum(np.exp(logs)) >= prompts.MIN_MASS:
        return None
    rest = max(1.0 - sum(math.exp(log) for _, log in alternatives), LEAST_REST)
    return logs, min([math.log(rest), *(log for _, log in alternatives if log > CLAMPED)])


def _named(token: str, names: Sequence[str]) -> str | None:
    """The answer that a token gives, marks and spaces around it apart; letters in capitals only."""
    word = _MARKS.sub("", token)
    name = word.lower() if names == prompts.YES_NO else word
    return name if name in names else None


def _token_at(tokens: Sequence[Alternatives], text: str, place: tuple[str, int]) -> int | None:
    """The number of the token in which a name stands in a text; None where the tokens are not those of the text.

    Spaces do not count: servers that decode tokens one by one lose them. Thoughts may stand before the text.
    """
    pieces = [_SPACES.sub("", alternatives[0][0]) for alternatives in tokens]
    whole, name = "".join(pieces), place[0]
    head = _SPACES.sub("", text[: place[1] + len(name)])
    begin = whole.rfind(_SPACES.sub("", text))
    begin = whole.find(head) if begin < 0 else begin
    if begin < 0:
        return None
    ends = np.cumsum([len(piece) for piece in pieces])
    return int(np.searchsorted(ends, begin + len(head) - len(name), side="right"))
