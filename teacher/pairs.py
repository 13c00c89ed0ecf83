"""Any dual encoder or X-CLIP as one module: clips and captions in, their cosines out, with gradients."""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from video_contrast.errors import VideoContrastError


class Pairs(nn.Module):
    """Cosines of every clip with every caption, as the runner scores them (frames averaged; X-CLIP's prompts used).

    Args:
        model: a transformers dual encoder (CLIP, SigLIP ...) or an `XCLIPModel`.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model
        self.video = type(model).__name__ == "XCLIPModel"
        if not self.video and not (hasattr(model, "get_image_features") and hasattr(model, "get_text_features")):
            raise VideoContrastError(
                f"teach trains dual encoders (get_image_features and get_text_features) and X-CLIP, "
                f"not {type(model).__name__}"
            )

    def forward(self, pixels: torch.Tensor, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        """float[B, M] of float[B, T, 3, H, W] and the tokens of M captions."""
        if self.video:
            return self._xclip(pixels, tokens)
        found = _tensor(self.model.get_image_features(pixel_values=pixels.flatten(0, 1)))
        frames = functional.normalize(found.float(), dim=-1).view(*pixels.shape[:2], -1)
        texts = functional.normalize(_tensor(self.model.get_text_features(**tokens)).float(), dim=-1)
        return functional.normalize(frames.mean(1), dim=-1) @ texts.T

    def _xclip(self, pixels: torch.Tensor, tokens: dict[str, torch.Tensor]) -> torch.Tensor:
        model = self.model
        batch, frames = pixels.shape[:2]
        vision = model.vision_model(pixel_values=pixels.flatten(0, 1))
        clips = model.mit(model.visual_projection(vision[1]).view(batch, frames, -1))[1]
        clips = functional.normalize(clips.float(), dim=-1)
        texts = model.text_projection(model.text_model(**tokens)[1])
        if not bool(model.prompts_generator.alpha.any()):
            return clips @ functional.normalize(texts.float(), dim=-1).T
        patches = model.prompts_visual_layernorm(vision[0][:, 1:, :]) @ model.prompts_visual_projection
        patches = patches.view(batch, frames, -1, texts.shape[-1]).mean(1)
        prompted = texts.unsqueeze(0).expand(batch, -1, -1)
        prompted = prompted + model.prompts_generator(prompted, patches)
        return torch.einsum("bd,bmd->bm", clips, functional.normalize(prompted.float(), dim=-1))


def _tensor(output: Any) -> torch.Tensor:
    found = output if isinstance(output, torch.Tensor) else output.pooler_output
    return found.reshape(found.shape[0], -1)
