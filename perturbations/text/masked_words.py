"""SwapText (robustness paper, A.2): words become what a masked language model puts in."""

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence, Word, parse
from video_contrast.perturbations.english.forms import like_case, replaced_spans
from video_contrast.perturbations.text import checkpoints
from video_contrast.perturbations.text.checkpoints import Given, model_perturbation
from video_contrast.perturbations.text.words import can_be, how_many, is_content, sample
from video_contrast.untyped import Tokenizer, TorchModel

PROPOSED = 50  # best tokens of the model that are looked at for one of the word's part of speech


@model_perturbation("mlm_suggestion", category="SwapText", origin="machine", version="2", needs=("parse",))
def mlm_suggestion(
    sentences: list[Sentence], rngs: list[Generator], *, profile: str = "paper", models: Given = None
) -> list[str]:
    """A fifth of the words become the masked language model's best other word of the same part of speech."""
    (checkpoint,) = checkpoints.available("mlm_suggestion", models)
    tokenizer, model = checkpoints.pretrained("AutoModelForMaskedLM", checkpoint, "mlm_suggestion")
    captions = [sentence.caption for sentence in sentences]
    targets: list[list[Word]] = []
    for sentence, rng in zip(sentences, rngs, strict=True):
        content = [word for word in sentence.words if is_content(word)]
        count = how_many(0.2, sum(word.text[0].isalnum() for word in sentence.words))
        targets.append([content[n] for n in sample(len(content), count, rng)] if content else [])
    return _filled_masks(captions, targets, _masked_proposals(captions, targets, tokenizer, model))


def _masked_proposals(
    captions: list[str], targets: list[list[Word]], tokenizer: Tokenizer, model: TorchModel
) -> list[list[list[str]]]:
    """For each masked word the model's best whole words, best first."""
    import torch

    places = [place for place, target in enumerate(targets) if target]
    masks = [[(word.start, word.end, tokenizer.mask_token) for word in target] for target in targets]
    masked_captions = [replaced_spans(captions[place], masks[place]) for place in places]
    longest = min(tokenizer.model_max_length, 512)
    inputs = [tokenizer(text, truncation=True, max_length=longest)["input_ids"] for text in masked_captions]
    proposals: list[list[list[str]]] = [[] for _ in captions]
    for batch in checkpoints.batches(inputs, len):
        ids = torch.tensor([inputs[n] for n in batch], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        best = logits.topk(min(PROPOSED, logits.shape[-1]), dim=-1).indices.cpu()
        mask = (ids == tokenizer.mask_token_id).cpu()
        for row, n in enumerate(batch):
            for token_ids in best[row][mask[row]].tolist():
                pieces = tokenizer.convert_ids_to_tokens(token_ids)
                # Byte-level and sentencepiece vocabularies mark where a word starts; a piece inside one is no word.
                starts = [piece[1:] for piece in pieces if piece.startswith(("Ġ", "▁"))]
                words = starts if starts else pieces
                specials = tokenizer.all_special_tokens
                proposals[places[n]].append([word for word in words if word.isalpha() and word not in specials])
    return proposals


def _filled_masks(captions: list[str], targets: list[list[Word]], proposals: list[list[list[str]]]) -> list[str]:
    """Puts, for each masked word, the first proposal in that has the word's part of speech where it would stand.

    Proposals are parsed in rounds over all captions: most words are settled in the first one or two.
    """
    waiting = [
        (row, *target)
        for row in range(len(captions))
        for target in zip(targets[row], proposals[row], strict=False)  # a mask that was cut off has no proposals
    ]
    changes: list[list[tuple[int, int, str]]] = [[] for _ in captions]
    for attempt in range(PROPOSED):
        trials = [(row, word, words) for row, word, words in waiting if attempt < len(words)]
        spans = [
            (word.start, word.end, like_case(words[attempt], captions[row][word.start : word.end]))
            for row, word, words in trials
        ]
        rows = [row for row, _, _ in trials]
        sentences = parse([replaced_spans(captions[row], [span]) for row, span in zip(rows, spans, strict=True)])
        waiting = []
        for target, span, sentence in zip(trials, spans, sentences, strict=True):
            row, word, _ = target
            there = next((other for other in sentence.words if other.start == word.start), None)
            fits = there is not None and there.tag[:2] == word.tag[:2] and can_be(span[2], there.tag)
            if fits and span[2].lower() != word.text:
                changes[row].append(span)
            else:
                waiting.append(target)
    return [replaced_spans(caption, sorted(of_caption)) for caption, of_caption in zip(captions, changes, strict=True)]
