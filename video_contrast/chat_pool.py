"""One chat model behind several endpoints: what one cannot answer another does, and every answer is kept."""

import json
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b

from video_contrast.chat_model import Answer, AnswerStore, ChatModel, Conversation, Cost
from video_contrast.errors import UsageError, VideoContrastError


class ChatPool:
    """Asks several endpoints of the same model at once.

    An answer is stored under what was asked, whoever answered: a later run may have other endpoints. `endpoints`: one
    `ChatModel` each, of one model and with the same parameters. Raises UsageError: no endpoint, or endpoints of
    different models.
    """

    def __init__(self, endpoints: Sequence[ChatModel], store: AnswerStore) -> None:
        if not endpoints:
            raise UsageError("give the address of at least one endpoint")
        if len({(chat.model, json.dumps(chat.parameters, sort_keys=True)) for chat in endpoints}) > 1:
            raise UsageError("the endpoints of one pool must serve the same model with the same parameters")
        self.model, self.store = endpoints[0].model, store
        self._alive = list(endpoints)
        self._all = list(endpoints)
        self._stored = 0
        self.failures: dict[str, str] = {}  # address -> why, of endpoints that are left out
        for chat in self._all:
            chat.store = store

    @property
    def cost(self) -> Cost:
        """What all endpoints were asked together."""
        total = Cost(stored=self._stored)
        for chat in self._all:
            total.add(**vars(chat.cost))
        return total

    def key(self, messages: Conversation) -> str:
        """The name of a request: model, messages and parameters, whichever endpoint it goes to."""
        request = json.dumps([self.model, "any endpoint", list(messages), self._all[0].parameters], sort_keys=True)
        return blake2b(request.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def ask(self, conversations: Sequence[Conversation]) -> list[Answer]:
        """One answer a conversation, in order, as `ChatModel.ask`; equal conversations are asked once.

        Raises VideoContrastError: every endpoint failed; answers that came are stored.
        """
        keys = [self.key(messages) for messages in conversations]
        missing = {key: c for key, c in zip(keys, conversations, strict=True) if self.store.get(key) is None}
        self._stored += len(keys) - len(missing)
        waiting = deque(missing.items())
        errors: list[VideoContrastError] = []
        while waiting:
            if not self._alive:
                self._alive = list(self._all)  # a later call may try them again
                raise errors[0]
            self._round(waiting, errors)
        return [answer for answer in (self.store.get(key) for key in keys) if answer is not None]

    def _round(self, waiting: deque[tuple[str, Conversation]], errors: list[VideoContrastError]) -> None:
        """Every living endpoint takes requests until none waits; one that fails puts its request back and stops."""
        lock = threading.Lock()

        def work(chat: ChatModel) -> None:
            while chat in self._alive:
                with lock:
                    if not waiting:
                        return
                    key, messages = waiting.popleft()
                try:
                    chat.ask_as(key, messages)
                except VideoContrastError as error:
                    with lock:
                        waiting.append((key, messages))
                        errors.append(error)
                        self.failures[str(chat.endpoint)] = str(error)
                        self._alive = [other for other in self._alive if other is not chat]

        workers = [chat for chat in self._alive for _ in range(chat.concurrency)]
        with ThreadPoolExecutor(max_workers=len(workers)) as pool:
            for future in [pool.submit(work, chat) for chat in workers]:
                future.result()
