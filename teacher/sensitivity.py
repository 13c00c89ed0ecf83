"""How far a model's score of a caption falls when its action or its object is swapped (RCAD paper, Figure 5)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from video_contrast.files import atomic_path
from video_contrast.storage import open_run

# what is swapped -> how the kinds of candidates that swap it begin (verb_lm, verb_human ...)
SWAPS = {"action": ("antonym", "counterfactual", "verb"), "object": ("object",)}


def changes(run: Path) -> dict[str, npt.NDArray[np.float64]]:
    """Change of similarity s(v, swapped) - s(v, caption) of every clean contrast in a run of the runner.

    Returns:
        "action" and "object" -> float64[n]; negative where the model notices the swap.
    """
    by_swap: dict[str, list[float]] = {name: [] for name in SWAPS}
    for row in open_run(run).score_rows():
        if row["condition"] != "clean":
            continue
        true = row["scores"][row["label"]]
        for score, kind in zip(row["scores"], row["kinds"], strict=True):
            for name, kinds in SWAPS.items():
                if kind.startswith(kinds):
                    by_swap[name].append(score - true)
    return {name: np.array(values) for name, values in by_swap.items()}


def sensitivity_plot(runs: Mapping[str, Path], path: Path) -> None:
    """Histograms of the changes, one panel a kind of swap, one line a model."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    measured = {name: changes(run) for name, run in runs.items()}
    pooled = np.concatenate([values[swap] for values in measured.values() for swap in SWAPS] + [np.zeros(1)])
    bins = np.linspace(pooled.min(), pooled.max() + 1e-9, 41)  # the same for all, so that heights compare
    figure, panels = pyplot.subplots(1, len(SWAPS), figsize=(9, 3.2), sharex=True)
    for panel, swap in zip(panels, SWAPS, strict=True):
        for name, values in measured.items():
            if len(values[swap]):
                lower = f"{name}: lower for {(values[swap] < 0).mean():.0%}"
                panel.hist(values[swap], bins=bins, histtype="step", density=True, label=lower)
        panel.axvline(0, color="0.6", linewidth=0.8)
        panel.set(title=f"{swap} swapped", xlabel="change of cosine")
        panel.legend(frameon=False, fontsize=8, loc="upper left")
    panels[0].set(ylabel="density")
    figure.tight_layout()
    with atomic_path(path) as temporary:
        figure.savefig(temporary, dpi=110)
    pyplot.close(figure)
