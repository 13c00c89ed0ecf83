"""Replacements from a masked language model: one word in place of the words, or of the verb (noun) among them."""

from collections.abc import Sequence

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.generators.base import MaskedSpan
from video_contrast.pretrained import device_of, load, placed
from video_contrast.token_batches import of_each, tokens_a_batch
from video_contrast.untyped import Tokenizer, TorchModel


class MaskedGenerator:
    """Takes the k likeliest whole words at the mask.

    A span of several words is asked for twice: as one mask, and as a mask beside its other words ("sitting in" as
    "[MASK]" and as "[MASK] in"); the two lists are merged by probability. `batch_tokens`: tokens in one batch; None:
    what suits the device. `device`: "auto", "cpu", "cuda" ...
    """

    def __init__(
        self,
        model: str = "google-bert/bert-base-uncased",
        *,
        k: int = 50,
        batch_tokens: int | None = None,
        device: str = "auto",
    ) -> None:
        from transformers import AutoModelForMaskedLM, AutoTokenizer

        if k < 1:
            raise UsageError(f"k must be at least 1, not {k}")
        self.name = model.rstrip("/").rpartition("/")[2]
        self._k, self._device = k, device_of(device)
        self._budget = tokens_a_batch(batch_tokens, self._device)
        self._tokenizer: Tokenizer = load(model, AutoTokenizer, "model of the generator mlm")
        if self._tokenizer.mask_token is None:
            raise VideoContrastError(f"{model!r} has no mask token: the generator mlm needs a masked language model")
        self._model: TorchModel = placed(
            load(model, AutoModelForMaskedLM, "model of the generator mlm"), self._device, "model of the generator mlm"
        )
        self._words = self._whole_words()

    def propose(self, spans: Sequence[MaskedSpan]) -> list[list[str]]:
        """Up to k different replacements a span, the likeliest first. Equal inputs are run once."""
        mask = self._tokenizer.mask_token
        masks_of = []  # of each span, masked captions with what stands before and after the mask within the span
        for span in spans:
            left, right = span.caption[span.start : span.head_start], span.caption[span.head_end : span.end]
            beside = [(span.masked(left + mask + right), left, right)] if left or right else []
            masks_of.append([(span.masked(mask), "", ""), *beside])
        texts = list(dict.fromkeys(text for masks in masks_of for text, _, _ in masks))
        lengths = [len(self._tokenizer(text, truncation=True)["input_ids"]) for text in texts]
        fillings = of_each(texts, lengths, self._budget, self._batch)
        ranked_words = [
            sorted((-score, before + word + after) for text, before, after in masks for word, score in fillings[text])
            for masks in masks_of
        ]
        return [list(dict.fromkeys(new for _, new in of_span))[: self._k] for of_span in ranked_words]

    def _batch(self, texts: list[str]) -> list[list[tuple[str, float]]]:
        import torch

        inputs = self._tokenizer(texts, padding=True, truncation=True, return_tensors="pt").to(self._device)
        is_mask = inputs["input_ids"] == self._tokenizer.mask_token_id
        # A mask beyond what the model reads is gone: its row gets no proposals.
        rows, places = is_mask.any(1), is_mask.int().argmax(1)
        words = self._words
        word_tokens = torch.tensor(sorted(words), device=self._device)
        with torch.inference_mode():
            logits = self._model(**inputs).logits
            at_mask = logits[torch.arange(len(texts), device=self._device), places].float().log_softmax(-1)
            top = at_mask[:, word_tokens].topk(min(self._k, len(word_tokens)))
        numbers, scores = word_tokens[top.indices].tolist(), top.values.tolist()
        return [
            [(words[number], score) for number, score in zip(*predictions, strict=True)] if there else []
            for there, *predictions in zip(rows.tolist(), numbers, scores, strict=True)
        ]

    def _whole_words(self) -> dict[int, str]:
        """Token id -> word, for the tokens that are whole lower-case words by the vocabulary's own marking."""
        vocabulary = self._tokenizer.get_vocab()
        marker = next((m for m in ("Ġ", "▁") if any(token.startswith(m) for token in vocabulary)), None)
        words = {}
        for token, number in vocabulary.items():
            if marker is not None and not token.startswith(marker):
                continue
            word = token.removeprefix(marker or "")
            if len(word) > 1 and word.isascii() and word.isalpha() and word.islower():
                words[number] = word
        if not words:
            raise VideoContrastError(f"the vocabulary of {self.name!r} holds no whole words")
        return words
