"""The RCAD finding and its repair in small: base, lbl and lgt on the shapes world, by one command.

video-contrast teach --demo --output teach
python -m video_contrast.teacher.demo --seeds 0 1 2 --output teach
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from video_contrast.builders import build
from video_contrast.checkpoints import checkpoint_path
from video_contrast.files import write_text
from video_contrast.runner import score
from video_contrast.storage import SetFolder, open_run
from video_contrast.storage.run_figures import ACCURACY, AMONG_FIRST, MEAN_RANK, RECALLS, FigureKey, RunNumbers
from video_contrast.teacher.run import teach
from video_contrast.teacher.trainer import two_panels

BASE = "temporal-plain"
CLIPS, VALIDATION = 1600, 100
SCENES_A_CLIP = 0.5375  # with added reversals
CONFIGS = ("counterfactual_mc", "retrieval", "random_mc", "antonym_mc", "verb_mc", "gender_mc", "object_mc", "role_mc")
# The towers are tiny and their pretraining was short: rates and temperature of their own, not those of CLIP.
RECIPE: dict[str, object] = {
    "epochs": 4, "batch_size": 32, "learning_rate": 1e-3, "head_learning_rate": 1e-3, "warm_up": 0.05,
    "weight_decay": 0.02, "temperature": 0.05, "evaluate_every": 100, "patience": 0,
}  # fmt: skip
ModelNumbers: TypeAlias = Mapping[str, RunNumbers]  # model -> what the runner measured
COLUMNS = {
    "RCAD R@1": FigureKey("counterfactual_mc", "clean", ACCURACY),
    **{score.name: FigureKey("counterfactual_mc", "clean", score) for score in AMONG_FIRST},
    "mean rank": FigureKey("counterfactual_mc", "clean", MEAN_RANK),
    "retrieval v2t R@1": FigureKey("retrieval", "clean", RECALLS["v2t"][0]),
    **{name: FigureKey(f"{name}_mc", "clean", ACCURACY) for name in ("random", "antonym", "verb")},
    **{f"{name}*": FigureKey(f"{name}_mc", "clean", ACCURACY) for name in ("gender", "object", "role")},
}


def run(
    output: Path,
    *,
    seed: int = 0,
    shared: Path | None = None,
    grouped: bool = False,
    clips: int = CLIPS,
    items: int = 200,
    progress: bool = True,
    **changed: object,
) -> ModelNumbers:
    """Builds training and test clips, trains with both objectives, scores all three; returns the numbers of each.

    A second run goes on where the first was interrupted. Writes `table.md`, `sensitivity.png` and each run's folder
    below `output`. `shared`: where clips, stored frames and negatives, and the base model's scores lie; `output` by
    default. `grouped`: half of the clips are reversals of the others, and both stand in one batch (`teach --group`).
    `clips, items`: how many to learn from, and questions a config. `changed`: settings other than `RECIPE`.
    """
    torch.set_num_threads(1)  # layers this small only lose by sharing them out, and one thread gives the same sums
    shared = shared or output
    dataset = shared / "set"
    if not SetFolder(dataset).is_built:
        size = {"train": clips, "validation": min(VALIDATION, clips)}
        if grouped:  # nearly every clip has a reversal: as many clips as without, from fewer scenes
            size = {split: round(count * SCENES_A_CLIP) for split, count in size.items()}
        build("shapes", list(CONFIGS), output=dataset, items=items, reversals=grouped, **size)
    models: dict[str, Path] = {"base": checkpoint_path(BASE)}
    settings = RECIPE | ({"group": "cluster"} if grouped else {}) | changed
    for objective in ("lbl", "lgt"):
        result = teach(
            models["base"], dataset, output=output / objective, store=shared / "store", objective=objective,
            seed=seed, progress=progress, **settings,
        )  # fmt: skip
        models[objective] = Path(result["model"])
    runs = {name: (shared if name == "base" else output) / "scores" / name for name in models}
    numbers = {}
    for name, path in models.items():
        scored = score(path, dataset, list(CONFIGS), output=runs[name], progress=progress)
        numbers[name] = RunNumbers.of(scored.metrics["configs"])
    sensitivity_plot(runs, output / "sensitivity.png")
    write_text(output / "table.md", table([numbers]))
    return numbers


def table(seeds: Sequence[ModelNumbers]) -> str:
    """Markdown: one line a model; of several runs mean ± standard deviation. Kinds with * were held out."""
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name in seeds[0]:
        cells = []
        for place in COLUMNS.values():
            values = [numbers[name].figures[place].value for numbers in seeds]
            spread = stdev(values) if len(values) > 1 else 0.0
            cells.append(f"{mean(values):.3f}" + (f" ± {spread:.3f}" if spread else ""))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n\n* held-out kinds of contrast: no training negative changed them\n"


# swapped part -> beginning of the kinds of candidates that swap it (verb_lm, verb_human ...)
SWAPS = {"action": ("antonym", "counterfactual", "verb"), "object": ("object",)}


def changes(run: Path) -> dict[str, npt.NDArray[np.float64]]:
    """Change of similarity s(v, swapped) - s(v, caption) of every clean contrast in a run of the runner.

    Returns "action" and "object" -> float64[n]; negative where the model notices the swap.
    """
    by_swap: dict[str, list[float]] = {name: [] for name in SWAPS}
    for row in open_run(run).score_rows():
        if row["condition"] != "clean":
            continue
        true = row["scores"][row["label"]]
        for cosine, kind in zip(row["scores"], row["kinds"], strict=True):
            for name, kinds in SWAPS.items():
                if kind.startswith(kinds):
                    by_swap[name].append(cosine - true)
    return {name: np.array(values) for name, values in by_swap.items()}


def sensitivity_plot(runs: Mapping[str, Path], path: Path) -> None:
    """Histograms of the changes, one panel a kind of swap, one line a model."""
    changes_of = {name: changes(run) for name, run in runs.items()}
    all_changes = np.concatenate([values[swap] for values in changes_of.values() for swap in SWAPS] + [np.zeros(1)])
    bins = np.linspace(all_changes.min(), all_changes.max() + 1e-9, 41)  # the same for all, so that heights compare
    with two_panels(path, sharex=True) as panels:
        for panel, swap in zip(panels, SWAPS, strict=True):
            for name, values in changes_of.items():
                if len(values[swap]):
                    lower = f"{name}: lower for {(values[swap] < 0).mean():.0%}"
                    panel.hist(values[swap], bins=bins, histtype="step", density=True, label=lower)
            panel.axvline(0, color="0.6", linewidth=0.8)
            panel.set(title=f"{swap} swapped", xlabel="change of cosine")
            panel.legend(frameon=False, fontsize=8, loc="upper left")
        panels[0].set(ylabel="density")


def main() -> None:
    """Several seeds in one table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--grouped", action="store_true", help="each clip meets its reversal in its batch")
    arguments = parser.parse_args()
    shared, seeds = arguments.output, []
    for seed in arguments.seeds:
        seeds.append(run(shared / f"seed-{seed}", seed=seed, shared=shared, grouped=arguments.grouped))
        print(f"seed {seed}", table(seeds[-1:]), sep="\n", flush=True)
    print(table(seeds))


if __name__ == "__main__":
    main()
