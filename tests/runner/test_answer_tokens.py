"""Answers are scored by the tokens that the model itself would say behind the prompt, whatever the tokenizer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from tiny_parts import CHAT
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from video_contrast.runner.kinds.chat_prompts import continuations
from video_contrast.runner.kinds.generative import GenerativeScorer, ScoringOptions
from video_contrast.runner.kinds.prompts import DESCRIBE, YESNO

SPECIAL = ["<unk>", "<|im_start|>", "<|im_end|>"]
PIECES = ["Ye", "Yes", "No", "no", "ye", "yes", "ma", "man"]  # each is joined of the one before and a letter, or of two
CAPTIONS = ["a man runs", "No man sits"]


def bpe(space: str) -> models.BPE:
    """A vocabulary of letters, answers, and a space before them; no piece goes over a line break."""
    letters = [chr(n) for n in range(33, 127)] + ["\n", "Ċ", space]
    pairs = [(piece[:-1], piece[-1]) for piece in PIECES]
    pairs += [(space, word) for word in ("Yes", "No", "yes", "no", "man", *"ABa")]
    vocabulary = {token: n for n, token in enumerate(dict.fromkeys([*SPECIAL, *letters, *map("".join, pairs)]))}
    return models.BPE(vocab=vocabulary, merges=pairs, unk_token="<unk>")


def byte_level() -> Tokenizer:
    tokenizer = Tokenizer(bpe("Ġ"))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    return tokenizer


def metaspace(scheme: str) -> Callable[[], Tokenizer]:
    def make() -> Tokenizer:
        tokenizer = Tokenizer(bpe("▁"))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
        tokenizer.decoder = decoders.Metaspace(prepend_scheme=scheme)
        return tokenizer

    return make


def prepend() -> Tokenizer:
    """As Llama 2 and Mistral: a normalizer puts the space before whatever is encoded."""
    tokenizer = Tokenizer(bpe("▁"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    return tokenizer


def word_piece() -> Tokenizer:
    letters = [chr(n) for n in range(33, 127)]
    tokens = [*SPECIAL, *letters, *(f"##{letter}" for letter in letters), "yes", "no", "man"]
    tokenizer = Tokenizer(
        models.WordPiece({token: n for n, token in enumerate(dict.fromkeys(tokens))}, unk_token="<unk>")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    return tokenizer


TOKENIZERS = {
    "byte-level BPE": byte_level,
    "SentencePiece with prefix space": metaspace("first"),
    "SentencePiece without": metaspace("never"),
    "Prepend": prepend,
    "WordPiece": word_piece,
}


@pytest.fixture(params=[*TOKENIZERS])
def parts(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    """A tiny Llama, and the tokenizer with a template that ends in a line break."""
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=TOKENIZERS[request.param](), unk_token="<unk>", eos_token="<|im_end|>", chat_template=CHAT
    )
    tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=4,
        initializer_range=0.5,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).eval(), tokenizer


def prompt_of(tokenizer: Any, question: str) -> str:
    content = [{"type": "text", "text": question}]
    chat = [{"role": "user", "content": content}]
    return str(tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False))


def log_probabilities(model: Any, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids])).logits[0].float().log_softmax(-1)


def said(tokenizer: Any, ids: list[int], token: int) -> str:
    """What stands behind a prompt after one more token; pieces that go on a word begin none."""
    if tokenizer.convert_ids_to_tokens(token).startswith("##"):
        return ""
    before, after = tokenizer.decode(ids), tokenizer.decode([*ids, token])
    return after[len(before) :].strip() if after.startswith(before) else ""


def test_yes_and_no_are_all_tokens_that_say_so_behind_the_prompt(parts: tuple[Any, Any]) -> None:
    model, tokenizer = parts
    scored = GenerativeScorer(model, tokenizer).score(None, CAPTIONS)
    assert scored.parts is not None
    for caption, part in zip(CAPTIONS, scored.parts, strict=True):
        ids = tokenizer.encode(prompt_of(tokenizer, YESNO.format(caption=caption)), add_special_tokens=False)
        last = log_probabilities(model, ids)[-1]
        for name in ("yes", "no"):
            tokens = [n for n in range(len(tokenizer)) if said(tokenizer, ids, n).lower() == name]
            assert tokens
            assert part[name] == pytest.approx(float(last[tokens].logsumexp(0)), abs=1e-4)


def test_letters_are_those_that_stand_behind_the_prompt(parts: tuple[Any, Any]) -> None:
    model, tokenizer = parts
    scorer = GenerativeScorer(model, tokenizer, ScoringOptions(scoring="letter"))
    scored = scorer.score(None, CAPTIONS)
    ids = tokenizer.encode(scorer.first_prompt, add_special_tokens=False)
    last = log_probabilities(model, ids)[-1]
    upper = "a" if said(tokenizer, ids, tokenizer.encode("A", add_special_tokens=False)[-1]) == "a" else "A"
    names = [upper, chr(ord(upper) + 1)]
    tokens = [[n for n in range(len(tokenizer)) if said(tokenizer, ids, n) == name] for name in names]
    expected = torch.stack([last[of_letter].logsumexp(0) for of_letter in tokens]).log_softmax(0)
    np.testing.assert_allclose(scored.scores, expected.numpy(), atol=1e-4)


def test_a_caption_has_the_likelihood_of_its_tokens_behind_the_prompt(parts: tuple[Any, Any]) -> None:
    model, tokenizer = parts
    scored = GenerativeScorer(model, tokenizer, ScoringOptions(scoring="loglik", norm="sum")).score(None, CAPTIONS)
    prompt = prompt_of(tokenizer, DESCRIBE)
    before = len(tokenizer.encode(prompt, add_special_tokens=False))
    assert scored.parts is not None
    for caption, score, part in zip(CAPTIONS, scored.scores, scored.parts, strict=True):
        ids = tokenizer.encode(prompt + caption, add_special_tokens=False)
        logs = log_probabilities(model, ids)
        expected = sum(float(logs[n - 1, ids[n]]) for n in range(before, len(ids)))
        assert score == pytest.approx(expected, abs=1e-4)
        assert part["n_tokens"] == len(ids) - before


def test_behind_a_prompt_that_an_answer_would_be_joined_to_it_is_said_as_on_a_line() -> None:
    """Alone it would be the token of the answer behind a space, which no template puts there."""
    tokenizer = metaspace("first")()
    merges = [(":", "B"), ("▁", "B")]
    vocabulary = {token: n for n, token in enumerate(["<unk>", "▁", ":", "B", "x", "\n", ":B", "▁B"])}
    tokenizer.model = models.BPE(vocab=vocabulary, merges=merges, unk_token="<unk>")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")
    assert fast.tokenize("x:B") == ["▁", "x", ":B"] and fast.tokenize("B") == ["▁B"]
    assert continuations(fast, "x:", ["B", " B"]) == [[vocabulary["B"]], [vocabulary["▁B"]]]
