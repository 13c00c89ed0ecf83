"""Tiny checkpoints of late-interaction classes, made on the fly and saved as `from_pretrained` folders."""

from collections.abc import Callable
from pathlib import Path

import tiny_parts


def colqwen2(folder: Path) -> Path:
    import transformers as t

    tok = tiny_parts.tokenizer(image_token="<|image_pad|>")
    text = {
        **tiny_parts.text_config(len(tok)), "rope_parameters": {
            "rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0,
        },
    }  # fmt: skip
    vlm = t.Qwen2VLConfig(
        text_config=text,
        vision_config={
            "depth": 1, "num_heads": 2, "patch_size": 14, "spatial_merge_size": 2, "embed_dim": 32, "hidden_size": 32,
            "mlp_ratio": 2,
        },
        image_token_id=tok.convert_tokens_to_ids("<|image_pad|>"),
    )  # fmt: skip
    size = {"shortest_edge": 28 * 28, "longest_edge": 56 * 56}
    processor = t.ColQwen2Processor(t.Qwen2VLImageProcessor(size=size, patch_size=14), tok)
    model = t.ColQwen2ForRetrieval(t.ColQwen2Config(vlm_config=vlm, embedding_dim=16))
    return tiny_parts.save(model, processor, folder)


def colpali(folder: Path) -> Path:
    import transformers as t

    tok = tiny_parts.tokenizer(image_token="<image>")
    vlm = t.PaliGemmaConfig(
        text_config={"model_type": "gemma", **tiny_parts.text_config(len(tok)), "head_dim": 8},
        vision_config=tiny_parts.SIGLIP | {"projection_dim": 32},
        image_token_index=tok.convert_tokens_to_ids("<image>"),
        projection_dim=32,
    )
    pixels = t.SiglipImageProcessor(size={"height": 28, "width": 28})
    pixels.image_seq_length = 4
    model = t.ColPaliForRetrieval(t.ColPaliConfig(vlm_config=vlm, embedding_dim=16))
    return tiny_parts.save(model, t.ColPaliProcessor(pixels, tok), folder)


def colmodernvbert(folder: Path) -> Path:
    import transformers as t

    tok = tiny_parts.tokenizer()
    tok.add_special_tokens({"additional_special_tokens": ["<image>", "<fake_token_around_image>", "<global-img>"]})
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    vlm = t.ModernVBertConfig(
        text_config={
            "model_type": "modernbert", "vocab_size": len(tok) + 8, "hidden_size": 32, "intermediate_size": 48,
            "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 512, **ids,
        },
        vision_config={
            "model_type": "siglip_vision_model", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
            "num_attention_heads": 2, "image_size": 28, "patch_size": 7,
        },
        image_token_id=tok.convert_tokens_to_ids("<image>"),
        pixel_shuffle_factor=2,
    )  # fmt: skip
    size = {"longest_edge": 28}
    pixels = t.Idefics3ImageProcessor(size=size, max_image_size=size, do_image_splitting=False)
    model = t.ColModernVBertForRetrieval(t.ColModernVBertConfig(vlm_config=vlm, embedding_dim=16))
    return tiny_parts.save(model, t.ColModernVBertProcessor(pixels, tok, image_seq_len=4), folder)


MAKERS: dict[str, Callable[[Path], Path]] = {
    "ColQwen2ForRetrieval": colqwen2,
    "ColPaliForRetrieval": colpali,
    "ColModernVBertForRetrieval": colmodernvbert,
}
