"""`video-contrast score`: a model's scores on configs of a set, under conditions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command, names_in
from video_contrast.commands.score_runs import check_missing, print_plan, score_runs, summary
from video_contrast.console import AsJson, is_quiet, print_json
from video_contrast.errors import UsageError
from video_contrast.options import Configs, Flag, Option
from video_contrast.runner.options import MODEL, SCORED, ScoreOptions
from video_contrast.storage.run_notes import check_share


def kind_options() -> list[Option]:
    """One flag a name: kinds may share one. `list models KIND` shows those of a kind."""
    from video_contrast.runner.kinds import all_kinds

    options = [option for kind in all_kinds().values() for option in kind.options]
    return [
        Option(name=option.name, type=option.type | None, default=None, help=option.help, flag=Flag(hidden=True))
        for option in {option.name: option for option in options}.values()
    ]


@command(
    "score",
    "video-contrast score --model temporal --dataset shapes --config verb_mc --output runs/t",
    more=kind_options,
)
def score(
    *,
    model: Annotated[
        list[str] | None, "Hub id, folder, packaged one, or a baseline; repeat for several", Flag(panel=MODEL)
    ] = None,
    runs: Annotated[
        Path | None, "YAML file with a list of runs: model, dataset and options of each", Flag(panel=MODEL)
    ] = None,
    dataset: Annotated[
        str | None, "folder of a set, table (columns as of xray), Hub id, or shapes", Flag(panel=SCORED)
    ] = None,
    config: Annotated[Configs, Flag(panel=SCORED)] = None,
    max_missing: Annotated[float | None, "share of clips that may be missing; if more are, exit code 3"] = None,
    request: ScoreOptions,
    as_json: AsJson = False,
) -> None:
    """Score models on a set: accuracy by contrast, retrieval, robustness. Resumable; torchrun works."""
    check_share(max_missing)
    if runs is not None or len(model or ()) > 1:
        shared = {"dataset": dataset, "config": names_in(config)}
        score_runs(model or (), runs, shared, request=request, max_missing=max_missing, as_json=as_json)
        return
    if not model or dataset is None:
        raise UsageError(f"give {'--dataset' if model else '--model, or --runs FILE'}")
    if request.output is None and not (request.dry_run or request.show_input):
        raise UsageError("give --output DIR, where the scores go (or --dry-run, or --show-input)")
    from video_contrast import api

    result = api.score(model[0], dataset, names_in(config), request=request)
    if int(os.environ.get("RANK", "0")) != 0:
        return
    if request.show_input:
        print_json(result.record)
    elif as_json:
        print_json(result.record if request.dry_run else summary(result))
    elif request.dry_run:
        print_plan(result)
    elif not is_quiet():
        from video_contrast.remote import address_of
        from video_contrast.reports import terminal
        from video_contrast.storage.run_notes import setting_lines

        terminal.show(terminal.lines_of({model[0]: result.metrics["configs"]}, detailed=True), [Path(model[0]).name])
        settings = f"settings: {'; '.join(setting_lines(result.record))}"
        place = (result.output and address_of(result.output)) or result.output
        print("\n".join([settings, *terminal.remarks(result.record), f"written to {place}"]))
    check_missing([result], max_missing)
