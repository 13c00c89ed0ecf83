"""Where a model is, and how it is to be loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from video_contrast.files import Json

KindOptions = Mapping[str, Any]  # option name -> value, of the type that its `KindOption` names


@dataclass(frozen=True)
class ModelSource:
    """Where a model is, before anything heavy is imported.

    Attributes:
        name: what the user gave (Hub id, folder, name of a baseline or packaged checkpoint).
        path: its folder on this machine; None for a baseline, a served model or a precomputed file's absence.
        config: its config.json, {} where there is none.
        modules: its modules.json (sentence-transformers), None where there is none.
        revision: commit on the Hub, or a digest of the folder's files.
        adapter: folder of the adapters (LoRA) that are added to it; None where there are none.
        files: name -> size and time of change of its files when the revision was read; {} of a model without files.
    """

    name: str
    path: Path | None = None
    config: Mapping[str, Json] = field(default_factory=dict)
    modules: list[Json] | None = None
    revision: str = ""
    adapter: Path | None = None
    files: Mapping[str, list[int]] = field(default_factory=dict)

    @property
    def architecture(self) -> str:
        """`config.architectures[0]`, or ""."""
        return str((self.config.get("architectures") or [""])[0])

    @property
    def model_type(self) -> str:
        """`config.model_type`, or ""."""
        return str(self.config.get("model_type") or "")

    @property
    def dtype(self) -> str:
        """The dtype that the config names, at its top or for the text model; "float32" where it names another."""
        configs = [self.config, self.config.get("text_config") or {}]
        named = next(
            (config[key] for config in configs for key in ("dtype", "torch_dtype") if config.get(key)), "float32"
        )
        return str(named) if named in ("bfloat16", "float16") else "float32"


@dataclass(frozen=True)
class LoadOptions:
    """How to load and run a model.

    Attributes:
        device: "cpu", "cuda", "cuda:1", "mps" ...; never "auto" here.
        dtype: "float32", "bfloat16" or "float16": of the weights. Scores are float32 or better all the same.
        device_map: given to `from_pretrained` for a model that does not fit one device; None otherwise.
        trust_remote_code: whether code of the model's repository may run.
        batch_size: how many clips or texts at a time the engine will pass.
        preprocess_on: "cpu" (Pillow), or "device": frames are resized by torchvision, on the model's device.
        options: the kind's own options, with defaults filled in.
    """

    device: str = "cpu"
    dtype: str = "float32"
    device_map: str | None = None
    trust_remote_code: bool = False
    batch_size: int = 32
    preprocess_on: str = "cpu"
    options: KindOptions = field(default_factory=dict)
