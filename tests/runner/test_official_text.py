"""Captions reach each model as its training captions were written, and are counted where they are cut."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models

from video_contrast.runner.kinds import all_kinds, choose, options_for
from video_contrast.runner.kinds.base import Encoder, LoadOptions
from video_contrast.runner.kinds.video_dual import canonical
from video_contrast.runner.model_files import locate

CLIP = np.random.default_rng(0).integers(0, 255, (2, 40, 40, 3), dtype=np.uint8)


def load(folder: Path, name: str | None = None, **options: Any) -> Encoder:
    source = locate(str(folder))
    kind = choose(source, name)
    model = kind.load(source, LoadOptions(options=options_for(kind, options)))
    assert isinstance(model, Encoder)
    return model


@pytest.mark.parametrize("name", ["SiglipModel", "Siglip2Model"])
def test_siglip_reads_lower_case(tmp_path: Path, name: str) -> None:
    model = load(tiny_models.MAKERS[name](tmp_path / "model"))
    np.testing.assert_array_equal(model.encode_texts(["A Man RUNS"]), model.encode_texts(["a man runs"]))


def test_clip_is_given_the_caption_as_it_is(tmp_path: Path) -> None:
    model = load(tiny_models.clip(tmp_path / "model"))
    assert np.abs(model.encode_texts(["A Man"]) - model.encode_texts(["a man"])).max() > 1e-4


def test_videoprism_reads_words_without_punctuation_and_a_period() -> None:
    # the examples of its release
    assert [canonical(text) for text in ("Hello, World!", "Hello,World..", "  Hello   WORLD")] == ["hello world."] * 3


def test_cut_captions_are_counted_whoever_encoded_them(tmp_path: Path) -> None:
    model = load(tiny_models.clip(tmp_path / "model"))
    assert model.truncated_texts(["short", "long " * 40, "longer " * 40]) == 2  # without encoding anything


def test_sentence_models_are_told_which_text_is_a_query(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny_models.clip(tmp_path / "clip")
    saved = SentenceTransformer(str(folder), device="cpu", prompts={"query": "find: ", "document": ""})
    saved.save(str(tmp_path / "saved"))
    plain = load(tmp_path / "saved", "sentence_transformers", prompt_text="none")
    prompted = load(tmp_path / "saved", "sentence_transformers")
    assert prompted.facts["prompt_text"] == "find: " and plain.facts["prompt_text"] == ""
    np.testing.assert_allclose(prompted.encode_texts(["a dog"]), plain.encode_texts(["find: a dog"]), atol=1e-6)
    other = load(tmp_path / "saved", "sentence_transformers", prompt_text="show me ")
    np.testing.assert_allclose(other.encode_texts(["a dog"]), plain.encode_texts(["show me a dog"]), atol=1e-6)
    assert plain.truncated_texts(["short", "long " * 40]) == 1
    caption = "a" * 44  # with <bos> and <eos> within 48 tokens, and not after a prompt
    assert plain.truncated_texts([caption]) == 0 and prompted.truncated_texts([caption]) == 1
    np.testing.assert_array_equal(prompted.encode_texts([caption + "b"]), prompted.encode_texts([caption + "c"]))


def test_a_limit_of_queries_alone_is_counted(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    saved = SentenceTransformer(str(tiny_models.clip(tmp_path / "clip")), device="cpu")
    saved[0].query_length = 8
    saved.save(str(tmp_path / "saved"))
    model = load(tmp_path / "saved", "sentence_transformers")
    np.testing.assert_array_equal(model.encode_texts(["abcdefgh"]), model.encode_texts(["abcdefxyz"]))
    assert model.truncated_texts(["abcdef", "abcdefg"]) == 1


def test_the_dtype_of_the_text_model_is_found() -> None:
    from video_contrast.runner.kinds.base import ModelSource

    assert ModelSource("m", config={"text_config": {"dtype": "bfloat16"}}).dtype == "bfloat16"
    assert ModelSource("m", config={"torch_dtype": "float16", "text_config": {"dtype": "bfloat16"}}).dtype == "float16"
    assert ModelSource("m").dtype == ModelSource("m", config={"dtype": "float64"}).dtype == "float32"


def test_no_kind_lists_a_class_that_cannot_be_scored() -> None:
    assert not any("chameleon" in kind.model_types for kind in all_kinds().values())
