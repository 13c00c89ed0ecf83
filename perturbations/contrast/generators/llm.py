"""Replacements from a chat model: in-context examples, one JSON answer, every answer stored."""

import json
import os
import re
from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol

from video_contrast.chat_model import Answer, AnswerStore, ChatModel, Conversation, Cost, Message
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, cache_dir
from video_contrast.perturbations.contrast.generators.base import MaskedSpan
from video_contrast.pretrained import device_of, load, placed
from video_contrast.seeds import digest
from video_contrast.token_batches import in_batches
from video_contrast.untyped import Tokenizer, TorchModel

_BATCH_TOKENS = 16_384


class Chat(Protocol):
    """Answers conversations: `ChatModel` for an endpoint, `ChatPool` for several, `LocalChat` for a model here."""

    model: str

    @property
    def cost(self) -> Cost:
        """The cost of asking so far: requests, tokens, and answers that came from the store."""

    def ask(self, conversations: Sequence[Conversation]) -> list[Answer]:
        """One answer a conversation, with its `text`."""


class LocalChat:
    """A causal model with a chat template, greedy, in left-padded batches of like length.

    `model`: a Hub id or folder. `store`: where answers are kept; a stored answer is not asked for again.
    """

    def __init__(
        self, model: str, *, store: AnswerStore | None = None, max_new_tokens: int = 200, device: str = "auto"
    ) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.model, self.cost = model, Cost()
        self._store = store if store is not None else AnswerStore(None)
        self._max_new_tokens, self._device = max_new_tokens, device_of(device)
        self._tokenizer: Tokenizer = load(model, AutoTokenizer, "model of the generator llm", padding_side="left")
        if self._tokenizer.chat_template is None:
            raise VideoContrastError(f"{model!r} has no chat template: the generator llm needs a chat model")
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        network = load(model, AutoModelForCausalLM, "model of the generator llm", dtype="auto")
        self._network: TorchModel = placed(network, self._device, "model of the generator llm")

    def ask(self, conversations: Sequence[Conversation]) -> list[Answer]:
        """One answer a conversation, in order: `{"text": str}`. Each batch is stored when it is done."""
        requests = [json.dumps([self.model, self._max_new_tokens, list(c)], sort_keys=True) for c in conversations]
        keys = [blake2b(request.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest() for request in requests]
        missing = {key: c for key, c in zip(keys, conversations, strict=True) if self._store.get(key) is None}
        self.cost.stored += len(keys) - len(missing)
        pending = list(missing.items())
        prompts = [
            self._tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
            for _, messages in pending
        ]
        lengths = [len(self._tokenizer(prompt, add_special_tokens=False)["input_ids"]) for prompt in prompts]

        def generate(batch: list[int]) -> list[str]:
            import torch

            texts = [prompts[n] for n in batch]
            inputs = self._tokenizer(texts, padding=True, add_special_tokens=False, return_tensors="pt")
            inputs = inputs.to(self._device)
            limits = {"max_new_tokens": self._max_new_tokens, "pad_token_id": self._tokenizer.pad_token_id}
            with torch.inference_mode():
                tokens = self._network.generate(**inputs, do_sample=False, **limits)
            new = tokens[:, inputs["input_ids"].shape[1] :]
            return list(self._tokenizer.batch_decode(new, skip_special_tokens=True))

        for batch, texts in in_batches(lengths, _BATCH_TOKENS, generate):
            for n, text in zip(batch, texts, strict=True):
                self._store.put(pending[n][0], {"text": text})
            self.cost.requests += len(batch)
        return [answer for answer in (self._store.get(key) for key in keys) if answer is not None]


_TASK = """You change one verb phrase of a video caption so that the caption no longer describes the video.
The phrase to change stands in [brackets]. Propose {k} replacements of one to three words each.
A replacement must name a different action (an opposite is good, a synonym is wrong), keep the tense and form of the
phrase, and leave a caption that is as natural and as likely as the original.
Answer with one JSON object and nothing else: {{"replacements": ["...", ...]}}"""
_EXAMPLES = (
    ("a woman is [pushing] her stroller", ["pulling", "carrying", "folding", "repairing"]),
    ("two men [sit on] a bench in the park", ["stand on", "climb over", "paint", "carry"]),
    ("Jenko [lowers] his gun", ["raises", "drops", "cleans", "hides"]),
)
SCHEMA = {  # of an answer; servers that can are asked to keep to it (`structured`)
    "type": "object",
    "properties": {"replacements": {"type": "array", "items": {"type": "string"}}},
    "required": ["replacements"],
}
UNREADABLE = "no JSON object with a list of replacements"
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_PHRASE = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?: [^\W\d_]+(?:['’-][^\W\d_]+)*){0,3}")


class ChatGenerator:
    """Asks a chat model for replacements.

    Args:
        model: a Hub id or folder of a chat model; with `endpoint` the name that the endpoint knows it by.
        endpoint: base address of an OpenAI-compatible server ("http://localhost:8000/v1"); None: run it here. A key,
            where the server wants one, comes from the variable OPENAI_API_KEY or HF_TOKEN, so that no record holds it.
        store: JSON-lines file that keeps every answer: an interrupted build goes on there, a rebuild asks nothing.
            None: for a served model a file of the user's cache, so that paid answers are never lost; else in memory.
        chat: something else with the methods of `local_chat.Chat`, in place of model and endpoint.
        device, workers, max_new_tokens: of the model run here, and of the endpoint's requests.

    `unreadable` holds (caption, answer) of the answers that do not fit `SCHEMA`; `cost` says what was asked, and what
    came from the store.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        endpoint: str | None = None,
        k: int = 10,
        store: str | os.PathLike[str] | None = None,
        chat: Chat | None = None,
        device: str = "auto",
        workers: int = 8,
        max_new_tokens: int = 200,
    ) -> None:
        if chat is None:
            if not model:
                raise UsageError("the generator 'llm' needs a model: give its name (and endpoint= if it is served)")
            if store is None and endpoint:
                store = cache_dir() / "answers" / f"{digest(model, endpoint).hex()[:16]}.jsonl"
            answers = AnswerStore(store)
            if endpoint:
                chat = ChatModel(
                    model,
                    endpoint,
                    api_key=os.environ.get("OPENAI_API_KEY") or os.environ.get("HF_TOKEN") or None,
                    store=answers,
                    concurrency=workers,
                    parameters={"max_tokens": max_new_tokens, "temperature": 0.0, "seed": 0},
                )
            else:
                chat = LocalChat(model, store=answers, max_new_tokens=max_new_tokens, device=device)
        self._chat, self._k = chat, k
        self.name = chat.model.rstrip("/").rpartition("/")[2]
        self.unreadable: list[tuple[str, str]] = []  # caption and answer

    @property
    def cost(self) -> Cost:
        """Requests sent and answers taken from the store."""
        return self._chat.cost

    def propose(self, spans: Sequence[MaskedSpan]) -> list[list[str]]:
        """The replacements of each valid answer, in its order; an answer that cannot be read proposes nothing."""
        lead: list[Message] = [{"role": "system", "content": _TASK.format(k=self._k)}]
        for example, replacements in _EXAMPLES:
            lead.append({"role": "user", "content": example})
            lead.append({"role": "assistant", "content": json.dumps({"replacements": replacements})})
        captions = [span.masked(f"[{span.caption[span.start : span.end]}]") for span in spans]
        answers = self._chat.ask([[*lead, {"role": "user", "content": caption}] for caption in captions])
        replacements_of = []
        for span, answer in zip(spans, answers, strict=True):
            words = parse(answer["text"])
            if words is None:
                self.unreadable.append((span.caption, answer["text"]))
            replacements_of.append((words or [])[: self._k])
        return replacements_of


def parse(answer: str) -> list[str] | None:
    """The replacements of an answer, without what is no phrase of one to four words; None if the answer is invalid.

    Text around the JSON object (a code fence, a polite sentence) is forgiven.

    >>> parse('Sure! ```json {"replacements": ["pulling", "pulling", "", "2x"]}```'), parse("pulling"), parse("{}")
    (['pulling'], None, None)
    """
    match = _OBJECT.search(answer)
    if not match:
        return None
    try:
        value: Json = json.loads(match.group())
    except ValueError:
        return None
    items = value.get("replacements") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return None
    words = [" ".join(item.split()) for item in items if isinstance(item, str)]
    return list(dict.fromkeys(word for word in words if _PHRASE.fullmatch(word)))
