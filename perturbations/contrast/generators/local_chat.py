"""A local chat model that is asked like a served one (`video_contrast.chat_model`) and keeps its answers too."""

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol

from video_contrast.chat_model import Answer, AnswerStore, Conversation, Cost
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.batches import in_batches
from video_contrast.pretrained import device_of, load, placed
from video_contrast.untyped import Tokenizer, TorchModel

_BATCH_TOKENS = 16_384


class Chat(Protocol):
    """Answers conversations: `ChatModel` for an endpoint, `ChatPool` for several, `LocalChat` for a model here."""

    model: str

    @property
    def cost(self) -> Cost:
        """What was asked, and what came from the store."""

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
        keys = [self._key(messages) for messages in conversations]
        missing = {key: c for key, c in zip(keys, conversations, strict=True) if self._store.get(key) is None}
        self.cost.stored += len(keys) - len(missing)
        pending = list(missing.items())
        prompts = [
            self._tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
            for _, messages in pending
        ]
        lengths = [len(self._tokenizer(prompt, add_special_tokens=False)["input_ids"]) for prompt in prompts]
        for batch, texts in in_batches(
            lengths, _BATCH_TOKENS, lambda batch: self._generate([prompts[n] for n in batch])
        ):
            for n, text in zip(batch, texts, strict=True):
                self._store.put(pending[n][0], {"text": text})
            self.cost.requests += len(batch)
        return [answer for answer in (self._store.get(key) for key in keys) if answer is not None]

    def _generate(self, prompts: list[str]) -> list[str]:
        import torch

        inputs = self._tokenizer(prompts, padding=True, add_special_tokens=False, return_tensors="pt")
        inputs = inputs.to(self._device)
        with torch.inference_mode():
            generated = self._network.generate(
                **inputs,
                max_new_tokens=self._max_new_tokens,
                do_sample=False,
                pad_token_id=self._tokenizer.pad_token_id,
            )
        new = generated[:, inputs["input_ids"].shape[1] :]
        return list(self._tokenizer.batch_decode(new, skip_special_tokens=True))

    def _key(self, messages: Conversation) -> str:
        request = json.dumps([self.model, self._max_new_tokens, list(messages)], sort_keys=True)
        return blake2b(request.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
