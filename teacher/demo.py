"""The RCAD finding and its repair in small: base, lbl and lgt on the shapes world, by one command."""

from pathlib import Path
from typing import Any

from video_contrast.files import write_json, write_text
from video_contrast.teacher.run import teach

BASE = "temporal-plain"
CLIPS, VALIDATION = 1600, 100
CONFIGS = ("counterfactual_mc", "retrieval", "random_mc", "antonym_mc", "verb_mc", "gender_mc", "object_mc", "role_mc")
RECIPE: dict[str, Any] = {"epochs": 4, "batch_size": 32, "rate": 1e-3, "evaluate_every": 100, "patience": 0}
# column -> config and key of the runner's metrics
COLUMNS = {
    "RCAD R@1": ("counterfactual_mc", "R@1"),
    "R@2": ("counterfactual_mc", "R@2"),
    "R@3": ("counterfactual_mc", "R@3"),
    "mean rank": ("counterfactual_mc", "mean_rank"),
    "retrieval v2t R@1": ("retrieval", "v2t_R@1"),
    "random": ("random_mc", "accuracy"),
    "antonym": ("antonym_mc", "accuracy"),
    "verb": ("verb_mc", "accuracy"),
    "gender*": ("gender_mc", "accuracy"),
    "object*": ("object_mc", "accuracy"),
    "role*": ("role_mc", "accuracy"),
}


def run(output: Path, *, seed: int = 0, progress: bool = True, clips: int = CLIPS, items: int = 200) -> str:
    """Builds training and test clips, trains with both objectives, scores all three; returns the table.

    A second run goes on where the first was interrupted. Writes `table.md`, `metrics.json`, `sensitivity.png` and each
    run's folder below `output`.
    """
    import torch

    import video_contrast
    from video_contrast.teacher.sensitivity import sensitivity_plot

    torch.set_num_threads(1)  # layers this small only lose by sharing them out, and one thread gives the same sums
    dataset = output / "set"
    if not (dataset / "README.md").exists():
        video_contrast.build(
            "shapes", list(CONFIGS), output=dataset, items=items, train=clips, validation=min(VALIDATION, clips)
        )
    models: dict[str, Any] = {"base": video_contrast.checkpoint_path(BASE)}
    for objective in ("lbl", "lgt"):
        result = teach(
            models["base"], dataset, output=output / objective, store=output / "store", objective=objective,
            seed=seed, progress=progress, **RECIPE,
        )  # fmt: skip
        models[objective] = Path(result["model"])
    found = {
        name: video_contrast.score(
            path, dataset, list(CONFIGS), output=output / "scores" / name, progress=progress
        ).metrics["configs"]
        for name, path in models.items()
    }
    sensitivity_plot({name: output / "scores" / name for name in models}, output / "sensitivity.png")
    write_json(output / "metrics.json", found)
    text = table(found)
    write_text(output / "table.md", text)
    return text


def table(found: dict[str, Any]) -> str:
    """Markdown: one line a model. Kinds with * were not among the training negatives."""
    lines = ["| | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, metrics in found.items():
        cells = [f"{_clean(metrics[config])[key]:.3f}" for config, key in COLUMNS.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n\n* held-out kinds of contrast: no training negative changed them\n"


def _clean(config: dict[str, Any]) -> dict[str, Any]:
    return config["conditions"]["clean"] if "conditions" in config else config
