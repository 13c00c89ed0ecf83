"""Tiny checkpoints of generative classes whose prompt, images or generation differ from those of the others."""

from pathlib import Path

import torch
from tiny_parts import chat, save, text_config, tokenizer

# As that of Phi-4-multimodal: a text is put between the roles, not a list of parts.
TEXTS_ONLY = (
    "{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|im_end|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
CODEBOOK = {
    "embed_dim": 8, "latent_channels": 8, "base_channels": 32, "num_res_blocks": 1, "double_latent": False,
}  # fmt: skip


def phi4_multimodal(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer(image_token="<|endoftext10|>", audio_token="<|endoftext11|>")
    tok.chat_template = TEXTS_ONLY
    image, audio = tok.convert_tokens_to_ids(["<|endoftext10|>", "<|endoftext11|>"])
    config = t.Phi4MultimodalConfig(
        **text_config(len(tok)), pad_token_id=0, bos_token_id=1, eos_token_id=2,
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2,
            "image_size": 64, "crop_size": 64, "patch_size": 2, "image_token_id": image,
        },
        audio_config={
            "hidden_size": 16, "intermediate_size": 16, "num_blocks": 1, "num_attention_heads": 2,
            "nemo_conv_channels": 4, "ext_pw_out_channel": 16, "depthwise_separable_out_channel": 16,
            "audio_token_id": audio,
        },
    )  # fmt: skip
    pixels = t.Phi4MultimodalImageProcessor(size={"height": 64, "width": 64}, patch_size=2)
    processor = t.Phi4MultimodalProcessor(pixels, t.Phi4MultimodalFeatureExtractor(), tok)
    return save(t.Phi4MultimodalForCausalLM(config), processor, folder)


def janus(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer(image_token="<image_placeholder>", boi_token="<begin_of_image>", eoi_token="<end_of_image>")
    config = t.JanusConfig(
        text_config={"model_type": "llama", **text_config(len(tok))},
        vision_config={
            "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 28, "patch_size": 14,
            "projection_dim": 32, "mlp_ratio": 2, "num_image_tokens": 4,
        },
        vq_config={
            **CODEBOOK, "num_embeddings": 16, "channel_multiplier": [1, 1], "num_patches": 2,
            "image_token_embed_dim": 32, "projection_dim": 32,
        },
        image_token_id=tok.convert_tokens_to_ids("<image_placeholder>"),
    )  # fmt: skip
    image = "<image_placeholder>"
    pixels = t.JanusImageProcessor(size={"height": 28, "width": 28})
    processor = t.JanusProcessor(pixels, tok, chat_template=chat(image, image), num_image_tokens=4)
    return save(t.JanusForConditionalGeneration(config), processor, folder)


def emu3(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer(
        image_token="<image>", boi_token="<|image start|>", eoi_token="<|image end|>",
        image_wrapper_token="<|image token|>", eof_token="<|extra_201|>",
    )  # fmt: skip
    size = len(tok)
    codes = {f"<|visual token {n:06d}|>": size + n for n in range(16)}
    config = t.Emu3Config(
        text_config={**text_config(size + 32), "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2},
        vq_config={
            **CODEBOOK, "codebook_size": 16, "channel_multiplier": [1, 1, 1, 1], "attn_resolutions": [],
            "hidden_size": 32, "temporal_downsample_factor": 1,
        },
        vocabulary_map=codes | {"<image>": tok.convert_tokens_to_ids("<image>"), "<|extra_200|>": size + 16},
    )  # fmt: skip
    pixels = t.Emu3ImageProcessor(min_pixels=64 * 64, max_pixels=64 * 64)
    processor = t.Emu3Processor(pixels, tok, chat_template=chat("<image>", "<image>"))
    return save(t.Emu3ForConditionalGeneration(config), processor, folder)


def mllama(folder: Path) -> Path:
    """Two layers, the second of which attends to the images."""
    import transformers as t

    tok = tokenizer(image_token="<|image|>")
    config = t.MllamaConfig(
        text_config={
            **text_config(len(tok), num_hidden_layers=2), "cross_attention_layers": [1], "pad_token_id": 0,
            "bos_token_id": 1, "eos_token_id": 2, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4},
        },
        vision_config={
            "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_global_layers": 1,
            "attention_heads": 2, "image_size": 28, "patch_size": 14, "vision_output_dim": 64, "max_num_tiles": 2,
            "intermediate_layers_indices": [0], "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]],
        },
        image_token_index=tok.convert_tokens_to_ids("<|image|>"),
    )  # fmt: skip
    model = t.MllamaForConditionalGeneration(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "gate" in name and parameter.ndim < 2:  # closed before training
                parameter.fill_(1.0)
    pixels = t.MllamaImageProcessor(size={"height": 28, "width": 28}, max_image_tiles=2)
    return save(model, t.MllamaProcessor(pixels, tok, chat_template=chat("<|image|>", "<|image|>")), folder)


def diffusion_gemma(folder: Path) -> Path:
    import transformers as t

    tok = tokenizer(
        image_token="<|image|>", boi_token="<start_of_image>", eoi_token="<end_of_image>", audio_token="<|audio|>",
        boa_token="<|boa|>", eoa_token="<|eoa|>", video_token="<|video|>",
    )  # fmt: skip
    config = t.DiffusionGemmaConfig(
        canvas_length=16,
        text_config={
            **text_config(len(tok)), "head_dim": 8, "global_head_dim": 8, "num_global_key_value_heads": 1,
            "num_experts": 2, "top_k_experts": 1, "moe_intermediate_size": 16, "layer_types": ["full_attention"],
            "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
        },
        vision_config={
            "model_type": "gemma4_vision", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
            "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 16, "patch_size": 4,
            "pooling_kernel_size": 3, "position_embedding_size": 256,
        },
        **{f"{name}_token_id": tok.convert_tokens_to_ids(f"<|{name}|>") for name in ("image", "video", "audio")},
    )  # fmt: skip
    pixels = {"patch_size": 4, "max_soft_tokens": 70, "pooling_kernel_size": 3}
    processor = t.Gemma4Processor(
        t.Gemma4AudioFeatureExtractor(), t.Gemma4ImageProcessor(**pixels), tok, t.Gemma4VideoProcessor(**pixels),
        chat_template=chat("<|video|>", "<|image|>"),
    )  # fmt: skip
    return save(t.DiffusionGemmaForBlockDiffusion(config), processor, folder)


MAKERS = {make.__name__: make for make in (phi4_multimodal, janus, emu3, mllama, diffusion_gemma)}
