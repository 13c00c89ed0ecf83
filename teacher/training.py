"""A training from its options to its best weights: the model's temperature, the library's arguments, when it ends."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import EarlyStoppingCallback, Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback, TrainerControl, TrainerState

from video_contrast.errors import UsageError
from video_contrast.seeds import digest
from video_contrast.teacher import saving
from video_contrast.teacher.batches import TrainingData
from video_contrast.teacher.evaluation import Measured
from video_contrast.teacher.options import TrainingOptions
from video_contrast.teacher.trainer import TeachTrainer
from video_contrast.teacher.two_towers import Pairs
from video_contrast.untyped import TorchModel

LARGEST_SCALE = float(np.log(100))  # CLIP (arXiv:2103.00020, 2.5): logits are scaled by at most 100


def train(
    model: TorchModel,
    splits: TrainingData,
    *,
    options: TrainingOptions,
    output: Path,
    report_to: str = "none",
    stop_after: int | None = None,
    progress: bool = True,
) -> tuple[dict[str, Any], Measured, Measured]:
    """Fine-tunes a dual encoder or X-CLIP in place, which gets the weights of its best validation: accuracy, then loss.

    Returns how it went, and what the model does on the validation clips before and after. `output`: the run's folder:
    `state` (checkpoints to resume from), `curves.csv`. `stop_after`: stop after so many steps as if killed there (for
    tests). Raises UsageError: a setting is out of range; VideoContrastError: a loss or its gradient was not a number;
    the message names the batch, and the last saved state is kept.
    """
    options.check()
    pairs = Pairs(model, options.freeze)
    if options.gradient_checkpointing:
        pairs.save_memory()
    _choose_temperature(pairs, options)
    steps = -(-len(splits.train.clips) // options.batch_size)
    total = options.epochs * -(-steps // options.accumulate)
    saved = saving.newest(output)
    trainer = TeachTrainer(
        pairs,
        splits,
        options=options,
        arguments=_arguments(options, output, total, report_to=report_to, progress=progress),
        rates=options.rates(lora=any("lora_" in name for name, _ in model.named_parameters())),
        epoch=saving.step_of(saved) * options.epochs // total if saved else 0,
    )
    trainer.add_callback(_Steps(stop_after))
    if options.patience:
        trainer.add_callback(EarlyStoppingCallback(options.patience))
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
    result = {
        "step": state.global_step,
        "best_step": state.best_global_step or 0,
        "best_loss": best.get("validation_loss"),
        "best_accuracy": best.get("validation_accuracy", 0.0),
        "total": total,
        "stopped_early": early,
        "finished": early or state.global_step >= total,
    }
    return result, before, trainer.measure_best()


class _Steps(TrainerCallback):
    """The last step is validated and saved, a learned logit scale stays in its bounds; it ends after `most` steps."""

    def __init__(self, most: int | None) -> None:
        self.most = most

    def on_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, *, model: Pairs, **others: object
    ) -> None:
        scale = getattr(model.model, "logit_scale", None)
        if scale is not None and scale.requires_grad:
            with torch.no_grad():
                scale.clamp_(0.0, LARGEST_SCALE)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> TrainerControl:
        if state.global_step >= state.max_steps:
            control.should_log = control.should_evaluate = control.should_save = True
        control.should_training_stop |= self.most is not None and state.global_step >= self.most
        return control


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
                return int(callback.early_stopping_patience_counter)
    callback_state: Any = (state.stateful_callbacks or {}).get("EarlyStoppingCallback", {})  # of transformers
    callback_state = callback_state[-1] if isinstance(callback_state, list) else callback_state
    return int(callback_state.get("attributes", {}).get("early_stopping_patience_counter", 0))


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
