"""A tiny LLaVA: the vision tower of a packaged CLIP, and a projector and a language model of random weights."""

from collections.abc import Iterable
from pathlib import Path

from video_contrast.checkpoints import checkpoint_path
from video_contrast.teacher import tiny_models

ANSWER, IMAGE = "<|answer|>", "<image>"
CHAT = (
    "{% for message in messages %}{% if message['role'] == 'assistant' %}ANSWER{% endif %}"
    "{% for part in message['content'] %}{% if part['type'] == 'image' %}IMAGE{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% if message['role'] == 'assistant' %}END{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}ANSWER{% endif %}"
)


def tiny_llava(folder: Path, texts: Iterable[str], *, seed: int) -> Path:
    """Saves a `LlavaForConditionalGeneration` with its processor; its tokenizer is fitted on the texts."""
    import torch
    import transformers
    from tokenizers import processors

    eyes = transformers.CLIPModel.from_pretrained(checkpoint_path("bag-of-frames")).vision_model
    inner = tiny_models.tokenizer(texts).backend_tokenizer
    inner.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    words = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token=tiny_models.PAD, bos_token=tiny_models.BEGIN, eos_token=tiny_models.END,
        unk_token=tiny_models.UNKNOWN, extra_special_tokens={"image_token": IMAGE},
    )  # fmt: skip
    words.add_special_tokens({"additional_special_tokens": [ANSWER]})
    patches = (tiny_models.IMAGE // tiny_models.PATCH) ** 2
    text = {
        "model_type": "llama", "vocab_size": len(words), "hidden_size": 96, "intermediate_size": 288,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 4,
        "max_position_embeddings": 512, "pad_token_id": words.pad_token_id, "bos_token_id": words.bos_token_id,
        "eos_token_id": words.eos_token_id,
    }  # fmt: skip
    torch.manual_seed(seed)
    model = transformers.LlavaForConditionalGeneration(
        transformers.LlavaConfig(
            vision_config=eyes.config.to_dict() | {"model_type": "clip_vision_model"},
            text_config=text,
            image_token_id=words.convert_tokens_to_ids(IMAGE),
            image_seq_length=patches,
            vision_feature_layer=-2,
            vision_feature_select_strategy="default",
        )
    )
    model.model.vision_tower.load_state_dict(eyes.state_dict())
    half = [0.5, 0.5, 0.5]
    processor = transformers.LlavaProcessor(
        transformers.CLIPImageProcessorPil(
            size={"shortest_edge": tiny_models.IMAGE},
            crop_size={"height": tiny_models.IMAGE, "width": tiny_models.IMAGE},
            image_mean=half,
            image_std=half,
        ),
        words,
        patch_size=tiny_models.PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=CHAT.replace("ANSWER", ANSWER).replace("IMAGE", IMAGE).replace("END", tiny_models.END),
    )
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
