"""Replacements from a masked language model: one word in place of the phrase, or of its verb before its particles."""

from collections.abc import Sequence

from numpy.random import Generator as Random

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.batches import in_batches, tokens_a_batch
from video_contrast.perturbations.contrast.candidate import Candidate, Original, fill
from video_contrast.pretrained import device_of, load, placed
from video_contrast.untyped import Tokenizer, TorchModel


class MaskedGenerator:
    """Takes the k likeliest whole words at the mask.

    A phrase of several words is asked for twice: as one mask, and as a mask beside its other words ("sitting in" as
    "[MASK]" and as "[MASK] in"); the two lists are merged by probability.

    Args:
        model: any masked language model.
        k: proposals a caption.
        batch_tokens: tokens in one batch; None: what suits the device.
        device: "auto", "cpu", "cuda" ...
    """

    draw = "uniform"

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

    def propose(self, originals: Sequence[Original], randoms: Sequence[Random]) -> list[list[Candidate]]:
        """Up to k candidates an original, the likeliest first. Equal inputs are run once."""
        masked = [self._masks(original) for original in originals]
        unique = list(dict.fromkeys(text for masks in masked for text, _, _ in masks))
        fillings = self._fill(unique)
        proposed = []
        for original, masks in zip(originals, masked, strict=True):
            merged = [
                (-score, f"{before}{word}{after}") for text, before, after in masks for word, score in fillings[text]
            ]
            proposed.append([fill(original, new) for _, new in sorted(merged)[: self._k]])
        return proposed

    def _masks(self, original: Original) -> list[tuple[str, str, str]]:
        """Masked captions, with what stands before and after the mask within the phrase."""
        caption, phrase = original.caption, original.phrase
        before, after = caption[: phrase.start], caption[phrase.end :]
        head = original.tokens[phrase.place]
        shapes = [("", "")]
        if head.start > phrase.start or head.end < phrase.end:
            shapes.append((caption[phrase.start : head.start], caption[head.end : phrase.end]))
        mask = self._tokenizer.mask_token
        return [(before + left + mask + right + after, left, right) for left, right in shapes]

    def _fill(self, texts: list[str]) -> dict[str, list[tuple[str, float]]]:
        lengths = [len(self._tokenizer(text, truncation=True)["input_ids"]) for text in texts]
        fillings: dict[str, list[tuple[str, float]]] = {}
        for batch, filled in in_batches(lengths, self._budget, lambda batch: self._batch([texts[n] for n in batch])):
            fillings.update(zip([texts[n] for n in batch], filled, strict=True))
        return fillings

    def _batch(self, texts: list[str]) -> list[list[tuple[str, float]]]:
        import torch

        inputs = self._tokenizer(texts, padding=True, truncation=True, return_tensors="pt").to(self._device)
        is_mask = inputs["input_ids"] == self._tokenizer.mask_token_id
        # A mask beyond what the model reads is gone: its row gets no proposals.
        rows, places = is_mask.any(1), is_mask.int().argmax(1)
        words = self._words
        allowed = torch.tensor(sorted(words), device=self._device)
        with torch.inference_mode():
            logits = self._model(**inputs).logits
            at_mask = logits[torch.arange(len(texts), device=self._device), places].float().log_softmax(-1)
            top = at_mask[:, allowed].topk(min(self._k, len(allowed)))
        numbers, scores = allowed[top.indices].tolist(), top.values.tolist()
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
