"""`teach`: a checkpoint and a captioned set in, a fine-tuned standard checkpoint and its learning curves out.

`train` goes from options to the best weights: the model's temperature, the library's arguments, when it ends.
`dry_run` says what a training would take, before it begins: clips, captions, questions to a chat model with their
tokens and price, steps, and the time of a step as measured here. Nothing is written.
"""

import importlib.util
import os
import time
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
import torch
from accelerate.state import AcceleratorState, PartialState
from transformers import EarlyStoppingCallback, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback, TrainerControl, TrainerState

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import AnyPath, JsonObject, resolve_under, write_json
from video_contrast.launcher import noticing_an_end
from video_contrast.options import OptionValues, with_options
from video_contrast.runner.kinds.loading import Tokens
from video_contrast.runner.memory import enough_memory
from video_contrast.runner.model_files import BASE, check_peft, locate
from video_contrast.runner.processes import Processes
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.teacher.batches import TrainingData, groups_of, none_readable
from video_contrast.teacher.evaluation import Measured
from video_contrast.teacher.gate import paired_rows
from video_contrast.teacher.generation import generate
from video_contrast.teacher.negative_recipe import (
    CaptionEdits,
    ClipRows,
    NegativeRecipe,
    check_encoder,
    check_generator,
    content,
    is_stored,
)
from video_contrast.teacher.options import GenerateOptions, TeachOptions, TrainingOptions
from video_contrast.teacher.saved_checkpoints import drop_broken, newest, same_run, saved_step
from video_contrast.teacher.trainer import TeachTrainer, curves, plot_curves
from video_contrast.teacher.training_data import prepare, read_splits
from video_contrast.teacher.two_towers import LoadedCheckpoint, Pairs, adapted, frames_of, load_checkpoint
from video_contrast.untyped import TorchModel
from video_contrast.video import index_of

STEP = timedelta(hours=1)  # processes wait so long for the slowest of them in a step, a validation or a save
NO_ROOM = (
    "out of memory: give a smaller --batch-size, --gradient-checkpointing, --freeze vision or --dtype bfloat16, and "
    "another --output"
)
TeachResult = dict[str, Any]  # of `teach`


@with_options
def teach(
    model: AnyPath,
    dataset: AnyPath,
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
    # Before anything that may take longer in one process than in another.
    without_gpu = not torch.cuda.is_available()
    if int(os.environ.get("WORLD_SIZE", 1)) <= 1:
        PartialState(cpu=without_gpu)  # trainings know GPUs and CPUs, and accelerate other devices, too
    here = Processes("cpu" if without_gpu else "auto", step=STEP)
    with here.together():
        checkpoint = load_checkpoint(model)
        net = checkpoint.net
        frames = frames_of(net, request.frames)
        identity: JsonObject = {
            "checkpoint": checkpoint.revision, "frames": frames, "encoder": content(request.teacher),
            "group": request.group, "generator_model": content(recipe.model), "generator_options": recipe.options,
            **{key: value for key, value in recipe.record().items() if key not in ("model", "options", "seed")},
            "training data": _digest(rows.train), "validation data": _digest(rows.validation),
        }  # fmt: skip
        depends_on = {"settings": request.record(), "identity": identity, "processes": here.count}
        lora = None
        if request.lora_rank:
            torch.manual_seed(int.from_bytes(digest("teach adapters", request.seed)[:4], "little"))
            lora = adapted(net, str(model), request, request.freeze)
        here.from_first(lambda: same_run(output, depends_on))  # before anything that takes long
        here.from_first(lambda: drop_broken(output))
        show = progress and here.first
        with noticing_an_end(), enough_memory(NO_ROOM):
            say = print if show else None
            material = prepare(here, checkpoint, rows, request=request, recipe=recipe, frames=frames, say=say)
            stores = (material.train.store, material.validation.store)
            identity["videos"] = digest(*(store.key for store in stores)).hex()[:12]
            here.from_first(lambda: same_run(output, depends_on))  # again: only now it is known what the videos hold
            steps, before, after = train(
                net, material, options=request, output=output, report_to=request.report_to,
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
                write_json(output / "model" / BASE, {"digest": checkpoint.revision})
            else:
                whole = net if lora is None else lora.merge_and_unload()
                whole.float().save_pretrained(output / "model")
                checkpoint.processor.save_pretrained(output / "model")
            plot_curves(output)
            write_json(output / "result.json", result)

        if result["finished"]:
            here.from_first(write)
    return {**result, "model": str(output / "model"), "encoded": material.encoded, "main": here.first}


def recipe_of(dataset: AnyPath, request: TeachOptions) -> NegativeRecipe:
    """The recipe of negatives that the options ask for."""
    generator = request.generator
    if generator == "auto":
        generator = "shapes" if SetFolder(Path(dataset)).builder == "shapes" else "lexicon"
    return NegativeRecipe.of(request, generator, request.seed)


def _digest(rows: ClipRows) -> str:
    """The digest of what decides the training in a split: its clips and their captions."""
    facts = ((row["id"], row["video_path"], row["start"], row["end"], *row["captions"]) for row in rows)
    return digest(*(fact for row_facts in facts for fact in row_facts)).hex()[:12]


def check_tracker(name: str) -> None:
    """Raises a UsageError where a tracker is not installed, or lacks the credentials to send what it is told."""
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


LARGEST_SCALE = float(np.log(100))  # CLIP (arXiv:2103.00020, 2.5): logits are scaled by at most 100


def train(
    model: TorchModel,
    splits: TrainingData,
    *,
    options: TrainingOptions,
    output: Path,
    report_to: str = "none",
    stop_after: int | None = None,
    progress: bool = True,
) -> tuple[TeachResult, Measured, Measured]:
    """Fine-tunes a dual encoder or X-CLIP in place, which gets the weights of its best validation: accuracy, then loss.

    Returns how it went, and what the model does on the validation clips before and after. `output`: the run's folder:
    `state` (checkpoints to resume from), `curves.csv`. `stop_after`: stop after so many steps as if killed there (for
    tests). Raises UsageError: a setting is out of range; VideoContrastError: a loss or its gradient was not a number;
    the message names the batch, and the last saved state is kept.
    """
    options.check()
    pairs = Pairs(model, options.freeze)
    if options.gradient_checkpointing:
        pairs.save_memory()
    if pairs.scale is not None:
        pairs.scale.requires_grad_(options.logit_scale == "learned")
    elif options.logit_scale == "learned":
        raise UsageError(f"--logit-scale learned: {type(model).__name__} has no logit scale")
    steps = -(-len(splits.train.clips) // options.batch_size)
    total = options.epochs * -(-steps // options.accumulate)
    checkpoint = newest(output)
    arguments = _arguments(options, output, total, report_to=report_to, progress=progress)
    rates = options.rates(lora=any("lora_" in name for name, _ in model.named_parameters()))
    epoch = saved_step(checkpoint) * options.epochs // total
    trainer = TeachTrainer(pairs, splits, options=options, arguments=arguments, rates=rates, epoch=epoch)
    trainer.add_callback(_Steps(stop_after))
    if options.patience:
        trainer.add_callback(EarlyStoppingCallback(options.patience))
    if not progress:
        trainer.remove_callback(PrinterCallback)
    before, patience = trainer.measure(), options.patience or np.inf
    state = TrainerState.load_from_json(str(checkpoint / "trainer_state.json")) if checkpoint else None
    if state is None or not (state.global_step >= total or _stale(state) >= patience):
        trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
        state = trainer.state
    elif state.best_model_checkpoint:  # as it was left: the best weights, and no step more
        trainer.restore(output / "state" / f"checkpoint-{state.best_global_step}")
    trainer.accelerator.wait_for_everyone()
    best = next((point for point in curves(state) if point["step"] == state.best_global_step), {})
    early = _stale(state) >= patience and state.global_step < total
    result = {
        "step": state.global_step,
        "best_step": state.best_global_step or 0,
        "best_loss": best.get("validation_loss"),
        "best_accuracy": best.get("validation_accuracy", 0.0),
        "total": total,
        "stopped_early": early,
        "finished": early or state.global_step >= total,
    }
    return result, before, trainer.measure_best()


class _Steps(TrainerCallback):
    """The last step is validated and saved, a learned logit scale stays in its bounds; it ends after `most` steps."""

    def __init__(self, most: int | None) -> None:
        self.most = most

    def on_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, *, model: Pairs, **others: object
    ) -> None:
        scale = getattr(model.model, "logit_scale", None)
        if scale is not None and scale.requires_grad:
            with torch.no_grad():
                scale.clamp_(0.0, LARGEST_SCALE)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: object
    ) -> TrainerControl:
        if state.global_step >= state.max_steps:
            control.should_log = control.should_evaluate = control.should_save = True
        control.should_training_stop |= self.most is not None and state.global_step >= self.most
        return control


def _stale(state: TrainerState) -> int:
    """Validations since the best one, as the library's early stopping counts them."""
    return sum(point["step"] > (state.best_global_step or 0) for point in curves(state))


def _arguments(options: TrainingOptions, output: Path, total: int, report_to: str, progress: bool) -> TrainingArguments:
    PartialState(cpu=not torch.cuda.is_available())
    AcceleratorState._reset_state()  # a training earlier in this process may have had another precision
    every = min(options.evaluate_every or total, total)
    arguments = TrainingArguments(
        output_dir=str(output / "state"),
        run_name=output.name,
        num_train_epochs=options.epochs,
        per_device_train_batch_size=options.batch_size,
        gradient_accumulation_steps=options.accumulate,
        lr_scheduler_type="cosine",
        warmup_steps=round(options.warm_up * total),
        bf16=options.dtype == "bfloat16",
        fp16=options.dtype == "float16",
        eval_strategy="steps",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        logging_steps=every,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="choice",
        greater_is_better=True,
        restore_callback_states_from_checkpoint=True,
        logging_nan_inf_filter=False,
        remove_unused_columns=False,
        dataloader_pin_memory=False,
        ddp_find_unused_parameters=True,  # an X-CLIP whose prompts add nothing has layers that no loss reaches
        accelerator_config={"use_configured_state": True},  # the processes that wait for the first one's negatives
        use_cpu=not torch.cuda.is_available(),
        seed=int.from_bytes(digest("teach", options.seed)[:4], "little"),
        report_to=[report_to],
        disable_tqdm=not progress,
    )
    arguments._n_gpu = min(1, arguments.n_gpu)  # several GPUs are for `torchrun`, not for threads of one process
    return arguments


SIDE = 224  # pixels of a picture where the model's config says none
Prices = tuple[float | None, float | None]
Fact: TypeAlias = int | float | dict[str, str]  # a number, or ids of clips, each with a reason


def dry_run(model: AnyPath, dataset: AnyPath, request: TeachOptions, prices: Prices = (None, None)) -> dict[str, Fact]:
    """Counts and measures.

    Returns "clips" and "captions" by split; "left out" (clips whose file cannot be opened, each with the reason); "not
    at hand" (models of the negatives and of the teacher that the training would stop for, each with the reason);
    "questions", "tokens sent", "tokens received" and "price", at most, of a generator that is a chat model; "steps",
    "seconds a step" (measured on frames of noise) and "hours" (of the steps alone). `model, dataset, request`: as of
    `teach`. `prices`: of a million tokens sent, and of a million received; None: no price. Raises UsageError: as of
    `teach`.
    """
    request.check()
    rows = read_splits(dataset, request)
    recipe = recipe_of(dataset, request)
    recipe.check()
    facts: dict[str, Fact] = {}
    left_out: dict[str, str] = {}
    faults: dict[str, str] = {}  # of files, by path
    readable = []
    captions = []
    for name, of_split in rows.named():
        reasons: dict[str, str] = {}  # of the clips whose file is absent or no video; frames are not decoded
        for row in of_split:
            if (path := row["video_path"]) not in faults:
                try:
                    index_of(resolve_under(rows.root, path))
                    faults[path] = ""
                except VideoContrastError as error:
                    faults[path] = str(error)
            reasons |= {row["id"]: faults[path]} if faults[path] else {}
        if len(reasons) == len(of_split):
            raise none_readable(len(of_split), name, next(iter(reasons.values())))
        left_out |= reasons
        readable.append([row for row in of_split if row["id"] not in reasons])
        captions.append(sum(len(row["captions"]) for row in readable[-1]))
        facts |= {f"clips, {name}": len(readable[-1]), f"captions, {name}": captions[-1]}
    absent = {}  # absent models stop `teach`: a dry run is for planning, so that they may come later
    encoder = partial(check_encoder, request.teacher or "lsa")
    for what, check in (("negatives", partial(check_generator, recipe)), ("teacher", encoder)):
        try:
            check()
        except VideoContrastError as error:
            absent[what] = str(error)
    facts |= {"left out": left_out, "not at hand": absent}
    if recipe.generator == "llm":
        facts |= _questions(dataset, request, recipe, prices)
    batches = -(-captions[0] // request.batch_size)
    steps = request.epochs * -(-batches // request.accumulate)
    seconds = request.accumulate * _seconds(load_checkpoint(model), request, readable[0], recipe)
    return {**facts, "steps": steps, "seconds a step": round(seconds, 3), "hours": round(steps * seconds / 3600, 2)}


def _questions(dataset: AnyPath, request: TeachOptions, recipe: NegativeRecipe, prices: Prices) -> dict[str, Fact]:
    """The estimates of `generate` for both splits."""
    edits: OptionValues = {field.name: getattr(request, field.name) for field in fields(CaptionEdits)}
    given = (recipe.options or "").split(",")  # where its server and its answers are does not change what is asked
    parts = [part for part in given if part.partition("=")[0].strip() not in ("endpoint", "store")]
    edits["generator_options"] = ",".join(parts) or None
    options = GenerateOptions(
        **edits, output=str(request.store or request.output / "store"), config=request.config, seed=request.seed,
        price_in=prices[0], price_out=prices[1], dry_run=True,
    )  # fmt: skip
    split_names = SetFolder.open(dataset).splits(request.config)
    splits = [request.split, *([request.validation] if request.validation in split_names else [])]
    results = [generate(dataset, request=replace(options, split=split), say=lambda _: None) for split in splits]
    estimates = [estimate for result in results if (estimate := result["estimate"]) is not None]
    names = {"questions": "questions", "tokens sent": "tokens_in", "tokens received": "tokens_out"}
    facts: dict[str, Fact] = {what: sum(getattr(one, name) for one in estimates) for what, name in names.items()}
    amounts = [estimate.price for estimate in estimates if estimate.price is not None]
    return facts | ({"price": round(sum(amounts), 2)} if amounts else {})


def _seconds(checkpoint: LoadedCheckpoint, request: TeachOptions, rows: ClipRows, recipe: NegativeRecipe) -> float:
    """The seconds of a forward and a backward pass of one batch, on noise; captions stand in for their negatives."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = Pairs(checkpoint.net, request.freeze).to(device).train()
    if request.gradient_checkpointing:
        pairs.save_memory()
    tokens = Tokens(checkpoint.processor.tokenizer, pairs.model.config)
    captions = [text for row in rows for text in row["captions"]]
    size, each = min(request.batch_size, len(captions)), 1 + recipe.total
    texts = [captions[n % len(captions)] for n in range(size * each)]
    own = torch.arange(size * each).view(each, size).T.contiguous().to(device)
    side = getattr(getattr(pairs.model.config, "vision_config", None), "image_size", SIDE)
    side = side if isinstance(side, int) else SIDE
    shape = (1, frames_of(checkpoint.net, request.frames), 3, side, side)
    noise = torch.from_numpy(np.random.Generator(np.random.PCG64(0)).standard_normal(shape))
    videos = noise.float().expand(size, -1, -1, -1, -1).to(device)
    seconds = []
    for _ in range(2):  # the first one also warms up
        begin = time.perf_counter()
        cosines, square, _ = pairs(videos, tokens(texts, device), own)
        (cosines.logsumexp(1).mean() + square.logsumexp(1).mean()).backward()
        if device == "cuda":
            torch.cuda.synchronize()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)
