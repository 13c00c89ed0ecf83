"""`video-contrast teach`: LLM-teacher training of a checkpoint, or its demonstration on the shapes world."""

from pathlib import Path
from typing import Annotated, Any

from video_contrast.commands.command import Command
from video_contrast.errors import UsageError
from video_contrast.options import Flag, as_record
from video_contrast.teacher.options import DATA, TeachOptions


def commands() -> list[Command]:
    """The command `teach`."""
    return [Command("teach", teach, "video-contrast teach --demo --output teach")]


def teach(
    *,
    model: Annotated[str, "Hub id, folder or packaged checkpoint", Flag(panel=DATA)] = "",
    dataset: Annotated[str, "folder or Hub id of a set with a retrieval config", Flag(panel=DATA)] = "",
    demo: Annotated[bool, "base, lbl and lgt on the shapes world; one table", Flag(panel=DATA)] = False,
    request: TeachOptions,
) -> None:
    """Fine-tune a checkpoint so that it tells actions apart (LLM-teacher). Works under torchrun."""
    if demo:
        from video_contrast.teacher import demo as shapes_demo

        usual = as_record(TeachOptions(output=request.output, seed=request.seed))
        given = [name for name, value in as_record(request).items() if value != usual[name]]
        given += [name for name, value in (("model", model), ("dataset", dataset)) if value]
        if flags := [f"--{name.replace('_', '-')}" for name in given]:
            raise UsageError(f"--demo has its own model, set and settings; leave out {', '.join(flags)}")
        print(shapes_demo.run(request.output, seed=request.seed))
        return
    if not model or not dataset:
        raise UsageError("teach needs --model and --dataset (or --demo)")
    from video_contrast.teacher.run import teach as run

    result = run(model, dataset, request=request)
    if result["main"]:
        print(_summary(result, request.output))


def _summary(result: dict[str, Any], output: Path) -> str:
    counts = result["negatives"]["train"]
    lines = [
        f"validation: caption above all its negatives {result['best_accuracy']:.3f} at step {result['best_step']} of "
        f"{result['total']}{' (stopped early)' if result['stopped_early'] else ''}",
        f"captions with fewer negatives than asked for: {counts['captions with fewer than requested']} "
        f"of {counts['captions']}",
    ]
    if any(result["encoded"].values()):
        lines.append("frozen towers encoded " + ", ".join(f"{n} {name}" for name, n in result["encoded"].items() if n))
    lines.append(f"checkpoint: {result['model']}   curves: {output / 'curves.csv'}")
    return "\n".join(lines)
