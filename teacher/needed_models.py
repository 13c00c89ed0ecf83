"""The models behind negatives: asked for before any video is decoded or any word counted."""

from collections.abc import Iterator
from dataclasses import fields
from inspect import signature
from pathlib import Path

from video_contrast.builders.assembly.verb_contrasts import named_values
from video_contrast.errors import VideoContrastError
from video_contrast.files import read_json
from video_contrast.perturbations.contrast.constraints import CONSTRAINTS, constraint_names
from video_contrast.perturbations.contrast.generators import GENERATORS
from video_contrast.pretrained import load
from video_contrast.teacher.model_files import check_encoder, check_endpoint, check_model
from video_contrast.teacher.negative_recipe import UNTAGGED, NegativeRecipe
from video_contrast.teacher.similarity import content

CLASSES = {"mlm": "AutoModelForMaskedLM", "t5": "AutoModelForSeq2SeqLM", "llm": "AutoModelForCausalLM"}
CONSTRAINT_CLASSES = {
    "language_model": "AutoModelForCausalLM",
    "nli_model": "AutoModelForSequenceClassification",
}


def check_generator(recipe: NegativeRecipe, *, own_model: bool = True) -> None:
    """Checks the models of a generator and of its constraints.

    Args:
        recipe: of the negatives.
        own_model: not only the models of the constraints; a served one is asked for its name alone, which is free.

    Raises:
        UsageError: a constraint needs a model that is not named.
        VideoContrastError: a model is neither a folder nor in the cache nor on the Hub, has no weights, is of another
            class than it is needed for, or its endpoint does not answer.
    """
    if recipe.generator in UNTAGGED:
        return
    if own_model:
        _check_own_model(recipe)
    for option, name in _constraint_models(recipe):
        if option == "vectors":
            if not Path(name).is_file():
                raise VideoContrastError(f"--constraint-options vectors={name}: no such file of word vectors")
        elif option == "sentence_model":
            check_encoder(name, option)
        else:
            check_model(name, CONSTRAINT_CLASSES[option], option)


def is_stored(recipe: NegativeRecipe, folder: Path) -> bool:
    """Whether negatives by this recipe lie in a store already, so that no model may be needed."""
    own = recipe.record() | {"model": content(recipe.model)}
    for path in folder.glob("negatives-*.json"):
        stored = read_json(path)["settings"]
        if all(stored.get(name) == value for name, value in own.items()):
            return True
    return False


def _check_own_model(recipe: NegativeRecipe) -> None:
    """The generator's own model, and what it needs of the tokenizer besides tokens."""
    from transformers import AutoTokenizer

    endpoint = named_values(recipe.options, "--generator-options").get("endpoint")
    name = recipe.model or _default(recipe.generator)
    if endpoint:
        check_endpoint(str(endpoint))
    elif name and recipe.generator in CLASSES:
        option = f"model of the generator {recipe.generator}"
        check_model(name, CLASSES[recipe.generator], option)
        tokenizer = load(name, AutoTokenizer, option)
        if recipe.generator == "mlm" and tokenizer.mask_token is None:
            raise VideoContrastError(f"{name!r} has no mask token: the generator mlm needs a masked language model")
        if recipe.generator == "llm" and not tokenizer.chat_template:
            raise VideoContrastError(f"{name!r} has no chat template: the generator llm needs a chat model")


def _constraint_models(recipe: NegativeRecipe) -> Iterator[tuple[str, str]]:
    """Option and name of every model (or file) that the constraints read."""
    names = None if recipe.constraints is None else [name.strip() for name in recipe.constraints.split(",")]
    options = named_values(recipe.constraint_settings, "--constraint-options")
    for constraint in constraint_names(recipe.generator, names):
        for field in fields(CONSTRAINTS[constraint]):  # type: ignore[arg-type]  # all are dataclasses
            if field.name not in (*CONSTRAINT_CLASSES, "sentence_model", "vectors"):
                continue
            value = options.get(field.name, field.default)
            if value is None:
                CONSTRAINTS[constraint]()  # says that it needs one
            yield field.name, str(value)


def _default(generator: str) -> str | None:
    parameter = signature(GENERATORS[generator]).parameters.get("model")
    value: object = None if parameter is None else parameter.default
    return value if isinstance(value, str) else None
