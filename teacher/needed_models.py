"""The models behind negatives: asked for before any video is decoded or any word counted."""

from inspect import signature
from pathlib import Path

from video_contrast.builders.assembly.word_contrasts import named_values
from video_contrast.errors import VideoContrastError
from video_contrast.files import read_json
from video_contrast.perturbations.contrast.generators import GENERATORS
from video_contrast.pretrained import load
from video_contrast.teacher.model_files import check_endpoint, check_model
from video_contrast.teacher.negative_recipe import NegativeRecipe
from video_contrast.teacher.similarity import content

CLASSES = {"mlm": "AutoModelForMaskedLM", "t5": "AutoModelForSeq2SeqLM", "llm": "AutoModelForCausalLM"}


def check_generator(recipe: NegativeRecipe) -> None:
    """Checks the model of a generator, and what it needs of the tokenizer besides tokens.

    `recipe`: of the negatives; a served model is asked for its name alone, which is free. Raises VideoContrastError:
    the model is neither a folder nor in the cache nor on the Hub, has no weights, is of another class than it is needed
    for, or its endpoint does not answer.
    """
    from transformers import AutoTokenizer

    if recipe.generator not in CLASSES:
        return
    endpoint = named_values(recipe.options, "--generator-options").get("endpoint")
    name = recipe.model or signature(GENERATORS[recipe.generator]).parameters["model"].default
    if endpoint:
        check_endpoint(str(endpoint))
    elif name:
        option = f"model of the generator {recipe.generator}"
        check_model(name, CLASSES[recipe.generator], option)
        tokenizer = load(name, AutoTokenizer, option)
        if recipe.generator == "mlm" and tokenizer.mask_token is None:
            raise VideoContrastError(f"{name!r} has no mask token: the generator mlm needs a masked language model")
        if recipe.generator == "llm" and not tokenizer.chat_template:
            raise VideoContrastError(f"{name!r} has no chat template: the generator llm needs a chat model")


def is_stored(recipe: NegativeRecipe, folder: Path) -> bool:
    """Whether negatives by this recipe lie in a store already, so that no model may be needed."""
    own = recipe.record() | {"model": content(recipe.model)}
    for path in folder.glob("negatives-*.json"):
        stored = read_json(path)["settings"]
        if all(stored.get(name) == value for name, value in own.items()):
            return True
    return False
