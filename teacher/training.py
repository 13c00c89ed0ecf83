"""LLM-teacher training on `transformers.Trainer`: losses and batches are ours, the loop is the library's.

Ours, in the trainer's own places, and why:

- the batches (`batches.Batches`, `feed.collate`): contrastive losses are of the whole batch, so every process goes
  through the same batches and takes its share, instead of drawing batches of its own; an epoch's order is a function of
  seed and epoch;
- `compute_loss`: the losses, with the rows of all processes gathered (`pairs.Pairs`);
- `evaluate`: see `evaluation`;
- `training_step`: a gradient that is no number ends the run before it is stepped;
- what a checkpoint holds: what learns, and nothing of a frozen base; `whole.json` is written last, so that a checkpoint
  that was broken off is never gone on from.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader
from transformers import EarlyStoppingCallback, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback, TrainerState

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.seeds import digest
from video_contrast.teacher import saving
from video_contrast.teacher.batches import Batches
from video_contrast.teacher.evaluation import Measured, measure
from video_contrast.teacher.feed import Batch, Part, Tokenizer, collate
from video_contrast.teacher.losses import contrast_loss, label_loss, logit_loss
from video_contrast.teacher.options import TrainingOptions
from video_contrast.teacher.pairs import Pairs

LARGEST_SCALE = float(np.log(100))  # CLIP (arXiv:2103.00020, 2.5): logits are scaled by at most 100
WEIGHTS = "model.safetensors"


def train(
    model: Any,
    tokens: Tokenizer,
    train_part: Part,
    validation: Part,
    *,
    options: TrainingOptions,
    output: Path,
    lora: bool = False,
    report_to: str = "none",
    stop_after: int | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Fine-tunes `model` in place; it ends with the weights of its best validation: accuracy, then loss.

    Args:
        model: a dual encoder or X-CLIP.
        tokens: captions and a device to the text tower's arguments.
        train_part, validation: what to learn from, and what to stop by.
        options: what the result depends on.
        output: the run's folder: `state` (checkpoints to resume from), `curves.csv`.
        lora: whether adapters learn in place of the weights.
        report_to: a tracker that transformers knows.
        stop_after: stop after so many steps as if killed there (for tests).
        progress: show a bar.

    Returns:
        steps, best step, validation loss and accuracy there, whether it stopped early; "before" and "after", what the
        model did on the validation clips (`Measured`).

    Raises:
        UsageError: a setting is out of range.
        VideoContrastError: a loss or its gradient was not a number; the message names the batch, and the last saved
            state is kept.
    """
    options.check()
    pairs = Pairs(model, options.freeze)
    if options.gradient_checkpointing:
        pairs.save_memory()
    _choose_temperature(pairs, options)
    steps = -(-len(train_part.clips) // options.batch_size)
    total = options.epochs * -(-steps // options.accumulate)
    saved = saving.newest(output)
    trainer = TeachTrainer(
        pairs,
        tokens,
        train_part,
        validation,
        options=options,
        arguments=_arguments(options, output, total, report_to=report_to, progress=progress),
        rates=options.rates(lora=lora),
        epoch=saving.step_of(saved) * options.epochs // total if saved else 0,
    )
    trainer.add_callback(_LastStep())
    if options.patience:
        trainer.add_callback(EarlyStoppingCallback(options.patience))
    if stop_after is not None:
        trainer.add_callback(_StopAfter(stop_after))
    if not progress:
        trainer.remove_callback(PrinterCallback)
    before = trainer.measure()
    state = TrainerState.load_from_json(str(saved / "trainer_state.json")) if saved else None
    if state is None or not (state.global_step >= total or _stale(state) >= (options.patience or np.inf)):
        trainer.train(resume_from_checkpoint=str(saved) if saved else None)
        state = trainer.state
    elif state.best_model_checkpoint:  # as it was left: the best weights, and no step more
        trainer.restore(output / "state" / f"checkpoint-{state.best_global_step}")
    trainer.accelerator.wait_for_everyone()
    best = next((point for point in saving.curves(state) if point["step"] == state.best_global_step), {})
    early = bool(options.patience) and _stale(state, trainer) >= options.patience and state.global_step < total
    return {
        "step": state.global_step,
        "best_step": state.best_global_step or 0,
        "best_loss": best.get("validation_loss"),
        "best_accuracy": best.get("validation_accuracy", 0.0),
        "total": total,
        "stopped_early": early,
        "finished": early or state.global_step >= total,
        "before": before,
        "after": trainer.measure(),
    }


class TeachTrainer(Trainer):
    """`transformers.Trainer` for clips, captions and their negatives; the module says what is ours and why.

    Args:
        pairs: the model.
        tokens: captions and a device to the text tower's arguments.
        part, validation: what to learn from, and what to stop by.
        options: of the training.
        arguments: of the library.
        rates: the highest learning rate of each part of the model (`TrainingOptions.rates`).
        epoch: the first one that is gone through.
    """

    control: Any
    _logged: int = 0  # the step of the last losses that were logged

    def __init__(
        self,
        pairs: Pairs,
        tokens: Tokenizer,
        part: Part,
        validation: Part,
        *,
        options: TrainingOptions,
        arguments: TrainingArguments,
        rates: dict[str, float],
        epoch: int,
    ) -> None:
        groups = parameter_groups(pairs.model, options.weight_decay, rates)
        optimizer = torch.optim.AdamW(groups, lr=rates["vision"], betas=(0.9, 0.98), eps=1e-6)
        self.options, self.tokens, self.part, self.validation = options, tokens, part, validation
        self.first_epoch = epoch
        self.sums: dict[str, torch.Tensor] = {}
        super().__init__(
            pairs.to(arguments.device), arguments, train_dataset=range(len(part.clips)), eval_dataset=validation,
            optimizers=(optimizer, None),
        )  # fmt: skip

    def get_train_dataloader(self) -> DataLoader:
        """The same batches for every process, of which `collate` takes the process's share."""
        options, here = self.options, self.accelerator

        def share(picked: list[int]) -> dict[str, Batch]:
            device, count = here.device, here.num_processes
            return {
                "batch": collate(self.part, picked, self.tokens, device, process=here.process_index, processes=count)
            }

        clips, groups = self.part.clips, self.part.groups
        batches = Batches(clips, groups, options.batch_size, epoch=self.first_epoch, seed=options.seed)
        # a generator of its own: the loader draws a number that it does not use from the global one otherwise
        own = torch.Generator()
        return DataLoader(_Numbers(len(clips)), batch_sampler=batches, collate_fn=share, generator=own)  # type: ignore[arg-type]

    def compute_loss(
        self, model: Any, inputs: dict[str, Batch], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The sum of the losses of a batch, checked."""
        batch = inputs["batch"]
        cosines, square, temperature = model(batch.videos, batch.texts, batch.own, batch.everyone)
        parts = losses(cosines, square, temperature, batch, self.options)
        loss = sum(parts.values())
        if not bool(torch.isfinite(loss.detach())):  # type: ignore[union-attr]  # there is at least one term
            raise self._no_number("loss", batch)
        for name, value in parts.items():
            self.sums[name] = self.sums.get(name, 0.0) + value.detach() / self.current_gradient_accumulation_steps
        return (loss, cosines) if return_outputs else loss

    def training_step(self, model: Any, inputs: dict[str, Batch], num_items_in_batch: Any = None) -> torch.Tensor:
        """The library's, and a check of the gradients before they are used."""
        loss = super().training_step(model, inputs, num_items_in_batch)
        # with fp16 an overflow is usual: the scaler leaves the step out
        if self.accelerator.sync_gradients and self.options.dtype != "float16":
            norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf"))
            if not bool(torch.isfinite(norm)):
                raise self._no_number("gradient", inputs["batch"])
        return loss

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:
        """The library's, with each term of the loss beside their sum."""
        if "loss" in logs:
            steps = self.state.global_step - self._logged
            for name, value in sorted(self.sums.items()):
                logs[name] = float(self.accelerator.reduce(value, "mean")) / max(1, steps)
            self.sums, self._logged = {}, self.state.global_step
        super().log(logs, start_time)

    def train(self, resume_from_checkpoint: Any = None, **given: Any) -> Any:
        """The library's."""
        self._logged = saving.step_of(Path(resume_from_checkpoint)) if resume_from_checkpoint else 0
        return super().train(resume_from_checkpoint=resume_from_checkpoint, **given)

    def measure(self) -> Measured:
        """The model, as it is now, on the validation clips."""
        options = self.options

        def terms(cosines: Any, square: Any, temperature: Any, batch: Batch) -> dict[str, torch.Tensor]:
            return losses(cosines, square, temperature, batch, options)

        with self.accelerator.autocast():
            return measure(
                self.model, self.validation, self.tokens, terms, batch_size=options.batch_size, seed=options.seed,
                device=self.accelerator.device,
            )  # fmt: skip

    def evaluate(
        self, eval_dataset: Any = None, ignore_keys: Any = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """The figures of `measure`, logged under the library's names."""
        measured = self.measure()
        if not np.isfinite(measured.loss):
            raise self._no_number("validation loss", None)
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in measured.figures().items()}
        metrics[f"{metric_key_prefix}_choice"] = measured.choice
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def restore(self, folder: Path) -> None:
        """The weights of a checkpoint."""
        from safetensors.torch import load_file

        result = self.model.load_state_dict(load_file(folder / WEIGHTS), strict=False)
        absent = sorted(set(result.missing_keys) & {name for name, _ in _kept(self.model)})
        if absent or result.unexpected_keys:
            raise VideoContrastError(
                f"{folder} is not a checkpoint of this run ({(absent or result.unexpected_keys)[0]}); give another "
                "--output"
            )

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        from safetensors.torch import save_file

        if self.args.should_save:
            folder = Path(output_dir or self.args.output_dir)
            folder.mkdir(parents=True, exist_ok=True)
            tensors = {name: value.detach().contiguous() for name, value in _kept(self.model)}
            save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})

    def _save_checkpoint(self, model: Any, trial: Any) -> None:
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
            saving.write_curves(Path(self.args.output_dir).parent / "curves.csv", saving.curves(self.state))
            saving.mark_whole(folder)
        self.accelerator.wait_for_everyone()

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        self.restore(Path(resume_from_checkpoint))

    def _load_best_model(self) -> None:
        self.restore(Path(self.state.best_model_checkpoint))

    def _no_number(self, what: str, batch: Batch | None) -> VideoContrastError:
        saved = saving.newest(Path(self.args.output_dir).parent)
        kept = f"the last good state is in {saved}" if saved else "nothing was saved yet"
        clips = f", clips {', '.join(batch.names[:5])} ..." if batch else ""
        return VideoContrastError(
            f"the {what} is not a number after step {self.state.global_step}{clips}; {kept}; try a lower "
            "--learning-rate or --dtype float32"
        )


class _Numbers(torch.utils.data.Dataset):
    """Caption numbers: what a batch holds is put together by the collation."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, number: int) -> int:
        return number


class _LastStep(TrainerCallback):
    """The last step is validated and saved, and a learned logit scale stays in its bounds."""

    def on_optimizer_step(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        scale = getattr(given["model"].model, "logit_scale", None)
        if scale is not None and scale.requires_grad:
            with torch.no_grad():
                scale.clamp_(0.0, LARGEST_SCALE)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> Any:
        if state.global_step >= state.max_steps:
            control.should_log = control.should_evaluate = control.should_save = True
        return control


class _StopAfter(TrainerCallback):
    def __init__(self, steps: int) -> None:
        self.steps = steps

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> Any:
        control.should_training_stop |= state.global_step >= self.steps
        return control


def losses(
    cosines: torch.Tensor,
    square: torch.Tensor,
    temperature: torch.Tensor,
    batch: Batch,
    options: TrainingOptions,
) -> dict[str, torch.Tensor]:
    """The terms of the loss of a batch.

    Args:
        cosines: float[B, 1 + k], of each clip with its caption and its negatives.
        square: float[N, N], of all clips with all captions.
        temperature: the model's own, for where the options give none.
        batch: which rows count, and how much.
        options: objective, temperatures, weight of the in-batch term.
    """
    given: torch.Tensor | float = temperature if options.temperature is None else options.temperature
    own, mask = cosines[: batch.count], batch.mask[: batch.count]
    if not batch.count:  # fewer clips than processes; the others wait for this one's gradients
        term = cosines.sum() * 0.0
    elif options.objective == "lbl":
        term = label_loss(own, given, mask) * batch.weight
    else:
        target = batch.teacher[: batch.count]
        term = logit_loss(own, target, given, options.teacher_temperature, mask=mask) * batch.weight
    terms: dict[str, torch.Tensor] = {options.objective: term}
    if options.contrast:
        terms["contrast"] = options.contrast * contrast_loss(square, given, batch.same)
    return terms


def parameter_groups(model: Any, weight_decay: float, rates: dict[str, float] | None = None) -> list[dict[str, Any]]:
    """The parameters that learn, for an optimizer: matrices with weight decay, the others without.

    Args:
        model: a dual encoder or X-CLIP.
        weight_decay: of matrices.
        rates: the learning rates of the "vision" tower, of the "text" tower and of the "head": what is neither a tower
            nor a projection behind it (X-CLIP's layers over frames and its prompts). None: no rate of their own.
    """
    members: dict[tuple[str, bool], list[Any]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            side = _side(name) if rates else ""
            members.setdefault((side, parameter.ndim >= 2), []).append(parameter)
    return [
        {
            "params": parameters,
            "weight_decay": weight_decay if matrices else 0.0,
            **({"lr": rates[side]} if rates else {}),
        }
        for (side, matrices), parameters in sorted(members.items(), key=lambda item: (item[0][0], not item[0][1]))
    ]


def _side(name: str) -> str:
    """The part of the model that a parameter belongs to: "vision", "text" or "head"."""
    first = name.partition(".")[0]
    if first in ("vision_model", "visual_projection", "logit_scale", "logit_bias", "temperature"):
        return "vision"
    return "text" if first in ("text_model", "text_projection") else "head"


def _kept(pairs: Pairs) -> Iterator[tuple[str, torch.Tensor]]:
    """What a checkpoint holds: the parameters that learn, and the buffers that are saved with a model."""
    for name, parameter in pairs.named_parameters():
        if parameter.requires_grad:
            yield name, parameter
    saved = pairs.state_dict().keys()
    yield from ((name, value) for name, value in pairs.named_buffers() if name in saved)


def _choose_temperature(pairs: Pairs, options: TrainingOptions) -> None:
    learned = options.logit_scale == "learned"
    if learned and pairs.scale is None:
        raise UsageError(f"--logit-scale learned: {type(pairs.model).__name__} has no logit scale")
    if pairs.scale is not None:
        pairs.scale.requires_grad_(learned)


def _stale(state: TrainerState, trainer: Trainer | None = None) -> int:
    """Validations in a row without gain, as the library's early stopping counts them."""
    if trainer is not None:
        for callback in trainer.callback_handler.callbacks:
            if isinstance(callback, EarlyStoppingCallback) and trainer.state is state:
                return callback.early_stopping_patience_counter
    kept: Any = (state.stateful_callbacks or {}).get("EarlyStoppingCallback", {})
    kept = kept[-1] if isinstance(kept, list) else kept
    return int(kept.get("attributes", {}).get("early_stopping_patience_counter", 0))


def _arguments(
    options: TrainingOptions, output: Path, total: int, *, report_to: str, progress: bool
) -> TrainingArguments:
    from accelerate.state import AcceleratorState, PartialState

    PartialState(cpu=not torch.cuda.is_available())
    AcceleratorState._reset_state()  # a training earlier in this process may have had another precision
    every = min(options.evaluate_every or total, total)
    arguments = TrainingArguments(
        output_dir=str(output / "state"),
        run_name=output.name,
        num_train_epochs=options.epochs,
        per_device_train_batch_size=options.batch_size,
        gradient_accumulation_steps=options.accumulate,
        lr_scheduler_type="cosine",
        warmup_steps=round(options.warm_up * total),
        max_grad_norm=1.0,
        bf16=options.dtype == "bfloat16",
        fp16=options.dtype == "float16",
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        logging_steps=every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="choice",
        greater_is_better=True,
        restore_callback_states_from_checkpoint=True,
        logging_nan_inf_filter=False,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=True,  # an X-CLIP whose prompts add nothing has layers that no loss reaches
        accelerator_config={"use_configured_state": True},  # the processes that wait for the first one's negatives
        use_cpu=not torch.cuda.is_available(),
        seed=int.from_bytes(digest("teach", options.seed)[:4], "little"),
        report_to=[report_to],
        disable_tqdm=not progress,
    )
    arguments._n_gpu = min(1, arguments.n_gpu)  # several GPUs are for `torchrun`, not for threads of one process
    return arguments
