"""What tiny checkpoints share: the tokenizer, the chat template, a text model's sizes, and how they are saved."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

SPECIAL = [
    "<pad>", "<s>", "</s>", "<|im_start|>", "<|im_end|>", "<image>", "<video>", "<|vision_start|>", "<|vision_end|>",
    "<|image_pad|>", "<|video_pad|>", "<img>", "</img>", "<IMG_CONTEXT>", "<fake_token_around_image>",
    "<end_of_utterance>", "<global-img>", "<start_of_image>", "<end_of_image>", "<image_soft_token>",
    "<|image_start|>", "<|image_end|>", "<|img_thumbnail|>",
]  # fmt: skip

SIGLIP = {
    "model_type": "siglip_vision_model", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
    "num_attention_heads": 2, "image_size": 28, "patch_size": 14, "vision_use_head": False,
}  # fmt: skip

CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% for part in message['content'] %}"
    "{% if part['type'] == 'video' %}VIDEO{% elif part['type'] == 'image' %}IMAGE"
    "{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def chat(video: str, image: str) -> str:
    """A chat template with the class's own placeholders."""
    return CHAT.replace("VIDEO", video).replace("IMAGE", image)


def tokenizer(**named: str) -> PreTrainedTokenizerFast:
    """A byte-level tokenizer with whole words for the answers, and the special tokens of every class."""
    words = ["Yes", "No", "yes", "no", *"ABCDEFGH"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    entries = [*alphabet, *[w for w in words if len(w) > 1], "Ġ" + "Yes", "Ġ" + "No"]
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys(entries))}
    merges = [("Y", "e"), ("Ye", "s"), ("N", "o"), ("y", "e"), ("ye", "s"), ("n", "o")]
    for left, right in merges:
        vocabulary.setdefault(left + right, len(vocabulary))
    inner = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="<|im_end|>", extra_special_tokens=named
    )
    made.add_special_tokens({"additional_special_tokens": [t for t in SPECIAL if t not in made.get_vocab()]})
    return made


def text_config(size: int, **more: Any) -> dict[str, Any]:
    """One layer: classes that have layers of several sorts are given two, and one that has layers of one sort."""
    return {
        "vocab_size": size, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
        "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096, **more,
    }  # fmt: skip


def save(model: Any, processor: Any, folder: Path) -> Path:
    # Larger weights than the libraries' default: with tiny ones every caption would score about the same.
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim >= 2:
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * (0.6 / parameter.shape[-1] ** 0.5))
    model.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
