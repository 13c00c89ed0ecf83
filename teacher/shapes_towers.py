"""Clips and captions of the shapes world through the towers of a tiny model."""

import numpy as np
import torch
from torch.nn import functional

from video_contrast.untyped import Tokenizer, TorchModel


def embed_clips(model: TorchModel, clips: np.ndarray, *, unit: bool = True) -> torch.Tensor:
    """float32[B, D] of uint8[B, T, H, W, 3]; a CLIP's frames are encoded one by one and averaged.

    Args:
        model: a tiny CLIP or X-CLIP.
        clips: with as many frames as an X-CLIP wants.
        unit: whether a CLIP's frames are normalised before they are averaged.
    """
    pixels = torch.from_numpy(np.ascontiguousarray(clips)).permute(0, 1, 4, 2, 3).float().div_(127.5).sub_(1.0)
    if model.config.model_type == "xclip":
        return model.get_video_features(pixel_values=pixels).pooler_output
    frames = model.get_image_features(pixel_values=pixels.flatten(0, 1)).pooler_output
    frames = functional.normalize(frames, dim=-1) if unit else frames
    return frames.view(*clips.shape[:2], -1).mean(1)


def embed_texts(model: TorchModel, words: Tokenizer, texts: list[str]) -> torch.Tensor:
    """Returns float32[M, D]; equal texts are encoded once.

    Args:
        model: a tiny CLIP or X-CLIP.
        words: its tokenizer.
        texts: M captions.
    """
    unique = {text: n for n, text in enumerate(dict.fromkeys(texts))}
    limit = model.config.text_config.max_position_embeddings
    tokens = words(list(unique), padding=True, truncation=True, max_length=limit, return_tensors="pt")
    rows = model.text_projection(model.text_model(**tokens)[1])
    return rows[torch.tensor([unique[text] for text in texts])]
