"""The options of `teach`; each is declared here and nowhere else (see `video_contrast.options`)."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from video_contrast.builders.assembly.verb_contrasts import EditOptions
from video_contrast.errors import UsageError
from video_contrast.options import Flag, Seed, VideoRoot

DATA, TEXT, HOW = "What is trained, on what", "Negatives and teacher", "Training"  # headings of the help
PRECISIONS = {"no": "float32", "fp16": "float16", "bf16": "bfloat16"}  # accelerate's words


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """What is trained on."""

    PANEL: ClassVar[str] = DATA
    output: Annotated[Path, "the run's folder; the same call goes on in it"]
    config: Annotated[str, "the retrieval config"] = "retrieval"
    split: Annotated[str, "split to train on"] = "train"
    validation: Annotated[str, "split to stop by; if absent, a tenth of the clips"] = "validation"
    video_root: VideoRoot = None
    frames: Annotated[int | None, "frames a clip; default: 8, or what the model needs"] = None
    store: Annotated[Path | None, "what is made once; default: OUTPUT/store. Runs may share it"] = None


@dataclass(frozen=True, kw_only=True)
class NegativeOptions(EditOptions):
    """The negative captions, and the teacher that compares them with the true ones."""

    PANEL: ClassVar[str] = TEXT
    negatives: Annotated[str, "10-action, 5-action, 5-action-5-object", Flag(former=("kinds",))] = "10-action"
    generator: Annotated[Literal["auto", "shapes", "lexical", "t5", "mlm", "llm"], "auto: fits the set"] = "auto"
    encoder: Annotated[str, "the teacher: lsa, or a sentence encoder"] = "lsa"


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Everything that changes the result of a training; a resumed run must have the same."""

    PANEL: ClassVar[str] = HOW
    objective: Annotated[Literal["lbl", "lgt"], "labels or soft logits"] = "lbl"
    temperature: Annotated[float, "of the model's similarities"] = 0.05
    teacher_temperature: Annotated[float, "of the teacher's (lgt)"] = 0.01
    contrast: Annotated[float, "weight of the in-batch term; 0: none"] = 1.0
    freeze: Annotated[Literal["none", "vision", "text", "both"], "frozen towers"] = "none"
    epochs: Annotated[int, "passes over the captions"] = 5
    batch_size: Annotated[int, "clips a batch, all processes"] = 32
    accumulate: Annotated[int, "batches a step"] = 1
    learning_rate: Annotated[float, "highest learning rate", Flag(former=("rate",))] = 5e-4
    warm_up: Annotated[float, "share of the steps until it is reached", Flag(python_only=True)] = 0.05
    weight_decay: Annotated[float, "of the weights", Flag(python_only=True)] = 0.02
    evaluate_every: Annotated[int, "steps between saved validations; 0: one at the end"] = 100
    patience: Annotated[int, "validations without gain; 0: any"] = 5
    dtype: Annotated[
        Literal["float32", "float16", "bfloat16"],
        "mixed precision",
        Flag(former=("precision",), former_values=PRECISIONS),
    ] = "float32"
    seed: Seed = 0

    def check(self) -> None:
        """Raises a UsageError that names the first option that is out of range."""
        for name in ("temperature", "teacher_temperature", "learning_rate", "epochs", "batch_size", "accumulate"):
            if not getattr(self, name) > 0:
                raise UsageError(f"--{name.replace('_', '-')} must be above 0, not {getattr(self, name)}")
        for name in ("contrast", "evaluate_every", "patience"):
            if getattr(self, name) < 0:
                raise UsageError(f"--{name.replace('_', '-')} must not be negative, not {getattr(self, name)}")
        if self.dtype == "float16":
            import torch

            if not torch.cuda.is_available():
                raise UsageError("--dtype float16 needs a GPU; on a CPU give bfloat16 or float32")

    @property
    def mixed_precision(self) -> str:
        """The precision in accelerate's words."""
        return next(word for word, dtype in PRECISIONS.items() if dtype == self.dtype)

    def record(self) -> dict[str, Any]:
        """The options as `settings.json` keeps them, under the names that it always had."""
        values = {field.name: getattr(self, field.name) for field in fields(TrainingOptions)}
        del values["dtype"]
        return values | {"rate": values.pop("learning_rate"), "precision": self.mixed_precision}


@dataclass(frozen=True, kw_only=True)
class TeachOptions(TrainingOptions, NegativeOptions, DataOptions):
    """All options of `teach`."""

    group: Annotated[str | None, "clips alike in this column meet in a batch (hard videos)", Flag(panel=HOW)] = None
