"""Tiny random checkpoints of the real classes, so that everything runs offline: text perturbations, and a full CLIP.

What they write is word salad; the loop and the runner get the same salad.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from video_contrast import seeds
from video_contrast.untyped import Tokenizer

TEXT = (
    "a an the and of to is man woman girl boy men women he she dog cat field fields number coloured red green blue "
    "big small quick slow slides moves runs sits watches opens plays left right while it its this in on at with two "
    "very quickly slowly water house car street ball game song music transfer Active Passive Casual Formal : "
    "ein der mann frau hund rennt links rechts"
)
WORDS = TEXT.split()
SPECIALS = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}


def stand_in(folder: Path) -> None:
    """Puts tiny checkpoints in the place of those that text perturbations name by default (made in `folder` once)."""
    from video_contrast.perturbations.text import checkpoints

    parts = {
        "mlm_suggestion": (_bert,),
        "back_trans": (_translator, _translator),
        "swap_syn_word_embedding": (_vectors,),
        "casual_to_formal": (_t5, _judge),
        "formal_to_casual": (_t5, _judge),
        "active_to_passive": (_t5, _judge),
    }
    for name, makers in parts.items():
        checkpoints.DEFAULTS[name] = tuple(str(_checkpoint(folder, name, n, make)) for n, make in enumerate(makers))


def _checkpoint(folder: Path, name: str, number: int, make: Callable[[Path], None]) -> Path:
    import torch

    target = folder / f"{name}-{number}"
    if not target.exists():
        building = folder / f".{name}-{number}"
        building.mkdir(parents=True, exist_ok=True)
        with torch.random.fork_rng():
            torch.manual_seed(int.from_bytes(seeds.digest(name, number)[:4], "little"))
            make(building)
        building.rename(target)
    return target / "vectors.txt" if make is _vectors else target


def tokenizer(folder: Path, words: Sequence[str] = WORDS) -> Tokenizer:
    """Writes a tokenizer of whole words, with a mask and T5's sentinels among its special tokens."""
    from tokenizers import Tokenizer as Raw
    from tokenizers import models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    sentinels = ["<extra_id_0>", "<extra_id_1>"]
    vocabulary = {word: n for n, word in enumerate(dict.fromkeys([*SPECIALS.values(), *sentinels, *words]))}
    raw = Raw(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", vocabulary["</s>"])]
    )
    fast: Tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, additional_special_tokens=sentinels, **SPECIALS)
    fast.save_pretrained(folder)
    return fast


def _bert(folder: Path) -> None:
    from transformers import BertConfig, BertForMaskedLM

    words = tokenizer(folder)
    shape = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    BertForMaskedLM(BertConfig(vocab_size=len(words), **shape)).save_pretrained(folder)


def _t5(folder: Path) -> None:
    from transformers import T5Config, T5ForConditionalGeneration

    words = tokenizer(folder)
    T5ForConditionalGeneration(
        T5Config(
            vocab_size=len(words), d_model=32, d_kv=16, d_ff=32, num_layers=1, num_heads=2,
            pad_token_id=words.pad_token_id, eos_token_id=words.eos_token_id, decoder_start_token_id=words.pad_token_id,
        )
    ).save_pretrained(folder)  # fmt: skip


def _judge(folder: Path) -> None:
    from transformers import RobertaConfig, RobertaForSequenceClassification

    words = tokenizer(folder)
    labels = {0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"}
    RobertaForSequenceClassification(
        RobertaConfig(
            vocab_size=len(words), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
            pad_token_id=words.pad_token_id, id2label=labels, label2id={name: n for n, name in labels.items()},
        )
    ).save_pretrained(folder)  # fmt: skip


def _translator(folder: Path) -> None:
    from transformers import FSMTConfig, FSMTForConditionalGeneration

    words = tokenizer(folder)
    FSMTForConditionalGeneration(
        FSMTConfig(
            langs=["en", "de"], src_vocab_size=len(words), tgt_vocab_size=len(words), d_model=32, encoder_layers=1,
            decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=32,
            decoder_ffn_dim=32, max_position_embeddings=256, bos_token_id=0, pad_token_id=0, eos_token_id=1,
            decoder_start_token_id=1, forced_eos_token_id=None, num_beams=1,
        )
    ).save_pretrained(folder)  # fmt: skip


def _vectors(folder: Path) -> None:
    rng = seeds.stream("benchmark", "vectors")
    lines = [" ".join([word, *(f"{x:.4f}" for x in rng.standard_normal(20))]) for word in WORDS if word.isalpha()]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


# name -> sizes of the text tower and of the vision tower that are not those of `CLIPConfig`, and the shared width
CLIPS: dict[str, tuple[dict[str, int], dict[str, int], int]] = {
    "clip-b32": ({}, {}, 512),
    "clip-l14": (
        {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12},
        {
            "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
            "patch_size": 14,
        },
        768,
    ),
    "clip-small": (
        {"hidden_size": 32, "intermediate_size": 128, "num_attention_heads": 2, "num_hidden_layers": 2},
        {
            "hidden_size": 64, "intermediate_size": 256, "num_attention_heads": 2, "num_hidden_layers": 2,
            "patch_size": 16,
        },
        32,
    ),
}  # fmt: skip


def clip_model(folder: Path, name: str) -> Path:
    """A CLIP with random weights: "clip-b32" and "clip-l14" have the sizes of ViT-B/32 and ViT-L/14."""
    import torch
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPProcessor

    target = folder / name
    if (target / "processor_config.json").exists():
        return target
    words = tokenizer(target)
    text, vision, width = CLIPS[name]
    text = text | {"eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id, "bos_token_id": 0}
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=width))
    model.save_pretrained(target)
    CLIPProcessor(CLIPImageProcessorPil(), words).save_pretrained(target)
    return target
