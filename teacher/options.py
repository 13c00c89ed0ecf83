"""The options of `teach` and `generate`; each is declared here and nowhere else (see `video_contrast.options`)."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from video_contrast.addresses import is_remote
from video_contrast.builders.blocks.executors import ClusterOptions
from video_contrast.errors import UsageError
from video_contrast.options import POSITIVE, Config, Flag, OptionValues, Range, Seed, Split, VideoRoot
from video_contrast.teacher.negative_recipe import CaptionEdits, NegativeRecipe

DATA, TEXT, HOW = "What is trained, on what", "Negatives and teacher", "Training"  # headings of the help
RATE, LORA_RATE = 1e-5, 2e-4  # CLIP4Clip in mmaction2; GPT-2 in microsoft/LoRA (examples/NLG)
HEAD_FACTOR = 10.0  # microsoft/VideoX, X-CLIP/utils/optimizer.py, there also for the messages within the tower
TEMPERATURE = 0.05  # of models without a logit scale
# The RCAD paper, 5.1: ten action captions a clip by mask filling with XLM-RoBERTa, or by a chat model (5.3, .3 from it
# either way), soft logits of a Sentence-BERT. The paper trains on what the models propose; so quality 0: only the rules
# reject. Where the papers are silent: rates, warm-up and decay of CLIP4Clip as trained in
# mmaction2 (the defaults of `TrainingOptions`), the model's own temperature, frozen.
PRESETS: dict[str, OptionValues] = {
    "none": {},
    "paper": {
        "negatives": "10-action", "generator": "mlm", "generator_model": "FacebookAI/xlm-roberta-base", "quality": "0",
        "objective": "lgt", "encoder": "sentence-transformers/bert-base-nli-mean-tokens", "batch_size": 128,
        "epochs": 5,
    },
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class DataOptions:
    """The data of a training."""

    PANEL: ClassVar[str] = DATA
    output: Annotated[Path, "folder of the run; the same call resumes it"]
    config: Annotated[str, "the retrieval config"] = "retrieval"
    split: Annotated[str, "split to train on"] = "train"
    validation: Annotated[str, "split to stop by; if absent, a tenth of the clips"] = "validation"
    video_root: VideoRoot = None
    frames: Annotated[int | None, "frames a clip; default: 8, or what the model needs"] = None
    accept_damaged: Annotated[bool, "learn from damaged videos all the same", Flag(hidden=True)] = False
    store: Annotated[Path | None, "folder of what runs can share; default: OUTPUT/store"] = None


@dataclass(frozen=True, kw_only=True)
class NegativeOptions(CaptionEdits):
    """The negative captions, and the teacher that compares them with the true ones."""

    PANEL: ClassVar[str] = TEXT
    preset: Annotated[Literal["none", "paper"], "the RCAD paper's options"] = "none"
    generator: Annotated[
        Literal["auto", "shapes", "lexicon", "t5", "mlm", "llm", "set"], "auto: fits the set; set: of `generate`"
    ] = "auto"
    encoder: Annotated[str, "the teacher (lgt): lsa, or a sentence encoder"] = "lsa"


@dataclass(frozen=True, kw_only=True)
class LoraOptions:
    """Adapters in place of the weights."""

    PANEL: ClassVar[str] = HOW
    lora_rank: Annotated[int, "rank of adapters that learn instead of the weights; 0: none", Range(0)] = 0
    lora_alpha: Annotated[int | None, "their scale; default: twice the rank", Flag(hidden=True)] = None
    lora_dropout: Annotated[float, "within the adapters", Flag(python_only=True)] = 0.0
    lora_targets: Annotated[str, "all-linear, or names of layers, comma-separated", Flag(hidden=True)] = "all-linear"
    merge: Annotated[bool, "save the model with its adapters merged"] = False


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """Everything that changes the result of a training; a resumed run must have the same."""

    PANEL: ClassVar[str] = HOW
    objective: Annotated[Literal["lbl", "lgt"], "hard or soft labels"] = "lbl"
    temperature: Annotated[float | None, "of the similarities; default: the model's own", POSITIVE] = None
    logit_scale: Annotated[Literal["frozen", "learned"], "the model's own temperature", Flag(hidden=True)] = "frozen"
    teacher_temperature: Annotated[float, "of the teacher's (lgt)", Flag(hidden=True), POSITIVE] = 0.01
    contrast: Annotated[float, "weight of the in-batch term; 0: none", Flag(hidden=True), Range(0)] = 1.0
    freeze: Annotated[Literal["none", "vision", "text", "both"], "frozen towers"] = "none"
    epochs: Annotated[int, "passes over the captions", POSITIVE] = 5
    batch_size: Annotated[int, "clips a batch, all processes", POSITIVE] = 32
    accumulate: Annotated[int, "batches a step", Flag(hidden=True), POSITIVE] = 1
    learning_rate: Annotated[float | None, "peak learning rate; default: 1e-5, or 2e-4 (LoRA)", POSITIVE] = None
    text_learning_rate: Annotated[float | None, "of the text tower; default: same", Flag(hidden=True), Range(0)] = None
    head_learning_rate: Annotated[float | None, "layers over frames; default: 10 x", Flag(hidden=True), Range(0)] = None
    warm_up: Annotated[float, "share of the steps until it is reached", Flag(hidden=True)] = 0.1
    weight_decay: Annotated[float, "of the weights", Flag(python_only=True)] = 0.05
    gradient_checkpointing: Annotated[bool, "less memory, more time", Flag(hidden=True)] = False
    evaluate_every: Annotated[int, "steps between saved validations; 0: one at the end", Range(0)] = 100
    patience: Annotated[int, "validations without gain before it stops; 0: never stop", Range(0)] = 5
    dtype: Annotated[Literal["float32", "float16", "bfloat16"], "mixed precision"] = "float32"
    seed: Seed = 0

    def check(self) -> None:
        """Raises a UsageError for options that do not go together, or not with this machine."""
        if not 0 <= self.warm_up < 1:
            raise UsageError(f"--warm-up must be a share of the steps, at least 0 and below 1, not {self.warm_up}")
        if self.logit_scale == "learned" and self.temperature is not None:
            raise UsageError("--logit-scale learned starts from the model's own temperature; leave out --temperature")
        if self.dtype == "float16":
            import torch

            if not torch.cuda.is_available():
                raise UsageError("--dtype float16 needs a GPU; on a CPU give bfloat16 or float32")

    def rates(self, *, lora: bool) -> dict[str, float]:
        """The highest learning rates: of the "vision" tower, of the "text" tower, and of the "head" after them."""
        rate = self.learning_rate or (LORA_RATE if lora else RATE)
        text = rate if self.text_learning_rate is None else self.text_learning_rate
        factor = 1.0 if lora else HEAD_FACTOR
        head = factor * rate if self.head_learning_rate is None else self.head_learning_rate
        return {"vision": rate, "text": text, "head": head}

    def record(self) -> dict[str, object]:
        """The options as `settings.json` keeps them."""
        return {field.name: getattr(self, field.name) for field in fields(TrainingOptions)}


@dataclass(frozen=True, kw_only=True)
class _TeachFields(TrainingOptions, LoraOptions, NegativeOptions, DataOptions):
    group: Annotated[str | None, "column: clips alike in it meet in a batch", Flag(panel=HOW, hidden=True)] = None
    report_to: Annotated[Literal["none", "tensorboard", "trackio", "wandb"], "where to log", Flag(panel=HOW)] = "none"


class TeachOptions(_TeachFields):
    """All options of `teach`; those that are not given are the preset's, then the usual ones.

    A generator model with an endpoint in its options (`--generator-model NAME --generator-options endpoint=URL`) is a
    served chat model, in place of the preset's mask filling.

    >>> options = TeachOptions(output=Path("run"), preset="paper", objective="lbl")
    >>> options.generator, options.objective, options.batch_size
    ('mlm', 'lbl', 128)
    """

    def __init__(self, **options: Any) -> None:  # by the names and types of the fields
        preset = dict(PRESETS.get(options.get("preset", "none"), {}))
        if "generator" in preset and "endpoint=" in (options.get("generator_options") or ""):
            preset["generator"] = "llm"
        super().__init__(**preset | options)

    @property
    def teacher(self) -> str | None:
        """The encoder that compares captions; None where labels teach, which need none."""
        return self.encoder if self.objective == "lgt" else None

    def check(self) -> None:
        """Checks the options as of the training, and whether LoRA's fit."""
        super().check()
        if not self.lora_rank and (self.merge or self.lora_alpha is not None):
            raise UsageError("--merge and --lora-alpha need --lora-rank N")

    def record(self) -> dict[str, object]:
        """The options as `settings.json` keeps them."""
        lora = {field.name: getattr(self, field.name) for field in fields(LoraOptions)}
        return super().record() | {"accept_damaged": self.accept_damaged} | lora


@dataclass(frozen=True, kw_only=True)
class GenerateOptions(CaptionEdits, ClusterOptions):
    """The negatives to generate: of which captions, by whom, at what price."""

    HIDDEN: ClassVar[frozenset[str]] = frozenset()

    executor: Annotated[Literal["local", "slurm", "ray"] | None, "share blocks of clips; default: this process"] = None
    output: Annotated[str, "folder of the set, or its address (s3://...); the same call resumes it"]
    config: Config = "retrieval"
    split: Split = "train"
    generator: Annotated[Literal["llm", "lexicon", "t5", "mlm"], "what proposes the negatives"] = "llm"
    endpoint: Annotated[list[str] | None, "address of a server of the model; repeat the flag for several"] = None
    concurrency: Annotated[int, "requests in flight at each endpoint", Range(1)] = 8
    structured: Annotated[bool, "ask the server for JSON (TGI: by the schema of an answer)"] = False
    price_in: Annotated[float | None, "price of a million tokens that are sent"] = None
    price_out: Annotated[float | None, "price of a million tokens that come back"] = None
    dry_run: Annotated[bool, "only print what would be asked and what it would cost"] = False
    limit: Annotated[int | None, "only the first clips", Range(1)] = None
    seed: Seed = 0

    def check(self) -> NegativeRecipe:
        """The recipe of the negatives. Raises UsageError: options that do not go together, or unknown names."""
        if self.endpoint and self.generator != "llm":
            raise UsageError("--endpoint goes with --generator llm")
        if self.generator == "llm" and not self.generator_model:
            raise UsageError("--generator llm needs --generator-model: the model's name at the endpoint, or a folder")
        option_names = {part.partition("=")[0].strip() for part in (self.generator_options or "").split(",")}
        if self.generator == "llm" and option_names & {"endpoint", "store"}:
            raise UsageError("--generator-options: servers are --endpoint; answers are kept in OUTPUT/answers.jsonl")
        if self.structured and not self.endpoint:
            raise UsageError("--structured is asked of a server: give --endpoint")
        if (self.price_in is None) != (self.price_out is None):
            raise UsageError("give --price-in and --price-out together")
        if self.generator == "llm" and is_remote(self.output) and not self.dry_run:
            raise UsageError(
                f"--output {self.output}: every answer of --generator llm is kept at once, which object stores cannot; "
                "give a folder"
            )
        recipe = NegativeRecipe.of(self, self.generator, self.seed)
        recipe.check()
        return recipe
