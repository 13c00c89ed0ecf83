"""Tiny checkpoints of the real generative classes, made on the fly and saved as `from_pretrained` folders."""

from collections.abc import Callable
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
    return {
        "vocab_size": size, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
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


def _qwen(folder: Path, name: str) -> Path:
    import transformers as t

    tok = tokenizer(image_token="<|image_pad|>", video_token="<|video_pad|>")
    ids = {
        "image_token_id": tok.convert_tokens_to_ids("<|image_pad|>"),
        "video_token_id": tok.convert_tokens_to_ids("<|video_pad|>"),
        "vision_start_token_id": tok.convert_tokens_to_ids("<|vision_start|>"),
        "vision_end_token_id": tok.convert_tokens_to_ids("<|vision_end|>"),
    }
    template = chat("<|vision_start|><|video_pad|><|vision_end|>", "<|vision_start|><|image_pad|><|vision_end|>")
    size = {"shortest_edge": 28 * 28, "longest_edge": 56 * 56}
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    text = text_config(len(tok), rope_parameters=rope)
    vision: dict[str, Any] = {"depth": 2, "num_heads": 2, "patch_size": 14, "spatial_merge_size": 2}
    if name == "qwen2_vl":
        config = t.Qwen2VLConfig(
            text_config=text, vision_config={**vision, "embed_dim": 32, "hidden_size": 32, "mlp_ratio": 2}, **ids
        )
        model, video, cls = t.Qwen2VLForConditionalGeneration, t.Qwen2VLVideoProcessor, t.Qwen2VLProcessor
    elif name == "qwen2_5_vl":
        vision |= {"hidden_size": 32, "intermediate_size": 48, "out_hidden_size": 32, "fullatt_block_indexes": [1]}
        config = t.Qwen2_5_VLConfig(text_config=text, vision_config={**vision, "window_size": 56}, **ids)
        model, video, cls = t.Qwen2_5_VLForConditionalGeneration, t.Qwen2VLVideoProcessor, t.Qwen2_5_VLProcessor
    else:
        vision |= {
            "hidden_size": 32, "intermediate_size": 48, "out_hidden_size": 32, "patch_size": 16,
            "deepstack_visual_indexes": [0], "num_position_embeddings": 16,
        }  # fmt: skip
        video, cls = t.Qwen3VLVideoProcessor, t.Qwen3VLProcessor
        if name == "qwen3_5":  # layers of linear attention among those of full attention
            del vision["deepstack_visual_indexes"]
            text |= {"rope_parameters": {**rope, "mrope_interleaved": True, "partial_rotary_factor": 1.0}}
            text |= {"linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2}
            text |= {"linear_num_value_heads": 4, "full_attention_interval": 2, "head_dim": 8}
            config = t.Qwen3_5Config(text_config=text, vision_config=vision, **ids)
            model = t.Qwen3_5ForConditionalGeneration
        else:
            config = t.Qwen3VLConfig(text_config={**text, "head_dim": 8}, vision_config=vision, **ids)
            model = t.Qwen3VLForConditionalGeneration
        size = {"shortest_edge": 32 * 32, "longest_edge": 8 * 64 * 64}
    patch = vision["patch_size"]
    processor = cls(
        image_processor=t.Qwen2VLImageProcessor(size=size, patch_size=patch),
        tokenizer=tok,
        video_processor=video(size=size, patch_size=patch),
        chat_template=template,
    )
    return save(model(config), processor, folder)


def qwen2_vl(folder: Path) -> Path:
    return _qwen(folder, "qwen2_vl")


def qwen2_5_vl(folder: Path) -> Path:
    return _qwen(folder, "qwen2_5_vl")


def qwen3_vl(folder: Path) -> Path:
    return _qwen(folder, "qwen3_vl")


def qwen3_5(folder: Path) -> Path:
    return _qwen(folder, "qwen3_5")


SIGLIP = {
    "model_type": "siglip_vision_model", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 2, "image_size": 28, "patch_size": 14, "vision_use_head": False,
}  # fmt: skip


def llava_onevision(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer(image_token="<image>", video_token="<video>")
    config = t.LlavaOnevisionConfig(
        text_config={"model_type": "qwen2", **text_config(len(tok))},
        vision_config=SIGLIP,
        image_token_index=tok.convert_tokens_to_ids("<image>"),
        video_token_index=tok.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=[[28, 28]],
    )
    processor = t.LlavaOnevisionProcessor(
        image_processor=t.LlavaOnevisionImageProcessor(
            size={"height": 28, "width": 28}, image_grid_pinpoints=[[28, 28]]
        ),
        tokenizer=tok,
        video_processor=t.LlavaOnevisionVideoProcessor(size={"height": 28, "width": 28}),
        num_image_tokens=4,
        vision_feature_select_strategy="full",
        chat_template=chat("<video>\n", "<image>\n"),
    )
    return save(t.LlavaOnevisionForConditionalGeneration(config), processor, folder)


def llava_next_video(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer(image_token="<image>", video_token="<video>")
    config = t.LlavaNextVideoConfig(
        text_config={"model_type": "llama", **text_config(len(tok))},
        vision_config={
            "model_type": "clip_vision_model", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
            "num_attention_heads": 2, "image_size": 56, "patch_size": 14,
        },
        image_token_index=tok.convert_tokens_to_ids("<image>"),
        video_token_index=tok.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=[[56, 56]],
    )  # fmt: skip
    size = {"height": 56, "width": 56}
    processor = t.LlavaNextVideoProcessor(
        video_processor=t.LlavaNextVideoVideoProcessor(size=size, crop_size=size),
        image_processor=t.LlavaNextImageProcessor(
            size={"shortest_edge": 56}, crop_size=size, image_grid_pinpoints=[[56, 56]]
        ),
        tokenizer=tok,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=chat("<video>\n", "<image>\n"),
    )
    return save(t.LlavaNextVideoForConditionalGeneration(config), processor, folder)


def internvl(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer(
        start_image_token="<img>", end_image_token="</img>", context_image_token="<IMG_CONTEXT>", video_token="<video>"
    )
    config = t.InternVLConfig(
        text_config={"model_type": "qwen2", **text_config(len(tok))},
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
            "image_size": [28, 28], "patch_size": [7, 7],
        },
        image_token_id=tok.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
    )  # fmt: skip
    size = {"height": 28, "width": 28}
    processor = t.InternVLProcessor(
        image_processor=t.GotOcr2ImageProcessor(size=size),
        tokenizer=tok,
        video_processor=t.InternVLVideoProcessor(size=size),
        image_seq_length=4,
        chat_template=chat("<video>\n", "<IMG_CONTEXT>\n"),
    )
    return save(t.InternVLForConditionalGeneration(config), processor, folder)


def smolvlm(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer(
        image_token="<image>", video_token="<video>", fake_image_token="<fake_token_around_image>",
        global_image_token="<global-img>", end_of_utterance_token="<end_of_utterance>",
    )  # fmt: skip
    config = t.SmolVLMConfig(
        text_config={"model_type": "llama", **text_config(len(tok))},
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
            "image_size": 28, "patch_size": 7,
        },
        image_token_id=tok.convert_tokens_to_ids("<image>"),
        scale_factor=2,
        pad_token_id=tok.pad_token_id,
    )  # fmt: skip
    size = {"longest_edge": 28}
    processor = t.SmolVLMProcessor(
        image_processor=t.SmolVLMImageProcessor(size=size, max_image_size=size, do_image_splitting=False),
        tokenizer=tok,
        video_processor=t.SmolVLMVideoProcessor(
            size=size,
            max_image_size=size,
            num_frames=8,
            fps=1,
            video_sampling={"video_size": size, "max_frames": 8, "fps": 1},
        ),
        image_seq_len=4,
        chat_template=chat("<video>\n", "<image>\n"),
    )
    return save(t.SmolVLMForConditionalGeneration(config), processor, folder)


def gemma3(folder: Path) -> Path:
    """An image-only model: the runner shows it the frames as several images."""
    import transformers as t

    tok = tokenizer(boi_token="<start_of_image>", eoi_token="<end_of_image>", image_token="<image_soft_token>")
    config = t.Gemma3Config(
        text_config={**text_config(len(tok)), "head_dim": 8, "sliding_window": 64, "query_pre_attn_scalar": 8},
        vision_config=SIGLIP | {"image_size": 56},
        mm_tokens_per_image=4,
        boi_token_index=tok.convert_tokens_to_ids("<start_of_image>"),
        eoi_token_index=tok.convert_tokens_to_ids("<end_of_image>"),
        image_token_index=tok.convert_tokens_to_ids("<image_soft_token>"),
    )
    processor = t.Gemma3Processor(
        image_processor=t.Gemma3ImageProcessor(size={"height": 56, "width": 56}),
        tokenizer=tok,
        image_seq_length=4,
        chat_template=chat("<start_of_image>", "<start_of_image>"),
    )
    return save(t.Gemma3ForConditionalGeneration(config), processor, folder)


def lfm2_vl(folder: Path) -> Path:
    """An image-only model with layers of short convolutions among those of attention."""
    import transformers as t

    tok = tokenizer(image_token="<image>", image_start_token="<|image_start|>", image_end_token="<|image_end|>")
    config = t.Lfm2VlConfig(
        text_config={"model_type": "lfm2", **text_config(len(tok)), "full_attn_idxs": [1], "pad_token_id": 0},
        vision_config={
            "model_type": "siglip2_vision_model", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
            "num_attention_heads": 2, "patch_size": 14, "num_patches": 16, "vision_use_head": False,
        },
        image_token_id=tok.convert_tokens_to_ids("<image>"),
        projector_hidden_size=32,
    )  # fmt: skip
    processor = t.Lfm2VlProcessor(
        t.Lfm2VlImageProcessor(
            encoder_patch_size=14, max_num_patches=16, min_image_tokens=1, max_image_tokens=4, tile_size=56,
            do_image_splitting=False,
        ),
        tok,
        chat_template=chat("<image>", "<image>"),
    )  # fmt: skip
    return save(t.Lfm2VlForConditionalGeneration(config), processor, folder)


def qwen2_5_omni(folder: Path) -> Path:
    """A Qwen2.5-Omni, as published: the thinker inside the whole model, which does not speak here."""
    import transformers as t

    tok = tokenizer(
        image_token="<|image_pad|>", video_token="<|video_pad|>", audio_token="<|audio_pad|>",
        vision_bos_token="<|vision_start|>", vision_eos_token="<|vision_end|>", audio_bos_token="<|audio_start|>",
        audio_eos_token="<|audio_end|>",
    )  # fmt: skip
    at = tok.convert_tokens_to_ids
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}
    thinker = t.Qwen2_5OmniThinkerConfig(
        text_config=text_config(len(tok), rope_parameters=rope),
        vision_config={
            "depth": 2, "num_heads": 2, "patch_size": 14, "spatial_merge_size": 2, "hidden_size": 32,
            "intermediate_size": 48, "out_hidden_size": 32, "fullatt_block_indexes": [1], "window_size": 56,
        },
        audio_config={
            "d_model": 32, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 32, "output_dim": 32,
            "num_mel_bins": 16,
        },
        image_token_index=at("<|image_pad|>"), video_token_index=at("<|video_pad|>"),
        audio_token_index=at("<|audio_pad|>"), audio_start_token_id=at("<|audio_start|>"),
        audio_end_token_id=at("<|audio_end|>"), vision_start_token_id=at("<|vision_start|>"),
        vision_end_token_id=at("<|vision_end|>"),
    )  # fmt: skip
    size = {"shortest_edge": 28 * 28, "longest_edge": 56 * 56}
    processor = t.Qwen2_5OmniProcessor(
        t.Qwen2VLImageProcessor(size=size), t.Qwen2VLVideoProcessor(size=size),
        t.WhisperFeatureExtractor(feature_size=16), tok,
        chat_template=chat("<|vision_start|><|video_pad|><|vision_end|>", "<image>"),
    )  # fmt: skip
    config = t.Qwen2_5OmniConfig(thinker_config=thinker.to_dict(), enable_audio_output=False)
    return save(t.Qwen2_5OmniForConditionalGeneration(config), processor, folder)


def embedding_gemma2(folder: Path) -> Path:
    """A model that embeds and does not answer."""
    import transformers as t

    tok = tokenizer(
        image_token="<|image|>", boi_token="<start_of_image>", eoi_token="<end_of_image>", audio_token="<|audio|>",
        boa_token="<|boa|>", eoa_token="<|eoa|>", video_token="<|video|>",
    )  # fmt: skip
    ids = {f"{name}_token_id": tok.convert_tokens_to_ids(f"<|{name}|>") for name in ("image", "video", "audio")}
    config = t.EmbeddingGemma2Config(
        text_config={
            **text_config(len(tok)), "head_dim": 8, "global_head_dim": 8, "num_global_key_value_heads": 1,
            "hidden_size_per_layer_input": 8, "embedding_dim": 32, "sliding_window": 64, "sliding_window_pattern": 2,
            "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
        },
        vision_config={
            "model_type": "gemma4_vision", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
            "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16, "patch_size": 4,
            "pooling_kernel_size": 3, "position_embedding_size": 256,
        },
        **ids,
    )  # fmt: skip
    pixels = {"patch_size": 4, "max_soft_tokens": 70, "pooling_kernel_size": 3}
    processor = t.EmbeddingGemma2Processor(
        t.Gemma4AudioFeatureExtractor(), t.Gemma4ImageProcessor(**pixels), tok,
        t.EmbeddingGemma2VideoProcessor(**pixels),
        chat_template=chat("<|video|>", "<|image|>"),
    )  # fmt: skip
    return save(t.EmbeddingGemma2Model(config), processor, folder)


def _reader(size: int, **more: Any) -> dict[str, Any]:
    return {
        "vocab_size": size, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 2, "max_position_embeddings": 128, **more,
    }  # fmt: skip


def _viewer(**more: Any) -> dict[str, Any]:
    return {
        "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
        "image_size": 32, "patch_size": 16, **more,
    }  # fmt: skip


def blip_itm(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer()
    text = _reader(len(tok), encoder_hidden_size=32, projection_dim=16, pad_token_id=0)
    config = t.BlipConfig(text_config=text, vision_config=_viewer(), projection_dim=16, image_text_hidden_size=16)
    processor = t.BlipProcessor(t.BlipImageProcessorPil(size={"height": 32, "width": 32}), tok)
    return save(t.BlipForImageTextRetrieval(config), processor, folder)


def blip2_itm(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer()
    config = t.Blip2Config(
        vision_config=_viewer(),
        qformer_config=_reader(
            len(tok), encoder_hidden_size=32, use_qformer_text_input=True, cross_attention_frequency=1
        ),
        text_config={"model_type": "opt", "vocab_size": len(tok), "hidden_size": 32, "ffn_dim": 48,
                     "num_hidden_layers": 1, "num_attention_heads": 2, "word_embed_proj_dim": 32},
        num_query_tokens=4,
        image_text_hidden_size=16,
    )  # fmt: skip
    processor = t.Blip2Processor(t.BlipImageProcessorPil(size={"height": 32, "width": 32}), tok)
    return save(t.Blip2ForImageTextRetrieval(config), processor, folder)


def bridgetower(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer()
    config = t.BridgeTowerConfig(
        text_config=_reader(len(tok), hidden_size=64, num_attention_heads=1, pad_token_id=0),
        vision_config=_viewer(hidden_size=64, num_attention_heads=1),
        hidden_size=64,
        num_attention_heads=2,
        num_hidden_layers=2,
    )
    size = {"shortest_edge": 32}
    pixels = t.BridgeTowerImageProcessorPil(size=size, crop_size=size, size_divisor=16)
    return save(t.BridgeTowerForImageAndTextRetrieval(config), t.BridgeTowerProcessor(pixels, tok), folder)


def vilt(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer()
    config = t.ViltConfig(**_reader(len(tok)), image_size=32, patch_size=16)
    pixels = t.ViltImageProcessorPil(size={"shortest_edge": 32}, size_divisor=16)
    return save(t.ViltForImageAndTextRetrieval(config), t.ViltProcessor(pixels, tok), folder)


MATCHING: dict[str, Callable[[Path], Path]] = {
    "BlipForImageTextRetrieval": blip_itm,
    "Blip2ForImageTextRetrieval": blip2_itm,
    "BridgeTowerForImageAndTextRetrieval": bridgetower,
    "ViltForImageAndTextRetrieval": vilt,
}
MAKERS: dict[str, Callable[[Path], Path]] = {
    "qwen2_vl": qwen2_vl,
    "qwen2_5_vl": qwen2_5_vl,
    "qwen3_vl": qwen3_vl,
    "qwen3_5": qwen3_5,
    "llava_onevision": llava_onevision,
    "llava_next_video": llava_next_video,
    "internvl": internvl,
    "smolvlm": smolvlm,
    "gemma3": gemma3,
    "lfm2_vl": lfm2_vl,
    "qwen2_5_omni": qwen2_5_omni,
    "embedding_gemma2": embedding_gemma2,
    **MATCHING,
}
