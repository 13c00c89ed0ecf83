"""Chat models behind one call: a local transformers model, or any OpenAI-compatible endpoint."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.verb.batches import by_length, device_of, load

Message = dict[str, str]


class Chat(Protocol):
    """Answers conversations."""

    name: str

    def answer(self, conversations: Sequence[list[Message]]) -> list[str]:
        """One answer a conversation, as deterministic as the model allows."""


class LocalChat:
    """A causal model with a chat template, greedy, in left-padded batches of like length."""

    def __init__(
        self, model: str, *, max_new_tokens: int = 200, batch_tokens: int = 16_384, device: str = "auto"
    ) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.name = model.rstrip("/").rpartition("/")[2]
        self._max_new_tokens, self._budget, self._device = max_new_tokens, batch_tokens, device_of(device)
        self._tokenizer: Any = load(model, AutoTokenizer, "model of the generator llm", padding_side="left")
        if self._tokenizer.chat_template is None:
            raise VideoContrastError(f"{model!r} has no chat template: the generator llm needs a chat model")
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._model: Any = load(model, AutoModelForCausalLM, "model of the generator llm", dtype="auto")
        self._model = self._model.to(self._device).eval()

    def answer(self, conversations: Sequence[list[Message]]) -> list[str]:
        """Greedy answers."""
        import torch

        prompts = [
            self._tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
            for messages in conversations
        ]
        lengths = [len(self._tokenizer(prompt, add_special_tokens=False)["input_ids"]) for prompt in prompts]
        answers = [""] * len(prompts)
        for batch in by_length(lengths, self._budget):
            inputs = self._tokenizer(
                [prompts[n] for n in batch], padding=True, add_special_tokens=False, return_tensors="pt"
            ).to(self._device)
            with torch.inference_mode():
                made = self._model.generate(
                    **inputs,
                    max_new_tokens=self._max_new_tokens,
                    do_sample=False,
                    pad_token_id=self._tokenizer.pad_token_id,
                )
            new = made[:, inputs["input_ids"].shape[1] :]
            for n, text in zip(batch, self._tokenizer.batch_decode(new, skip_special_tokens=True), strict=True):
                answers[n] = text
        return answers


class EndpointChat:
    """An OpenAI-compatible endpoint through `huggingface_hub.InferenceClient`, some requests at a time.

    The key, where one is needed, comes from the variable HF_TOKEN or OPENAI_API_KEY, never from an option, so that it
    is in no record.
    """

    def __init__(
        self, model: str, endpoint: str, *, max_new_tokens: int = 200, workers: int = 8, timeout: float = 120.0
    ) -> None:
        from huggingface_hub import InferenceClient

        self.name = model.rstrip("/").rpartition("/")[2]
        self._model, self._endpoint = model, endpoint
        self._max_new_tokens, self._workers = max_new_tokens, workers
        key = os.environ.get("OPENAI_API_KEY") or os.environ.get("HF_TOKEN") or None
        self._client = InferenceClient(base_url=endpoint, api_key=key, timeout=timeout)

    def answer(self, conversations: Sequence[list[Message]]) -> list[str]:
        """Answers at temperature 0 with a fixed seed.

        Raises:
            VideoContrastError: the endpoint fails; what it answered before is in the store of the generator.
        """
        with ThreadPoolExecutor(self._workers) as pool:
            return list(pool.map(self._one, conversations))

    def _one(self, messages: list[Message]) -> str:
        try:
            answer = self._client.chat_completion(
                messages, model=self._model, max_tokens=self._max_new_tokens, temperature=0.0, seed=0
            )
        except Exception as error:  # its transport errors have no public name
            raise VideoContrastError(
                f"the endpoint {self._endpoint} failed ({type(error).__name__}: {' '.join(str(error).split())}); "
                "what it answered so far is stored: run the same command again to go on"
            ) from error
        return answer.choices[0].message.content or ""
