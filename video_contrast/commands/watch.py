"""`video-contrast watch`: the checkpoints of a training run are scored as they come."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.commands.score import kind_options
from video_contrast.console import note, say
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.options import Configs, Flag, names_in
from video_contrast.runner.options import SCORED, WatchOptions
from video_contrast.storage import RunFolder


@command(
    "watch", "video-contrast watch training --dataset shapes --config verb_mc --output runs/t --once", more=kind_options
)
def watch(
    checkpoints: Annotated[Path, "folder of a training run, which holds checkpoint-N folders"],
    *,
    dataset: Annotated[str, "folder of a set, Hub id, or shapes", Flag(panel=SCORED)],
    config: Annotated[Configs, Flag(panel=SCORED)] = None,
    request: WatchOptions,
) -> None:
    """Score the checkpoints of a training run as they come: one line each, on few clips by default."""
    if request.dry_run or request.show_input:
        raise UsageError("--dry-run and --show-input go with `video-contrast score`")
    from video_contrast import api
    from video_contrast.reports import table_lines
    from video_contrast.runner.watch import watch as watched

    request = replace(request, limit=request.limit or None)
    errors, n_unsaved = list[str](), 0
    for number, outcome in watched(checkpoints, dataset, names_in(config), find_set=api.named_set, request=request):
        step = f"step {number:>7}  "
        if outcome is None:
            n_unsaved += 1
            note(f"{step}is not saved whole yet")
            continue
        errors.append(outcome.error)
        if outcome.error:
            print(f"{step}failed: {outcome.error}", file=sys.stderr, flush=True)
        else:
            numbers = table_lines.numbers_of(table_lines.metrics_of([RunFolder(outcome.output)]))
            say(step + "   ".join(f"{line.name} {line.cells[0]}" for line in table_lines.lines_of(numbers)))
    if not errors and not n_unsaved:
        note(f"{checkpoints}: no checkpoint-N folder yet")
    if any(errors):
        n_failed = sum(map(bool, errors))
        raise VideoContrastError(f"{n_failed} of {len(errors)} checkpoints failed; the others are done")
