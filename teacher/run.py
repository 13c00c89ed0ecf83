"""`teach`: a checkpoint and a captioned set in, a fine-tuned standard checkpoint and its learning curves out."""

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from video_contrast.errors import UsageError
from video_contrast.files import write_json
from video_contrast.launcher import noticing_an_end
from video_contrast.options import with_options
from video_contrast.rows import RetrievalRow
from video_contrast.runner.adapters import check_peft, write_base
from video_contrast.runner.locate import locate
from video_contrast.runner.memory import enough_memory
from video_contrast.runner.processes import Processes
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.teacher.batches import groups_of
from video_contrast.teacher.checkpoint import adapted, frames_of, load_checkpoint
from video_contrast.teacher.gate import paired_rows
from video_contrast.teacher.material import prepare
from video_contrast.teacher.needed_models import check_encoder, check_generator, content, is_stored
from video_contrast.teacher.negative_recipe import NegativeRecipe
from video_contrast.teacher.options import TeachOptions
from video_contrast.teacher.saving import drop_broken, plot_curves, same_run
from video_contrast.teacher.splits import SplitRows, read_splits
from video_contrast.teacher.training import train

STEP = timedelta(hours=1)  # processes wait so long for the slowest of them in a step, a validation or a save
NO_ROOM = (
    "out of memory: give a smaller --batch-size, --gradient-checkpointing, --freeze vision or --dtype bfloat16, and "
    "another --output"
)
TeachResult = dict[str, Any]  # of `teach`


@with_options
def teach(
    model: str | Path,
    dataset: str | Path,
    *,
    request: TeachOptions,
    progress: Annotated[bool, "show bars"] = True,
    stop_after: Annotated[int | None, "stop after so many steps as if killed there"] = None,
) -> TeachResult:
    """Fine-tunes a checkpoint with LLM-teacher.

    Called again with the same arguments it goes on where it stopped, and ends with the same numbers.

    Args:
        model: Hub id, folder, or packaged checkpoint ("temporal-plain").
        dataset: folder or Hub id of a set with a retrieval config.
        progress: show bars.
        stop_after: stop after so many steps as if killed there.

    Returns:
        How the training went, as `result.json` says it: `step` (the last one) of `total`, `best_step` (whose weights
        the model has) with `best_loss` and `best_accuracy` of the validation there, `stopped_early`, `finished`;
        `negatives` (split -> counts), `missing` and `unread` (clips that could not be read, and their ids, each with
        the reason); `validation`: each figure on the validation clips before and after (`gate.paired_rows`). Beside it
        `model` (the folder: a checkpoint, or adapters), `encoded` (clips and captions that a frozen tower encoded now)
        and `main` (whether this is the first process).

    Raises:
        UsageError: options that do not go together, a model or set that cannot be trained with them, or an output
            folder that holds a run with other settings.
        VideoContrastError: there is no such model or set, no caption has a negative, or a loss was not a number.
    """
    request.check()
    check_tracker(request.report_to)
    output = request.output
    rows = read_splits(dataset, request)
    if request.group:
        rows = replace(rows, groups=groups_of(rows.train, request.group))
    recipe = recipe_of(dataset, request)
    recipe.check()
    if request.teacher:
        check_encoder(request.teacher)
    if not is_stored(recipe, request.store or output / "store"):
        check_generator(recipe)
    if request.lora_rank:
        check_peft("--lora-rank")
        if not request.merge and locate(str(model)).adapter is not None:
            raise UsageError(f"--lora-rank: {model} holds adapters: give --merge, or merge them first")
    here = _processes()  # before anything that may take longer in one process than in another
    with here.together():
        checkpoint = load_checkpoint(model)
        net = checkpoint.net
        frames = frames_of(net, request.frames)
        identity: dict[str, Any] = {
            "settings": request.record(),
            "identity": _identity(request, recipe, rows, revision=checkpoint.revision, frames=frames),
            "processes": here.count,
        }
        lora = None
        if request.lora_rank:
            import torch

            torch.manual_seed(int.from_bytes(digest("teach adapters", request.seed)[:4], "little"))
            lora = adapted(net, str(model), request, request.freeze)
        here.from_first(lambda: same_run(output, identity))  # before anything that takes long
        here.from_first(lambda: drop_broken(output))
        show = progress and here.first
        with noticing_an_end(), enough_memory(NO_ROOM):
            material = prepare(
                here, checkpoint, rows, request=request, recipe=recipe, frames=frames, say=print if show else None
            )
            stores = (material.splits.train.store, material.splits.validation.store)
            identity["identity"]["videos"] = digest(*(store.key for store in stores)).hex()[:12]
            here.from_first(lambda: same_run(output, identity))  # again: only now it is known what the videos hold
            steps, before, after = train(
                net, material.splits, options=request, output=output, report_to=request.report_to,
                stop_after=stop_after, progress=show,
            )  # fmt: skip
        result = {
            **steps,
            "negatives": material.counts,
            "missing": len(material.unread),
            "unread": material.unread,
            "validation": paired_rows(before.hits, after.hits, "validation", seed=request.seed),
        }

        def write() -> None:
            if lora is not None and not request.merge:
                lora.save_pretrained(output / "model")
                write_base(output / "model", checkpoint.revision)
            else:
                whole = net if lora is None else lora.merge_and_unload()
                whole.float().save_pretrained(output / "model")
                checkpoint.processor.save_pretrained(output / "model")
            plot_curves(output)
            write_json(output / "result.json", result)

        if result["finished"]:
            here.from_first(write)
    return {**result, "model": str(output / "model"), "encoded": material.encoded, "main": here.first}


def recipe_of(dataset: str | Path, request: TeachOptions) -> NegativeRecipe:
    """Which negatives the options ask for."""
    generator = request.generator
    if generator == "auto":
        generator = "shapes" if SetFolder(Path(dataset)).builder == "shapes" else "lexicon"
    return NegativeRecipe.of(request, generator, request.seed)


def _identity(
    request: TeachOptions, recipe: NegativeRecipe, rows: SplitRows, *, revision: str, frames: int
) -> dict[str, object]:
    """What a run depends on besides the options of the training."""
    return {
        "checkpoint": revision, "frames": frames, "encoder": content(request.teacher), "group": request.group,
        "generator_model": content(recipe.model), "generator_options": recipe.options,
        **{key: value for key, value in recipe.record().items() if key not in ("model", "options", "seed")},
        "training data": _digest(rows.train), "validation data": _digest(rows.validation),
    }  # fmt: skip


def _digest(rows: Sequence[RetrievalRow]) -> str:
    """What of a split decides the training: its clips and their captions."""
    facts = ((row["id"], row["video_path"], row["start"], row["end"], *row["captions"]) for row in rows)
    return digest(*(fact for row_facts in facts for fact in row_facts)).hex()[:12]


def _processes() -> Processes:
    """The processes that `torchrun` or `accelerate launch` started; one otherwise."""
    import torch
    from accelerate import PartialState

    without = not torch.cuda.is_available()
    if int(os.environ.get("WORLD_SIZE", 1)) <= 1:
        PartialState(cpu=without)  # trainings know GPUs and CPUs, and accelerate other devices, too
    return Processes("cpu" if without else "auto", step=STEP)


def check_tracker(name: str) -> None:
    """Checks that a tracker is installed, and that one that sends what it is told has credentials.

    Raises UsageError: it is not, or it has none.
    """
    if name == "none":
        return
    if importlib.util.find_spec(name) is None:
        raise UsageError(f"--report-to {name}: the package {name} is not installed; `pip install {name}`")
    from requests.utils import get_netrc_auth

    key = os.environ.get("WANDB_API_KEY") or get_netrc_auth("https://api.wandb.ai")
    if name == "wandb" and os.environ.get("WANDB_MODE") not in ("offline", "disabled") and not key:
        raise UsageError(
            "--report-to wandb: no credentials; run `wandb login`, set WANDB_API_KEY, or WANDB_MODE=offline to keep "
            "the logs here"
        )
    if name == "trackio" and os.environ.get("TRACKIO_SPACE_ID"):
        from huggingface_hub import get_token

        if not get_token():
            raise UsageError(
                "--report-to trackio: TRACKIO_SPACE_ID names a Space, and there are no credentials; run `hf auth "
                "login`, or unset it to keep the logs here"
            )
