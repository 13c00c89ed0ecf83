"""`video-contrast teach`: LLM-teacher training of a checkpoint, or its demonstration on the shapes world."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from video_contrast.commands.command import command
from video_contrast.console import counted, is_quiet, say
from video_contrast.errors import UsageError
from video_contrast.files import write_json, write_text
from video_contrast.options import SHARE, Flag, as_record
from video_contrast.storage import SetFolder
from video_contrast.teacher.options import DATA, TeachOptions

if TYPE_CHECKING:
    from video_contrast.teacher.gate import FigureRow
    from video_contrast.teacher.run import TeachResult


@command("teach", "video-contrast teach --demo --output teach")
def teach(
    *,
    model: Annotated[str, "Hub id, folder or packaged checkpoint", Flag(panel=DATA)] = "",
    dataset: Annotated[str, "folder or Hub id of a set with a retrieval config", Flag(panel=DATA)] = "",
    demo: Annotated[bool, "train base, lbl and lgt on the shapes world; print one table", Flag(panel=DATA)] = False,
    dry_run: Annotated[bool, "print counts, tokens, price and time; train nothing", Flag(panel=DATA)] = False,
    price_in: Annotated[float | None, "price of a million tokens sent", Flag(panel=DATA, hidden=True)] = None,
    price_out: Annotated[float | None, "of a million tokens received", Flag(panel=DATA, hidden=True)] = None,
    evaluate_on: Annotated[str | None, "tested on before, after; default: --dataset; or none", Flag(panel=DATA)] = None,
    tolerance: Annotated[float | None, "exit code 3 if any figure falls by more", Flag(panel=DATA), SHARE] = None,
    request: TeachOptions,
) -> None:
    """Fine-tune a checkpoint so that it tells actions apart (LLM-teacher). Works under torchrun."""
    from video_contrast.teacher.gate import check_fallen, table

    if demo:
        others = {"model": model, "dataset": dataset, "dry_run": dry_run, "tolerance": tolerance is not None}
        _demo(request, others)
        return
    if not model or not dataset:
        raise UsageError("teach needs --model and --dataset (or --demo)")
    if dry_run:
        from video_contrast.teacher.run import dry_run as plan

        facts = plan(model, dataset, request, (price_in, price_out))
        width = max(map(len, facts))
        lines = [f"{name:{width}}  {value}" for name, value in facts.items() if not isinstance(value, dict)]
        for name, noun in (("left out", "clip"), ("not at hand", "model")):
            reasons = cast(dict[str, str], facts[name])
            lines.append(f"{name:{width}}  {counted(len(reasons), noun)}")
            lines += [f"  {what}: {reason}" for what, reason in reasons.items()]
        print("\n".join(lines))
        return
    from video_contrast.teacher.run import teach as run

    configs = _test_configs(dataset, evaluate_on)
    result = run(model, dataset, request=request, progress=not is_quiet())
    rows = [*result["validation"], *_scored(model, evaluate_on or dataset, configs, result, request)]
    if not result["main"]:
        return
    say(_summary(result, request.output))
    if not configs and evaluate_on != "none":
        say(f"no config of {dataset} has a test split here: the table is of validation clips alone (--evaluate-on SET)")
    say(f"\n{table(rows)}\n")
    write_json(request.output / "before_after.json", rows)
    write_text(request.output / "before_after.md", table(rows) + "\n")
    if tolerance is not None:
        check_fallen(rows, tolerance)


def _demo(request: TeachOptions, others: dict[str, object]) -> None:
    from video_contrast.launcher import is_writer
    from video_contrast.teacher import demo

    usual = as_record(TeachOptions(output=request.output, seed=request.seed))
    set_options = [name for name, value in as_record(request).items() if value != usual[name]]
    set_options += [name for name, value in others.items() if value]
    if flags := [f"--{name.replace('_', '-')}" for name in set_options]:
        raise UsageError(f"--demo has its own model, set and settings; leave out {', '.join(flags)}")
    metrics = demo.run(request.output, seed=request.seed, progress=not is_quiet())
    if is_writer():  # under torchrun one process speaks for all
        say(demo.table([metrics]))


def _test_configs(dataset: str, evaluate_on: str | None) -> list[str]:
    """The configs of the set to test on that have a test split; a set that is named must have some."""
    name = evaluate_on or dataset
    if evaluate_on == "none" or (evaluate_on is None and not Path(dataset).exists()):  # of the Hub, or a wrong name
        return []
    try:
        folder = SetFolder.open(name)
    except UsageError as error:
        raise UsageError(f"{'--dataset' if evaluate_on is None else '--evaluate-on'}: {error}") from error
    configs = [config for config in folder.configs if "test" in folder.splits(config)]
    if evaluate_on is not None and not configs:
        raise UsageError(f"--evaluate-on {name}: no config of the set has a split 'test'")
    return configs


def _scored(
    model: str, dataset: str, configs: list[str], result: TeachResult, request: TeachOptions
) -> list[FigureRow]:
    """The multiple-choice and retrieval configs of a set's test split, scored before and after and compared."""
    from video_contrast import api
    from video_contrast.reports.compare import compare_runs

    if not configs:
        return []
    folder, runs = SetFolder.open(dataset), {}
    # the videos of the test are under --video-root, or, of a set that has its own, there
    has_videos = any((folder.path / row["video_path"]).exists() for row in folder.rows(configs[0], "test")[:1])
    for name, source in (("before", model), ("after", result["model"])):
        runs[name] = request.output / "scores" / name
        api.score(
            source, dataset, configs, output=runs[name], split="test", frames=request.frames,
            video_root=None if has_videos else request.video_root, accept_damaged=request.accept_damaged, accept="all",
            progress=False,
        )  # fmt: skip
    if not result["main"]:
        return []
    return cast("list[FigureRow]", compare_runs(runs["before"], runs["after"], seed=request.seed))


def _summary(result: TeachResult, output: Path) -> str:
    counts = result["negatives"]["train"]
    lines = [
        f"validation: caption above all its negatives {result['best_accuracy']:.3f} at step {result['best_step']} of "
        f"{result['total']}{' (stopped early)' if result['stopped_early'] else ''}",
        f"captions with fewer negatives than asked for: {counts['captions with fewer than requested']} "
        f"of {counts['captions']}",
    ]
    if any(result["encoded"].values()):
        lines.append("frozen towers encoded " + ", ".join(f"{n} {name}" for name, n in result["encoded"].items() if n))
    lines.append(f"model: {result['model']}   curves: {output / 'curves.csv'}   table: {output / 'before_after.md'}")
    return "\n".join(lines)
