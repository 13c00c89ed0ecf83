"""The training loop, `transformers.Trainer`: losses and batches are ours, the loop is the library's.

Ours, in the trainer's own places, and why:

- the batches (`batches.Batches`, `batches.collate`): contrastive losses are of the whole batch, so every process goes
  through the same batches and takes its share, instead of drawing batches of its own; an epoch's order is a function of
  seed and epoch;
- `compute_loss`: the losses, with the rows of all processes gathered (`two_towers.Pairs`);
- `evaluate`: see `evaluation`;
- `training_step`: a gradient that is no number ends the run before it is stepped;
- what a checkpoint holds: what learns, and nothing of a frozen base (`saved_checkpoints` says which are whole).
"""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch.utils.data import DataLoader
from transformers import Trainer, TrainerControl, TrainerState, TrainingArguments

from video_contrast.errors import VideoContrastError
from video_contrast.files import atomic_path
from video_contrast.teacher.batches import Batch, Batches, TrainingData, collate
from video_contrast.teacher.evaluation import Measured, measure
from video_contrast.teacher.losses import losses
from video_contrast.teacher.options import TrainingOptions
from video_contrast.teacher.saved_checkpoints import mark_whole, newest, saved_step
from video_contrast.teacher.two_towers import Pairs
from video_contrast.untyped import Tensor, TorchModel

WEIGHTS = "model.safetensors"
Inputs = dict[str, Batch]  # "batch": a process's share


class TeachTrainer(Trainer):
    """`transformers.Trainer` for clips, captions and their negatives; the module says what is ours and why."""

    control: TrainerControl
    _logged: int = 0  # the step of the last losses that were logged

    def __init__(
        self,
        pairs: Pairs,
        splits: TrainingData,
        *,
        options: TrainingOptions,
        arguments: TrainingArguments,
        rates: dict[str, float],
        epoch: int,
    ) -> None:
        groups = parameter_groups(pairs.model, options.weight_decay, rates)
        optimizer = torch.optim.AdamW(groups, lr=rates["vision"], betas=(0.9, 0.98), eps=1e-6)
        self.options, self.splits = options, splits
        self.first_epoch = epoch
        self.sums: dict[str, torch.Tensor] = {}
        self._measured: dict[int, Measured] = {}  # of this call: at the last step and at the best one
        super().__init__(
            pairs.to(arguments.device), arguments, train_dataset=range(len(splits.train.clips)),
            eval_dataset=splits.validation, optimizers=(optimizer, None),
        )  # fmt: skip

    def get_train_dataloader(self) -> DataLoader:
        """The batches, equal in every process, of which `collate` takes the process's share."""
        options, here, part = self.options, self.accelerator, self.splits.train

        def share(picked: list[int]) -> Inputs:
            device, n = here.device, here.num_processes
            return {"batch": collate(part, picked, self.splits.tokens, device, process=here.process_index, processes=n)}

        batches = Batches(part.clips, part.groups, options.batch_size, options.seed, self.first_epoch)
        # a generator of its own: the loader draws a number that it does not use from the global one otherwise
        own = torch.Generator()
        return DataLoader(range(len(part.clips)), batch_sampler=batches, collate_fn=share, generator=own)

    def compute_loss(
        self, model: TorchModel, inputs: Inputs, return_outputs: bool = False, num_items_in_batch: object = None
    ) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        """The sum of the losses of a batch, checked; with `return_outputs` the cosines, too."""
        batch = inputs["batch"]
        cosines, square, temperature = model(batch.videos, batch.texts, batch.own, batch.everyone)
        parts = losses(cosines, square, temperature, batch, options=self.options)
        loss = sum(parts.values())
        if not bool(torch.isfinite(loss.detach())):
            raise self._no_number("loss", batch)
        for name, value in parts.items():
            self.sums[name] = self.sums.get(name, 0.0) + value.detach() / self.current_gradient_accumulation_steps
        return (loss, cosines) if return_outputs else loss

    def training_step(self, model: TorchModel, inputs: Inputs, num_items_in_batch: object = None) -> torch.Tensor:
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

    def train(self, resume_from_checkpoint: str | None = None, **others: object) -> object:
        """The library's."""
        self._logged = saved_step(Path(resume_from_checkpoint)) if resume_from_checkpoint else 0
        return super().train(resume_from_checkpoint=resume_from_checkpoint, **others)

    def measure(self) -> Measured:
        """The model, as it is now, on the validation clips."""
        with self.accelerator.autocast():
            measured: Measured = measure(self.model, self.splits.validation, self.splits.tokens, self.options)
        return measured

    def measure_best(self) -> Measured:
        """The model with the weights of its best validation: what was measured there, unless an earlier call did it."""
        best = self.state.best_global_step
        return self._measured[best] if best in self._measured else self.measure()

    def evaluate(
        self, eval_dataset: object = None, ignore_keys: object = None, metric_key_prefix: str = "eval"
    ) -> dict[str, float]:
        """The figures of `measure` on the validation clips, logged under the library's names."""
        figures = self.measure()
        if not np.isfinite(figures.loss):
            raise self._no_number("validation loss", None)
        best = self.state.best_global_step  # of the validations before
        best_only = {step: of_step for step, of_step in self._measured.items() if step == best}
        self._measured = best_only | {self.state.global_step: figures}
        metrics = {f"{metric_key_prefix}_{name}": value for name, value in figures.figures().items()}
        metrics[f"{metric_key_prefix}_choice"] = figures.choice
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    def restore(self, folder: Path) -> None:
        """The weights of a checkpoint."""
        result = self.model.load_state_dict(load_file(folder / WEIGHTS), strict=False)
        absent = sorted(set(result.missing_keys) & {name for name, _ in _saved_tensors(self.model)})
        if absent or result.unexpected_keys:
            raise VideoContrastError(
                f"{folder} is not a checkpoint of this run ({(absent or result.unexpected_keys)[0]}); give another "
                "--output"
            )

    def _save(self, output_dir: str | None = None, state_dict: object = None) -> None:
        if self.args.should_save:
            folder = Path(output_dir or self.args.output_dir)
            folder.mkdir(parents=True, exist_ok=True)
            tensors = {name: value.detach().contiguous() for name, value in _saved_tensors(self.model)}
            save_file(tensors, folder / WEIGHTS, metadata={"format": "pt"})

    def _save_checkpoint(self, model: TorchModel, trial: object) -> None:
        super()._save_checkpoint(model, trial)
        self.accelerator.wait_for_everyone()
        if self.args.should_save:
            folder = Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}"
            points = curves(self.state)
            with (
                atomic_path(Path(self.args.output_dir).parent / "curves.csv") as temporary,
                open(temporary, "w", newline="", encoding="utf-8") as handle,
            ):
                names = sorted({name for point in points for name in point} - {"step"})
                writer = csv.DictWriter(handle, fieldnames=["step", *names])
                writer.writeheader()
                writer.writerows(points)
            mark_whole(folder)
        self.accelerator.wait_for_everyone()

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: TorchModel | None = None) -> None:
        self.restore(Path(resume_from_checkpoint))

    def _load_best_model(self) -> None:
        self.restore(Path(self.state.best_model_checkpoint))

    def _no_number(self, what: str, batch: Batch | None) -> VideoContrastError:
        checkpoint = newest(Path(self.args.output_dir).parent)
        state = f"the last good state is in {checkpoint}" if checkpoint else "nothing was saved yet"
        clips = f", clips {', '.join(batch.names[:5])} ..." if batch else ""
        return VideoContrastError(
            f"the {what} is not a number after step {self.state.global_step}{clips}; {state}; try a lower "
            "--learning-rate or --dtype float32"
        )


def _saved_tensors(pairs: Pairs) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of a checkpoint: the parameters that learn, and the buffers that are saved with a model."""
    for name, parameter in pairs.named_parameters():
        if parameter.requires_grad:
            yield name, parameter
    names = pairs.state_dict().keys()
    yield from ((name, value) for name, value in pairs.named_buffers() if name in names)


SIDES = {
    **dict.fromkeys(("vision_model", "visual_projection", "logit_scale", "logit_bias", "temperature"), "vision"),
    **dict.fromkeys(("text_model", "text_projection"), "text"),
}  # of a model by the first names of its parameters


def parameter_groups(model: TorchModel, weight_decay: float, rates: dict[str, float]) -> list[dict[str, object]]:
    """The parameters that learn, for an optimizer: matrices with weight decay, the others without.

    `rates`: the learning rates of the "vision" tower, of the "text" tower and of the "head": what is neither a tower
    nor a projection behind it (X-CLIP's layers over frames and its prompts).
    """
    members: dict[tuple[str, bool], list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            side = SIDES.get(name.partition(".")[0], "head")
            members.setdefault((side, parameter.ndim >= 2), []).append(parameter)
    return [
        {"params": parameters, "weight_decay": weight_decay if matrices else 0.0, "lr": rates[side]}
        for (side, matrices), parameters in sorted(members.items(), key=lambda item: (item[0][0], not item[0][1]))
    ]


def curves(state: TrainerState) -> list[dict[str, float]]:
    """The learning curves in a trainer's state: of each validation its figures, and the losses since the one before."""
    points: dict[int, dict[str, float]] = {}
    for entry in state.log_history:
        point = points.setdefault(entry["step"], {"step": entry["step"]})
        for name, value in entry.items():
            if name.startswith("eval_"):
                point["validation_" + name.removeprefix("eval_")] = value
            elif name in ("lbl", "lgt", "contrast"):
                point[f"train_{name}"] = value
            elif name in ("grad_norm", "learning_rate"):
                point[name] = value
    return [point for point in points.values() if "validation_loss" in point]


def plot_curves(output: Path) -> None:
    """`curves.png`: losses and validation accuracy over the steps."""
    with open(output / "curves.csv", encoding="utf-8") as handle:
        points = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(handle)]
    with two_panels(output / "curves.png") as (left, right):
        for name in points[0]:
            values = [point["step"] for point in points], [point[name] for point in points]
            if "loss" in name or name.startswith("train_"):
                left.plot(*values, label=name.replace("_", " "))
            if name in ("validation_accuracy", "validation_action", "validation_object") or name.endswith(" R@1"):
                right.plot(*values, label=name.removeprefix("validation_").replace("accuracy", "RCAD R@1"))
        left.set(xlabel="step", ylabel="loss")
        right.set(xlabel="step", ylabel="validation clips")
        for panel in (left, right):
            panel.legend(frameon=False, fontsize=8)


@contextmanager
def two_panels(path: Path, *, sharex: bool = False) -> Iterator[Any]:  # an array of axes
    """Two panels side by side, to be drawn into; then they are written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.2))
    yield figure.subplots(1, 2, sharex=sharex)
    figure.tight_layout()
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=110)
