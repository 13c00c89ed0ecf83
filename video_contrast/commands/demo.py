"""`video-contrast demo`: the packaged models and two baselines on the shapes world, in one table, offline.

Nothing here is special to the demo: it builds a set, scores models and writes a report with the public functions.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from video_contrast.commands.command import command
from video_contrast.console import is_quiet, say
from video_contrast.errors import VideoContrastError
from video_contrast.files import write_text
from video_contrast.options import GivenOptions

if TYPE_CHECKING:
    from video_contrast.reports.terminal import TableLine
    from video_contrast.runner.several_runs import RunOutcome
    from video_contrast.storage.run_figures import Gamma
    from video_contrast.storage.run_records import ConfigMetrics

MODELS = ("bag-of-frames", "temporal-plain", "temporal", "random", "blind")
# The visual and textual halves of the paper's pairs that need neither a download nor WordNet data.
VISUAL = ("box_jumble", "defocus_blur", "jpeg", "jumble", "shot_noise", "static_rotate")
TEXT = ("append_irr", "gender_swap", "no_verbs", "random_noun", "shuffle_order", "spelling_error")
SEVERITY = 3


@command("demo", "video-contrast demo --output demo")
def demo(*, output: Annotated[Path, "folder for the set, the runs, the table and the report"] = Path("demo")) -> None:
    """Score three packaged models and two baselines on the shapes world, offline; print one table."""
    # Set before torch is imported: several threads in one tiny model cost more than they save.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    from video_contrast.reports import terminal

    lines = score(output, say=say, progress=not is_quiet())
    if not is_quiet():
        print()
        terminal.show(lines, MODELS, "shapes world")
    say(
        "\naccuracy with 95 % intervals over clips; gamma: R@1 kept under perturbation, mean ± sd\n"
        f"scores: {output / 'runs'}   table: {output / 'table.md'}\n"
        "writing the report"
    )
    say(f"report: {write_report(output, progress=not is_quiet())}")


def conditions() -> list[str]:
    """What the robustness lines are means over: 6 visual, 6 textual, and their 36 pairs."""
    visual = [f"visual:{name}@{SEVERITY}" for name in VISUAL]
    text = [f"text:{name}" for name in TEXT]
    return ["clean", *visual, *text, *(f"{v}+{t}" for v in visual for t in text)]


def score(output: Path, say: Callable[[str], None] = print, progress: bool = True) -> list[TableLine]:
    """Builds the shapes sets, scores every model, writes the runs and their table, whose lines it returns.

    `output`: a folder of its own; a second run goes on where the first stopped. `say`: told what happens.
    """
    import video_contrast
    from video_contrast.builders.registry import get_builder
    from video_contrast.reports.terminal import markdown
    from video_contrast.storage import SetFolder

    if output.exists() and any(output.iterdir()) and not (output / "set").is_dir():
        raise VideoContrastError(f"--output {output} holds other files; give a new folder")
    dataset = output / "set"
    if not SetFolder(dataset).has_card:
        say("building the shapes world: clips, captions, ten kinds of contrast")
        video_contrast.build("shapes", output=dataset)
    config = json.loads((video_contrast.checkpoint_path("temporal") / "config.json").read_text(encoding="utf-8"))
    frames = config["vision_config"]["num_frames"]
    contrasts = [name for name in get_builder("shapes").configs if name not in ("retrieval", "reversal_pairs")]
    results: dict[str, dict[str, ConfigMetrics]] = {}
    runs: list[GivenOptions] = []
    for model in MODELS:
        source = model if model in ("random", "blind") else video_contrast.checkpoint_path(model)
        settings = {"model": source, "dataset": dataset, "frames": frames}
        folder = output / "runs" / model
        runs.append({**settings, "config": contrasts, "output": folder / "contrasts"})
        runs.append({**settings, "config": ["retrieval"], "conditions": conditions(), "output": folder / "retrieval"})
    waiting = [model for model in MODELS for _ in range(2)]

    def done(outcome: RunOutcome) -> None:
        if outcome.result is None:
            raise VideoContrastError(outcome.error)
        results.setdefault(waiting.pop(0), {}).update(outcome.result.metrics["configs"])
        if waiting and waiting[0] not in results:
            say(f"scoring {waiting[0]}")

    say(f"scoring {MODELS[0]}")
    # The models see the same frames of the same clips: each clip is decoded once for all of them.
    video_contrast.score_many(
        runs, output=output / "runs", conditions=["clean"], store=output / "embeddings", progress=progress, done=done
    )
    rows = table(results)
    write_text(output / "table.md", markdown(rows, MODELS) + "\n")
    return rows


def write_report(output: Path, progress: bool = True) -> Path:
    """Writes the report of what `score` left below `output`; returns its file."""
    from video_contrast.reports.write import write_report as write

    folders = [output / "runs" / model / part for model in MODELS for part in ("contrasts", "retrieval")]
    return write(folders, output / "report.html", progress=progress)


def table(results: Mapping[str, Mapping[str, ConfigMetrics]]) -> list[TableLine]:
    """The lines of the demo's table from the metrics of each model."""
    from video_contrast.reports.terminal import TableLine, contrast_kind, interval
    from video_contrast.storage.run_figures import MAIN, FigureKey, RunNumbers, Score, against, leading

    numbers = [RunNumbers.of(results[model]) for model in MODELS]

    def line(config: str, score: Score) -> TableLine:
        figures = [own.figures[FigureKey(config, "clean", score)] for own in numbers]
        return TableLine(LABELS.get(config, score.words), figures[0].chance, [interval(figure) for figure in figures])

    rows = [line("retrieval", score) for score in MAIN["retrieval"]]
    for config in CONFIGS:
        clean = [row for row in numbers[0].figures.values() if (row.config, row.condition) == (config, "clean")]
        rows.append(line(config, against(contrast_kind(clean))))
    for group, name in (("visual", "gamma, video"), ("text", "gamma, text"), ("pairs", "gamma, both")):
        key = (leading("retrieval"), group)
        gammas = [next(gamma for gamma in own.gammas if (gamma.score, gamma.group) == key) for own in numbers]
        rows.append(TableLine(name, None, list(map(_gamma, gammas))))
    return rows


CONFIGS = (
    "random_mc", "antonym_mc", "verb_mc", "gender_mc", "person_id_mc", "entity_mc", "object_mc", "role_mc",
    "counterfactual_mc",
)  # fmt: skip
# Of candidates that are all of one kind; the others are called as in the report, by the kind of their contrast.
LABELS = {
    "random_mc": "5 candidates, all random",
    "antonym_mc": "against antonym",
    "counterfactual_mc": "6 candidates, other actions",
}


def _gamma(gamma: Gamma) -> str:
    """Mean relative robustness over a group's conditions, with its standard deviation."""
    if gamma.at_chance:  # such a model keeps all of it, which says nothing
        return "at chance"
    return "undefined" if gamma.relative is None else f"{gamma.relative:.2f} ± {gamma.relative_sd:.2f}"
