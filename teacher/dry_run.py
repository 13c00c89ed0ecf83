"""What a training would take, before it begins: clips, captions, questions to a chat model with their tokens and price,
steps, and the time of a step as measured here. Nothing is written.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import RetrievalRow
from video_contrast.teacher.options import TeachOptions
from video_contrast.teacher.pairs import Pairs

SIDE = 224  # pixels of a picture where the model's config says none
CHARACTERS = 4  # a token, of English on average
REPLACEMENT = 4  # tokens of a replacement in an answer, its quotes and comma included


def dry_run(model: str | Path, dataset: str | Path, request: TeachOptions, price: str | None = None) -> dict[str, Any]:
    """Counts and measures.

    Args:
        model, dataset, request: as of `teach`.
        price: dollars for a million tokens, "PROMPT,ANSWER" ("0.15,0.60"); None: no price.

    Returns:
        "clips" and "captions" by split; "left out" (clips whose file cannot be opened, each with the reason);
        "questions", "prompt tokens", "answer tokens" and "price" (dollars), at most, of a generator that is a chat
        model; "steps", "seconds a step" (measured on frames of noise) and "hours" (of the steps alone).

    Raises:
        UsageError: as of `teach`, or a price that is not two numbers.
    """
    from video_contrast.teacher.presets import with_preset
    from video_contrast.teacher.run import frames_of, load_checkpoint, read_splits, recipe_of

    request = with_preset(request)
    request.check()
    prices = _prices(price)
    root, splits = read_splits(dataset, request)
    recipe = recipe_of(dataset, request)
    recipe.check()
    facts: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    kept = []
    for name, rows in zip(("train", "validation"), splits, strict=True):
        reasons = _unopened(rows, request.video_root or root)
        left_out |= reasons
        kept.append([row for row in rows if row["id"] not in reasons])
        facts |= {f"clips, {name}": len(kept[-1]), f"captions, {name}": sum(len(row["captions"]) for row in kept[-1])}
    facts["left out"] = left_out
    if not kept[0] or not kept[1]:
        raise VideoContrastError(f"no video of a split can be opened; the first: {next(iter(left_out.items()), None)}")
    if recipe.generator == "llm":
        facts |= _questions([text for rows in kept for row in rows for text in row["captions"]], prices)
    batches = -(-facts["captions, train"] // request.batch_size)
    steps = request.epochs * -(-batches // request.accumulate)
    net, processor, _ = load_checkpoint(model)
    seconds = request.accumulate * _seconds(
        Pairs(net, request.freeze), processor, request, frames_of(net, request.frames), kept[0], recipe
    )
    return facts | {"steps": steps, "seconds a step": round(seconds, 3), "hours": round(steps * seconds / 3600, 2)}


def _unopened(rows: Sequence[RetrievalRow], root: Path) -> dict[str, str]:
    """Clips whose file is absent, not a regular file, or no video, each with the reason; frames are not decoded."""
    from video_contrast.files import resolve_under
    from video_contrast.video import index_of

    reasons: dict[str, str] = {}
    of_file: dict[str, str] = {}
    for row in rows:
        name = row["video_path"]
        if name not in of_file:
            try:
                index_of(resolve_under(root, name))
                of_file[name] = ""
            except VideoContrastError as error:
                of_file[name] = str(error)
        if of_file[name]:
            reasons[row["id"]] = of_file[name]
    return reasons


def _questions(captions: Sequence[str], prices: tuple[float, float] | None) -> dict[str, Any]:
    """At most: one question a pass and caption."""
    from video_contrast.perturbations.contrast.generators.llm import ChatGenerator
    from video_contrast.teacher.negatives import PASSES

    fixed = ChatGenerator.prompt_length()
    prompt = PASSES * sum((fixed + len(text)) / CHARACTERS for text in captions)
    answer = PASSES * len(captions) * (10 * REPLACEMENT + 5)
    facts: dict[str, Any] = {
        "questions": PASSES * len(captions), "prompt tokens": round(prompt), "answer tokens": answer,
    }  # fmt: skip
    if prices:
        facts["price"] = round((prompt * prices[0] + answer * prices[1]) / 1e6, 2)
    return facts


def _seconds(
    pairs: Pairs, processor: Any, request: TeachOptions, frames: int, rows: Sequence[RetrievalRow], recipe: Any
) -> float:
    """Of a forward and a backward pass of one batch, on noise; captions stand in for their negatives."""
    from video_contrast.runner.kinds.loading import Tokens

    device = "cuda" if torch.cuda.is_available() else "cpu"
    pairs = pairs.to(device).train()
    if request.gradient_checkpointing:
        pairs.save_memory()
    tokens = Tokens(processor.tokenizer, pairs.model.config)
    captions = [text for row in rows for text in row["captions"]]
    size, each = min(request.batch_size, len(captions)), 1 + recipe.actions + recipe.objects
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


def _prices(price: str | None) -> tuple[float, float] | None:
    if price is None:
        return None
    try:
        prompt, answer = (float(part) for part in price.split(","))
    except ValueError:
        raise UsageError(
            f"--price {price!r} must be two numbers: dollars for a million prompt and answer tokens"
        ) from None
    return prompt, answer
