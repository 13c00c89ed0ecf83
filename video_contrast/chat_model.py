"""Asking a chat model behind an OpenAI-compatible endpoint: retried, bounded, and every answer kept.

Answers lie in a JSONL file keyed by everything that was asked, so an interrupted run goes on where it stopped and a
repeated run asks nothing. `huggingface_hub.InferenceClient` speaks to vLLM, TGI, Inference Providers and others, and
comes with the Hub; openai's client, another dependency, repeats requests that a busy server refused unseen by `Pace`.
A `Pace` decides how many requests are in flight; a `ChatPool` asks several endpoints of one model at once.
"""

import json
import os
import re
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypedDict, TypeVar

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json
from video_contrast.hub import of_the_connection
from video_contrast.sealed_files import json_digest, sealed_line, sealed_records

MOST = 64
BEGIN = 2
HOLDS, GROWN = 1.5, 2.5  # times the best latency: up to which requests are added, and from which they are halved


class Pace:
    """Lets so many requests through at once.

    After as many answers as there may be requests, their median latency is compared with the best one so far: while it
    holds the number doubles, later grows by one; where it has grown, or the server is busy, it is halved. `fixed`: so
    many, always; 0 measures. `clock`: seconds. `limit`: requests in flight at most, now; `most`: the largest so far.
    """

    def __init__(self, fixed: int = 0, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.fixed = fixed
        self.limit = self.most = fixed or BEGIN
        self._clock = clock
        self._running = 0
        self._room = threading.Condition()
        self._latencies: list[float] = []
        self._best = 0.0
        self._doubling = True

    @property
    def threads(self) -> int:
        """The number of threads that can ever be of use."""
        return self.fixed or MOST

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Waits until a request may be sent; its latency counts if the block ends well."""
        with self._room:
            self._room.wait_for(lambda: self._running < self.limit)
            self._running += 1
        began = self._clock()
        try:
            yield
            with self._room:
                self._note(self._clock() - began)
        finally:
            with self._room:
                self._running -= 1
                self._room.notify_all()

    def busy(self) -> None:
        """Halves the limit: the server said that it is asked too much, or its answers take much longer."""
        with self._room:
            if not self.fixed:
                self.limit, self._doubling = max(1, self.limit // 2), False
                self._latencies.clear()

    def _note(self, latency: float) -> None:
        self._latencies.append(latency)
        if self.fixed or len(self._latencies) < self.limit:
            return
        median = statistics.median(self._latencies)
        self._latencies.clear()
        self._best = min(self._best or median, median)
        if median <= HOLDS * self._best:
            self.limit = min(MOST, 2 * self.limit if self._doubling else self.limit + 1)
            self.most = max(self.most, self.limit)
        elif median > GROWN * self._best:
            self.busy()
        else:
            self._doubling = False


T = TypeVar("T")


class RefusedRequest(VideoContrastError):
    """A server does not take a request, whatever is asked how often."""


REFUSED = (400, 422)
BUSY = (429, 503)
RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
TokenLog = tuple[str, float | None]  # a token and its log-probability, where it has one; from JSON a list of two
_LINK = re.compile(r"For more information check: \S+")  # the HTTP client's, on each status of a server
THOUGHTS = ("reasoning_content", "reasoning")  # fields in which servers put the thoughts before an answer
GIVE_UP = 3  # requests in a row that failed in all of their tries
MessagePart = dict[str, Any]  # {"type": "text", "text": ...}, or an image_url or video_url as {"url": ...}
Message = dict[str, Any]  # a turn: role, and content (a text, or parts)
Conversation = Sequence[Message]
LONGEST_WAIT = 600.0  # seconds: a server that asks for more is asked again all the same


class Answer(TypedDict, total=False):
    """The part of a response that is kept, as the `read` of a `ChatModel` takes it."""

    text: str
    alternatives: list[list[tuple[str, float]]] | None  # of each token of the answer, the token itself first
    tokens: list[TokenLog]  # all tokens of the prompt or of the answer


class AnswerStore:
    """An append-only JSONL file of answers, safe to kill at any moment and to read; in memory only without a path."""

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = Path(path) if path is not None else None
        self._answers: dict[str, Answer] = {}
        self._lock = threading.Lock()
        if self.path is not None and self.path.exists():
            self._answers = {record["key"]: record["answer"] for _, record in sealed_records(self.path)}
            if not self.path.read_bytes().endswith(b"\n"):
                with self.path.open("ab") as handle:
                    handle.write(b"\n")  # the next answer must not be glued to a line torn by a kill

    def __len__(self) -> int:
        return len(self._answers)

    def get(self, key: str) -> Answer | None:
        """The answer to the request called `key`, or None."""
        return self._answers.get(key)

    def missing(self, keys: Sequence[str], conversations: Sequence[Conversation]) -> dict[str, Conversation]:
        """Key -> what was asked, of conversations without an answer, equal ones once."""
        return {key: c for key, c in zip(keys, conversations, strict=True) if key not in self._answers}

    def put(self, key: str, answer: Answer) -> None:
        """Keeps an answer; it is on disk when this returns."""
        line = sealed_line({"key": key, "answer": answer})
        with self._lock:
            self._answers[key] = answer
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                with self.path.open("ab") as handle:
                    handle.write(line.encode("utf-8"))
                    handle.flush()
                    os.fsync(handle.fileno())


_COUNTING = threading.Lock()


@dataclass
class Cost:
    """The cost of asking: requests sent, answers taken from the store, retries, and the tokens the server counted."""

    requests: int = 0
    stored: int = 0
    retries: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, **amounts: int) -> None:
        """Adds amounts by name; several threads may do so at once."""
        with _COUNTING:
            for name, amount in amounts.items():
                setattr(self, name, getattr(self, name) + amount)


@dataclass
class ChatModel:
    """A chat model behind an endpoint."""

    model: str  # the model's name at the endpoint
    endpoint: str | None = None  # base URL (`http://localhost:8000/v1`); None: Hugging Face Inference Providers
    api_key: str | None = None  # sent as the bearer token; the environment's HF token where not given
    store: AnswerStore = field(default_factory=lambda: AnswerStore(None))  # of answers
    concurrency: int = 4  # requests in flight at most; 0: as many as its latency bears (`pace`)
    retries: int = 5  # of a failing request; after 1, 2, 4 ... seconds, or as long as the server asks (`Retry-After`)
    timeout: float = 120.0
    parameters: dict[str, Any] = field(default_factory=dict)  # of the client's `chat_completion`: `max_tokens` ...
    cost: Cost = field(default_factory=Cost)
    sleep: Callable[[float], None] = time.sleep
    read: Callable[[object], Answer] = field(default=lambda output: _answer(output))  # keeps a part of a response
    pace: Pace | None = None

    def __post_init__(self) -> None:
        from huggingface_hub import InferenceClient

        self.pace = self.pace or Pace(self.concurrency)
        model = self.model if self.endpoint is None else None
        self._client = InferenceClient(model, base_url=self.endpoint, api_key=self.api_key, timeout=self.timeout)

    @property
    def where(self) -> str:
        """The endpoint, for messages."""
        return self.endpoint or "Hugging Face Inference Providers"

    def key(self, messages: Conversation) -> str:
        """The name of a request: model, endpoint, messages and parameters. Images enter by their bytes."""
        return json_digest([self.model, self.endpoint, list(messages), self.parameters])

    def ask(self, conversations: Sequence[Conversation], cost: Cost | None = None) -> list[Answer]:
        """One answer a conversation, in order; by default its `text` and `alternatives`.

        Stored answers are not asked for again; equal conversations are asked once. After `GIVE_UP` requests in a row
        that failed for good, those that wait are not sent: the server is gone. `cost`: what this call costs is added to
        it, besides `self.cost`. Raises VideoContrastError: the endpoint refused or kept failing; answers that came are
        stored.
        """
        keys = list(map(self.key, conversations))
        missing = self.store.missing(keys, conversations)
        self._count(cost, stored=len(keys) - len(missing))
        if missing:
            assert self.pace is not None
            with ThreadPoolExecutor(max_workers=min(len(missing), self.pace.threads)) as pool:
                futures = [pool.submit(self.ask_as, key, messages, cost) for key, messages in missing.items()]
                failures, in_a_row = list[BaseException](), 0
                try:
                    for future in as_completed(futures):
                        if (error := future.exception()) is not None:
                            failures.append(error)
                        in_a_row = 0 if error is None else in_a_row + 1
                        if in_a_row == GIVE_UP:
                            break
                finally:  # Ctrl-C too: what waits is not sent
                    pool.shutdown(wait=False, cancel_futures=True)
            if failures:
                raise failures[0]
        return [answer for answer in (self.store.get(key) for key in keys) if answer is not None]

    def ask_as(self, key: str, messages: Conversation, cost: Cost | None = None) -> None:
        """Sends a request, stored or not, with retries, and keeps the answer under `key`; `cost`: as of `ask`."""
        self.store.put(key, self.ask_anew(messages, cost))

    def ask_anew(self, messages: Conversation, cost: Cost | None = None) -> Answer:
        """Sends a request with retries and keeps nothing."""

        def send() -> tuple[object, Answer]:
            turns = [dict(message) for message in messages]
            try:
                output = self._client.chat_completion(turns, model=self.model, **self.parameters)
            except RecursionError as error:  # the client compares a number with itself, without end where it is NaN
                raise VideoContrastError(
                    f"{self.model} at {self.where}: nan is no log-probability, and the client reads no answer that "
                    "holds it, so it cannot be scored by its answers"
                ) from error
            return output, self.read(output)

        output, answer = self.retried(send, cost)
        usage = getattr(output, "usage", None)
        tokens = {name: getattr(usage, name, 0) or 0 for name in ("prompt_tokens", "completion_tokens")}
        self._count(cost, requests=1, **tokens)
        return answer

    def _count(self, cost: Cost | None, **amounts: int) -> None:
        for counter in (self.cost, cost):
            if counter is not None:
                counter.add(**amounts)

    def retried(self, send: Callable[[], T], cost: Cost | None = None) -> T:
        """The result of `send`, called again while the server is busy or answers by halves; raises as `ask`."""
        from huggingface_hub.errors import OfflineModeIsEnabled

        assert self.pace is not None
        for attempt in range(self.retries + 1):
            try:
                with self.pace.slot():
                    return send()
            except OfflineModeIsEnabled as error:
                raise VideoContrastError(
                    f"HF_HUB_OFFLINE=1 keeps the client from asking {self.endpoint or 'the Hub'}; an endpoint of "
                    "your own is no download, so run this command with HF_HUB_OFFLINE=0"
                ) from error
            except VideoContrastError:
                raise
            except Exception as error:  # the HTTP client's own classes, which are another library's
                status = getattr(getattr(error, "response", None), "status_code", None)
                is_broken = isinstance(error, OSError | ValueError | KeyError) or of_the_connection(error)
                worth_it = status in RETRIED or (status is None and is_broken)
                if attempt == self.retries or not worth_it:
                    tries = f" after {attempt + 1} tries" if attempt else ""
                    reason = " ".join(_LINK.sub("", str(error)).split())[:200]
                    kind = RefusedRequest if status in REFUSED else VideoContrastError
                    on_disk = f"are stored in {self.store.path}, run the same command again to go on"
                    in_memory = "were kept in memory only and are lost"
                    raise kind(
                        f"{self.model} at {self.where} failed{tries}: {type(error).__name__}: {reason}; "
                        f"answers so far {on_disk if self.store.path is not None else in_memory}"
                    ) from error
                if status in BUSY:
                    self.pace.busy()
                self._count(cost, retries=1)
                self.sleep(max(2.0**attempt, _retry_after(error)))
        raise AssertionError("the last attempt returns or raises")


def _retry_after(error: Exception) -> float:
    """The seconds that a server asks to be left alone (`Retry-After`, a number or a date); 0 where it does not."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    header = str(headers.get("retry-after") or headers.get("Retry-After") or "").strip()
    if header.isdigit():
        return min(float(header), LONGEST_WAIT)
    try:
        wait = (parsedate_to_datetime(header) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):  # no date, or one without a time zone
        return 0.0
    return min(max(wait, 0.0), LONGEST_WAIT)


def _answer(output: object) -> Answer:
    """The text and the tokens' alternatives of a chat completion; half an answer is an error, and retried."""
    choices = getattr(output, "choices", None)
    if not choices or getattr(choices[0], "message", None) is None:
        error = getattr(output, "error", None)  # some report it with status 200
        raise ValueError(f"the server returned {f'an error: {error}' if error else 'half an answer'}")
    content = getattr(getattr(choices[0], "logprobs", None), "content", None) or ()
    token_lists = [(token, *(token.top_logprobs or ())) for token in content]
    if any(token.logprob is None for tokens in token_lists for token in tokens):
        token_lists = []  # a server that has the fields and nothing in them
    alternatives = [list({t.token: (t.token, float(t.logprob)) for t in tokens}.values()) for tokens in token_lists]
    is_filtered = getattr(choices[0], "finish_reason", None) == "content_filter"
    return {"text": _text_of(choices[0].message, is_filtered), "alternatives": alternatives or None}


def _text_of(message: object, is_filtered: bool) -> str:
    text: Json = getattr(message, "content", None)
    if text is None and (is_filtered or any(getattr(message, name, None) for name in (*THOUGHTS, "refusal"))):
        return ""  # the answer would have come after the thoughts; a refusal is none
    if isinstance(text, list):  # parts, as they stand in requests
        return "".join(str(part.get("text") or "") for part in text if isinstance(part, dict))
    if text is None:
        raise ValueError("the server returned an answer without text")
    return str(text)


class ChatPool:
    """Asks several endpoints of one model, with the same parameters, at once.

    An answer is stored under what was asked, whoever answered: a later run may have other endpoints. Raises UsageError:
    no endpoint, or endpoints of different models.
    """

    def __init__(self, endpoints: Sequence[ChatModel], store: AnswerStore) -> None:
        if not endpoints:
            raise UsageError("give the address of at least one endpoint")
        if len({(chat.model, json.dumps(chat.parameters, sort_keys=True)) for chat in endpoints}) > 1:
            raise UsageError("the endpoints of one pool must serve the same model with the same parameters")
        self.model, self.store = endpoints[0].model, store
        self._all = list(endpoints)
        self._alive = {str(chat.endpoint): chat for chat in endpoints}
        self._stored = 0
        self.failures: dict[str, str] = {}  # address -> why, of endpoints that are left out
        for chat in self._all:
            chat.store = store

    @property
    def cost(self) -> Cost:
        """The cost of all endpoints together."""
        total = Cost(stored=self._stored)
        for chat in self._all:
            total.add(**vars(chat.cost))
        return total

    def key(self, messages: Conversation) -> str:
        """The name of a request: model, messages and parameters, whichever endpoint it goes to."""
        return json_digest([self.model, "any endpoint", list(messages), self._all[0].parameters])

    def ask(self, conversations: Sequence[Conversation]) -> list[Answer]:
        """One answer a conversation, as `ChatModel.ask`. Raises VideoContrastError: every endpoint failed."""
        keys = list(map(self.key, conversations))
        waiting = deque(self.store.missing(keys, conversations).items())
        self._stored += len(keys) - len(waiting)
        errors: list[VideoContrastError] = []
        while waiting:
            workers = [chat for chat in self._alive.values() for _ in range(chat.concurrency)]
            if not workers:
                self._alive = {str(chat.endpoint): chat for chat in self._all}  # a later call may try them again
                raise errors[0]
            with ThreadPoolExecutor(len(workers)) as pool:
                list(pool.map(lambda chat: self._work(chat, waiting, errors), workers))
        return [answer for answer in (self.store.get(key) for key in keys) if answer is not None]

    def _work(
        self, chat: ChatModel, waiting: deque[tuple[str, Conversation]], errors: list[VideoContrastError]
    ) -> None:
        """Takes requests until none waits; an endpoint that fails puts its request back and is left out."""
        place = str(chat.endpoint)
        while place in self._alive:
            try:
                key, messages = waiting.popleft()
            except IndexError:
                return
            try:
                chat.ask_as(key, messages)
            except VideoContrastError as error:
                waiting.append((key, messages))
                errors.append(error)
                self.failures[place] = str(error)
                self._alive.pop(place, None)
