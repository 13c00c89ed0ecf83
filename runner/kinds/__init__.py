"""The model kinds: their registry, and which of them takes a given model."""

import math
from functools import cache
from importlib import import_module

from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import read_json
from video_contrast.options import checked
from video_contrast.runner.kinds.base import MODEL_KINDS, ClipFrames, DualEncoder, Kind, KindOptions, ModelSource, kind
from video_contrast.runner.kinds.model_recipes import generative_types

__all__ = ["ClipFrames", "DualEncoder", "Kind", "all_kinds", "choose", "kind", "options_for"]

# Files of this folder. Importing them imports neither torch nor transformers.
MODULES = (
    "dual_encoder", "video_dual", "sentence", "precomputed", "baselines", "matching", "generative", "served",
    "served_embedder", "generated", "late_interaction",
)  # fmt: skip
# Classes of sentence-transformers whose kind is another than that of embedders.
SAVED_AS = {"CrossEncoder": "reranker", "MultiVectorEncoder": "late_interaction"}
# In a repository's `auto_map`, and at the end of the name of its class: its models write text.
WRITES = {"AutoModelForCausalLM", "AutoModelForImageTextToText", "AutoModelForVision2Seq"}
WRITERS = ("ForCausalLM", "ForConditionalGeneration")
ENTRY_POINTS = "video_contrast.models"


@cache
def all_kinds() -> dict[str, Kind]:
    """Every kind by name: ours in the order of `MODULES`, then those of other packages."""
    from importlib.metadata import entry_points

    for module in MODULES:
        import_module(f"video_contrast.runner.kinds.{module}")
    for point in entry_points(group=ENTRY_POINTS):
        try:
            point.load()
        except Exception as error:  # a foreign package: name it, since its traceback would not
            raise VideoContrastError(
                f"the package that provides the model kind {point.name!r} ({point.value}) cannot be imported: "
                f"{type(error).__name__}: {error}; repair or uninstall it"
            ) from error
    return MODEL_KINDS


def choose(source: ModelSource, override: str | None = None) -> Kind:
    """The kind that takes a model.

    In this order: the override; a name ("random"); a precomputed.json; sentence-transformers' modules.json (of an
    embedder or a reranker); `architectures[0]`; `model_type`; code of its own (`auto_map`). Nothing is guessed from
    weights.

    Raises UsageError: no such kind, or no kind takes the model; the message names the model's class.
    """
    kinds = all_kinds()
    if override:
        if override not in kinds:
            raise unknown_name("model kind", override, list(kinds))
        return kinds[override]
    for other in kinds.values():  # by a name ("random"), or a scheme ("served:")
        if any(source.name == name or (name.endswith(":") and source.name.startswith(name)) for name in other.names):
            return other
    if source.path is not None and (source.path / "precomputed.json").exists():
        return kinds["precomputed"]
    if source.modules is not None:  # before the class inside: its prompts and pooling are part of the model
        return kinds[SAVED_AS.get(_saved_as(source), "sentence_transformers")]
    by_class = {name: model_kind for model_kind in reversed(kinds.values()) for name in model_kind.architectures}
    by_type = {name: model_kind for model_kind in reversed(kinds.values()) for name in model_kind.model_types}
    if found_kind := by_class.get(source.architecture) or by_type.get(source.model_type):
        return found_kind
    if own := source.config.get("auto_map"):  # code of its own; the kind says what methods it must have
        writes = WRITES & set(own) or source.architecture.endswith(WRITERS)  # some say so by their class alone
        return kinds["generated" if writes else "video_dual_encoder"]
    raise _not_taken(source, list(kinds))


def _not_taken(source: ModelSource, kinds: list[str]) -> UsageError:
    """Why no kind takes a model."""
    what = source.architecture or source.model_type
    if source.path is not None and source.path.is_file():  # which a kind of another package may read
        return UsageError(f"--model {source.name} is a file; give the folder of a saved model, or --kind")
    if not what:
        return UsageError(
            f"{source.name}: its config.json names neither architectures nor model_type, so it is unknown how to run "
            f"it; give --kind ({', '.join(kinds)})"
        )
    coverage = generative_types().get(source.model_type)
    why = f" ({coverage.why})" if coverage is not None and coverage.state == "cannot" else ""
    return UsageError(f"{source.name}: no kind takes a model of class {what}{why}; give --kind ({', '.join(kinds)})")


def _saved_as(source: ModelSource) -> str:
    """The class that sentence-transformers saved; all of them have a modules.json."""
    config = source.path / "config_sentence_transformers.json" if source.path else None
    return str(read_json(config).get("model_type") or "") if config and config.exists() else ""


def options_for(model_kind: Kind, values: KindOptions) -> KindOptions:
    """The kind's options, defaults filled in. Raises UsageError: another option, or a value that it does not take."""
    option_of = {option.name: option for option in model_kind.options}
    for name, value in values.items():
        flag = "--" + name.replace("_", "-")
        if name not in option_of:
            having = ", ".join(option.flag_name for option in model_kind.options) or "none"
            raise UsageError(f"{flag} is not an option of the kind {model_kind.name} (it has: {having})")
        if isinstance(value, float) and not math.isfinite(value):
            raise UsageError(f"{flag} must be a finite number, not {value}")
    where = f"kind {model_kind.name}"
    return {name: checked(option, values.get(name, option.default), where) for name, option in option_of.items()}
