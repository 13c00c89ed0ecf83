"""SwapText (robustness paper, A.2): a caption is translated to and fro."""

from numpy.random import Generator

from video_contrast.perturbations.text import checkpoints
from video_contrast.perturbations.text.checkpoints import Given, model_perturbation
from video_contrast.untyped import Tokenizer, TorchModel

_BEAMS = 5
_LONGEST = 128  # tokens


@model_perturbation("back_trans", category="SwapText", origin="machine")
def back_trans(
    captions: list[str], rngs: list[Generator], *, profile: str = "paper", models: Given = None
) -> list[str]:
    """The caption is translated to German and back (any pair of translation checkpoints can be given)."""
    names = checkpoints.available("back_trans", models)
    there, back = (checkpoints.pretrained("AutoModelForSeq2SeqLM", name, "back_trans") for name in names)
    texts = translate(translate(captions, *there), *back)
    return [text or caption for text, caption in zip(texts, captions, strict=True)]


def translate(texts: list[str], tokenizer: Tokenizer, model: TorchModel) -> list[str]:
    """The best translation of each text by beam search. `texts`: any texts; cut at 128 tokens."""
    inputs = [tokenizer(text, truncation=True, max_length=_LONGEST)["input_ids"] for text in texts]
    translations = [""] * len(texts)
    for batch in checkpoints.batches(inputs, len):
        ids = [inputs[n] for n in batch]
        outputs = checkpoints.outputs(ids, tokenizer, model, num_beams=_BEAMS, max_new_tokens=_LONGEST)
        for n, text in zip(batch, outputs, strict=True):
            translations[n] = text
    return translations
