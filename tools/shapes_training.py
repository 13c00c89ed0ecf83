"""Makes the three checkpoints of the shapes world from nothing, out of freshly drawn clips.

    python tools/shapes_training.py --output video_contrast/checkpoints

1. Contrast in the batch, from one image-text model (`warm_up`). Every batch holds scenes that were never drawn
   before; none of a test set is among them (`held_out`).
   - `bag-of-frames`: a CLIP over single frames, averaged; hard negative captions as well. What it lacks is time.
   - `temporal-plain`: an X-CLIP, trained by contrast alone.
2. `temporal`: the same X-CLIP after the product's own training, `teach`, with the options in `TAUGHT`.

The first stage has a loop of its own: `teach` goes through a stored set several times, while here no scene is shown
twice, and clips are rendered as they are needed.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import shapes_models
import torch
from shapes_models import embed_clips, embed_texts
from torch import nn
from torch.nn import functional

from video_contrast.builders import build
from video_contrast.builders.shapes import world
from video_contrast.builders.shapes.captions import Claim, claim, write
from video_contrast.builders.shapes.contrasts import negatives
from video_contrast.builders.shapes.render import SIZE, draw, layout, render
from video_contrast.builders.shapes.world import Figure, Scene, scenes
from video_contrast.files import atomic_path
from video_contrast.seeds import digest, stream
from video_contrast.storage import SetFolder
from video_contrast.teacher.losses import contrast_loss, label_loss
from video_contrast.teacher.run import teach
from video_contrast.teacher.trainer import parameter_groups
from video_contrast.teacher.two_towers import load_checkpoint
from video_contrast.untyped import Tokenizer, TorchModel
from video_contrast.video import frame_indices

SEED = 1000
BATCH = 64
WARM_UP = 60


@dataclass(frozen=True)
class ShapesRecipe:
    """How a checkpoint is trained by contrast in the batch."""

    kind: str  # "clip" or "xclip"
    steps: int  # batches of 64 clips
    hard: int  # negative captions a clip (0: none)
    peak: float = 2e-3  # the highest learning rate


RECIPES = {"bag-of-frames": ShapesRecipe("clip", 300, 5), "temporal-plain": ShapesRecipe("xclip", 400, 0)}
NAMES = (*RECIPES, "temporal")
# The clips that `temporal` learns from, and the options of its training, stage by stage: labels, and a batch holds each
# clip beside its reversal. The last stage learns from other clips, drawn by another seed: the first ones are known by
# heart by then.
CLIPS: dict[str, object] = {"train": 6000, "validation": 150, "reversals": True}
_TEACH: dict[str, object] = {
    "objective": "lbl", "negatives": "3-action-3-object", "group": "cluster", "temperature": 0.03, "batch_size": 64,
    "warm_up": 0.05, "weight_decay": 0.02, "patience": 0,
}  # fmt: skip
TAUGHT: tuple[tuple[int, dict[str, object]], ...] = (
    (0, _TEACH | {"epochs": 4, "learning_rate": 2e-3, "head_learning_rate": 2e-3, "evaluate_every": 200}),
    (0, _TEACH | {"epochs": 2, "learning_rate": 1e-3, "head_learning_rate": 1e-3, "evaluate_every": 175}),
    (1000, _TEACH | {"epochs": 4, "learning_rate": 1.5e-3, "head_learning_rate": 1.5e-3, "evaluate_every": 200}),
)


def batches(recipe: ShapesRecipe, seed: int, frames: int) -> Iterator[tuple[np.ndarray, list[str], list[list[str]]]]:
    """Yields freshly drawn batches without end, the same for a seed.

    Each has clips uint8[B, T, H, W, 3], captions, and of each clip its hard negatives ("" where too few); [] without.
    """
    fresh = scenes(seed, "train", 10**9)
    where = frame_indices(12, frames)
    rng = stream("shapes training", seed)
    while True:
        shown: list[Scene] = list(islice(fresh, BATCH))
        captions, hard = [], []
        for scene in shown:
            caption_claim = claim(scene, place=rng.random() < 0.9, setting=rng.random() < 0.9)
            names, phrase = bool(rng.random() < 0.4), int(rng.integers(2))
            captions.append(write(caption_claim, names=names, phrase=phrase))
            if recipe.hard:
                # The antonym first, then one a kind in turn.
                by_kind = negatives(scene, caption_claim, rng, phrase=phrase, names=names)
                kinds = [kind for kind in by_kind if kind != "antonym"]
                shuffled = [(n, by_kind[kind]) for n in range(recipe.hard) for kind in rng.permutation(kinds)]
                texts = [*by_kind["antonym"], *(texts[n] for n, texts in shuffled if n < len(texts))]
                hard.append((texts + [""] * recipe.hard)[: recipe.hard])
        yield np.stack([render(scene)[where] for scene in shown]), captions, hard


def vocabulary(seed: int = SEED) -> Tokenizer:
    """The tokenizer of all three checkpoints, fitted on training captions."""
    return shapes_models.tokenizer(
        write(claim(scene), names=names, phrase=phrase)
        for scene in scenes(seed, "train", 3000)
        for names in (False, True)
        for phrase in (0, 1)
    )


def train(name: str, start: TorchModel, words: Tokenizer, *, seed: int = SEED) -> TorchModel:
    """Trains a checkpoint by contrast in the batch from the weights of `start`, and returns the model.

    `name`: which one of `RECIPES`. `start`: a tiny model; what has another shape or name starts anew.
    """
    recipe = RECIPES[name]
    make = shapes_models.clip if recipe.kind == "clip" else shapes_models.xclip
    model = make(words, seed)
    weights = model.state_dict()
    shared = {name: w for name, w in start.state_dict().items() if name in weights and weights[name].shape == w.shape}
    model.load_state_dict(weights | shared)
    torch.manual_seed(int.from_bytes(digest("shapes training", seed)[:4], "little"))
    model.train()
    groups = parameter_groups(model, 0.05, dict.fromkeys(("vision", "text", "head"), recipe.peak))
    optimizer = torch.optim.AdamW(groups, lr=recipe.peak, betas=(0.9, 0.98), eps=1e-6)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, recipe.steps))
    started = time.process_time()
    running: dict[str, float] = {}
    for step, batch in zip(range(recipe.steps), batches(recipe, seed, shapes_models.FRAMES), strict=False):
        parts = losses(model, words, *batch)
        loss = sum(parts.values())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            model.logit_scale.clamp_(0.0, 4.0)
        for key, value in parts.items():
            running[key] = 0.95 * running.get(key, float(value.detach())) + 0.05 * float(value.detach())
        if step % 100 == 99:
            shown = " ".join(f"{key} {value:.3f}" for key, value in running.items())
            seconds = time.process_time() - started
            print(f"{name} step {step + 1}/{recipe.steps} {shown} ({seconds:.0f} CPU-s)", flush=True)
    model.eval()
    return model


def taught(plain: Path, work: Path, *, seed: int = SEED) -> TorchModel:
    """Trains `temporal` from the folder of `temporal-plain` with `teach`, and returns the model.

    `work`: folder for clips, stored frames and the runs; a second call goes on there. `seed`: of scenes and training.
    """
    model: str | Path = plain
    for n, (clips, options) in enumerate(TAUGHT):
        dataset = work / f"set-{seed + clips}"
        if not SetFolder(dataset).is_built:
            build("shapes", ["retrieval"], output=dataset, seed=seed + clips, items=20, gallery=10, **CLIPS)
        run = teach(model, dataset, output=work / f"stage-{n + 1}", store=work / "store", seed=seed + n, **options)
        model = run["model"]
    return load_checkpoint(model)[0]


def losses(
    model: TorchModel, words: Tokenizer, clips: np.ndarray, captions: list[str], hard: list[list[str]]
) -> dict[str, torch.Tensor]:
    """Contrast in the batch both ways, and label loss against hard negatives. `model`: a tiny CLIP or X-CLIP."""
    videos = functional.normalize(embed_clips(model, clips), dim=-1)
    texts = [*captions, *(text for row in hard for text in row if text)]
    embedded = functional.normalize(embed_texts(model, words, texts), dim=-1)
    temperature = torch.exp(-model.logit_scale)
    count = len(captions)
    similar = videos @ embedded[:count].T
    # Captions that occur twice in a batch are no negatives of each other.
    same = torch.tensor([[a == b for b in captions] for a in captions])
    terms = {"contrast": contrast_loss(similar, temperature, same)}
    if hard:
        mask = torch.tensor([[True, *(bool(text) for text in row)] for row in hard])
        false = torch.zeros(*mask[:, 1:].shape, embedded.shape[1]).masked_scatter(mask[:, 1:, None], embedded[count:])
        own = torch.cat([similar.diagonal()[:, None], torch.einsum("bd,bkd->bk", videos, false)], 1)
        terms["hard"] = label_loss(own, temperature, mask)
    return terms


def _rate(step: int, steps: int) -> float:
    if step < WARM_UP:
        return (step + 1) / WARM_UP
    return 0.5 * (1 + float(np.cos(np.pi * (step - WARM_UP) / max(1, steps - WARM_UP)))) + 0.005


NAMING_STEPS, NAMING_BATCH = 1100, 96
NONE = ""
CLASSES = {
    "kind": (*world.SHAPES, *world.PEOPLE),
    "colour": world.COLOURS,
    "other": (NONE, *world.SHAPES, *world.THINGS),
    "other colour": (NONE, *world.COLOURS),
    "side": (NONE, *world.MIRROR_SIDE),
    "setting": (NONE, *world.SETTINGS),
    "action": tuple(world.ACTIONS),
}
# In a single frame one does not see what is done; these actions show the figure whole in every frame.
_SHOWN = ("slides_right", "rises", "grows", "turns_clockwise", "approaches", "pushes", "lifts", "bounces", "shakes")


def warm_up(words: Tokenizer, seed: int) -> TorchModel:
    """Returns a CLIP with warmed-up towers, the start of all checkpoints; the seed is of weights and scenes.

    Video-text models start from image-text towers. In small: one CLIP learns from single frames which figures they
    show, in which colours, where and in front of what, and from captions what they say, both towers through one shared
    set of class vectors, so that they meet in one space. Time plays no part in it.
    """
    model = shapes_models.clip(words, seed)
    pictures = np.concatenate([[draw(s, 0.0), draw(s, 1.0)] for s in scenes(seed, "train", 600) if s.action in _SHOWN])
    shapes_models.start_from_pictures(model, pictures)
    width = shapes_models.PROJECTED
    heads = nn.ModuleDict({name: nn.Linear(width, len(classes)) for name, classes in CLASSES.items()})
    position_head = nn.Linear(width, 7)
    parameters = [*model.parameters(), *heads.parameters(), *position_head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=3e-3, betas=(0.9, 0.98), weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=NAMING_STEPS, pct_start=0.05)
    rng = stream("shapes warm-up", seed)
    drawn = (scene for scene in scenes(seed, "train", 10**9, first=10**6) if scene.action in _SHOWN)
    started = time.process_time()
    for step in range(NAMING_STEPS):
        shown = list(islice(drawn, NAMING_BATCH))
        times = rng.random(NAMING_BATCH)
        frames = np.stack([draw(scene, t) for scene, t in zip(shown, times, strict=True)])
        video = embed_clips(model, frames[:, None], unit=False)
        seen = [Claim(s.subject, s.action, s.other, side=s.side, setting=s.setting) for s in shown]
        loss, right = _named(heads, video, seen, skip="action")
        where, known = _places(shown, times)
        loss = loss + 2.0 * ((position_head(video) - where) ** 2 * known).sum(1).mean()
        if step < 100 or step % 4 == 0:  # captions are soon read without a mistake
            claims = [claim(scene, place=rng.random() < 0.9, setting=rng.random() < 0.9) for scene in shown]
            captions = [write(c, names=rng.random() < 0.4, phrase=int(rng.integers(2))) for c in claims]
            read_loss, read_right = _named(heads, embed_texts(model, words, captions), claims)
            loss = loss + read_loss
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            seconds = time.process_time() - started
            print(f"warm-up {step + 1}/{NAMING_STEPS} frames {float(loss.detach()):.3f} {right} ({seconds:.0f} CPU-s)")
            print(f"  captions {float(read_loss.detach()):.3f} {read_right}", flush=True)
    return model


def _named(
    heads: nn.ModuleDict, embedded: torch.Tensor, claims: list[Claim], skip: str = ""
) -> tuple[torch.Tensor, dict[str, float]]:
    """The summed cross-entropy of every class, and the share of right answers by class."""
    others = [c.other or Figure(NONE) for c in claims]
    labels: dict[str, list[str | None]] = {
        "kind": [c.subject.kind for c in claims],
        "colour": [c.subject.colour for c in claims],
        "other": [other.kind for other in others],
        "other colour": [other.colour for other in others],
        "side": [c.side for c in claims],
        "setting": [c.setting for c in claims],
        "action": [c.action for c in claims],
    }
    unit = 6.0 * functional.normalize(embedded, dim=-1)
    total, right = torch.zeros(()), {}
    for name, classes in [(name, classes) for name, classes in CLASSES.items() if name != skip]:
        target = torch.tensor([classes.index(label or NONE) for label in labels[name]])
        logits = heads[name](unit)
        total = total + functional.cross_entropy(logits, target)
        right[name] = round(float((logits.argmax(1) == target).float().mean()), 2)
    return total, right


def _places(shown: list[Scene], times: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """float32[B, 7]: x, y, radius, sine of the angle, and x, y of the other; and which of them are known."""
    where, known = np.zeros((len(shown), 7), np.float32), np.ones((len(shown), 7), np.float32)
    for row, scene in enumerate(shown):
        assert scene.action in world.FORWARD or scene.action in _SHOWN
        (x, y, radius, angle, _), other = layout(scene, float(times[row]))
        where[row, :5] = x / SIZE * 2 - 1, y / SIZE * 2 - 1, radius / 6 - 1.5, np.sin(np.radians(angle)), angle / 90
        if other:
            where[row, 5:] = other[0] / SIZE * 2 - 1, other[1] / SIZE * 2 - 1
        else:
            known[row, 5:] = 0
    return torch.from_numpy(where), torch.from_numpy(known)


def main() -> None:
    """The command line of the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder of the three checkpoints")
    parser.add_argument("--work", type=Path, help="keep the warmed-up start, clips and the runs here, and go on there")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--only", choices=NAMES, nargs="*", default=list(NAMES))
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # the same sums in the same order everywhere
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        words = vocabulary(arguments.seed)
        for name in arguments.only:
            if name == "temporal":
                model = taught(arguments.output / "temporal-plain", work / name, seed=arguments.seed)
            else:
                start = work / "start.pt"
                if not start.exists():
                    with atomic_path(start) as temporary_start:
                        torch.save(warm_up(words, arguments.seed).state_dict(), temporary_start)
                model = shapes_models.clip(words, arguments.seed)
                model.load_state_dict(torch.load(start, weights_only=True))
                model = train(name, model, words, seed=arguments.seed)
            shapes_models.save(model, words, arguments.output / name)
            print(f"written to {arguments.output / name}", flush=True)


if __name__ == "__main__":
    main()
