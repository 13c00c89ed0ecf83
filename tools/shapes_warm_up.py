"""The start of all three checkpoints: towers that can already name what a single frame or a caption says.

Video-text models do not start from nothing, they start from image-text towers. In small: one CLIP learns from single
frames which figures they show, in which colours, where and in front of what, and from captions what they say. Both
towers learn through one shared set of class vectors, so that they meet in one space. Time plays no part in it.
"""

import time
from itertools import islice

import numpy as np
import shapes_models
import torch
from shapes_models import embed_clips, embed_texts
from torch import nn
from torch.nn import functional

from video_contrast.builders.shapes import world
from video_contrast.builders.shapes.captions import Claim, claim, write
from video_contrast.builders.shapes.render import SIZE, draw, layout
from video_contrast.builders.shapes.world import Figure, Scene, scenes
from video_contrast.seeds import stream
from video_contrast.untyped import Tokenizer, TorchModel

STEPS = 1100
BATCH = 96
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
    """Returns a CLIP with warmed-up towers; the seed is of weights and scenes."""
    model = shapes_models.clip(words, seed)
    pictures = np.concatenate([[draw(s, 0.0), draw(s, 1.0)] for s in scenes(seed, "train", 600) if s.action in _SHOWN])
    shapes_models.start_from_pictures(model, pictures)
    width = shapes_models.PROJECTED
    heads = nn.ModuleDict({name: nn.Linear(width, len(classes)) for name, classes in CLASSES.items()})
    position_head = nn.Linear(width, 7)
    parameters = [*model.parameters(), *heads.parameters(), *position_head.parameters()]
    optimizer = torch.optim.AdamW(parameters, lr=3e-3, betas=(0.9, 0.98), weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=STEPS, pct_start=0.05)
    rng = stream("shapes warm-up", seed)
    drawn = (scene for scene in scenes(seed, "train", 10**9, first=10**6) if scene.action in _SHOWN)
    started = time.process_time()
    for step in range(STEPS):
        shown = list(islice(drawn, BATCH))
        times = rng.random(BATCH)
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
            print(f"warm-up {step + 1}/{STEPS} frames {float(loss.detach()):.3f} {right} ({seconds:.0f} CPU-s)")
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
