"""What answers of a served model say: log-probabilities of the answers that were asked for, or else its words.

The answer is looked for in the text; what stands before it ("**", a line break, "The answer is (") does not count. Its
log-probabilities are those of the token that carries it. All answers about the candidates of one item are read in one
way: by log-probabilities where every answer that can be read has them, by the words alone otherwise.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from video_contrast.chat_model import Answer
from video_contrast.question_text import letter_of, letter_place, yes_no_place
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.served_likelihood import CLAMPED

NOT_SAID = -100.0  # nats, of what a plain answer does not say
LEAST_REST = float(np.finfo(np.float32).eps)  # of the probability that no listed alternative has
_SPACES = re.compile(r"[\s▁ĠĊ]+")  # as tokenizers write them, too
_MARKS = re.compile(r"[\W_ĠĊ]+")
Alternatives = Sequence[tuple[str, float]]  # of one token, the token itself first
Place = tuple[str, int | None]  # the name that a text says, and where; None where the text is the option itself


def read_answers(
    answers: Sequence[Answer], names: Sequence[str], options: Sequence[Sequence[str]] = ()
) -> tuple[list[np.ndarray | None], int]:
    """Reads the answers about one item, all in one way.

    Returns the log-probability of each name, float64[len(names)], one array an answer, None where it says none of them;
    and of how many answers a name was not among the listed alternatives, so that its log-probability is bounded.
    `names`: the answers that were asked for, `prompts.YES_NO` or the first letters. `options`: the texts behind the
    letters, a list an answer: one that is repeated word for word is said.
    """
    places = _places([answer["text"] for answer in answers], names, options)
    read = [_log_probabilities(answer, place, names) for answer, place in zip(answers, places, strict=True)]
    if any(place and logs is None for logs, place in zip(read, places, strict=True)):
        return [place and np.where([name == place[0] for name in names], 0.0, NOT_SAID) for place in places], 0
    bounded = sum(logs is not None and bool(np.isnan(logs[0]).any()) for logs in read)
    return [None if logs is None else np.where(np.isnan(logs[0]), logs[1], logs[0]) for logs in read], bounded


def _places(texts: Sequence[str], names: Sequence[str], options: Sequence[Sequence[str]]) -> list[Place | None]:
    """Which name each text says, and where; None where it says none."""
    if names == prompts.YES_NO:
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
    if not np.nansum(np.exp(logs)) >= prompts.MIN_MASS:
        return None
    rest = max(1.0 - sum(math.exp(log) for _, log in alternatives), LEAST_REST) / max(1, np.isnan(logs).sum())
    return logs, min([math.log(rest), *(log for _, log in alternatives if log > CLAMPED)])


def _named(token: str, names: Sequence[str], small: bool) -> str | None:
    """The answer that a token gives, marks and spaces around it apart; small letters where the answer is one only."""
    word = _MARKS.sub("", token)
    name = word.lower() if names == prompts.YES_NO else word.upper() if small else word
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
