"""Replacements from a sequence-to-sequence model that fills a masked span (paper: T5-base, beam 50, K 50)."""

import re
from collections.abc import Sequence

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.generators.base import MaskedSpan
from video_contrast.pretrained import device_of, load, placed
from video_contrast.token_batches import of_each
from video_contrast.untyped import Tokenizer, TorchModel

SENTINEL, END = "<extra_id_0>", "<extra_id_1>"
_WORDS = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?: [^\W\d_]+(?:['’-][^\W\d_]+)*){0,2}")


class T5Generator:
    """Masks the phrase with a sentinel and takes the beams that fill it with one to three words.

    Args:
        model: any T5-like checkpoint with sentinels, also one made by `video-contrast tune-t5`.
        beams, k: beam width, and how many beams are read (k <= beams).
        batch_tokens: tokens in one batch, counting every beam.
        device: "auto", "cpu", "cuda" ...
    """

    def __init__(
        self,
        model: str = "google-t5/t5-base",
        *,
        beams: int = 50,
        k: int = 50,
        max_new_tokens: int = 8,
        batch_tokens: int = 20_000,
        device: str = "auto",
    ) -> None:
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        if not 1 <= k <= beams:
            raise UsageError(f"k must be in 1..beams ({beams}), not {k}")
        self.name = model.rstrip("/").rpartition("/")[2]
        self._beams, self._k, self._max_new_tokens, self._budget = beams, k, max_new_tokens, batch_tokens
        self._device = device_of(device)
        self._tokenizer: Tokenizer = load(model, AutoTokenizer, "model of the generator t5")
        if self._tokenizer.convert_tokens_to_ids(SENTINEL) in (None, self._tokenizer.unk_token_id):
            raise VideoContrastError(f"the tokenizer of {model!r} has no {SENTINEL}: the generator t5 needs sentinels")
        self._model: TorchModel = placed(
            load(model, AutoModelForSeq2SeqLM, "model of the generator t5"), self._device, "model of the generator t5"
        )

    def propose(self, spans: Sequence[MaskedSpan]) -> list[list[str]]:
        """Up to k different fillings a span, the likeliest first. Equal inputs are run once."""
        inputs = [span.masked(SENTINEL) for span in spans]
        unique = list(dict.fromkeys(inputs))
        lengths = [len(self._tokenizer(text, truncation=True)["input_ids"]) * self._beams for text in unique]
        fillings = of_each(unique, lengths, self._budget, self._batch)
        return [fillings[text] for text in inputs]

    def _batch(self, texts: list[str]) -> list[list[str]]:
        import torch

        inputs = self._tokenizer(texts, padding=True, truncation=True, return_tensors="pt").to(self._device)
        with torch.inference_mode():
            tokens = self._model.generate(
                **inputs, num_beams=self._beams, num_return_sequences=self._k, max_new_tokens=self._max_new_tokens,
                do_sample=False, early_stopping=True,
            )  # fmt: skip
        outputs = self._tokenizer.batch_decode(tokens, skip_special_tokens=False)
        fillings = [filling(text, self._tokenizer.pad_token, self._tokenizer.eos_token) for text in outputs]
        return [
            list(dict.fromkeys(new for new in fillings[first : first + self._k] if new))
            for first in range(0, len(fillings), self._k)
        ]


def filling(output: str, *specials: str | None) -> str | None:
    """The words between the first two sentinels, if they are one to three.

    >>> filling("<pad><extra_id_0> standing up<extra_id_1> on</s>", "<pad>", "</s>"), filling("<extra_id_0> 2 ,</s>")
    ('standing up', None)
    """
    _, _, after = output.partition(SENTINEL)
    inside = after.partition("<extra_id_")[0]
    for special in specials:
        if special:
            inside = inside.partition(special)[0]
    words = " ".join(inside.split())
    return words if _WORDS.fullmatch(words) else None
