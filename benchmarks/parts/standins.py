"""Clips made on the spot, their set, and a CLIP of real size with random weights: speed does not depend on them."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import Row, retrieval_row
from video_contrast.untyped import Tokenizer

WORDS = ["a", "man", "woman", "dog", "coloured", "field", "slides", "runs", "left", "right"]
SPECIALS = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}

# name -> sizes of the text tower and of the vision tower that are not those of `CLIPConfig`, and the shared width
CLIPS: dict[str, tuple[dict[str, int], dict[str, int], int]] = {
    "clip-b32": ({}, {}, 512),
    "clip-l14": (
        {"hidden_size": 768, "intermediate_size": 3072, "num_attention_heads": 12},
        {"hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 24,
         "patch_size": 14}, 768),
    "clip-small": (
        {"hidden_size": 32, "intermediate_size": 128, "num_attention_heads": 2, "num_hidden_layers": 2},
        {"hidden_size": 64, "intermediate_size": 256, "num_attention_heads": 2, "num_hidden_layers": 2,
         "patch_size": 16}, 32),
}  # fmt: skip


def tokenizer(folder: Path) -> Tokenizer:
    """Writes a tokenizer of whole words."""
    from tokenizers import Tokenizer as Raw
    from tokenizers import models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: n for n, word in enumerate([*SPECIALS.values(), *WORDS])}
    raw = Raw(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", vocabulary["</s>"])])
    fast: Tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, **SPECIALS)
    fast.save_pretrained(folder)
    return fast


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


def drifting(colours: np.ndarray, square: int, step: int, count: int) -> np.ndarray:
    """Returns a field of coloured squares that drifts to the right, uint8[count, H, W, 3]."""
    field = colours.astype(np.uint8).repeat(square, 0).repeat(square, 1)
    return np.stack([np.roll(field, step * t, 1) for t in range(count)])


def retrieval_set(folder: Path, captions: Mapping[str, str]) -> Path:
    """Writes a set with the config `retrieval`: path of each clip below the folder -> its caption."""
    rows: list[Row] = [
        retrieval_row(id=f"c{n}", video_id=f"v{n}", video_path=path, captions=[caption])
        for n, (path, caption) in enumerate(captions.items())
    ]
    return write_set(BuiltSet("captions", {"retrieval": {"test": rows}}, {"summary": "benchmark"}), folder)
