"""LLM-teacher training: one loop over stored frames and stored negatives, with accelerate.

Everything that is drawn at random is a pure function of (seed, epoch), so a killed run goes on from its last saved
step with exactly the batches and the numbers that it would have had.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.seeds import digest
from video_contrast.teacher import saving
from video_contrast.teacher.batches import batches
from video_contrast.teacher.feed import Batch, Part, Tokenizer, collate
from video_contrast.teacher.losses import contrast_loss, label_loss, logit_loss
from video_contrast.teacher.options import TrainingOptions
from video_contrast.teacher.pairs import Pairs


def train(
    model: Any,
    tokens: Tokenizer,
    train_part: Part,
    validation: Part,
    *,
    options: TrainingOptions,
    output: Path,
    stop_after: int | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Fine-tunes `model` in place; it ends with the weights of its best validation: accuracy, then loss.

    Args:
        model: a dual encoder or X-CLIP.
        tokens: captions and a device to the text tower's arguments.
        train_part, validation: what to learn from, and what to stop by.
        options: what the result depends on.
        output: the run's folder: `state` (to resume from), `best.pt`, `curves.csv`.
        stop_after: stop after so many steps as if killed there (for tests).
        progress: show a bar.

    Returns:
        steps, best step, validation loss and accuracy there, whether it stopped early.

    Raises:
        UsageError: a setting is out of range, or there are too few captions for one step.
        VideoContrastError: a loss or its gradient was not a number; the message names the batch, and the last saved
            state is kept.
    """
    from accelerate.utils import set_seed

    options.check()
    accelerator = _accelerator(options)
    device = accelerator.device
    set_seed(int.from_bytes(digest("teach", options.seed)[:4], "little"))
    per_epoch = -(-len(train_part.clips) // options.batch_size)
    total = options.epochs * per_epoch // options.accumulate
    if not total:
        raise UsageError(
            f"{len(train_part.clips)} captions give {options.epochs * per_epoch} batches, fewer than one step of "
            f"--accumulate {options.accumulate}"
        )
    pairs = Pairs(model, options.freeze)
    optimizer = torch.optim.AdamW(
        parameter_groups(model, options.weight_decay), lr=options.learning_rate, betas=(0.9, 0.98), eps=1e-6
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, total, options.warm_up))
    pairs, optimizer = accelerator.prepare(pairs, optimizer)
    accelerator.register_for_checkpointing(schedule)
    state: dict[str, Any] = {"step": 0, "best_step": 0, "best_loss": float("inf"), "best_accuracy": 0.0, "stale": 0}
    curves: list[dict[str, float]] = []
    if saved := saving.newest(output):
        state, curves = saving.load(accelerator, saved)
    done = state["step"] * options.accumulate
    since = state["step"]
    sums: dict[str, torch.Tensor] = {}

    def position() -> str:
        return f"batch {number} (step {state['step']}"

    def stopped() -> bool:
        return bool(options.patience) and state["stale"] >= options.patience

    pairs.train()
    bar = tqdm(total=total, initial=state["step"], desc=f"teach {options.objective}", disable=not progress)
    for number, picked in enumerate(
        batches(train_part.clips, train_part.groups, options.batch_size, epochs=options.epochs, seed=options.seed)
    ):
        if number < done:
            continue
        if state["step"] >= total or stopped():
            break
        batch = collate(
            train_part, picked, tokens, device, process=accelerator.process_index, processes=accelerator.num_processes
        )
        with accelerator.accumulate(pairs):
            parts, _ = _losses(pairs, batch, options)
            loss = sum(parts.values())
            if not bool(torch.isfinite(loss.detach())):
                raise _no_number("loss", position(), batch, output)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                norm = accelerator.clip_grad_norm_(pairs.parameters(), 1.0)
                # with fp16 an overflow is usual: the scaler leaves the step out
                if options.dtype != "float16" and not bool(torch.isfinite(norm)):
                    raise _no_number("gradient", position(), batch, output)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + value.detach()
        if not accelerator.sync_gradients:
            continue
        schedule.step()
        state["step"] += 1
        bar.update(1)
        if state["step"] == total or (options.evaluate_every and state["step"] % options.evaluate_every == 0):
            validated = _validate(accelerator, pairs, tokens, part=validation, options=options)
            if not np.isfinite(validated["validation_loss"]):
                raise _no_number("validation loss", position(), batch, output)
            count = options.accumulate * (state["step"] - since)
            means = {f"train_{name}": float(accelerator.reduce(sums[name], "mean")) / count for name in sorted(sums)}
            curves.append({"step": state["step"], **means, **validated})
            sums, since = {}, state["step"]
            state["stale"] += 1
            accuracy, loss = validated["validation_accuracy"], validated["validation_loss"]
            # By accuracy first: with a fixed temperature the loss of labels rises while more captions are told apart.
            if (accuracy, -loss) > (state["best_accuracy"], -state["best_loss"]):
                state |= {"stale": 0, "best_step": state["step"], "best_loss": loss, "best_accuracy": accuracy}
            saving.save(accelerator, model.state_dict(), output, state, curves)
            bar.set_postfix(
                loss=f"{validated['validation_loss']:.3f}", accuracy=f"{validated['validation_accuracy']:.3f}"
            )
        if stop_after is not None and state["step"] >= stop_after:
            break
    bar.close()
    accelerator.wait_for_everyone()
    best = output / "best.pt"
    if best.exists():
        model.load_state_dict(torch.load(best, map_location="cpu", weights_only=True))
    early = stopped() and state["step"] < total
    return {**state, "total": total, "stopped_early": early, "finished": early or state["step"] >= total}


def _losses(pairs: Any, batch: Batch, options: TrainingOptions) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """The terms of the loss, and float[B, 1 + k], the cosines of each clip with its caption and its negatives."""
    cosines, square = pairs(batch.videos, batch.texts, batch.own, batch.everyone)
    own, mask = cosines[: batch.count], batch.mask[: batch.count]
    if not batch.count:  # fewer clips than processes; the others wait for this one's gradients
        term = cosines.sum() * 0.0
    elif options.objective == "lbl":
        term = label_loss(own, options.temperature, mask) * batch.weight
    else:
        target = batch.teacher[: batch.count]
        loss = logit_loss(own, target, options.temperature, options.teacher_temperature, mask=mask)
        term = loss * batch.weight
    terms: dict[str, torch.Tensor] = {options.objective: term}
    if options.contrast:
        terms["contrast"] = options.contrast * contrast_loss(square, options.temperature, batch.same)
    return terms, own


@torch.no_grad()
def _validate(
    accelerator: Any, pairs: Any, tokens: Tokenizer, *, part: Part, options: TrainingOptions
) -> dict[str, float]:
    """Loss, and the share of captions with negatives that score above all of them (ties count half).

    A caption without a negative says nothing about the model: it has a loss (the in-batch term), but no accuracy.

    The batches are drawn, always the same ones: in the set's own order, the captions of one clip stand together and
    the in-batch term would have few others to tell them from. The processes share the batches out; their sums make
    every process stop at the same step.
    """
    pairs.eval()
    alone = accelerator.unwrap_model(pairs)  # processes may have different numbers of batches
    sums = torch.zeros(3, device=accelerator.device)
    drawn = list(batches(part.clips, None, options.batch_size, epochs=1, seed=options.seed))
    for picked in drawn[accelerator.process_index :: accelerator.num_processes]:
        batch = collate(part, picked, tokens, accelerator.device)
        parts, own = _losses(alone, batch, options)
        true, rest = own[:, 0], own[:, 1:].masked_fill(~batch.mask[:, 1:], -2.0)
        best = rest.amax(1) if rest.shape[1] else torch.full_like(true, -2.0)
        told_apart = (true > best).float() + 0.5 * (true == best).float()
        with_negatives = batch.mask[: len(own), 1:].any(1).float()
        sums += torch.stack(
            [sum(parts.values()) * batch.count, (told_apart * with_negatives).sum(), with_negatives.sum()]
        )
    pairs.train()
    loss, right, captions = accelerator.reduce(sums, "sum").tolist()
    return {"validation_loss": loss / len(part.clips), "validation_accuracy": right / captions if captions else 0.0}


def _no_number(what: str, position: str, batch: Batch, output: Path) -> VideoContrastError:
    saved = saving.newest(output)
    where = f"the last good state is in {saved}" if saved else "nothing was saved yet"
    return VideoContrastError(
        f"the {what} is not a number at {position}, clips {', '.join(batch.names[:5])} ...); {where}; "
        "try a lower --learning-rate or --dtype float32"
    )


def _accelerator(options: TrainingOptions) -> Any:
    from accelerate import Accelerator, DistributedDataParallelKwargs
    from accelerate.state import AcceleratorState

    AcceleratorState._reset_state()  # a training earlier in this process may have had another precision
    return Accelerator(
        mixed_precision=options.mixed_precision,
        gradient_accumulation_steps=options.accumulate,
        cpu=not torch.cuda.is_available(),
        # an X-CLIP whose prompts add nothing has layers that no loss reaches
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
    )


def parameter_groups(model: Any, weight_decay: float) -> list[dict[str, Any]]:
    """The parameters that learn, for an optimizer: matrices with weight decay, the others without."""
    learning = [p for p in model.parameters() if p.requires_grad]
    decayed, plain = ([p for p in learning if (p.ndim >= 2) == is_matrix] for is_matrix in (True, False))
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": plain, "weight_decay": 0.0}]


def _rate(step: int, total: int, warm_up: float) -> float:
    rising = max(1, round(warm_up * total))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + float(np.cos(np.pi * (step - rising) / max(1, total - rising)))) + 0.01
