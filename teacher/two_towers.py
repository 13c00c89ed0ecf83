"""The checkpoint that is trained: any dual encoder or X-CLIP as one module, clips and captions in, their cosines out.

Each side has a tower (`vision_model`, `text_model`) and a head: the projection, the mean over frames, X-CLIP's layers
over frames. A frozen tower's outputs are computed once and stored (`frozen`), and then only the heads run. Adapters may
learn in place of the weights (`adapted`).
"""

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
import transformers
from torch import nn
from torch.nn import functional

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.options import names_in
from video_contrast.runner.kinds import all_kinds
from video_contrast.runner.kinds.base import LoadOptions
from video_contrast.runner.kinds.loading import load_model, load_processor, pooled
from video_contrast.runner.model_files import check_peft, locate
from video_contrast.teacher.options import TEMPERATURE, LoraOptions
from video_contrast.untyped import Processor, Tensor, TorchModel

FREEZE = {"none": (), "vision": ("vision",), "text": ("text",), "both": ("vision", "text")}
HEADS = {"vision": "visual_projection", "text": "text_projection"}


class Pairs(nn.Module):
    """Cosines of clips with captions, as the runner scores them (frames averaged; X-CLIP's prompts used).

    `model`: a transformers dual encoder (CLIP, SigLIP ...) or an `XCLIPModel`. `freeze`: which towers do not learn:
    "none", "vision", "text" or "both". Heads always learn. Raises VideoContrastError: a model that has no two towers;
    UsageError: with these towers frozen nothing is left to learn.
    """

    def __init__(self, model: TorchModel, freeze: str = "none") -> None:
        super().__init__()
        self.model = model
        self.xclip = type(model).__name__ == "XCLIPModel"
        if not self.xclip and not (hasattr(model, "get_image_features") and hasattr(model, "get_text_features")):
            raise VideoContrastError(
                f"teach trains dual encoders (get_image_features and get_text_features) and X-CLIP, "
                f"not {type(model).__name__}"
            )
        self.prompted = self.xclip and bool(model.prompts_generator.alpha.any())
        self.frozen = FREEZE[freeze]
        self.heads = {side: getattr(model, name, None) for side, name in HEADS.items()}
        self._checked: set[str] = set()
        for side in self.frozen:
            if (tower := getattr(model, f"{side}_model", None)) is None:
                raise UsageError(f"--freeze {freeze}: {type(model).__name__} has no part called {side}_model")
            tower.requires_grad_(False)
        if freeze == "both" and not any(self.heads.values()):
            raise UsageError(
                f"--freeze both leaves nothing to train: {type(model).__name__} has no projections after its towers; "
                "give vision or text"
            )

    def save_memory(self) -> None:
        """Switches gradient checkpointing on. Raises UsageError: a model that cannot."""
        if not getattr(self.model, "supports_gradient_checkpointing", False):
            raise UsageError(f"--gradient-checkpointing: {type(self.model).__name__} has no support for it")
        if hasattr(self.model, "activation_checkpointing_enable"):  # its name from transformers 5.20 on
            self.model.activation_checkpointing_enable(activation_checkpointing_kwargs={"use_reentrant": False})
        else:
            self.model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})

    def train(self, mode: bool = True) -> "Pairs":
        """Sets the mode as any module; frozen towers stay in evaluation mode, and so always give what is stored."""
        super().train(mode)
        for side in self.frozen:
            getattr(self.model, f"{side}_model").eval()
        return self

    def forward(
        self,
        videos: torch.Tensor,
        texts: Mapping[str, torch.Tensor] | torch.Tensor,
        own: torch.Tensor,
        everyone: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Cosines of B clips with captions of their own, and of all clips with all captions.

        Returns float[B, K]; float[N, N], the same in every process; and the model's own temperature.

        `videos`: pixels float[B, T, 3, H, W], or the output of the vision tower, float[B, S, H]. `texts`: tokens of M
        captions, or the output of the text tower, float[M, H]; the first B belong to the clips. `own`: long[B, K],
        which captions each clip is compared with. `everyone`: long[N], which clips of all processes (in the order of
        the processes) stand in the square; None for the clips of this process.
        """
        video_rows, text_rows = self.videos(videos), self.texts(texts)
        own_cosines = self.join(video_rows, text_rows[own])
        text_rows = text_rows[: len(video_rows)]
        if everyone is not None:
            from torch.distributed.nn.functional import all_gather  # through which gradients flow back to each process

            video_rows, text_rows = (torch.cat(all_gather(rows))[everyone] for rows in (video_rows, text_rows))
        return own_cosines, self.join(video_rows, text_rows), self.temperature()

    def temperature(self) -> torch.Tensor:
        """The model's own, a scalar: the inverse of its logit scale, or ALIGN's; `TEMPERATURE` where it has none."""
        if self.scale is None:
            return torch.tensor(TEMPERATURE)
        value = self.scale.float().reshape(())
        return torch.exp(-value) if hasattr(self.model, "logit_scale") else value

    @property
    def device(self) -> torch.device:
        """The device of the model."""
        return next(self.parameters()).device

    @property
    def scale(self) -> nn.Parameter | None:
        """The parameter that holds the model's temperature: `logit_scale`, or `temperature` (ALIGN)."""
        return getattr(self.model, "logit_scale", getattr(self.model, "temperature", None))

    def videos(self, inputs: torch.Tensor) -> torch.Tensor:
        """float[B, D] of pixels, or of the output of the vision tower."""
        return self.video_head(self.video_tower(inputs) if inputs.ndim == 5 else inputs)

    def texts(self, inputs: Mapping[str, torch.Tensor] | torch.Tensor) -> torch.Tensor:
        """float[M, D] of tokens, or of the output of the text tower: of length 1, but for a prompted X-CLIP."""
        features = inputs if isinstance(inputs, torch.Tensor) else self.text_tower(inputs)
        texts = self._project("text", features).float()
        return texts if self.prompted else functional.normalize(texts, dim=-1)

    def video_tower(self, pixels: torch.Tensor) -> torch.Tensor:
        """float[B, S, H] of float[B, T, 3, H, W]: a row a frame; a prompted X-CLIP's mean patches stand behind."""
        model, frames = self.model, pixels.flatten(0, 1)
        if not self.xclip:
            rows = self._before("vision", lambda: model.get_image_features(pixel_values=frames))
            return rows.unflatten(0, pixels.shape[:2])
        vision = model.vision_model(pixel_values=frames)
        rows = vision[1].unflatten(0, pixels.shape[:2])
        if not self.prompted:
            return rows
        # Captions are prompted by the frames' mean of normalised patches. What follows the normalisation is linear,
        # so it may come after the mean: the tower ends here, and a clip has one set of patches to store.
        patches = vision[0][:, 1:, :].float()
        patches = functional.layer_norm(patches, patches.shape[-1:], eps=model.prompts_visual_layernorm.eps)
        return torch.cat([rows.float(), patches.unflatten(0, pixels.shape[:2]).mean(1)], 1)

    def video_head(self, features: torch.Tensor) -> torch.Tensor:
        """float[B, D], of length 1, of what the tower gave; a prompted X-CLIP's projected patches stand behind."""
        model = self.model
        if not self.xclip:
            frames = self._project("vision", features).float()
            return functional.normalize(functional.normalize(frames, dim=-1).mean(1), dim=-1)
        frames = model.config.vision_config.num_frames
        clips = model.mit(model.visual_projection(features[:, :frames]))[1]
        clips = functional.normalize(clips.float(), dim=-1)
        if not self.prompted:
            return clips
        norm = model.prompts_visual_layernorm
        patches = (features[:, frames:] * norm.weight + norm.bias) @ model.prompts_visual_projection
        return torch.cat([clips, patches.float().flatten(1)], 1)

    def text_tower(self, tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """float[M, H]: what the text tower says of M captions."""
        if self.xclip:
            return self.model.text_model(**tokens)[1]
        return self._before("text", lambda: self.model.get_text_features(**tokens))

    def join(self, videos: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        """Cosines float32[B, M] of each clip with the same captions float[M, D], or with its own float[B, M, D]."""
        # Not in mixed precision: bfloat16 has steps of .004 near 1, more than what tells a caption from its negative.
        with torch.autocast(videos.device.type, enabled=False):
            if not self.prompted:
                if videos.shape[1] != texts.shape[-1]:
                    raise VideoContrastError(
                        f"clips have {videos.shape[1]} numbers and captions {texts.shape[-1]}: they cannot be "
                        f"compared; {type(self.model).__name__} has towers of different widths"
                    )
                return videos @ texts.T if texts.ndim == 2 else torch.einsum("bd,bmd->bm", videos, texts)
            texts = texts.expand(len(videos), *texts.shape[-2:])
            clips, patches = videos.split((texts.shape[-1], videos.shape[1] - texts.shape[-1]), 1)
            rows = texts + self.model.prompts_generator(texts, patches.unflatten(1, (-1, texts.shape[-1])))
            return torch.einsum("bd,bmd->bm", clips, functional.normalize(rows.float(), dim=-1))

    def _project(self, side: str, features: torch.Tensor) -> torch.Tensor:
        head = self.heads[side]
        return features if head is None else head(features.flatten(0, -2)).unflatten(0, features.shape[:-1])

    def _before(self, side: str, features: Callable[[], Tensor]) -> torch.Tensor:
        """The features of a model before their projection, if it has one."""
        if (head := self.heads[side]) is None:
            return pooled(features())
        states: list[torch.Tensor] = []
        hook = head.register_forward_pre_hook(lambda _, inputs: states.append(inputs[0]))
        output = pooled(features())
        hook.remove()
        if side not in self._checked:
            if not states or not torch.allclose(pooled(head(states[0])), output, atol=1e-3, rtol=1e-2):
                raise VideoContrastError(
                    f"teach cannot train {type(self.model).__name__}: its features are not what {HEADS[side]} gives"
                )
            self._checked.add(side)
        return states[0].flatten(1)


DEFAULT_FRAMES = 8


class LoadedCheckpoint(NamedTuple):
    """A model to train; transformers' classes are many and have no types here."""

    net: TorchModel  # a dual encoder or X-CLIP, in float32
    processor: Processor  # its processor
    revision: str  # digest of its files


def load_checkpoint(model: str | Path) -> LoadedCheckpoint:
    """Loads a model in float32 with its processor.

    A checkpoint whose config names no class of transformers, as those of CLIP4Clip, is of the class that its
    `model_type` stands for: the one that `score` runs. Raises VideoContrastError: there is none, or it is of a kind
    that cannot be trained here.
    """
    source = locate(str(model))
    dual, name = all_kinds()["dual_encoder"], source.architecture or None
    if source.model_type in dual.model_types and name not in dual.architectures:
        name = None
    elif not name or not hasattr(transformers, name):
        raise UsageError(f"teach trains standard transformers classes, not {name or 'an unknown one'} ({model})")
    loading = LoadOptions(device="cpu", dtype="float32")
    net = load_model(source, loading, name)
    if source.adapter is not None:
        net.requires_grad_(True)  # the library freezes what it merges adapters into
    return LoadedCheckpoint(net, load_processor(source, loading), source.revision)


def frames_of(net: TorchModel, requested: int | None) -> int:
    """Frames a clip: as many as the model needs, or as requested. Raises UsageError: the model takes another number."""
    count = getattr(getattr(net.config, "vision_config", None), "num_frames", None)
    if count and requested and requested != count:
        raise UsageError(f"--frames {requested}: this model takes exactly {count}")
    return int(count or requested or DEFAULT_FRAMES)


def adapted(net: TorchModel, base: str, options: LoraOptions, freeze: str) -> TorchModel:
    """Puts adapters into the layers of a dual encoder or X-CLIP, in place; nothing else learns.

    Returns peft's model around `net`, which saves the adapters. `base`: its name or folder, as `score` finds it.
    `freeze`: the towers that get none ("none", "vision", "text", "both"). Raises UsageError: peft is absent,
    or the model has no such layers.
    """
    check_peft("--lora-rank")
    from peft import LoraConfig, get_peft_model

    targets = options.lora_targets
    name = str(Path(base).resolve()) if Path(base).is_dir() else base
    towers = [f"{side}_model" for side in FREEZE[freeze]]
    config = LoraConfig(
        r=options.lora_rank,
        lora_alpha=options.lora_alpha or 2 * options.lora_rank,
        lora_dropout=options.lora_dropout,
        target_modules=targets if targets == "all-linear" else names_in(targets),
        exclude_modules=rf"(.*\.)?({'|'.join(towers)})\..*" if towers else None,
        base_model_name_or_path=name,
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # peft calls transformers by names of before
            warnings.filterwarnings("ignore", message=".*base_model_name_or_path.*")  # it is set again below
            model = get_peft_model(net, config)
    except ValueError as error:
        raise UsageError(f"--lora-targets {options.lora_targets}: {' '.join(str(error).split())[:200]}") from error
    model.peft_config["default"].base_model_name_or_path = name
    return model
