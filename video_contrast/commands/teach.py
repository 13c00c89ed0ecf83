"""`video-contrast teach`: LLM-teacher training of a checkpoint, or its demonstration on the shapes world."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Objective(StrEnum):
    """Equation 1 or 2 of the RCAD paper."""

    lbl = "lbl"
    lgt = "lgt"


class Freeze(StrEnum):
    """Towers that do not learn."""

    none = "none"
    vision = "vision"
    text = "text"
    both = "both"


class Precision(StrEnum):
    """Mixed precision of accelerate."""

    no = "no"
    fp16 = "fp16"
    bf16 = "bf16"


def _option(panel: str, text: str, *names: str) -> Any:
    return typer.Option(*names, help=text, rich_help_panel=panel)


DATA, TEXT, HOW = "What is trained, on what", "Negatives and teacher", "Training"


def add(app: typer.Typer) -> None:
    """Adds the command `teach`."""

    @app.command("teach", epilog="Example: video-contrast teach --demo --output teach")
    def teach(
        context: typer.Context,
        output: Annotated[Path, _option(DATA, "The run's folder; the same call goes on in it.")],
        model: Annotated[str, _option(DATA, "Hub id, folder or packaged checkpoint.")] = "",
        dataset: Annotated[str, _option(DATA, "Folder or Hub id of a set with a retrieval config.")] = "",
        demo: Annotated[bool, _option(DATA, "Base, lbl and lgt on the shapes world; one table.", "--demo")] = False,
        config: Annotated[str, _option(DATA, "The retrieval config.")] = "retrieval",
        split: Annotated[str, _option(DATA, "Split to train on.")] = "train",
        validation: Annotated[str, _option(DATA, "Split to stop by; if absent, a tenth.")] = "validation",
        video_root: Annotated[Path | None, _option(DATA, "Where video paths start; the set's folder.")] = None,
        frames: Annotated[int | None, _option(DATA, "Frames a clip; 8, or what the model needs.")] = None,
        store: Annotated[Path | None, _option(DATA, "What is made once; OUTPUT/store. Runs may share it.")] = None,
        negatives: Annotated[str, _option(TEXT, "10-action, 5-action, 5-action-5-object.")] = "10-action",
        generator: Annotated[str, _option(TEXT, "auto, lexical, t5, mlm, llm or shapes.")] = "auto",
        generator_model: Annotated[str | None, _option(TEXT, "Its checkpoint, or its server's model.")] = None,
        generator_options: Annotated[str | None, _option(TEXT, "More of its options: name=value,...")] = None,
        constraints: Annotated[str | None, _option(TEXT, "Of negatives, comma-separated; the generator's.")] = None,
        constraint_settings: Annotated[str | None, _option(TEXT, "Their thresholds, models: name=value,...")] = None,
        tagger: Annotated[str, _option(TEXT, "auto, hanta, nltk, spacy:M or amr:FILE.")] = "auto",
        encoder: Annotated[str, _option(TEXT, "The teacher: lsa, or a sentence encoder.")] = "lsa",
        objective: Annotated[Objective, _option(HOW, "Labels or soft logits.")] = Objective.lbl,
        temperature: Annotated[float, _option(HOW, "Of the model's similarities.")] = 0.05,
        teacher_temperature: Annotated[float, _option(HOW, "Of the teacher's (lgt).")] = 0.01,
        contrast: Annotated[float, _option(HOW, "Weight of the in-batch term.")] = 1.0,
        group: Annotated[str | None, _option(HOW, "Clips alike in this column meet in a batch.")] = None,
        freeze: Annotated[
            Freeze,
            typer.Option(help="Frozen: vision, text or both.", rich_help_panel=HOW, metavar="TOWER"),
        ] = Freeze.none,
        epochs: Annotated[int, _option(HOW, "Passes over the captions.")] = 5,
        batch_size: Annotated[int, _option(HOW, "Clips a batch, all processes.")] = 32,
        accumulate: Annotated[int, _option(HOW, "Batches a step.")] = 1,
        rate: Annotated[float, _option(HOW, "Highest learning rate.")] = 5e-4,
        evaluate_every: Annotated[int, _option(HOW, "Steps between saved validations.")] = 100,
        patience: Annotated[int, _option(HOW, "Validations without gain; 0: any.")] = 5,
        precision: Annotated[Precision, _option(HOW, "Mixed precision.")] = Precision.no,
        seed: Annotated[int, _option(HOW, "Of batches and negatives.")] = 0,
    ) -> None:
        """Fine-tune a checkpoint so that it tells actions apart (LLM-teacher). Works under torchrun."""
        from video_contrast.errors import UsageError

        if demo:
            from video_contrast.teacher import demo as it

            sources = {name: context.get_parameter_source(name) for name in context.params}
            given = [name for name, source in sources.items() if source and source.name == "COMMANDLINE"]
            if other := [f"--{name.replace('_', '-')}" for name in given if name not in ("demo", "output", "seed")]:
                raise UsageError(f"--demo has its own model, set and settings; leave out {', '.join(other)}")
            print(it.run(output, seed=seed))
            return
        if not model or not dataset:
            raise UsageError("teach needs --model and --dataset (or --demo)")
        from video_contrast.teacher.run import teach as run

        result = run(
            model, dataset, output=output, config=config, split=split, validation=validation, video_root=video_root,
            frames=frames, store=store, kinds=negatives, generator=generator, generator_model=generator_model,
            generator_options=generator_options, constraints=constraints, constraint_settings=constraint_settings,
            tagger=tagger, encoder=encoder, group=group, objective=objective.value, temperature=temperature,
            teacher_temperature=teacher_temperature, contrast=contrast, freeze=freeze.value, epochs=epochs,
            batch_size=batch_size, accumulate=accumulate, rate=rate, evaluate_every=evaluate_every, patience=patience,
            precision=precision.value, seed=seed,
        )  # fmt: skip
        if result["main"]:
            print(_summary(result, output))


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
