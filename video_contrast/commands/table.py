"""`video-contrast table RUN ...`: the numbers of several runs side by side, those of other harnesses among them."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.commands.command import command
from video_contrast.console import AsJson, print_json


@command("table", "video-contrast table runs/temporal runs/random")
def table(
    runs: Annotated[list[Path], "folders of runs (`score`, `watch`), or logs of other harnesses"],
    *,
    metric: Annotated[str | None, "which figure of other harnesses' logs; default: the first"] = None,
    format_: Annotated[Literal["text", "markdown", "latex"], "latex: tabular of booktabs"] = "text",
    as_json: AsJson = False,
) -> None:
    """Print the numbers of several runs in one table, with 95 % intervals and chance."""
    from video_contrast.reports import table_formats, table_lines
    from video_contrast.reports.compare import best_logs, harness_notes, log_metrics, notes_of
    from video_contrast.reports.foreign_logs import is_foreign, read_logs
    from video_contrast.storage import RunFolder
    from video_contrast.storage.run_settings import setting_lines

    folders = [run for path in runs if not is_foreign(path) for run in RunFolder.find(path) or [RunFolder.open(path)]]
    own = list({run.path.resolve(): run for run in folders}.values())
    metrics = table_lines.metrics_of(own)
    logs = [log for run in runs if is_foreign(run) for log in read_logs(run, metric)]
    foreign = log_metrics(logs)
    for model, tasks in foreign.items():
        metrics.setdefault(model, {}).update(tasks)
    if as_json:
        print_json(metrics)
        return
    course = table_lines.course_of(own) if not logs else None
    title = "step" if course else ""
    if course:
        lines, columns = course
    else:
        best = table_lines.best_models(own) | best_logs(logs)
        lines, columns = table_lines.lines_of(table_lines.numbers_of(metrics), best), list(metrics)
    if format_ == "text":
        table_formats.show(lines, columns, title)
    else:
        print(table_formats.FORMATS[format_](lines, columns, title))
    made_with = [f"{run.path.name}: {'; '.join(setting_lines(run.record))}" for run in own]
    for note in [*made_with, *notes_of(foreign), *harness_notes(logs, beside_own=bool(own))]:
        print(note, file=sys.stdout if format_ == "text" else sys.stderr)
