"""`video-contrast teach`: LLM-teacher training of a checkpoint, or its demonstration on the shapes world."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Objective(StrEnum):
    """Equation 1 or 2 of the RCAD paper."""

    lbl = "lbl"
    lgt = "lgt"


class Precision(StrEnum):
    """Mixed precision of accelerate."""

    no = "no"
    fp16 = "fp16"
    bf16 = "bf16"


def add(app: typer.Typer) -> None:
    """Adds the command `teach`."""

    @app.command(
        "teach",
        epilog="Example: video-contrast teach --model temporal-plain --dataset sets/shapes --output run",
    )
    def teach(
        output: Annotated[Path, typer.Option(help="The run's folder; an interrupted run in it goes on.")],
        model: Annotated[str, typer.Option(help="Checkpoint to fine-tune: Hub id, folder or packaged.")] = "",
        dataset: Annotated[Path | None, typer.Option(help="Folder of a set with a retrieval config.")] = None,
        objective: Annotated[Objective, typer.Option(help="lbl: labels, equation 1; lgt: soft logits, equation 2.")] = (
            Objective.lbl
        ),
        demo: Annotated[bool, typer.Option("--demo", help="Base, lbl and lgt on the shapes world; one table.")] = False,
        config: Annotated[str, typer.Option(help="The retrieval config.")] = "retrieval",
        split: Annotated[str, typer.Option(help="Split to train on.")] = "train",
        validation: Annotated[str, typer.Option(help="Split to stop by; if absent, a tenth of the clips.")] = (
            "validation"
        ),
        video_root: Annotated[Path | None, typer.Option(help="Where video paths start; the set's folder.")] = None,
        negatives: Annotated[str, typer.Option(help="10-action, 5-action or 5-action-5-object.")] = "10-action",
        generator: Annotated[str, typer.Option(help="auto, lexical, t5, mlm, llm or shapes.")] = "auto",
        generator_model: Annotated[
            str | None, typer.Option(help="Checkpoint or server model of the generator.")
        ] = None,
        encoder: Annotated[str, typer.Option(help="Teacher: lsa, or a sentence encoder (folder or Hub id).")] = "lsa",
        temperature: Annotated[float, typer.Option(help="Of the model's similarities.")] = 0.05,
        teacher_temperature: Annotated[float, typer.Option(help="Of the teacher's similarities (lgt).")] = 0.05,
        contrast: Annotated[float, typer.Option(help="Weight of the in-batch contrast; 0 for none.")] = 1.0,
        frames: Annotated[int | None, typer.Option(help="Frames a clip; 8, or what the model needs.")] = None,
        epochs: Annotated[int, typer.Option(help="Passes over the captions.")] = 5,
        batch_size: Annotated[int, typer.Option(help="Clips a batch, all processes together.")] = 32,
        accumulate: Annotated[int, typer.Option(help="Batches a step.")] = 1,
        rate: Annotated[float, typer.Option(help="Highest learning rate.")] = 5e-4,
        evaluate_every: Annotated[int, typer.Option(help="Steps between validations, each of which is saved.")] = 100,
        patience: Annotated[int, typer.Option(help="Validations without progress until it stops; 0: never.")] = 5,
        precision: Annotated[Precision, typer.Option(help="Mixed precision.")] = Precision.no,
        seed: Annotated[int, typer.Option(help="Of batches and negatives.")] = 0,
    ) -> None:
        """Fine-tune a checkpoint so that it tells actions apart (LLM-teacher)."""
        from video_contrast.errors import UsageError

        if demo:
            from video_contrast.teacher import demo as it

            print(it.run(output, seed=seed))
            return
        if not model or dataset is None:
            raise UsageError("teach needs --model and --dataset (or --demo)")
        from video_contrast.teacher.run import teach as run

        result = run(
            model, dataset, output=output, objective=objective.value, config=config, split=split,
            validation=validation, video_root=video_root, kinds=negatives, generator=generator,
            generator_options={"generator_options": {"model": generator_model}} if generator_model else None,
            encoder=encoder, temperature=temperature, teacher_temperature=teacher_temperature, contrast=contrast,
            frames=frames, epochs=epochs, batch_size=batch_size, accumulate=accumulate, rate=rate,
            evaluate_every=evaluate_every, patience=patience, precision=precision.value, seed=seed,
        )  # fmt: skip
        short = result["negatives"]["train"]["captions with fewer than asked for"]
        print(
            f"validation: caption above all its negatives {result['best_accuracy']:.3f} at step {result['best_step']}"
            f" of {result['total']}{' (stopped early)' if result['stopped_early'] else ''}\n"
            f"captions with fewer negatives than asked for: {short}\n"
            f"checkpoint: {result['model']}   curves: {output / 'curves.csv'}"
        )
