"""`video-contrast compare RUN RUN`: is one run better than the other, on the same items?"""

from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import Command, names_in
from video_contrast.console import AsJson, Quiet, print_json
from video_contrast.options import Configs, Seed


def commands() -> list[Command]:
    """The command `compare`."""
    return [Command("compare", compare, "video-contrast compare runs/plain runs/temporal --config antonym_mc")]


def compare(
    first: Annotated[Path, "a run's folder"],
    second: Annotated[Path, "another, of the same set"],
    *,
    config: Configs = None,
    seed: Seed = 0,
    output: Annotated[Path | None, "also write the table as JSON here"] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Is one run better than another, on the same items?

    Second less first on paired items: difference with its 95 % interval, McNemar's test, Holm over all rows.
    """
    from video_contrast.files import write_json
    from video_contrast.reports.compare import compare_runs, lines

    rows = compare_runs(first, second, names_in(config), seed=seed)
    if as_json:
        print_json(rows)
    elif not quiet:
        print("\n".join(lines(rows)))
    if output:
        write_json(output, rows)
