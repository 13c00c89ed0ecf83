"""Tiny checkpoints of native video classes: Gemma 4, GLM-4.1V and 4.6V, Molmo 2, MiniCPM-V 4.6; see `tiny_vlm`."""

from pathlib import Path
from typing import Any

from tiny_parts import chat, save, text_config, tokenizer

ROPE = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}


def gemma4(folder: Path) -> Path:
    """It writes minutes and seconds before each frame."""
    import transformers as t

    tok = tokenizer(
        image_token="<|image|>", boi_token="<|image>", eoi_token="<image|>", audio_token="<|audio|>",
        boa_token="<|audio>", eoa_token="<audio|>", video_token="<|video|>",
    )  # fmt: skip
    ids = {f"{name}_token_id": tok.convert_tokens_to_ids(f"<|{name}|>") for name in ("image", "video", "audio")}
    pixels = {"patch_size": 4, "max_soft_tokens": 70, "pooling_kernel_size": 3}
    config = t.Gemma4Config(
        text_config={
            **text_config(len(tok), num_hidden_layers=2), "head_dim": 8, "global_head_dim": 8, "sliding_window": 64,
            "layer_types": ["sliding_attention", "full_attention"], "use_bidirectional_attention": "vision",
            "hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": len(tok), "pad_token_id": 0,
        },
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2,
            "num_key_value_heads": 2, "head_dim": 16, "patch_size": 4, "pooling_kernel_size": 3,
            "position_embedding_size": 256,
        },
        audio_config=None, boi_token_id=tok.convert_tokens_to_ids("<|image>"),
        eoi_token_id=tok.convert_tokens_to_ids("<image|>"), **ids,
    )  # fmt: skip
    processor = t.Gemma4Processor(
        t.Gemma4AudioFeatureExtractor(), t.Gemma4ImageProcessor(**pixels), tok, t.Gemma4VideoProcessor(**pixels),
        chat_template="{{ bos_token }}" + chat("<|video|>", "<|image|>"),
    )  # fmt: skip
    return save(t.Gemma4ForConditionalGeneration(config), processor, folder)


def _glm(folder: Path, name: str) -> Path:
    import transformers as t

    tok = tokenizer(image_token="<|image|>", video_token="<|video|>")
    marks = [f"<|{edge}_of_{what}|>" for what in ("image", "video") for edge in ("begin", "end")]
    tok.add_special_tokens({"additional_special_tokens": [*tok.all_special_tokens[3:], *marks]})
    at = tok.convert_tokens_to_ids
    vision = {
        "depth": 1, "num_heads": 2, "patch_size": 14, "spatial_merge_size": 2, "hidden_size": 32,
        "intermediate_size": 48, "out_hidden_size": 32, "image_size": 56,
    }  # fmt: skip
    prefix = "Glm46V" if name == "glm46v" else "Glm4v"
    config = getattr(t, f"{prefix}Config")(
        text_config={**text_config(len(tok)), "model_type": "glm4v_text", "rope_parameters": ROPE},
        vision_config={**vision, "model_type": "glm4v_vision"},
        image_token_id=at("<|image|>"), video_token_id=at("<|video|>"), image_start_token_id=at("<|begin_of_image|>"),
        image_end_token_id=at("<|end_of_image|>"), video_start_token_id=at("<|begin_of_video|>"),
        video_end_token_id=at("<|end_of_video|>"),
    )  # fmt: skip
    size = {"shortest_edge": 28 * 28, "longest_edge": 4 * 56 * 84}
    processor = getattr(t, f"{prefix}Processor")(
        getattr(t, f"{prefix}ImageProcessor")(size=size), tok, getattr(t, f"{prefix}VideoProcessor")(size=size),
        chat_template="<s>" + chat(
            "<|begin_of_video|><|video|><|end_of_video|>", "<|begin_of_image|><|image|><|end_of_image|>"
        ),
    )  # fmt: skip
    return save(getattr(t, f"{prefix}ForConditionalGeneration")(config), processor, folder)


def glm4v(folder: Path) -> Path:
    """It writes whole seconds after each pair of frames."""
    return _glm(folder, "glm4v")


def glm46v(folder: Path) -> Path:
    """It writes tenths of seconds after each pair of frames."""
    return _glm(folder, "glm46v")


def molmo2(folder: Path) -> Path:
    """It writes tenths of seconds before each frame, and has weights of its own for added tokens."""
    import transformers as t

    tok = tokenizer(image_token="<|image|>", video_token="<|video|>")
    named = ("im_patch", "im_col", "im_start", "low_res_im_start", "frame_start", "im_end", "frame_end", "im_low")
    tok.add_special_tokens(
        {"additional_special_tokens": [*tok.all_special_tokens[3:], *(f"<{name}>" for name in named)]}
    )
    at = tok.convert_tokens_to_ids
    tower = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 2, "num_key_value_heads": 2}
    config = t.Molmo2Config(
        text_config={**text_config(len(tok)), "head_dim": 8, "additional_vocab_size": 4},
        vision_config={**tower, "num_hidden_layers": 2, "head_dim": 16, "image_size": [56, 56], "patch_size": 14},
        adapter_config={**tower, "head_dim": 16, "text_hidden_size": 32, "vision_feature_layer": [1, 0]},
        image_start_token_id=at("<im_start>"), low_res_image_start_token_id=at("<low_res_im_start>"),
        image_end_token_id=at("<im_end>"), image_patch_id=at("<im_patch>"), frame_start_token_id=at("<frame_start>"),
        frame_end_token_id=at("<frame_end>"),
    )  # fmt: skip
    size = {"height": 56, "width": 56}
    processor = t.Molmo2Processor(
        t.Molmo2ImageProcessor(size=size), t.Molmo2VideoProcessor(size=size, pooling_size=[2, 2]), tok,
        chat_template=chat("<|video|>", "<|image|>"),
    )  # fmt: skip
    return save(t.Molmo2ForConditionalGeneration(config), processor, folder)


def minicpmv4_6(folder: Path) -> Path:
    """It reads no times; large frames are cut into slices."""
    import transformers as t

    named = {"image": "<|image_pad|>", "video": "<|video_pad|>", "image_start": "<image>", "image_end": "</image>"}
    named |= {"slice_start": "<slice>", "slice_end": "</slice>", "image_id_start": "<image_id>"}
    tok = tokenizer(**{f"{name}_token": token for name, token in {**named, "image_id_end": "</image_id>"}.items()})
    text: dict[str, Any] = text_config(len(tok), num_hidden_layers=2)
    text |= {"model_type": "qwen3_5_text", "linear_key_head_dim": 8, "linear_value_head_dim": 8, "head_dim": 8}
    text |= {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "full_attention_interval": 2}
    config = t.MiniCPMV4_6Config(
        text_config={**text, "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}},
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
            "image_size": 112, "patch_size": 14,
        },
        insert_layer_id=0, image_size=112, image_token_id=tok.convert_tokens_to_ids("<|image_pad|>"),
        video_token_id=tok.convert_tokens_to_ids("<|video_pad|>"),
    )  # fmt: skip
    pixels = {"scale_resolution": 56, "patch_size": 14}
    processor = t.MiniCPMV4_6Processor(
        t.MiniCPMV4_6ImageProcessor(**pixels), t.MiniCPMV4_6VideoProcessor(**pixels), tok,
        chat_template=chat("<|video_pad|>", "<|image_pad|>"),
    )  # fmt: skip
    return save(t.MiniCPMV4_6ForConditionalGeneration(config), processor, folder)
