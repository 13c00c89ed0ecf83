"""`video-contrast score`: a model's scores on configs of a set, under conditions; of several runs one table."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from video_contrast.addresses import address_of
from video_contrast.commands.command import command
from video_contrast.console import AsJson, is_quiet, print_json
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.options import Configs, Flag, GivenOptions, Option, names_in
from video_contrast.runner.options import MODEL, SCORED, ScoreOptions
from video_contrast.runner.several_runs import RunOutcome, read_run_list, run_requests, score_each
from video_contrast.storage.run_notes import TooManyMissing, are_missing, check_share, more_missing_than, remarks
from video_contrast.storage.run_settings import setting_lines

if TYPE_CHECKING:
    from video_contrast.runner.job import RunResult


def kind_options() -> list[Option]:
    """One flag a name: kinds may share one. `list models KIND` shows those of a kind."""
    from video_contrast.runner.kinds import all_kinds

    options = {option.name: option for kind in all_kinds().values() for option in kind.options}.values()
    return [replace(o, type=type(o.default) | None, default=None, flag=Flag(hidden=True)) for o in options]


EXAMPLE = "video-contrast score --model temporal --dataset shapes --config verb_mc --output runs/t"


@command("score", EXAMPLE, more=kind_options)
def score(
    *,
    model: Annotated[list[str] | None, "Hub id, folder, packaged one, baseline; repeatable", Flag(panel=MODEL)] = None,
    runs: Annotated[Path | None, "YAML list of runs: model, dataset and options of each", Flag(panel=MODEL)] = None,
    dataset: Annotated[str | None, "folder of a set, table (see xray), Hub id, or shapes", Flag(panel=SCORED)] = None,
    config: Annotated[Configs, Flag(panel=SCORED)] = None,
    max_missing: Annotated[float | None, "share of clips that may be missing; if more are, exit code 3"] = None,
    request: ScoreOptions,
    as_json: AsJson = False,
) -> None:
    """Score models on a set: accuracy by contrast, retrieval, robustness. Resumable; torchrun works."""
    check_share(max_missing)
    if runs is not None or len(model or ()) > 1:
        arguments = {"dataset": dataset, "config": names_in(config)}
        _score_runs(model or (), runs, arguments, request=request, max_missing=max_missing, as_json=as_json)
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
        from video_contrast.reports import table_formats, table_lines

        numbers = table_lines.numbers_of({Path(model[0]).name: result.metrics["configs"]})
        table_formats.show(table_lines.lines_of(numbers, detailed=True), list(numbers))
        settings = f"settings: {'; '.join(setting_lines(result.record))}"
        place = (result.output and address_of(result.output)) or result.output
        print("\n".join([settings, *remarks(result.record), f"written to {place}"]))
    check_missing([result], max_missing)


def _score_runs(
    models: Sequence[str], path: Path | None, usual: GivenOptions, *, request: ScoreOptions,
    max_missing: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Scores a run a model, and those of the YAML file; `usual`: options of runs that do not say their own."""
    if request.show_input:
        raise UsageError("--show-input is of one model at a time")
    if request.output is None and not request.dry_run:
        raise UsageError("give --output DIR: every run gets a folder in it")
    usual = {name: value for name, value in usual.items() if value is not None}
    entries = [{"model": model} for model in models] + ([] if path is None else read_run_list(path))
    where = "the runs" if models or path is None else str(path)
    folder = request.output or Path()
    requests = run_requests([{**usual, **entry} for entry in entries], folder, options=request, where=where)
    from video_contrast import api

    if request.dry_run:
        plans = {run.name: api.score(run.model, run.dataset, run.configs, request=run.options) for run in requests}
        _print_plans(plans, as_json)
        return
    first = int(os.environ.get("RANK", "0")) == 0
    print_outcome = _print_outcome if first and not is_quiet() and not as_json else None
    outcomes = score_each(requests, folder, find_set=api.named_set, done=print_outcome)
    if first:
        _tell(outcomes, max_missing, as_json=as_json)


def _tell(outcomes: Sequence[RunOutcome], max_missing: float | None, *, as_json: bool) -> None:
    """Prints the runs that ended well, and fails where one did not, or lacks too many clips."""
    results = {outcome.name: outcome.result for outcome in outcomes if outcome.result is not None}
    if as_json:
        print_json({o.name: {"error": o.error} if o.result is None else summary(o.result) for o in outcomes})
    elif results and not is_quiet():
        from video_contrast.reports import table_formats, table_lines

        metrics = {name: table_lines.with_missing(r.metrics["configs"], r.record) for name, r in results.items()}
        table_formats.show(table_lines.lines_of(table_lines.numbers_of(metrics)), list(metrics))
    if errors := [f"{outcome.name}: {outcome.error}" for outcome in outcomes if outcome.error]:
        raise VideoContrastError(
            f"{len(errors)} of {len(outcomes)} runs failed ({'; '.join(errors)}); the others are done, and the same "
            "command again does only what is missing"
        )
    check_missing(list(results.values()), max_missing)


def _print_plans(plans: Mapping[str, RunResult], as_json: bool) -> None:
    if as_json:
        print_json({name: plan.record for name, plan in plans.items()})
    for name, plan in () if as_json else plans.items():
        print(f"{name}:")
        print_plan(plan)


def _print_outcome(outcome: RunOutcome) -> None:
    place = address_of(outcome.output) or outcome.output
    ending = f"failed: {outcome.error}" if outcome.error else f"written to {place}"
    print(f"{outcome.name}: {ending}", file=sys.stderr if outcome.error else sys.stdout)


def check_missing(results: Sequence[RunResult], share: float | None) -> None:
    """Raises TooManyMissing where more than a share of the clips of a run is missing; None: any may be."""
    if share is None:
        return
    for result in results:
        if more_missing_than(share, result.record):
            raise TooManyMissing(
                f"{result.output}: {are_missing(result.record)}, more than --max-missing {share:g} allows; the "
                "run is written, and the same command scores them once they are there (why: run.json)"
            )


def summary(result: RunResult) -> JsonObject:
    """The object that `--json` prints: the metrics, and the facts that their reader has to know."""
    keys = ("model", "missing", "n_missing", "n_clips", "gone", "skipped", "notes", "counters")
    record = {name: value for name, value in result.record.items() if name in keys}
    return {"configs": result.metrics["configs"], "output": str(result.output), **record}


def print_plan(result: RunResult) -> None:
    """Prints what a dry run returns."""
    for name, value in result.record.items():
        if isinstance(value, list) and len(value) > 8:
            value = [f"{len(value)}: {', '.join(value[:3])} ... {value[-1]} (all: --json)"]
        if name != "skipped":
            print(f"{name:34} {', '.join(value) if isinstance(value, list) else value}")
    for name, why in result.record["skipped"].items():
        print(f"left out: {name}: {why}")
