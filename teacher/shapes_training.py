"""Trains the three checkpoints of the shapes world from nothing, out of freshly drawn clips.

    python -m video_contrast.teacher.shapes_training --output video_contrast/checkpoints

All start from one image-text model (`shapes_warm_up`); `temporal` goes on from `temporal-plain`.

- `bag-of-frames`: a CLIP over single frames, averaged. Plain contrast plus hard negatives: what it lacks is time.
- `temporal-plain`: an X-CLIP trained by plain contrast within the batch.
- `temporal`: the same X-CLIP with hard negative captions (the label loss of LLM-teacher), and each clip's reversal
  in its batch.

Every batch holds scenes that were never drawn before; none of a test set is among them (`held_out`).
"""

import argparse
import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from transformers import XCLIPModel

from video_contrast.builders.shapes_captions import claim, write
from video_contrast.builders.shapes_contrasts import negatives
from video_contrast.builders.shapes_render import render
from video_contrast.builders.shapes_world import REVERSE, Scene, scenes
from video_contrast.runner.sampling import frame_indices
from video_contrast.seeds import digest, stream
from video_contrast.teacher import tiny_models
from video_contrast.teacher.shapes_towers import embed_clips, embed_texts
from video_contrast.teacher.shapes_warm_up import warm_up

SEED = 1000
BATCH = 64
WARM_UP = 60


@dataclass(frozen=True)
class Recipe:
    """How one of the checkpoints is trained.

    Attributes:
        kind: "clip" or "xclip".
        steps: batches of 64 clips.
        hard: negative captions a clip (0: none).
        reversals: whether a clip's reversal stands in its batch.
        peak: the highest learning rate.
        rare: actions to see more often: of the other scenes six in ten are passed over.
    """

    kind: str
    steps: int
    hard: int
    reversals: bool
    peak: float = 2e-3
    rare: tuple[str, ...] = ()


_HARDEST = ("turns_clockwise", "turns_counter_clockwise", "slides_left", "slides_right")
RECIPES = {  # one or more stages each
    "bag-of-frames": (Recipe("clip", 300, 5, False),),
    "temporal-plain": (Recipe("xclip", 400, 0, False),),
    "temporal": (
        Recipe("xclip", 1200, 6, True),
        Recipe("xclip", 600, 6, True, 1.5e-3, _HARDEST),
    ),
}


@dataclass
class Batch:
    """Clips uint8[B, T, H, W, 3], their captions, and per clip the hard negatives (the empty string where too few)."""

    clips: np.ndarray
    captions: list[str]
    hard: list[list[str]]


def batches(recipe: Recipe, seed: int, frames: int) -> Iterator[Batch]:
    """Freshly drawn batches, the same for the same seed."""
    drawn = scenes(seed, "train", 10**9)
    where = frame_indices(12, frames)
    rng = stream("shapes training", seed)
    while True:
        shown: list[tuple[Scene, np.ndarray]] = []
        while len(shown) < BATCH:
            scene = next(drawn)
            if recipe.rare and scene.action not in recipe.rare and rng.random() < 0.6:
                continue
            frames_of = render(scene)[where]
            shown.append((scene, frames_of))
            if recipe.reversals and scene.action in REVERSE and len(shown) < BATCH:
                shown.append((scene.reversed(), frames_of[::-1]))
        captions, hard = [], []
        for scene, _ in shown:
            said = claim(scene, place=rng.random() < 0.9, setting=rng.random() < 0.9)
            names, phrase = bool(rng.random() < 0.4), int(rng.integers(2))
            captions.append(write(said, names=names, phrase=phrase))
            hard.append(_hard(negatives(scene, said, rng, phrase, names), rng, recipe.hard) if recipe.hard else [])
        yield Batch(np.stack([frames_of for _, frames_of in shown]), captions, hard)


def _hard(found: dict[str, list[str]], rng: np.random.Generator, count: int) -> list[str]:
    """`count` of the negatives: the antonym first, then one a kind in turn."""
    kinds = [kind for kind in found if kind != "antonym"]
    in_turn = [
        texts[n] for n in range(count) for kind in rng.permutation(kinds) for texts in [found[kind]] if n < len(texts)
    ]
    chosen = [*found["antonym"], *in_turn][:count]
    return chosen + [""] * (count - len(chosen))


def vocabulary(seed: int = SEED) -> Any:
    """The tokenizer of all three checkpoints, fitted on training captions."""
    return tiny_models.tokenizer(
        write(claim(scene), names=names, phrase=phrase)
        for scene in scenes(seed, "train", 3000)
        for names in (False, True)
        for phrase in (0, 1)
    )


def train(name: str, start: Any, words: Any, *, seed: int = SEED, first: int = 0, log: Any = print) -> Any:
    """Trains a checkpoint from the weights of `start`, and returns the model.

    Args:
        name: which one.
        start: a tiny model; what has another shape or name starts anew.
        words: the tokenizer.
        seed: of weights and scenes.
        first: number of the recipe's stage to begin with.
        log: a function like `print`.
    """
    make = tiny_models.clip if RECIPES[name][0].kind == "clip" else tiny_models.xclip
    model = tiny_models.with_towers_of(make(words, seed), start)
    for stage, recipe in enumerate(RECIPES[name]):
        if stage >= first:
            _stage(model, words, recipe, seed + stage, f"{name} stage {stage + 1}", log)
    return model.eval()


def _stage(model: Any, words: Any, recipe: Recipe, seed: int, label: str, log: Any) -> None:
    torch.manual_seed(int.from_bytes(digest("shapes training", seed)[:4], "little"))
    steps = recipe.steps
    model.train()
    optimizer = _optimizer(model, recipe.peak)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps))
    started = time.process_time()
    running: dict[str, float] = {}
    for step, batch in zip(range(steps), batches(recipe, seed, tiny_models.FRAMES), strict=False):
        parts = losses(model, words, batch)
        loss = sum(parts.values())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            model.logit_scale.clamp_(0.0, 4.0)
        for key, value in parts.items():
            running[key] = 0.95 * running.get(key, float(value.detach())) + 0.05 * float(value.detach())
        if step % 100 == 99 or step == steps - 1:
            shown = " ".join(f"{key} {value:.3f}" for key, value in running.items())
            log(f"{label} step {step + 1}/{steps} {shown} ({time.process_time() - started:.0f} CPU-s)", flush=True)


def losses(model: Any, words: Any, batch: Batch) -> dict[str, torch.Tensor]:
    """In-batch contrast both ways, and the cross-entropy of the caption against its hard negatives."""
    videos = functional.normalize(embed_clips(model, batch.clips), dim=-1)
    texts = [*batch.captions, *(text for row in batch.hard for text in row if text)]
    embedded = functional.normalize(embed_texts(model, words, texts), dim=-1)
    scale = model.logit_scale.exp()
    count = len(batch.captions)
    similar = scale * videos @ embedded[:count].T
    # Captions that occur twice in a batch are no negatives of each other.
    same = torch.tensor([[a == b for b in batch.captions] for a in batch.captions]) & ~torch.eye(
        count, dtype=torch.bool
    )
    similar = similar.masked_fill(same, -1e4)
    target = torch.arange(count)
    found = {"contrast": (functional.cross_entropy(similar, target) + functional.cross_entropy(similar.T, target)) / 2}
    if batch.hard[0]:
        mask = torch.tensor([[bool(text) for text in row] for row in batch.hard])
        hard = torch.zeros(*mask.shape, embedded.shape[1]).masked_scatter(mask[..., None], embedded[count:])
        against = scale * torch.einsum("bd,bkd->bk", videos, hard)
        logits = torch.cat([similar.diagonal()[:, None], against.masked_fill(~mask, -1e4)], 1)
        found["hard"] = functional.cross_entropy(logits, torch.zeros(count, dtype=torch.long))
    return found


def _optimizer(model: Any, peak: float) -> torch.optim.Optimizer:
    decayed = [p for p in model.parameters() if p.ndim >= 2]
    plain = [p for p in model.parameters() if p.ndim < 2]
    groups = [{"params": decayed, "weight_decay": 0.05}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=peak, betas=(0.9, 0.98), eps=1e-6)


def _rate(step: int, steps: int) -> float:
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    return 0.5 * (1 + float(np.cos(np.pi * (step - WARM_UP) / max(1, steps - WARM_UP)))) + 0.005


def main() -> None:
    """The command line of the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder of the three checkpoints")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--warm", type=Path, help="keep the warmed-up start in this file, or take it from there")
    parser.add_argument("--first-stage", type=int, default=0, help="go on from the checkpoint in --output")
    parser.add_argument("--only", choices=sorted(RECIPES), nargs="*", default=list(RECIPES))
    chosen = parser.parse_args()
    torch.set_num_threads(1)  # the same sums in the same order everywhere
    words = vocabulary(chosen.seed)
    start = tiny_models.clip(words, chosen.seed)
    if chosen.warm and chosen.warm.exists():
        start.load_state_dict(torch.load(chosen.warm, weights_only=True))
    else:
        start = warm_up(words, chosen.seed)
        if chosen.warm:
            torch.save(start.state_dict(), chosen.warm)
    plain: Any = None
    for name in chosen.only:
        if name == "temporal":
            plain = plain or XCLIPModel.from_pretrained(chosen.output / "temporal-plain", dtype=torch.float32)
        begin: Any = plain if name == "temporal" else start
        if chosen.first_stage:
            begin = XCLIPModel.from_pretrained(chosen.output / name, dtype=torch.float32)
        model = train(name, begin, words, seed=chosen.seed, first=chosen.first_stage)
        if name == "temporal-plain":
            plain = copy.deepcopy(model)
        tiny_models.save(model, words, chosen.output / name)
        print(f"written to {chosen.output / name}", flush=True)


if __name__ == "__main__":
    main()
