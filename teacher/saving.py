"""What a training keeps in its folder: checkpoints to go on from, its settings, and its learning curves."""

import csv
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from video_contrast.errors import UsageError
from video_contrast.files import atomic_path, read_json, write_json

if TYPE_CHECKING:
    from transformers import TrainerState

WHOLE = "whole.json"


def mark_whole(folder: Path) -> None:
    """Marks a checkpoint that every process has written its part of, and names its files."""
    write_json(folder / WHOLE, {"files": sorted(path.name for path in folder.iterdir())})


def newest(output: Path) -> Path | None:
    """The last checkpoint that was saved whole."""
    return max(filter(_is_whole, (output / "state").glob("checkpoint-*")), key=step_of, default=None)


def drop_broken(output: Path) -> None:
    """Removes checkpoints whose saving, or removal, was broken off."""
    for folder in (output / "state").glob("checkpoint-*"):
        if not _is_whole(folder):
            shutil.rmtree(folder)


def _is_whole(folder: Path) -> bool:
    mark = folder / WHOLE
    return mark.exists() and all((folder / name).exists() for name in read_json(mark)["files"])


def step_of(folder: Path) -> int:
    """The step of a checkpoint."""
    return int(folder.name.rpartition("-")[2])


def same_run(output: Path, identity: Mapping[str, Any]) -> None:
    """Records what a run depends on; where the folder holds a saved state, compares it with what that depended on.

    `identity`: as `settings.json` keeps it: `settings` (the options of the training), `identity` (its checkpoint,
    captions and negatives) and `processes`. Raises UsageError: the folder holds a run with other settings; the message
    names each.
    """
    path = output / "settings.json"
    if newest(output) is None:
        write_json(path, identity)
        return
    former = read_json(path)
    other = [
        f"{key} ({before.get(key)!r} then, {value!r} now)"
        for before, now in ((former["settings"], identity["settings"]), (former["identity"], identity["identity"]))
        for key, value in now.items()
        if before.get(key) != value
    ]
    if former["processes"] != identity["processes"]:
        other.append(f"processes ({former['processes']} then, {identity['processes']} now)")
    if other:
        raise UsageError(f"{output} holds a run with other settings: {'; '.join(other)}; give another --output")


def curves(state: "TrainerState") -> list[dict[str, float]]:
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


def write_curves(path: Path, points: Sequence[dict[str, float]]) -> None:
    """The learning curves as csv."""
    with atomic_path(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as handle:
        names = sorted({name for point in points for name in point} - {"step"})
        writer = csv.DictWriter(handle, fieldnames=["step", *names])
        writer.writeheader()
        writer.writerows(points)


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
    for name in points[0]:
        if name == "validation_accuracy" or name.endswith(" R@1") or name in ("validation_action", "validation_object"):
            label = name.removeprefix("validation_").replace("accuracy", "RCAD R@1")
            right.plot([p["step"] for p in points], [p[name] for p in points], label=label)
    right.set(xlabel="step", ylabel="validation clips")
    right.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    with atomic_path(output / "curves.png") as temporary:
        figure.savefig(temporary, dpi=110)
    pyplot.close(figure)
