"""`video-contrast score`: a model's scores on configs of a set, under conditions."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from video_contrast.console import AsJson, Quiet, hush, print_json, print_table

EXAMPLE = "Example: video-contrast score --model temporal --dataset shapes --config antonym_mc --output runs/temporal"
MODEL = "Model"
WHAT = "What is scored"
HOW = "How it runs"


def add(app: typer.Typer) -> None:
    """Adds the command `score`; the options of the model kinds become its options."""
    app.command("score", short_help="Score a model on configs of a set, under conditions.", epilog=EXAMPLE)(_command())


def _command() -> Any:
    from video_contrast.runner.kinds import all_kinds

    flags: dict[str, tuple[type, str]] = {}
    for kind in all_kinds().values():
        for option in kind.options:
            choices = f" One of {', '.join(option.choices)}." if option.choices else ""
            known = flags.get(option.name)
            text = f"{kind.name}: {option.help}{choices}" if known is None else known[1]
            flags[option.name] = (option.type, text)

    def command(quiet: bool, as_json: bool, **given: Any) -> None:
        options = {name: given.pop(name) for name in flags}
        given["options"] = {name: value for name, value in options.items() if value is not None}
        score(given, quiet=quiet, as_json=as_json)

    own = list(inspect.signature(_score).parameters.values())
    extra = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                kind_type | None,  # type: ignore[valid-type]
                # Twenty options that no single model has: `list models KIND` shows those of one.
                typer.Option(f"--{name.replace('_', '-')}", help=text, hidden=True),
            ],
        )
        for name, (kind_type, text) in flags.items()
    ]
    command.__doc__ = _score.__doc__
    hints = inspect.get_annotations(_score, eval_str=True)
    parameters = [p.replace(annotation=hints[p.name], kind=inspect.Parameter.KEYWORD_ONLY) for p in own] + extra
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {p.name: p.annotation for p in parameters}
    return command


def _score(
    model: Annotated[str, typer.Option(help="Hub id, folder, packaged one, or a baseline.", rich_help_panel=MODEL)],
    dataset: Annotated[str, typer.Option(help="Folder of a set, Hub id, or shapes.", rich_help_panel=WHAT)],
    output: Annotated[
        Path | None, typer.Option(help="The run's folder; the same call goes on in it.", rich_help_panel=WHAT)
    ] = None,
    config: Annotated[
        list[str] | None, typer.Option(help="Config; repeat for several, all if none.", rich_help_panel=WHAT)
    ] = None,
    split: Annotated[str, typer.Option(help="Split.", rich_help_panel=WHAT)] = "test",
    conditions: Annotated[
        str, typer.Option(help="clean,visual:*,text:*,pairs,controls, or names.", rich_help_panel=WHAT)
    ] = "clean",
    video_root: Annotated[
        Path | None, typer.Option(help="Where video paths start; the set's folder.", rich_help_panel=WHAT)
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Only the first clips of each config.", rich_help_panel=WHAT)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.", rich_help_panel=WHAT)] = 0,
    profile: Annotated[str, typer.Option(help="Constants: paper, released, monotone.", rich_help_panel=WHAT)] = "paper",
    scope: Annotated[
        str, typer.Option(help="What temporal ones act on: clip or video.", rich_help_panel=WHAT)
    ] = "clip",
    order: Annotated[str, typer.Option(help="Or sample_then_perturb.", rich_help_panel=WHAT)] = "perturb_then_sample",
    frames: Annotated[
        int | None, typer.Option(help="Frames a clip; 8, or what the model needs.", rich_help_panel=HOW)
    ] = None,
    sampling: Annotated[str, typer.Option(help="uniform, linspace or head.", rich_help_panel=HOW)] = "uniform",
    batch_size: Annotated[int, typer.Option(help="Clips in a batch.", rich_help_panel=HOW)] = 32,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.", rich_help_panel=HOW)] = "auto",
    dtype: Annotated[str, typer.Option(help="auto, float32, bfloat16, float16.", rich_help_panel=HOW)] = "auto",
    device_map: Annotated[
        str | None, typer.Option(help="auto: spread a large model over devices.", rich_help_panel=HOW)
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Decoding threads.", rich_help_panel=HOW)] = None,
    store: Annotated[
        Path | None, typer.Option(help="Where embeddings are kept; the user's cache.", rich_help_panel=HOW)
    ] = None,
    keep_matrices: Annotated[
        str, typer.Option(help="Similarity matrices kept: auto, all, clean.", rich_help_panel=HOW)
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and its cost, and stop.", rich_help_panel=HOW)
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
    kind: Annotated[
        str | None, typer.Option(help="Model kind; each has options: list models KIND.", rich_help_panel=MODEL)
    ] = None,
    revision: Annotated[str | None, typer.Option(help="Revision on the Hub.", rich_help_panel=MODEL)] = None,
    trust_remote_code: Annotated[
        bool, typer.Option("--trust-remote-code", help="Run code of the model's repository.", rich_help_panel=MODEL)
    ] = False,
) -> None:
    """Score a model on a set: accuracy by contrast, retrieval, robustness. Resumable; works under torchrun."""


def score(given: dict[str, Any], *, quiet: bool = False, as_json: bool = False) -> None:
    """Runs `score` with the command's options and prints what came out."""
    import os

    from video_contrast.errors import UsageError

    if given["output"] is None and not given["dry_run"]:
        raise UsageError("give --output DIR, where the scores go (or --dry-run)")
    hush(quiet)
    from video_contrast.runner import job

    given["config"] = [name for word in given["config"] or () for name in word.split(",")] or None
    result = job.score(given.pop("model"), given.pop("dataset"), given.pop("config"), progress=not quiet, **given)
    if int(os.environ.get("RANK", 0)) != 0:
        return
    if as_json:
        print_json(result.record if given["dry_run"] else _summary(result))
    elif given["dry_run"]:
        _print_plan(dict(result.record))
    elif not quiet:
        from video_contrast.reports.run_table import remarks, table

        print_table(table(result))
        print("\n".join([*remarks(result), f"written to {result.output}"]))


def _summary(result: Any) -> dict[str, Any]:
    """What `--json` prints: the metrics, and what has to be known about them."""
    record = {name: result.record[name] for name in ("model", "missing", "n_missing", "skipped", "notes", "counters")}
    return {"configs": result.metrics["configs"], "output": str(result.output), **record}


def _print_plan(plan: dict[str, Any]) -> None:
    skipped = plan.pop("skipped")
    for name, value in plan.items():
        shown = value
        if isinstance(value, list):
            first = ", ".join(value[:3])
            shown = ", ".join(value) if len(value) <= 8 else f"{len(value)}: {first} ... {value[-1]} (all: --json)"
        print(f"{name:34} {shown}")
    for name, why in skipped.items():
        print(f"left out: {name}: {why}")
