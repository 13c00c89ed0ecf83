"""LLM-teacher training: one loop over stored frames and stored negatives, with accelerate.

Everything that is drawn at random is a pure function of (seed, epoch), so a killed run goes on from its last saved
step with exactly the batches and the numbers that it would have had.
"""

import csv
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import atomic_path, read_json, write_json
from video_contrast.seeds import digest, stream
from video_contrast.teacher.losses import contrast_loss, label_loss, logit_loss
from video_contrast.teacher.pairs import Pairs
from video_contrast.teacher.store import FrameStore

OBJECTIVES = ("lbl", "lgt")


@dataclass(frozen=True)
class Settings:
    """Everything that changes the result of a training; a resumed run must have the same.

    Attributes:
        objective: "lbl" (equation 1) or "lgt" (equation 2).
        temperature: of the model's similarities in the objective; the paper does not give it.
        teacher_temperature: of the teacher's similarities ("lgt" only).
        contrast: weight of the in-batch contrastive term (0: none).
        epochs, batch_size, accumulate: passes over the captions, clips in a batch (all processes together), batches
            in a step.
        rate, warm_up: highest learning rate, and the share of all steps until it is reached.
        evaluate_every, patience: steps between validations, and validations without progress before it stops.
        precision: "no", "fp16" or "bf16".
    """

    objective: str = "lbl"
    temperature: float = 0.05
    teacher_temperature: float = 0.05
    contrast: float = 1.0
    epochs: int = 5
    batch_size: int = 32
    accumulate: int = 1
    rate: float = 5e-4
    warm_up: float = 0.05
    weight_decay: float = 0.02
    evaluate_every: int = 100
    patience: int = 5
    precision: str = "no"
    seed: int = 0

    def check(self) -> None:
        """Raises a UsageError that names the first setting that is out of range."""
        if self.objective not in OBJECTIVES:
            raise UsageError(f"--objective {self.objective!r} is not one of {', '.join(OBJECTIVES)}")
        for name in ("temperature", "teacher_temperature", "rate", "epochs", "batch_size", "accumulate"):
            if not getattr(self, name) > 0:
                raise UsageError(f"--{name.replace('_', '-')} must be above 0, not {getattr(self, name)}")
        for name in ("contrast", "evaluate_every", "patience"):
            if getattr(self, name) < 0:
                raise UsageError(f"--{name.replace('_', '-')} must not be negative, not {getattr(self, name)}")


@dataclass
class Part:
    """A split to learn from: captions with their clip's number in the store, negatives and teacher's similarities."""

    store: FrameStore
    clips: list[int]
    rows: list[dict[str, Any]]

    def readable(self) -> "Part":
        """Without the captions of clips that could not be read."""
        keep = [n for n, clip in enumerate(self.clips) if clip not in self.store.missing]
        return Part(self.store, [self.clips[n] for n in keep], [self.rows[n] for n in keep])


def train(
    model: Any,
    tokens: Callable[[Sequence[str], Any], dict[str, torch.Tensor]],
    train_part: Part,
    validation: Part,
    settings: Settings,
    output: Path,
    *,
    identity: dict[str, Any] | None = None,
    stop_after: int | None = None,
    progress: bool = True,
) -> dict[str, Any]:
    """Fine-tunes `model` in place; it ends with the weights of its best validation.

    Args:
        model: a dual encoder or X-CLIP.
        tokens: captions and a device to the text tower's arguments.
        train_part, validation: what to learn from, and what to stop by.
        settings: see `Settings`.
        output: the run's folder: `state` (to resume from), `curves.csv`, `settings.json`.
        identity: further facts that a resumed run must share (model, data).
        stop_after: stop after so many steps as if killed there (for tests).
        progress: show a bar.

    Returns:
        steps, best step, best validation loss and accuracy, whether it stopped early.

    Raises:
        UsageError: a setting is out of range, or the folder holds a run with other settings.
        VideoContrastError: a loss was not a number; the message names the batch, and the last saved state is kept.
    """
    from accelerate import Accelerator, DistributedDataParallelKwargs
    from accelerate.utils import set_seed

    settings.check()
    accelerator = Accelerator(
        mixed_precision=settings.precision,
        gradient_accumulation_steps=settings.accumulate,
        cpu=_on_cpu(model),
        # an X-CLIP whose prompts add nothing has layers that no loss reaches
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
    )
    whole = {"settings": asdict(settings), "identity": identity or {}, "processes": accelerator.num_processes}
    _same_run(output, whole)
    set_seed(int.from_bytes(digest("teach", settings.seed)[:4], "little"))
    per_epoch = -(-len(train_part.clips) // settings.batch_size)
    total = max(1, settings.epochs * per_epoch // settings.accumulate)
    pairs = Pairs(model)
    optimizer = torch.optim.AdamW(_groups(model, settings), lr=settings.rate, betas=(0.9, 0.98), eps=1e-6)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, total, settings.warm_up))
    pairs, optimizer = accelerator.prepare(pairs, optimizer)
    accelerator.register_for_checkpointing(schedule)
    state = {"step": 0, "best_step": 0, "best_loss": float("inf"), "best_accuracy": 0.0, "stale": 0}
    curves: list[dict[str, float]] = []
    saved = _newest(output)
    if saved:
        accelerator.load_state(str(saved))
        kept = read_json(saved / "progress.json")
        state, curves = kept["state"], kept["curves"]
        state["best_loss"] = float("inf") if state["best_loss"] is None else state["best_loss"]
    pairs.train()
    bar = tqdm(total=total, initial=state["step"], desc=f"teach {settings.objective}", disable=not progress)
    sums: dict[str, float] = {}
    stopped = False
    skip = state["step"] * settings.accumulate
    for number, picked in enumerate(_batches(len(train_part.clips), settings)):
        if state["step"] >= total or stopped:
            break
        if number < skip:
            continue
        mine = picked[accelerator.process_index :: accelerator.num_processes] or picked
        with accelerator.accumulate(pairs):
            parts = _losses(pairs, tokens, train_part, mine, settings, accelerator.device)
            loss = sum(parts.values())
            if not bool(torch.isfinite(loss.detach())):
                names = ", ".join(train_part.rows[n]["id"] for n in mine[:5])
                where = f"the last good state is in {_newest(output)}" if _newest(output) else "nothing was saved yet"
                raise VideoContrastError(
                    f"the loss is not a number at batch {number} (step {state['step']}, clips {names} ...); {where}; "
                    "try a lower --rate or --precision no"
                )
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(pairs.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        if not accelerator.sync_gradients:
            continue
        schedule.step()
        state["step"] += 1
        bar.update(1)
        last = state["step"] == total
        if last or (settings.evaluate_every and state["step"] % settings.evaluate_every == 0):
            point = _validate(pairs, tokens, validation, settings, accelerator.device)
            count = settings.accumulate * (settings.evaluate_every or total)
            curves.append(
                {"step": state["step"], **{f"train_{name}": value / count for name, value in sums.items()}, **point}
            )
            sums = {}
            better = point["validation_loss"] < state["best_loss"]
            state["stale"] = 0 if better else state["stale"] + 1
            if better:
                state |= {
                    "best_step": state["step"],
                    "best_loss": point["validation_loss"],
                    "best_accuracy": point["validation_accuracy"],
                }
            stopped = bool(settings.patience) and state["stale"] >= settings.patience
            _save(accelerator, pairs, output, state, curves, better)
            bar.set_postfix(loss=f"{point['validation_loss']:.3f}", accuracy=f"{point['validation_accuracy']:.3f}")
        if stop_after is not None and state["step"] >= stop_after:
            break
    bar.close()
    accelerator.wait_for_everyone()
    best = output / "best.pt"
    if best.exists():
        model.load_state_dict(torch.load(best, map_location="cpu", weights_only=True))
    finished = state["step"] >= total or stopped
    return {**state, "total": total, "stopped_early": stopped and state["step"] < total, "finished": finished}


def _batches(count: int, settings: Settings) -> Iterator[list[int]]:
    """Batches of caption numbers, epoch after epoch; what they hold depends on the seed and their place only."""
    for epoch in range(settings.epochs):
        order = stream("teach", settings.seed, "epoch", epoch).permutation(count)
        for begin in range(0, count, settings.batch_size):
            yield [int(n) for n in order[begin : begin + settings.batch_size]]


def _losses(
    pairs: Any, tokens: Any, part: Part, picked: Sequence[int], settings: Settings, device: Any
) -> dict[str, torch.Tensor]:
    own, mask, teacher, same = _similarities(pairs, tokens, part, picked, device)
    negatives = torch.cat([own.diagonal()[:, None], own[:, len(picked) :].gather(1, teacher["columns"])], 1)
    if settings.objective == "lbl":
        found = {"lbl": label_loss(negatives, settings.temperature, mask)}
    else:
        target = teacher["similar"]
        found = {"lgt": logit_loss(negatives, target, settings.temperature, settings.teacher_temperature, mask)}
    if settings.contrast:
        square = own[:, : len(picked)]
        found["contrast"] = settings.contrast * contrast_loss(square, settings.temperature, same)
    return found


def _similarities(
    pairs: Any, tokens: Any, part: Part, picked: Sequence[int], device: Any
) -> tuple[torch.Tensor, torch.Tensor, dict[str, torch.Tensor], torch.Tensor]:
    """Cosines of the batch's clips with its captions and all their negatives, and where each clip's own stand."""
    rows = [part.rows[n] for n in picked]
    captions = [row["caption"] for row in rows]
    extra = list(dict.fromkeys(text for row in rows for text in row["negatives"])) or [captions[0]]
    at = {text: n for n, text in enumerate(extra)}
    most = max(1, *(len(row["negatives"]) for row in rows))
    columns = torch.zeros(len(rows), most, dtype=torch.long, device=device)
    mask = torch.zeros(len(rows), 1 + most, dtype=torch.bool, device=device)
    similar = torch.zeros(len(rows), 1 + most, device=device)
    mask[:, 0] = True
    for number, row in enumerate(rows):
        count = len(row["negatives"])
        columns[number, :count] = torch.tensor([at[text] for text in row["negatives"]], dtype=torch.long)
        mask[number, 1 : 1 + count] = True
        similar[number, : 1 + count] = torch.tensor(row["teacher"])
    own = pairs(part.store.pixels([part.clips[n] for n in picked], device), tokens([*captions, *extra], device))
    same = torch.tensor([[a == b for b in captions] for a in captions], device=device)
    same |= torch.tensor([[part.clips[a] == part.clips[b] for b in picked] for a in picked], device=device)
    return own, mask, {"columns": columns, "similar": similar}, same


@torch.no_grad()
def _validate(pairs: Any, tokens: Any, part: Part, settings: Settings, device: Any) -> dict[str, float]:
    """Loss, and the share of captions that score above all of their negatives (ties count half)."""
    pairs.eval()
    losses, right, count = 0.0, 0.0, 0
    for begin in range(0, len(part.clips), settings.batch_size):
        picked = list(range(begin, min(begin + settings.batch_size, len(part.clips))))
        parts = _losses(pairs, tokens, part, picked, settings, device)
        losses += float(sum(parts.values())) * len(picked)
        own, mask, teacher, _ = _similarities(pairs, tokens, part, picked, device)
        rest = own[:, len(picked) :].gather(1, teacher["columns"]).masked_fill(~mask[:, 1:], -2.0).amax(1)
        true = own.diagonal()
        right += float((true > rest).float().sum() + 0.5 * (true == rest).float().sum())
        count += len(picked)
    pairs.train()
    return {"validation_loss": losses / count, "validation_accuracy": right / count}


def _save(accelerator: Any, pairs: Any, output: Path, state: dict, curves: list, better: bool) -> None:
    """Saves the step under its own name; the former one goes only when this one is whole."""
    accelerator.wait_for_everyone()
    former = _newest(output)
    folder = output / "state" / f"step-{state['step']:07d}"
    accelerator.save_state(str(folder))
    if accelerator.is_main_process:
        if better:
            with atomic_path(output / "best.pt") as temporary:
                torch.save(accelerator.unwrap_model(pairs).model.state_dict(), temporary)
        write_csv(output / "curves.csv", curves)
        finite = {key: (None if value == float("inf") else value) for key, value in state.items()}
        write_json(folder / "progress.json", {"state": finite, "curves": curves})
        if former and former != folder:
            shutil.rmtree(former)
    accelerator.wait_for_everyone()


def _newest(output: Path) -> Path | None:
    """The last state that was saved whole: `progress.json` is written last."""
    whole = sorted((output / "state").glob("step-*/progress.json"))
    return whole[-1].parent if whole else None


def _same_run(output: Path, whole: dict[str, Any]) -> None:
    path = output / "settings.json"
    if not path.exists():
        write_json(path, whole)
        return
    former = read_json(path)
    other = [
        f"{key} ({former[group].get(key)!r} then, {value!r} now)"
        for group in ("settings", "identity")
        for key, value in whole[group].items()
        if former[group].get(key) != value
    ]
    if former["processes"] != whole["processes"]:
        other.append(f"processes ({former['processes']} then, {whole['processes']} now)")
    if other:
        raise UsageError(f"{output} holds a run with other settings: {'; '.join(other)}; give another --output")


def write_csv(path: Path, curves: Sequence[dict[str, float]]) -> None:
    """The learning curves as csv."""
    with atomic_path(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as handle:
        names = sorted({name for point in curves for name in point} - {"step"})
        writer = csv.DictWriter(handle, fieldnames=["step", *names])
        writer.writeheader()
        writer.writerows(curves)


def _on_cpu(model: Any) -> bool:
    return not torch.cuda.is_available() and next(model.parameters()).device.type == "cpu"


def _groups(model: Any, settings: Settings) -> list[dict[str, Any]]:
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    plain = [p for p in model.parameters() if p.ndim < 2]
    return [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": plain, "weight_decay": 0.0}]


def _rate(step: int, total: int, warm_up: float) -> float:
    rising = max(1, round(warm_up * total))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + float(np.cos(np.pi * (step - rising) / max(1, total - rising)))) + 0.01
