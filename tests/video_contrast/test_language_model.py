"""Causal language models: their perplexities, whatever the batch and the memory."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import math

import pytest
import torch
from contrast_models import TRAIN, gpt2_folder  # noqa: F401  a fixture
from stand_in_gpu import stand_in_gpu

from video_contrast.errors import VideoContrastError
from video_contrast.language_model import LanguageModel


def test_perplexity_is_that_of_the_model_whatever_the_batch(gpt2_folder):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    texts = [*TRAIN[:20:4], "a", "man", "a man is singing on a stage near the door in the street"]
    batched = LanguageModel(str(gpt2_folder), device="cpu", batch_tokens=40).perplexity(texts)
    tokenizer = AutoTokenizer.from_pretrained(gpt2_folder)
    model = AutoModelForCausalLM.from_pretrained(gpt2_folder).eval()
    for text, value in zip(texts, batched, strict=True):
        ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer.encode(text, add_special_tokens=False)]])
        with torch.no_grad():
            loss = model(input_ids=ids, labels=ids).loss
        assert value == pytest.approx(math.exp(float(loss)), rel=1e-4)


def test_batches_of_perplexities_are_halved_where_the_memory_of_a_gpu_does_not_suffice(gpt2_folder):
    texts = TRAIN[:12]
    expected = LanguageModel(str(gpt2_folder), device="cpu").perplexity(texts)
    with stand_in_gpu() as gpus:
        model = LanguageModel(str(gpt2_folder))
        gpus.most = 2000  # numbers: a logit a word of the vocabulary and token
        assert model.perplexity(texts) == pytest.approx(expected, rel=1e-5)
        gpus.most = 20
        with pytest.raises(torch.OutOfMemoryError):
            model.perplexity(["a dog"])
        with pytest.raises(VideoContrastError, match="language_model: GPT2LMHeadModel does not fit the memory of cuda"):
            LanguageModel(str(gpt2_folder))


def test_an_absent_model_is_an_error_that_names_the_option():
    with pytest.raises(VideoContrastError, match="language_model: the model 'no/such-model'"):
        LanguageModel("no/such-model")
