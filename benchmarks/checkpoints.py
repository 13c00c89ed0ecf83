"""The table of the checkpoints' card: three models on a shapes set of a seed that nothing else uses.

python benchmarks/checkpoints.py [--items 400] [--seed 78]
"""

import tempfile
from collections import defaultdict
from pathlib import Path

from parts.measuring import parser_of

import video_contrast
from video_contrast.builders.shapes.shapes import CONFIGS, scene_of
from video_contrast.checkpoints import NAMES
from video_contrast.reports.table_lines import interval
from video_contrast.storage.run_figures import MAIN, figure

# `reversal_pairs` has the items of `antonym_mc`.
COLUMNS = [name for name in CONFIGS if name not in ("retrieval", "reversal_pairs")]


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--items", type=int, default=400, help="items of each config [default: 400]")
    parser.add_argument("--seed", type=int, default=78, help="of the set [default: 78]")
    parser.add_argument("--models", nargs="*", default=list(NAMES), help="or folders [default: those packaged]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = video_contrast.build("shapes", output=Path(folder) / "set", seed=arguments.seed, items=arguments.items)
        print("| model | R@1 of 100, text to video | video to text | " + " | ".join(COLUMNS) + " |")
        print("|---" * (len(COLUMNS) + 3) + "|")
        pairs = {}
        for name in arguments.models:
            path = video_contrast.checkpoint_path(name) if name in NAMES else name
            result = video_contrast.score(path, root, output=Path(folder) / "runs" / Path(name).name, progress=False)
            metrics = {config: result[config]["conditions"]["clean"] for config in ("retrieval", *COLUMNS)}
            cells = [f"{metrics['retrieval'][score.key]:.3f}" for score in MAIN["retrieval"]]
            cells += [interval(figure(metrics[config]), 3) for config in COLUMNS]
            print(f"| {Path(name).name} | " + " | ".join(cells) + " |", flush=True)
            pairs[Path(name).name] = by_action(result.output)
    for name, actions in pairs.items():
        print(name, " ".join(f"{action} {right:.2f}" for action, right in sorted(actions.items())))


def by_action(run: Path | None) -> dict[str, float]:
    """Antonym accuracy by the action that the clip shows."""
    assert run is not None
    right: dict[str, list[float]] = defaultdict(list)
    for row in video_contrast.open_run(run).score_rows():
        if row["config"] == "antonym_mc":
            name = row["id"].removeprefix("antonym_mc-")
            best = row["scores"][row["label"]] > row["scores"][1 - row["label"]]
            right[scene_of(name).action].append(float(best))
    return {action: sum(values) / len(values) for action, values in right.items()}


if __name__ == "__main__":
    main()
