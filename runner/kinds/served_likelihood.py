"""Log-probabilities of captions from a server that returns those of its prompt, and the canary that tests them.

Two ways to ask: `prompt_logprobs` (vLLM and what follows it) and `echo` (Fireworks, Together, vLLM). The caption is the
assistant's message; its tokens are found in the prompt by their text, spaces apart: servers that decode tokens one by
one lose the space before a word. The template brings the first token of the prompt: no server adds one to a chat.

Servers are known to be wrong here: with a prefix cache the values depended on what was asked before
(https://github.com/vllm-project/vllm/pull/42245). So before anything is scored the same captions are asked for twice,
one after the other and then all at once in the reverse order, and what the model itself says is asked for as if it were
a caption: its tokens must have the log-probabilities with which they were generated.
"""

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

from video_contrast.chat_model import Answer, ChatModel, Cost, Message, TokenLog
from video_contrast.errors import VideoContrastError
from video_contrast.files import Json
from video_contrast.runner.kinds import prompts
from video_contrast.runner.kinds.served_messages import SentClip

LogprobsBy = Literal["prompt_logprobs", "echo"]
TOLERANCE = 0.05  # nats a token, by which two answers to the same may differ: rounding in half precision
SAID_TOLERANCE = 0.2  # nats a token between generating and reading: different kernels
ROUNDING = 1e-3  # above 0, of a log-probability that is 0
CLAMPED = -9999.0  # what vLLM returns for minus infinity
PROBE = "a person walks across a room"
SAID_TOKENS = 16

Token = tuple[str, float]


@dataclass(frozen=True)
class Likelihood:
    """Asks for log-probabilities of captions."""

    reader: ChatModel  # the endpoint, told to return the log-probabilities of its prompt
    writer: ChatModel  # the same endpoint, which answers and returns those of its answer

    @classmethod
    def of(cls, chat: ChatModel, by: LogprobsBy) -> "Likelihood":
        """Two clients of one endpoint, which share its store, its pace and its cost."""
        body = dict(chat.parameters.get("extra_body", {}))
        base = {"temperature": 0.0}
        if by == "prompt_logprobs":
            body |= {"prompt_logprobs": 0, "add_generation_prompt": False, "continue_final_message": True}
            reading = {**base, "max_tokens": 1, "extra_body": body}
        else:
            reading = {**base, "max_tokens": 1, "logprobs": True, "extra_body": {**body, "echo": True}}
        writing = {**base, "max_tokens": SAID_TOKENS, "logprobs": True, "extra_body": chat.parameters.get("extra_body")}
        writing = {name: value for name, value in writing.items() if value is not None}
        return cls(
            replace(chat, parameters=reading, read=read_prompt_tokens),
            replace(chat, parameters=writing, read=read_answer_tokens),
        )

    def log_probabilities(
        self, sent: SentClip, captions: Sequence[str], question: str, cost: Cost
    ) -> list[list[Token] | None]:
        """The tokens of each caption with their log-probabilities, as the answer to a question about a clip.

        Returns a list a caption; None where the server's tokens do not hold the caption's text. `cost`: what this call
        costs is added to it.
        """
        answers = sent.endpoint(self.reader).ask([_as_answer(sent, question, caption) for caption in captions], cost)
        return [caption_tokens(answer["tokens"], text) for answer, text in zip(answers, captions, strict=True)]

    def canary(self, sent: SentClip, captions: Sequence[str]) -> dict[str, float]:
        """Tests the server; nothing is kept, and nothing comes from the store.

        Returns the largest differences, in nats a token. Raises VideoContrastError: the server does not return
        log-probabilities, or wrong ones.
        """
        texts = list(dict.fromkeys([*captions, PROBE]))
        first = [self._read(sent, text) for text in texts]
        with ThreadPoolExecutor(len(texts)) as pool:
            second = list(pool.map(lambda text: self._read(sent, text), texts[::-1]))[::-1]
        gap = 0.0
        for text, *answers in zip(texts, first, second, strict=True):
            before, after = (caption_tokens(tokens, text) for tokens in answers)
            if before is None or after is None:
                raise self._refusal(f"the tokens of its prompt do not hold the caption {text!r}")
            if [token for token, _ in before] != [token for token, _ in after]:
                raise self._refusal(f"it split {text!r} into other tokens when it was asked again")
            wrong = [log for _, log in (*before, *after) if not is_log_probability(log)]
            if wrong:
                raise self._refusal(f"{wrong[0]:g} is no log-probability")
            differences = [abs(a - b) for (_, a), (_, b) in zip(before, after, strict=True)]
            if max(differences) > TOLERANCE:
                raise self._refusal(
                    f"asked twice for {text!r} it returned {_total(before):.3f} and {_total(after):.3f}, by the "
                    "company of other requests"
                )
            gap = max(gap, *differences)
        return {"largest_gap": gap, "tolerance": TOLERANCE, **self._said_gap(sent)}

    def _said_gap(self, sent: SentClip) -> dict[str, float]:
        """How far its own answer is from what it returns for the same text in its prompt."""
        answer = sent.endpoint(self.writer).ask_anew(sent.question(prompts.DESCRIBE))
        text = answer["text"].strip()
        written = [(token, _number(log)) for token, log in answer["tokens"] if token.strip()]
        read = caption_tokens(self._read(sent, text), text) if text else None
        same: list[tuple[float, float]] = []
        for (a, written_log), (b, read_log) in zip(written, [t for t in read or () if t[0].strip()], strict=False):
            if a.strip() != b.strip():  # another split of the same text from here on
                break
            same.append((written_log, read_log))
        if not same:
            return {"said_tokens": 0}
        gap = sum(abs(a - b) for a, b in same) / len(same)
        if not gap <= SAID_TOLERANCE:
            raise self._refusal(
                f"it said {text!r} with log-probabilities that differ by {gap:.2f} a token from those that it returns "
                "for the same text in its prompt"
            )
        return {"said_tokens": len(same), "said_gap": gap}

    def _read(self, sent: SentClip, text: str) -> list[Token]:
        answer = sent.endpoint(self.reader).ask_anew(_as_answer(sent, prompts.DESCRIBE, text))
        return [(str(token), _number(log)) for token, log in answer["tokens"]]

    def _refusal(self, why: str) -> VideoContrastError:
        return VideoContrastError(
            f"{self.reader.model} at {self.reader.endpoint}: {why}, so nothing was scored; serve it without prefix "
            "cache, or give --scoring yesno or letter"
        )


def caption_tokens(tokens: Sequence[TokenLog], caption: str) -> list[Token] | None:
    """The tokens that make up the last occurrence of a caption in a prompt.

    Returns its tokens; None where it is not there, or a token holds a part of it and something else. `tokens`: (text,
    log-probability) of every token of the prompt. `caption`: its text; spaces do not count.

    >>> caption_tokens([("Say", 0.0), (":", -1.0), (" a", -0.5), (" dog", -2.0), ("<end>", 0.0)], "a dog")
    [(' a', -0.5), (' dog', -2.0)]
    """
    letters = ["".join(str(token).split()) for token, _ in tokens]
    whole, text = "".join(letters), "".join(caption.split())
    begin = whole.rfind(text)
    if begin < 0 or not text:
        return None
    end, place = begin + len(text), 0
    inside: list[Token] = []
    for (token, log), part in zip(tokens, letters, strict=True):
        start, place = place, place + len(part)
        if place <= begin or start >= end:
            continue
        if place > end or start < begin:
            return None
        inside.append((str(token), _number(log)))
    return inside


def is_log_probability(log: float) -> bool:
    """Whether a number can be one: finite, no more than 0 up to rounding, and not what a server puts for infinity."""
    return math.isfinite(log) and CLAMPED < log <= ROUNDING


def read_prompt_tokens(output: Json) -> Answer:
    """The prompt's `tokens` of a response to `prompt_logprobs` or `echo`.

    Raises VideoContrastError: the server returned none.
    """
    rows = getattr(output, "prompt_logprobs", None)
    choice = output.choices[0] if getattr(output, "choices", None) else None
    rows = rows or getattr(choice, "prompt_logprobs", None)
    if rows:
        first = (next(iter(row.values())) for row in rows if row)  # vLLM lists the token of the prompt first
        return {"tokens": [(entry.get("decoded_token") or "", entry["logprob"]) for entry in first]}
    prompt = getattr(output, "prompt", None)
    if prompt and isinstance(prompt, list) and isinstance(prompt[0], Mapping) and prompt[0].get("logprobs"):  # Together
        return {"tokens": _paired(prompt[0]["logprobs"])}
    tokens = _listed(getattr(choice, "logprobs", None))
    if len(tokens) > 1:  # one is the token that was generated
        return {"tokens": tokens}
    raise VideoContrastError(
        "the server does not return the log-probabilities of its prompt, which --scoring loglik needs; give "
        "--logprobs-by echo or prompt_logprobs, whichever it knows, or --scoring yesno or letter"
    )


def read_answer_tokens(output: Json) -> Answer:
    """The answer's text, and its tokens with their log-probabilities."""
    choices = getattr(output, "choices", None)
    if not choices:
        raise ValueError("the server returned half an answer")
    return {"text": choices[0].message.content or "", "tokens": _listed(getattr(choices[0], "logprobs", None))}


def _listed(logprobs: Json) -> list[TokenLog]:
    """Tokens of either form: `content` of chat completions, `tokens` and `token_logprobs` of completions."""
    content = getattr(logprobs, "content", None)
    if content:
        return [(entry.token, entry.logprob) for entry in content]
    return _paired({name: getattr(logprobs, name, None) for name in ("tokens", "token_logprobs")})


def _paired(lists: Mapping[str, Json]) -> list[TokenLog]:
    return list(zip(lists.get("tokens") or [], lists.get("token_logprobs") or [], strict=False))


def _number(log: float | None) -> float:
    """A log-probability; NaN where the server has none, as of the first token."""
    return math.nan if log is None else float(log)


def _as_answer(sent: SentClip, question: str, caption: str) -> list[Message]:
    return [*sent.question(question), {"role": "assistant", "content": caption.strip()}]


def _total(tokens: Sequence[Token]) -> float:
    return sum(log for _, log in tokens)
