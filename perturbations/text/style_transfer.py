"""TextStyle (robustness paper, A.2) by sequence-to-sequence checkpoints: formal, casual, passive where one is named.

Five rewritings are sampled, and an adequacy model (a natural-language-inference classifier) chooses the one that
follows best from the caption.
"""

from numpy.random import Generator

from video_contrast.perturbations.text import checkpoints
from video_contrast.perturbations.text.checkpoints import Given, model_perturbation
from video_contrast.seeds import stream
from video_contrast.untyped import Tensor, Tokenizer, TorchModel

SAMPLES = 5
TOP_K, TOP_P = 50, 0.95
_LONGEST = 64  # tokens of a rewriting, at most


def _register(name: str, summary: str) -> None:
    def rule(captions: list[str], rngs: list[Generator], *, profile: str = "paper", models: Given = None) -> list[str]:
        return transfer(name, captions, rngs, models)

    rule.__doc__ = summary
    model_perturbation(name, category="TextStyle", origin="natural")(rule)


_register("casual_to_formal", "The caption in formal English, by a style-transfer checkpoint.")
_register("formal_to_casual", "The caption in casual English, by a style-transfer checkpoint.")


def transfer(name: str, captions: list[str], rngs: list[Generator], models: Given) -> list[str]:
    """The captions in the style of perturbation `name`, by its checkpoints."""
    style, adequacy = checkpoints.available(name, models)
    tokenizer, model = checkpoints.pretrained("AutoModelForSeq2SeqLM", style, name)
    judge = checkpoints.pretrained("AutoModelForSequenceClassification", adequacy, name)
    old, _, new = name.title().partition("_To_")
    prompts = [f"transfer {old} to {new}: {caption}" for caption in captions]
    rewritten = sample_rewritings(prompts, rngs, tokenizer, model)
    return choose(captions, rewritten, *judge)


def sample_rewritings(
    texts: list[str], rngs: list[Generator], tokenizer: Tokenizer, model: TorchModel
) -> list[list[str]]:
    """Returns `SAMPLES` sampled outputs a text.

    `texts`: the inputs of the model, with its prefix. `rngs`: one stream a text; its samples depend on nothing else,
    whatever is in the batch.
    """
    from transformers import LogitsProcessorList

    inputs = [tokenizer(text, truncation=True, max_length=2 * _LONGEST)["input_ids"] for text in texts]
    outputs_of: list[list[str]] = [[] for _ in texts]
    for batch in checkpoints.batches(inputs, len):
        rows = [n for n in batch for _ in range(SAMPLES)]
        draws = [stream("rewriting", int(rngs[n].integers(1 << 62))) for n in batch for _ in range(SAMPLES)]
        options = {"num_beams": 1, "max_new_tokens": _LONGEST, "logits_processor": LogitsProcessorList([_Draw(draws)])}
        outputs = checkpoints.outputs([inputs[n] for n in rows], tokenizer, model, **options)
        for n, text in zip(rows, outputs, strict=True):
            outputs_of[n].append(text)
    return outputs_of


class _Draw:
    """Makes greedy decoding sample: each row's next token is drawn from its own generator, within top-k and top-p.

    `generate(do_sample=True)` draws all rows from one global generator, so a caption's result would change with its
    neighbours in the batch.
    """

    def __init__(self, rngs: list[Generator]) -> None:
        self._rngs = rngs

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        import torch

        best, places = scores.float().topk(min(TOP_K, scores.shape[-1]), dim=-1)
        share = best.softmax(dim=-1).double()
        before = share.cumsum(dim=-1) - share
        share = torch.where(before < TOP_P, share, 0.0)
        points = torch.tensor([rng.random() for rng in self._rngs], dtype=torch.float64, device=scores.device)
        sums = share.cumsum(dim=-1)
        drawn_columns = (sums < points[:, None] * sums[:, -1:]).sum(dim=-1, keepdim=True).clamp(max=share.shape[-1] - 1)
        out = torch.full_like(scores, -torch.inf)
        return out.scatter(1, places.gather(1, drawn_columns), 0.0)


def choose(captions: list[str], rewritten: list[list[str]], tokenizer: Tokenizer, model: TorchModel) -> list[str]:
    """Returns of each caption's rewritings the one that follows from it best; the first of equals.

    Args:
        captions: the originals.
        rewritten: the candidates of each; where none holds text, the caption stays.
        tokenizer, model: a classifier of pairs with a label "entailment" (else its last label).
    """
    import torch

    pairs = [(row, text) for row, texts in enumerate(rewritten) for text in dict.fromkeys(texts) if text]
    inputs = [tokenizer(captions[row], text, truncation=True, max_length=4 * _LONGEST) for row, text in pairs]
    numbers = [int(n) for n, label in model.config.id2label.items() if str(label).lower().startswith("entail")]
    entailment = numbers[0] if numbers else int(model.config.num_labels) - 1  # inference heads put it last
    scores = [0.0] * len(pairs)
    for batch in checkpoints.batches(inputs, lambda encoding: len(encoding["input_ids"])):
        names = [name for name in inputs[batch[0]] if name in ("input_ids", "attention_mask", "token_type_ids")]
        encodings = {name: torch.tensor([inputs[n][name] for n in batch], device=model.device) for name in names}
        with torch.inference_mode():
            share = model(**encodings).logits.float().softmax(dim=-1)[:, entailment].cpu().tolist()
        for n, value in zip(batch, share, strict=True):
            scores[n] = value
    best: dict[int, tuple[float, str]] = {}
    for (row, text), score in zip(pairs, scores, strict=True):
        if row not in best or score > best[row][0]:
            best[row] = (score, text)
    return [best[row][1] if row in best else caption for row, caption in enumerate(captions)]
