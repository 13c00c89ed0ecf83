"""Tiny checkpoints of matching heads, which score a picture with a caption; see `tiny_vlm`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tiny_parts import save, tokenizer


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
