"""Tiny checkpoints of the Qwen classes; see `tiny_vlm`."""

from pathlib import Path
from typing import Any

from tiny_parts import chat, save, text_config, tokenizer


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
    vision: dict[str, Any] = {"depth": 1, "num_heads": 2, "patch_size": 14, "spatial_merge_size": 2}
    if name == "qwen2_vl":
        config = t.Qwen2VLConfig(
            text_config=text, vision_config={**vision, "embed_dim": 32, "hidden_size": 32, "mlp_ratio": 2}, **ids
        )
        model, video, cls = t.Qwen2VLForConditionalGeneration, t.Qwen2VLVideoProcessor, t.Qwen2VLProcessor
    elif name == "qwen2_5_vl":  # a layer whose windows attend to themselves, and one of full attention
        vision |= {"depth": 2, "fullatt_block_indexes": [1]}
        vision |= {"hidden_size": 32, "intermediate_size": 48, "out_hidden_size": 32}
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
            text |= {"num_hidden_layers": 2, "linear_num_value_heads": 4, "full_attention_interval": 2, "head_dim": 8}
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
