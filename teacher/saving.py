"""What a training keeps in its folder: states to go on from, its settings, and its learning curves."""

import csv
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from video_contrast.errors import UsageError
from video_contrast.files import atomic_path, read_json, write_json


def save(
    accelerator: Any, weights: dict[str, Any], output: Path, state: dict[str, Any], curves: list[dict[str, float]]
) -> None:
    """Saves the step under its own name; the former one goes only when this one is whole.

    Args:
        accelerator: knows model, optimizer, schedule and random states.
        weights: of the model, kept as the best if the state says so.
        output: the run's folder.
        state, curves: where the training stands.
    """
    accelerator.wait_for_everyone()
    former = newest(output)
    folder = output / "state" / f"step-{state['step']:07d}"
    accelerator.save_state(str(folder))
    if accelerator.is_main_process:
        if state["best_step"] == state["step"]:
            with atomic_path(output / "best.pt") as temporary:
                torch.save(weights, temporary)
        write_curves(output / "curves.csv", curves)
        finite = {key: (None if value == float("inf") else value) for key, value in state.items()}
        write_json(folder / "progress.json", {"state": finite, "curves": curves})
        if former and former != folder:
            shutil.rmtree(former)
    accelerator.wait_for_everyone()


def newest(output: Path) -> Path | None:
    """The last state that was saved whole: `progress.json` is written last."""
    whole = sorted((output / "state").glob("step-*/progress.json"))
    return whole[-1].parent if whole else None


def load(accelerator: Any, folder: Path) -> tuple[dict[str, Any], list[dict[str, float]]]:
    """Goes back to a saved state; returns where the training stood."""
    accelerator.load_state(str(folder))
    kept = read_json(folder / "progress.json")
    state = kept["state"]
    return state | {"best_loss": float("inf") if state["best_loss"] is None else state["best_loss"]}, kept["curves"]


def same_run(output: Path, whole: dict[str, Any]) -> None:
    """Records what a run depends on; where the folder holds a saved state, compares it with what that depended on.

    Raises:
        UsageError: the folder holds a run with other settings; the message names each.
    """
    path = output / "settings.json"
    if newest(output) is None:
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


def write_curves(path: Path, curves: Sequence[dict[str, float]]) -> None:
    """The learning curves as csv."""
    with atomic_path(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as handle:
        names = sorted({name for point in curves for name in point} - {"step"})
        writer = csv.DictWriter(handle, fieldnames=["step", *names])
        writer.writeheader()
        writer.writerows(curves)


def plot_curves(output: Path) -> None:
    """`curves.png`: losses and validation accuracy over the steps."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with open(output / "curves.csv", encoding="utf-8") as handle:
        points = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(handle)]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2))
    for name in points[0]:
        if "loss" in name or name.startswith("train_"):
            left.plot([p["step"] for p in points], [p[name] for p in points], label=name.replace("_", " "))
    left.set(xlabel="step", ylabel="loss")
    left.legend(frameon=False, fontsize=8)
    right.plot([p["step"] for p in points], [p["validation_accuracy"] for p in points])
    right.set(xlabel="step", ylabel="caption above all its negatives")
    figure.tight_layout()
    with atomic_path(output / "curves.png") as temporary:
        figure.savefig(temporary, dpi=110)
    pyplot.close(figure)
