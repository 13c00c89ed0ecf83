"""What a training would take, before it begins: clips, captions, questions to a chat model with their tokens and price,
steps, and the time of a step as measured here. Nothing is written.
"""

import time
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch

from video_contrast.errors import VideoContrastError
from video_contrast.files import resolve_under
from video_contrast.options import OptionValues
from video_contrast.rows import RetrievalRow
from video_contrast.runner.kinds.loading import Tokens
from video_contrast.storage import SetFolder
from video_contrast.teacher.checkpoint import frames_of, load_checkpoint
from video_contrast.teacher.generation import generate
from video_contrast.teacher.needed_models import check_encoder, check_generator
from video_contrast.teacher.negative_recipe import CaptionEdits, NegativeRecipe
from video_contrast.teacher.options import GenerateOptions, TeachOptions
from video_contrast.teacher.run import recipe_of
from video_contrast.teacher.splits import read_splits
from video_contrast.teacher.stored_frames import none_readable
from video_contrast.teacher.two_towers import Pairs
from video_contrast.untyped import Processor
from video_contrast.video import index_of

SIDE = 224  # pixels of a picture where the model's config says none
Prices = tuple[float | None, float | None]


Fact: TypeAlias = int | float | dict[str, str]  # a number, or ids of clips, each with a reason


def dry_run(
    model: str | Path, dataset: str | Path, request: TeachOptions, prices: Prices = (None, None)
) -> dict[str, Fact]:
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
    readable = []
    captions = []
    for name, of_split in rows.named():
        reasons = _unopened(of_split, rows.root)
        if len(reasons) == len(of_split):
            raise none_readable(len(of_split), name, next(iter(reasons.values())))
        left_out |= reasons
        readable.append([row for row in of_split if row["id"] not in reasons])
        captions.append(sum(len(row["captions"]) for row in readable[-1]))
        facts |= {f"clips, {name}": len(readable[-1]), f"captions, {name}": captions[-1]}
    facts |= {"left out": left_out, "not at hand": _absent_models(recipe, request)}
    if recipe.generator == "llm":
        facts |= _questions(dataset, request, recipe, prices)
    batches = -(-captions[0] // request.batch_size)
    steps = request.epochs * -(-batches // request.accumulate)
    checkpoint = load_checkpoint(model)
    seconds = request.accumulate * _seconds(
        Pairs(checkpoint.net, request.freeze),
        checkpoint.processor,
        request,
        frames=frames_of(checkpoint.net, request.frames),
        rows=readable[0],
        recipe=recipe,
    )
    return {**facts, "steps": steps, "seconds a step": round(seconds, 3), "hours": round(steps * seconds / 3600, 2)}


def _absent_models(recipe: NegativeRecipe, request: TeachOptions) -> dict[str, str]:
    """What `teach` would stop for; a dry run is for planning, so that the models may come later."""
    absent = {}
    checks = {
        "negatives": partial(check_generator, recipe),
        "teacher": partial(check_encoder, request.teacher or "lsa"),
    }
    for what, check in checks.items():
        try:
            check()
        except VideoContrastError as error:
            absent[what] = str(error)
    return absent


def _unopened(rows: Sequence[RetrievalRow], root: Path) -> dict[str, str]:
    """Clips whose file is absent, not a regular file, or no video, each with the reason; frames are not decoded."""

    @cache
    def reason(path: str) -> str:
        try:
            index_of(resolve_under(root, path))
        except VideoContrastError as error:
            return str(error)
        return ""

    return {row["id"]: why for row in rows if (why := reason(row["video_path"]))}


def _questions(dataset: str | Path, request: TeachOptions, recipe: NegativeRecipe, prices: Prices) -> dict[str, Fact]:
    """What `generate` estimates of both splits."""
    edits: OptionValues = {field.name: getattr(request, field.name) for field in fields(CaptionEdits)}
    edits["generator_options"] = _without_server(recipe.options)
    options = GenerateOptions(
        **edits, output=str(request.store or request.output / "store"), config=request.config, seed=request.seed,
        price_in=prices[0], price_out=prices[1], dry_run=True,
    )  # fmt: skip
    names = SetFolder.open(dataset).splits(request.config)
    splits = [request.split, *([request.validation] if request.validation in names else [])]
    results = [generate(dataset, request=replace(options, split=split), say=lambda _: None) for split in splits]
    estimates = [estimate for result in results if (estimate := result["estimate"]) is not None]
    facts: dict[str, Fact] = {
        "questions": sum(estimate.questions for estimate in estimates),
        "tokens sent": sum(estimate.tokens_in for estimate in estimates),
        "tokens received": sum(estimate.tokens_out for estimate in estimates),
    }
    amounts = [estimate.price for estimate in estimates if estimate.price is not None]
    return facts | ({"price": round(sum(amounts), 2)} if amounts else {})


def _without_server(options: str | None) -> str | None:
    """The options of a chat model that change what is asked; where its server and its answers are does not."""
    parts = [part for part in (options or "").split(",") if part.partition("=")[0].strip() not in ("endpoint", "store")]
    return ",".join(parts) or None


def _seconds(
    pairs: Pairs,
    processor: Processor,
    request: TeachOptions,
    *,
    frames: int,
    rows: Sequence[RetrievalRow],
    recipe: NegativeRecipe,
) -> float:
    """Of a forward and a backward pass of one batch, on noise; captions stand in for their negatives."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = pairs.to(device).train()
    if request.gradient_checkpointing:
        pairs.save_memory()
    tokens = Tokens(processor.tokenizer, pairs.model.config)
    captions = [text for row in rows for text in row["captions"]]
    size, each = min(request.batch_size, len(captions)), 1 + recipe.total
    texts = [captions[n % len(captions)] for n in range(size * each)]
    own = torch.arange(size * each).view(each, size).T.contiguous().to(device)
    side = getattr(getattr(pairs.model.config, "vision_config", None), "image_size", SIDE)
    side = side if isinstance(side, int) else SIDE
    noise = torch.from_numpy(np.random.Generator(np.random.PCG64(0)).standard_normal((1, frames, 3, side, side)))
    videos = noise.float().expand(size, -1, -1, -1, -1).to(device)
    spent = []
    for _ in range(2):  # the first one also warms up
        begin = time.perf_counter()
        cosines, square, _ = pairs(videos, tokens(texts, device), own)
        (cosines.logsumexp(1).mean() + square.logsumexp(1).mean()).backward()
        if device == "cuda":
            torch.cuda.synchronize()
        spent.append(time.perf_counter() - begin)
    return min(spent)
