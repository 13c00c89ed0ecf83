"""The recipe of a checkpoint."""

from __future__ import annotations

from video_contrast.runner.kinds.recipes.encoders import LATE, MULTI_VECTOR, RECIPES, REMOTE, SENTENCE
from video_contrast.runner.kinds.recipes.readers import GENERATIVE, MATCHING, RERANKER
from video_contrast.runner.kinds.recipes.recipe import Recipe
from video_contrast.runner.kinds.source import ModelSource

ALL = (*RECIPES, SENTENCE, *LATE, MULTI_VECTOR, *REMOTE, *MATCHING, *GENERATIVE, RERANKER)
SAVED = {"sentence_transformers": SENTENCE, "reranker": RERANKER, "late_interaction": MULTI_VECTOR}


def recipe_of(source: ModelSource, kind: str) -> Recipe | None:
    """The recipe by which a model is asked; None where no one has written one."""
    if kind in SAVED and (source.modules is not None or kind != "late_interaction"):
        return SAVED[kind]
    named = (recipe for recipe in ALL if source.architecture and source.architecture in recipe.classes)
    typed = (recipe for recipe in ALL if source.model_type and source.model_type in recipe.model_types)
    return next(named, None) or next(typed, None)
