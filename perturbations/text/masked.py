"""SwapText by a masked language model (robustness paper, A.2)."""

from collections.abc import Sequence

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence, Word, parse
from video_contrast.perturbations.english.forms import like_case
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import checkpoints
from video_contrast.perturbations.text.words import can_be, how_many, is_content, put, sample
from video_contrast.untyped import Tokenizer, TorchModel

PROPOSED = 50  # best tokens of the model that are looked at for one of the word's part of speech


@text_perturbation(
    "mlm_suggestion",
    category="SwapText",
    origin="machine",
    version="2",
    requirements=("parse", *checkpoints.requirements("mlm_suggestion")),
    batched=True,
)
def mlm_suggestion(
    sentences: list[Sentence],
    rngs: list[Generator],
    *,
    profile: str = "paper",
    models: str | Sequence[str] | None = None,
) -> list[str]:
    """A fifth of the words become the masked language model's best other word of the same part of speech."""
    (checkpoint,) = checkpoints.available("mlm_suggestion", models)
    tokenizer, model = checkpoints.pretrained("AutoModelForMaskedLM", checkpoint, "mlm_suggestion")
    captions = [sentence.caption for sentence in sentences]
    targets = [_targets(sentence, rng) for sentence, rng in zip(sentences, rngs, strict=True)]
    proposals = _propose(captions, targets, tokenizer, model)
    return _fill(captions, targets, proposals)


def _targets(sentence: Sentence, rng: Generator) -> list[Word]:
    """The words of a caption that are masked: nouns, verbs, adjectives and adverbs, in reading order."""
    can = [word for word in sentence.words if is_content(word)]
    count = sum(word.text[0].isalnum() for word in sentence.words)
    return [can[n] for n in sample(len(can), how_many(0.2, count), rng)] if can else []


def _propose(
    captions: list[str], targets: list[list[Word]], tokenizer: Tokenizer, model: TorchModel
) -> list[list[list[str]]]:
    """For each masked word the model's best whole words, best first."""
    import torch

    places = [place for place, target in enumerate(targets) if target]
    masked = [put(captions[p], [(t.start, t.end, tokenizer.mask_token) for t in targets[p]]) for p in places]
    longest = min(tokenizer.model_max_length, 512)
    inputs = [tokenizer(text, truncation=True, max_length=longest)["input_ids"] for text in masked]
    done: list[list[list[str]]] = [[] for _ in captions]
    for batch in checkpoints.batches(inputs, len):
        ids = torch.tensor([inputs[n] for n in batch], device=model.device)
        with torch.inference_mode():
            logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        best = logits.topk(min(PROPOSED, logits.shape[-1]), dim=-1).indices.cpu()
        mask = (ids == tokenizer.mask_token_id).cpu()
        for row, n in enumerate(batch):
            done[places[n]] = [_whole_words(tokenizer, target.tolist()) for target in best[row][mask[row]]]
    return done


def _whole_words(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    """The alphabetic words among token ids; pieces that continue a word are no words."""
    pieces = tokenizer.convert_ids_to_tokens(ids)
    marked = any(piece.startswith(("Ġ", "▁")) for piece in pieces)  # byte-level and sentencepiece mark word starts
    starts = [piece[1:] if marked else piece for piece in pieces if not marked or piece.startswith(("Ġ", "▁"))]
    return [word for word in starts if word.isalpha() and word not in tokenizer.all_special_tokens]


def _fill(captions: list[str], targets: list[list[Word]], proposals: list[list[list[str]]]) -> list[str]:
    """Puts, for each masked word, the first proposal in that has the word's part of speech where it would stand.

    Proposals are parsed in rounds over all captions: most words are settled in the first one or two.
    """
    waiting = [(row, n) for row, target in enumerate(targets) for n in range(min(len(target), len(proposals[row])))]
    settled: dict[tuple[int, int], str] = {}
    for attempt in range(PROPOSED):
        candidates: list[tuple[tuple[int, int], str, str]] = []
        for row, n in waiting:
            word, proposed, caption = targets[row][n], proposals[row][n], captions[row]
            if attempt < len(proposed):
                new = like_case(proposed[attempt], caption[word.start : word.end])
                candidates.append(((row, n), new, put(caption, [(word.start, word.end, new)])))
        if not candidates:
            break
        parsed = parse([text for _, _, text in candidates])
        for (key, new, _), sentence in zip(candidates, parsed, strict=True):
            word = targets[key[0]][key[1]]
            there = next((other for other in sentence.words if other.start == word.start), None)
            same = there is not None and there.tag[:2] == word.tag[:2] and can_be(new, there.tag)
            if new.lower() != word.text and same:
                settled[key] = new
        waiting = [key for key in waiting if key not in settled]
    done = []
    for row, caption in enumerate(captions):
        changes = [(t.start, t.end, settled[row, n]) for n, t in enumerate(targets[row]) if (row, n) in settled]
        done.append(put(caption, changes))
    return done
