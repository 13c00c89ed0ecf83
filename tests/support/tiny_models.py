"""Tiny checkpoints of the real transformers classes, made on the fly: random weights, real processors.

Each maker saves a folder that `from_pretrained` loads offline in well under a second, and returns it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZE = 32


def tokenizer(eos_is_highest: bool = True, max_length: int = 48, **changed: Any) -> Any:
    """A byte-level BPE tokenizer that wraps a text in <bos> and <eos>; <eos> has the highest id (CLIP pools there)."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: i for i, token in enumerate(["<pad>", "<bos>", "<unk>", *alphabet, "<eos>"])}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.post_processor = processors.TemplateProcessing(
        single="<bos> $A <eos>", special_tokens=[("<bos>", 1), ("<eos>", len(vocabulary) - 1)]
    )
    named = {"pad_token": "<pad>", "bos_token": "<bos>", "eos_token": "<eos>", "unk_token": "<unk>"}
    return PreTrainedTokenizerFast(tokenizer_object=core, model_max_length=max_length, **{**named, **changed})


def _ids(vocabulary: Any) -> dict[str, int]:
    return {
        "vocab_size": len(vocabulary),
        "bos_token_id": vocabulary.bos_token_id,
        "eos_token_id": vocabulary.eos_token_id,
        "pad_token_id": vocabulary.pad_token_id,
    }


def _text(**changed: Any) -> dict[str, Any]:
    return {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "max_position_embeddings": 48,
        **_ids(tokenizer()),
        **changed,
    }


def _vision(**changed: Any) -> dict[str, Any]:
    return {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": SIZE,
        "patch_size": 8,
        **changed,
    }


def _save(model: Any, processor: Any, folder: Path) -> Path:
    model.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _spread(model: Any) -> Any:
    """Random projections large enough that two inputs differ clearly."""
    import torch

    for name, parameter in model.named_parameters():
        if parameter.ndim >= 2 and "norm" not in name:
            torch.nn.init.normal_(parameter, std=0.15)
    return model


def _seeded(seed: int = 0) -> Any:
    import torch
    import transformers

    torch.manual_seed(seed)
    return transformers


def _square() -> dict[str, Any]:
    return {"size": {"height": SIZE, "width": SIZE}}


def _clip_images(transformers: Any) -> Any:
    return transformers.CLIPImageProcessorPil(size={"shortest_edge": SIZE}, crop_size={"height": SIZE, "width": SIZE})


def clip(folder: Path, *, seed: int = 0, **of_tokenizer: Any) -> Path:
    """A `CLIPModel`."""
    t = _seeded(seed)
    config = t.CLIPConfig(text_config=_text(), vision_config=_vision(), projection_dim=24)
    processor = t.CLIPProcessor(image_processor=_clip_images(t), tokenizer=tokenizer(**of_tokenizer))
    return _save(_spread(t.CLIPModel(config)), processor, folder)


def aimv2(folder: Path) -> Path:
    """An `Aimv2Model`, whose text tower is causal by its mask alone."""
    t = _seeded()
    config = t.Aimv2Config(text_config=_text(), vision_config=_vision(), projection_dim=24)
    processor = t.CLIPProcessor(image_processor=_clip_images(t), tokenizer=tokenizer())
    return _save(_spread(t.Aimv2Model(config)), processor, folder)


def metaclip2(folder: Path) -> Path:
    """A `MetaClip2Model`."""
    t = _seeded()
    config = t.MetaClip2Config(text_config=_text(), vision_config=_vision(), projection_dim=24)
    processor = t.CLIPProcessor(image_processor=_clip_images(t), tokenizer=tokenizer())
    return _save(_spread(t.MetaClip2Model(config)), processor, folder)


def siglip(folder: Path) -> Path:
    """A `SiglipModel`, which reads captions padded to one length."""
    t = _seeded()
    config = t.SiglipConfig(text_config=_text(), vision_config=_vision())
    processor = t.SiglipProcessor(image_processor=t.SiglipImageProcessorPil(**_square()), tokenizer=tokenizer())
    return _save(_spread(t.SiglipModel(config)), processor, folder)


def siglip2(folder: Path) -> Path:
    """A `Siglip2Model` (patches with their own masks and shapes)."""
    t = _seeded()
    vision = _vision(num_patches=16)
    vision.pop("image_size")
    config = t.Siglip2Config(text_config=_text(), vision_config=vision)
    images = t.Siglip2ImageProcessorPil(patch_size=8, max_num_patches=16)
    return _save(
        _spread(t.Siglip2Model(config)), t.Siglip2Processor(image_processor=images, tokenizer=tokenizer()), folder
    )


def align(folder: Path) -> Path:
    """An `AlignModel` (EfficientNet and BERT)."""
    t = _seeded()
    vision = {
        "image_size": SIZE, "hidden_dim": 32, "width_coefficient": 1.0, "depth_coefficient": 0.1,
        "in_channels": [32, 16], "out_channels": [16, 32], "kernel_sizes": [3, 3], "strides": [1, 2],
        "num_block_repeats": [1, 1], "expand_ratios": [1, 6], "depthwise_padding": [],
    }  # fmt: skip
    text = _text()
    for name in ("bos_token_id", "eos_token_id"):
        text.pop(name)
    config = t.AlignConfig(text_config=text, vision_config=vision, projection_dim=32)
    images = t.EfficientNetImageProcessorPil(**_square())
    return _save(_spread(t.AlignModel(config)), t.AlignProcessor(image_processor=images, tokenizer=tokenizer()), folder)


def xclip(folder: Path, *, frames: int = 4, prompt_alpha: float = 0.5, layers: int = 2, seed: int = 0) -> Path:
    """An `XCLIPModel`; with `prompt_alpha` 0 its captions do not depend on the video."""
    t = _seeded(seed)
    vision = _vision(
        num_frames=frames,
        num_hidden_layers=layers,
        mit_hidden_size=24,
        mit_intermediate_size=48,
        mit_num_hidden_layers=1,
        mit_num_attention_heads=2,
    )
    config = t.XCLIPConfig(
        text_config=_text(num_hidden_layers=layers), vision_config=vision, projection_dim=24, prompt_layers=1,
        prompt_num_attention_heads=2,
    )  # fmt: skip
    config.prompt_alpha = prompt_alpha
    model = _spread(t.XCLIPModel(config))
    images = t.VideoMAEImageProcessorPil(size={"shortest_edge": SIZE}, crop_size={"height": SIZE, "width": SIZE})
    return _save(model, t.XCLIPProcessor(image_processor=images, tokenizer=tokenizer()), folder)


def videoprism(folder: Path, *, size: int = 288) -> Path:
    """A `VideoPrismClipModel` of frames of `size` pixels (its recipe: 288); its processor needs torchvision."""
    t = _seeded()
    text = _text(hidden_size=32, intermediate_size=48)
    vision = {
        "image_size": size, "num_frames": 4, "tubelet_size": [1, 96, 96], "hidden_size": 32, "num_attention_heads": 2,
        "intermediate_size": 48, "num_spatial_layers": 1, "num_temporal_layers": 1, "num_auxiliary_layers": 1,
    }  # fmt: skip
    model = _spread(t.VideoPrismClipModel(t.VideoPrismConfig(text_config=text, vision_config=vision)))
    videos = t.LlavaOnevisionVideoProcessor(size={"height": size, "width": size})
    return _save(model, t.VideoPrismProcessor(video_processor=videos, tokenizer=tokenizer()), folder)


def _perception() -> tuple[dict[str, Any], dict[str, Any], Any]:
    """Text and video parts of the Perception Encoders, and their video processor."""
    import transformers as t

    text = {
        "model_type": "modernbert", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
        "num_attention_heads": 2, "max_position_embeddings": 64, "cls_token_id": 1, "sep_token_id": 1,
        **_ids(tokenizer()),
    }  # fmt: skip
    args = {"img_size": SIZE, "embed_dim": 32, "depth": 1, "num_heads": 2}
    frames = {
        "model_type": "timm_wrapper", "architecture": "vit_pe_core_tiny_patch16_384", "num_labels": 16,
        "model_args": args,
    }  # fmt: skip
    video = {"model_type": "pe_video_encoder", "vision_config": frames, **_encoder()}
    processor = t.PeVideoVideoProcessor(
        size={"height": SIZE, "width": SIZE}, do_resize=True, do_rescale=True, do_normalize=True,
        image_mean=[0.5] * 3, image_std=[0.5] * 3,
    )  # fmt: skip
    return text, video, processor


def _encoder() -> dict[str, int]:
    return {
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "head_dim": 16,
    }


def _keep_labels(folder: Path, *path: str) -> Path:
    """The frame tower's number of outputs is lost when its config is saved inside of another: put it back."""
    config = json.loads((folder / "config.json").read_text())
    inner = config
    for name in path:
        inner = inner[name]
    inner.pop("num_classes")
    inner.pop("label_names")
    inner["num_labels"] = 16
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def pe_video(folder: Path) -> Path:
    """A `PeVideoModel`; needs timm and torchvision."""
    t = _seeded()
    text, video, videos = _perception()
    model = _spread(t.PeVideoModel(t.PeVideoConfig(text_config=text, video_config=video)))
    _save(model, t.PeVideoProcessor(video_processor=videos, tokenizer=tokenizer()), folder)
    return _keep_labels(folder, "video_config", "vision_config")


def pe_audio_video(folder: Path) -> Path:
    """A `PeAudioVideoModel`; needs timm and torchvision."""
    t = _seeded()
    text, video, videos = _perception()
    codec = {
        "model_type": "dac", "encoder_hidden_size": 4, "downsampling_ratios": [2, 2], "codebook_dim": 8,
        "codebook_size": 16, "n_codebooks": 1, "hidden_size": 16,
    }  # fmt: skip
    audio = {"model_type": "pe_audio_encoder", "dac_config": codec, **_encoder()}
    both = {"audio_config": audio, "video_config": video, **_encoder()}
    model = _spread(t.PeAudioVideoModel(t.PeAudioVideoConfig(text_config=text, audio_video_config=both)))
    _save(model, t.PeAudioVideoProcessor(t.PeAudioFeatureExtractor(), videos, tokenizer()), folder)
    return _keep_labels(folder, "audio_video_config", "video_config", "vision_config")


def gpt2(folder: Path) -> Path:
    """A `GPT2LMHeadModel`."""
    t = _seeded()
    config = t.GPT2Config(n_embd=32, n_layer=1, n_head=2, n_positions=64, **_ids(tokenizer()))
    return _save(t.GPT2LMHeadModel(config), tokenizer(), folder)


MAKERS: dict[str, Callable[[Path], Path]] = {
    "CLIPModel": clip,
    "MetaClip2Model": metaclip2,
    "SiglipModel": siglip,
    "Siglip2Model": siglip2,
    "AlignModel": align,
    "XCLIPModel": xclip,
}
