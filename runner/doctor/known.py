"""What a family's recipe says holds: the config does not contradict it, and embeddings have one length."""

from __future__ import annotations

import numpy as np

from video_contrast.runner.doctor.probe import Probe
from video_contrast.runner.doctor.result import Outcome
from video_contrast.runner.kinds.base import Encoder, ModelSource, product
from video_contrast.runner.kinds.recipes import recipe_of

ONE_LENGTH = 0.01  # by how much lengths may differ: rounding in half precision


def check_recipe(source: ModelSource, kind: str) -> Outcome | None:
    """The verdict "recipe"; None for models that are no checkpoints."""
    if not source.config:
        return None
    recipe = recipe_of(source, kind)
    if recipe is None:
        what = source.architecture or source.model_type
        return Outcome("recipe", "doubt", f"no recipe is written down for {what}: it is asked as its library does")
    wrong = recipe.contradictions(source.config)
    if wrong:
        return Outcome("recipe", "fail", f"{recipe.family}: {'; '.join(wrong)}")
    if not recipe.parity:
        return Outcome("recipe", "fact", f"{recipe.family}: an untested recipe")
    return Outcome("recipe", "pass", f"{recipe.family}: the recipe is tested against its card's own lines")


def check_lengths(probe: Probe, source: ModelSource, kind: str) -> Outcome | None:
    """The verdict "lengths"; None for models whose scores are no products of two vectors.

    With a plain product long embeddings win, whatever is shown; a cosine does not know them. `kind`: the name of the
    kind that runs it.
    """
    model = probe.model
    if not isinstance(model, Encoder) or model.vector_length is not None:
        return None
    videos, texts = probe.rows
    if not (np.isfinite(videos).all() and np.isfinite(texts).all()):  # another verdict says so
        return None
    if videos.shape[1] != texts.shape[1] or not np.allclose(model.join(videos, texts), product(videos, texts)):
        return None
    spreads = [float(np.std(rows) / np.mean(rows)) for rows in (np.linalg.norm(of, axis=1) for of in (videos, texts))]
    numbers = {"clips": spreads[0], "captions": spreads[1]}
    if max(spreads) <= ONE_LENGTH:
        return Outcome("lengths", "pass", "embeddings have one length", numbers)
    says = f"embeddings differ in length ({spreads[0]:.0%} of clips, {spreads[1]:.0%} of captions): no cosine"
    recipe = recipe_of(source, kind)
    line = recipe.lines.get("score") if recipe else None
    if line is None:
        return Outcome("lengths", "doubt", f"{says}, and long ones win", numbers)
    cosine = str(line.value).startswith("cosine")
    return Outcome("lengths", "fail" if cosine else "fact", f"{says}; its recipe: {line.value}", numbers)
