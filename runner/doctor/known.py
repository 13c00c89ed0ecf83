"""The checkpoint is of a family whose recipe was written down, and its config does not contradict it."""

from __future__ import annotations

from video_contrast.runner.doctor.verdict import Verdict
from video_contrast.runner.kinds.recipes.table import recipe_of
from video_contrast.runner.kinds.source import ModelSource


def check_recipe(source: ModelSource, kind: str) -> Verdict | None:
    """The verdict "recipe"; None for models that are no checkpoints.

    Args:
        source: the model.
        kind: the name of the kind that runs it.
    """
    if not source.config:
        return None
    recipe = recipe_of(source, kind)
    if recipe is None:
        what = source.architecture or source.model_type
        return Verdict("recipe", "doubt", f"no recipe is written down for {what}: it is asked as its library does")
    wrong = recipe.contradictions(source.config)
    if wrong:
        return Verdict("recipe", "fail", f"{recipe.family}: {'; '.join(wrong)}")
    if not recipe.parity:
        return Verdict("recipe", "fact", f"{recipe.family}: an untested recipe")
    return Verdict("recipe", "pass", f"{recipe.family}: the recipe is tested against its card's own lines")
