"""Counterfactual sets by generators that run a model, on tiny models of the real classes made here."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import teacher_set
from contrast_models import TRAIN, WORDS, Endpoint, online  # noqa: F401  a fixture

import video_contrast
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.english.forms import lemma


@pytest.fixture(scope="module")
def xlm_roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An `XLMRobertaForMaskedLM` whose tokenizer marks the beginning of words, as SentencePiece does."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaForMaskedLM

    folder = tmp_path_factory.mktemp("xlm-roberta")
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [(token, 0.0) for token in specials]
    pieces += [(f"▁{word}", -1.0) for word in WORDS] + [(letter, -9.0) for letter in "▁abcdefghijklmnopqrstuvwxyz"]
    raw = Tokenizer(models.Unigram(pieces, unk_id=3))
    raw.pre_tokenizer = pre_tokenizers.Metaspace()
    raw.decoder = decoders.Metaspace()
    raw.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        cls_token="<s>", sep_token="</s>", mask_token="<mask>",
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64, initializer_range=0.5, pad_token_id=1, bos_token_id=0, eos_token_id=2,
    )  # fmt: skip
    XLMRobertaForMaskedLM(config).save_pretrained(folder)
    return folder


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    path = tmp_path / "captions.csv"
    lines = [f"{n}.mp4,{teacher_set.caption(n)}" for n in range(12)]
    path.write_text("video,caption\n" + "\n".join(lines), encoding="utf-8")
    return path


def build(captions: Path, name: str, **given: Any) -> list[dict[str, Any]]:
    training = captions.with_name("train.csv")
    training.write_text("video,caption\n" + "\n".join(f"t.mp4,{text}" for text in TRAIN), encoding="utf-8")
    root = video_contrast.build(
        "counterfactual", ["rcad"], output=captions.parent / name, captions=str(captions), training=str(training),
        quality="0", **given,
    )  # fmt: skip
    return pq.read_table(next((root / "rcad").glob("*.parquet"))).to_pylist()


def five_other_actions(rows: list[dict[str, Any]]) -> None:
    for row in rows:
        true = row["candidates"][row["label"]]
        edits = [edit for edit in row["edits"] if edit]
        assert len({lemma(edit["new"].split()[0], "VBG") for edit in edits}) == 5
        for text, edit in zip([text for text in row["candidates"] if text != true], edits, strict=True):
            assert true.replace(edit["old"], edit["new"], 1) == text  # the rest of the caption stays


def test_a_masked_language_model_of_the_papers_family_makes_counterfactuals(xlm_roberta: Path, captions: Path) -> None:
    rows = build(captions, "mlm", generator="mlm", generator_model=str(xlm_roberta))
    assert len(rows) >= 10  # of 12: rules reject some of what so small a model says
    five_other_actions(rows)
    assert {edit["generator"] for row in rows for edit in row["edits"] if edit} == {xlm_roberta.name}
    assert rows == build(captions, "again", generator="mlm", generator_model=str(xlm_roberta))
    assert rows != build(captions, "other", generator="mlm", generator_model=str(xlm_roberta), seed=1)


def test_a_chat_model_makes_counterfactuals(captions: Path, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("online")

    def answer(message: str) -> str:
        verbs = ["jumping", "dancing", "sleeping", "crawling", "running", "reading", "juggling", "cooking"]
        if "dog" in message:  # too few: such a clip is left out, and counted
            verbs = ["dancing", "dancing", "sleeping"]
        preposition = message.partition("[")[2].partition("]")[0].partition(" ")[2]
        return json.dumps({"replacements": [f"{verb} {preposition}".strip() for verb in verbs]})

    with Endpoint(answer) as server:
        rows = build(
            captions, "llm", generator="llm", generator_model="org/chat", generator_options=f"endpoint={server.url}"
        )
    assert len(rows) == 9
    five_other_actions(rows)


def test_a_model_that_is_not_there_is_said(captions: Path) -> None:
    with pytest.raises(VideoContrastError, match="model of the generator mlm: the model 'no/such' cannot be loaded"):
        build(captions, "none", generator="mlm", generator_model="no/such")
