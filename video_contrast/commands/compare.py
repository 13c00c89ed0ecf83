"""`video-contrast compare RUN RUN`: is one run better than another, on the same items? Other harnesses' logs too."""

from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import AsJson, tell
from video_contrast.errors import UsageError
from video_contrast.options import POSITIVE, SHARE, Configs, Seed, names_in


@command("compare", "video-contrast compare runs/plain runs/temporal --config antonym_mc")
def compare(
    first: Annotated[Path, "a run's folder, or a log of lmms-eval, VLMEvalKit or inspect_ai (file or folder)"],
    second: Annotated[Path, "another, on the same set"],
    *,
    config: Configs = None,
    metric: Annotated[str | None, "which figure of other harnesses' logs; default: the first"] = None,
    tolerance: Annotated[float | None, "exit code 3 if any figure of the second run is lower by more", SHARE] = None,
    points: Annotated[float | None, "points of difference to find the power for; default: observed", POSITIVE] = None,
    seed: Seed = 0,
    output: Annotated[Path | None, "also write the table as JSON here"] = None,
    as_json: AsJson = False,
) -> None:
    """Is one run better than another, on the same items?

    Second minus first on paired items: difference with its 95 % interval, McNemar's test, Holm-corrected over all rows.
    """
    from video_contrast.files import write_json
    from video_contrast.reports.compare import compare_logs, compare_runs, lines, power_lines
    from video_contrast.reports.foreign_logs import is_foreign, read_logs
    from video_contrast.storage.run_folder import CLEAN
    from video_contrast.teacher.gate import check_fallen

    if is_foreign(first) or is_foreign(second):
        logs = read_logs(first, metric), read_logs(second, metric)
        rows = compare_logs(*logs, names_in(config), points=points, seed=seed)
    elif metric is not None:
        raise UsageError("--metric names a figure of other harnesses' logs, and neither of these is one: leave it out")
    else:
        rows = compare_runs(first, second, names_in(config), points=points, seed=seed)
    text = [*lines(rows), *power_lines([row for row in rows if row["condition"] == CLEAN])]
    tell(rows, text, as_json, print)
    if output:
        write_json(output, rows)
    if tolerance is not None:
        check_fallen(rows, tolerance)
