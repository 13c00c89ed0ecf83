"""Tiny checkpoints of the real generative classes, made on the fly and saved as `from_pretrained` folders."""

from collections.abc import Callable
from pathlib import Path

from tiny_matching import MATCHING
from tiny_native import gemma4, glm4v, glm46v, minicpmv4_6, molmo2
from tiny_parts import SIGLIP, chat, save, text_config, tokenizer
from tiny_qwen import qwen2_5_omni, qwen2_5_vl, qwen2_vl, qwen3_5, qwen3_vl


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
        text_config={"model_type": "llama", **text_config(len(tok), num_hidden_layers=2)},
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
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2,
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
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2,
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
        text_config={
            **text_config(len(tok), num_hidden_layers=2),
            "head_dim": 8,
            "sliding_window": 64,
            "query_pre_attn_scalar": 8,
            "layer_types": ["sliding_attention", "full_attention"],
        },
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
        text_config={
            **text_config(len(tok), num_hidden_layers=2), "model_type": "lfm2", "full_attn_idxs": [1],
            "pad_token_id": 0,
        },
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
            **text_config(len(tok), num_hidden_layers=2),
            "head_dim": 8, "global_head_dim": 8, "num_global_key_value_heads": 1,
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
    "gemma4": gemma4,
    "glm4v": glm4v,
    "glm46v": glm46v,
    "molmo2": molmo2,
    "minicpmv4_6": minicpmv4_6,
    "embedding_gemma2": embedding_gemma2,
    **MATCHING,
}
