"""`video-contrast demo`: the packaged models and two baselines on the shapes world, in one table, offline.

Nothing here is special to the demo: it builds a set, scores models and writes a report with the public functions.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import is_quiet, say
from video_contrast.errors import VideoContrastError
from video_contrast.files import write_text
from video_contrast.options import GivenOptions
from video_contrast.reports.table_formats import TableLine, markdown, show
from video_contrast.reports.table_lines import contrast_kind, interval
from video_contrast.runner.several_runs import RunOutcome
from video_contrast.storage import SetFolder
from video_contrast.storage.run_figures import MAIN, FigureKey, Gamma, RunNumbers, Score, against, leading

MODELS = ("bag-of-frames", "temporal-plain", "temporal", "random", "blind")
CONTRASTS = (
    "random_mc", "antonym_mc", "verb_mc", "gender_mc", "person_id_mc", "entity_mc", "object_mc", "role_mc",
    "counterfactual_mc",
)  # fmt: skip
# Of candidates that are all of one kind; the others are called as in the report, by the kind of their contrast.
LABELS = {
    "random_mc": "5 candidates, all random",
    "antonym_mc": "against antonym",
    "counterfactual_mc": "6 candidates, other actions",
}
# The visual and textual halves of the paper's pairs that need no download.
VISUAL = [
    f"visual:{name}@3" for name in ("box_jumble", "defocus_blur", "jpeg", "jumble", "shot_noise", "static_rotate")
]
TEXT = [
    f"text:{name}"
    for name in ("append_irr", "gender_swap", "no_verbs", "random_noun", "shuffle_order", "spelling_error")
]
# The perturbations over which robustness lines are means: 6 visual, 6 textual, and their 36 pairs.
CONDITIONS = ["clean", *VISUAL, *TEXT, *(f"{visual}+{text}" for visual in VISUAL for text in TEXT)]


@command("demo", "video-contrast demo --output demo")
def demo(*, output: Annotated[Path, "folder for the set, the runs, the table and the report"] = Path("demo")) -> None:
    """Score three packaged models and two baselines on the shapes world, offline; print one table."""
    # Set before torch is imported: several threads in one tiny model cost more than they save.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    folders = [output / "runs" / model / part for model in MODELS for part in ("contrasts", "retrieval")]
    lines = table_lines(score(output, folders))
    write_text(output / "table.md", markdown(lines, MODELS) + "\n")
    if not is_quiet():
        print()
        show(lines, MODELS, "shapes world")
    say(
        "\naccuracy with 95 % intervals over clips; gamma: R@1 kept under perturbation, mean ± sd\n"
        f"scores: {output / 'runs'}   table: {output / 'table.md'}\n"
        "writing the report"
    )
    from video_contrast.reports.write import write_report

    say(f"report: {write_report(folders, output / 'report.html', progress=not is_quiet())}")


def score(output: Path, folders: Sequence[Path]) -> list[RunNumbers]:
    """Builds the shapes sets and scores every model; returns the numbers of each.

    `output`: a folder of its own; a second call goes on where the first stopped. `folders`: of the runs, two a model:
    on the contrasts, and on retrieval under all conditions.
    """
    import video_contrast

    if output.exists() and any(output.iterdir()) and not (output / "set").is_dir():
        raise VideoContrastError(f"--output {output} holds other files; give a new folder")
    dataset = output / "set"
    if not SetFolder(dataset).has_card:
        say("building the shapes world: clips, captions, ten kinds of contrast")
        video_contrast.build("shapes", output=dataset)
    config = json.loads((video_contrast.checkpoint_path("temporal") / "config.json").read_text(encoding="utf-8"))
    runs: list[GivenOptions] = []
    for model, contrasts, retrieval in zip(MODELS, folders[::2], folders[1::2], strict=True):
        source = model if model in ("random", "blind") else video_contrast.checkpoint_path(model)
        settings = {"model": source, "dataset": dataset, "frames": config["vision_config"]["num_frames"]}
        runs.append({**settings, "config": CONTRASTS, "output": contrasts})
        runs.append({**settings, "config": ["retrieval"], "conditions": CONDITIONS, "output": retrieval})
    metrics = []

    def done(outcome: RunOutcome) -> None:
        if outcome.result is None:
            raise VideoContrastError(outcome.error)
        metrics.append(outcome.result.metrics["configs"])
        if len(metrics) % 2 == 0 and len(metrics) < len(runs):
            say(f"scoring {MODELS[len(metrics) // 2]}")

    say(f"scoring {MODELS[0]}")
    # The models see the same frames of the same clips: each clip is decoded once for all of them.
    video_contrast.score_many(
        runs, output=output / "runs", conditions=["clean"], store=output / "embeddings", progress=not is_quiet(),
        done=done,
    )  # fmt: skip
    return [
        RunNumbers.of(contrasts | retrieval) for contrasts, retrieval in zip(metrics[::2], metrics[1::2], strict=True)
    ]


def table_lines(numbers: Sequence[RunNumbers]) -> list[TableLine]:
    """The lines of the demo's table from the numbers of each model."""

    def line(config: str, score: Score) -> TableLine:
        figures = [own.figures[FigureKey(config, "clean", score)] for own in numbers]
        return TableLine(LABELS.get(config, score.words), figures[0].chance, [interval(figure) for figure in figures])

    lines = [line("retrieval", score) for score in MAIN["retrieval"]]
    for config in CONTRASTS:
        clean = [row for row in numbers[0].figures.values() if (row.config, row.condition) == (config, "clean")]
        lines.append(line(config, against(contrast_kind(clean))))
    for group, name in (("visual", "gamma, video"), ("text", "gamma, text"), ("pairs", "gamma, both")):
        key = (leading("retrieval"), group)
        gammas = [next(gamma for gamma in own.gammas if (gamma.score, gamma.group) == key) for own in numbers]
        lines.append(TableLine(name, None, list(map(_gamma, gammas))))
    return lines


def _gamma(gamma: Gamma) -> str:
    if gamma.at_chance:  # such a model keeps all of it, which says nothing
        return "at chance"
    return "undefined" if gamma.relative is None else f"{gamma.relative:.2f} ± {gamma.relative_sd:.2f}"
