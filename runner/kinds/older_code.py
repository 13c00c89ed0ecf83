"""Code of repositories that was written for transformers 4: what it leaves out is made up for while it is loaded."""

from collections.abc import Iterator
from contextlib import contextmanager

from video_contrast.untyped import TorchModel

LISTED = "all_tied_weights_keys"  # where a model of transformers 5 keeps the names of its tied weights


class _LeftOut:
    """The names of tied weights of a model that did not call `post_init`: it is called when they are asked for."""

    def __get__(self, model: TorchModel | None, owner: type) -> dict[str, str]:
        if model is None:
            raise AttributeError(LISTED)  # as of a class without it
        model.post_init()
        names: dict[str, str] = vars(model)[LISTED]
        return names


def _with_sources(model: TorchModel) -> None:
    """Tied weights are named with what they are tied to, where older code names them alone: the input embeddings."""
    if isinstance(model._tied_weights_keys, list | tuple):
        embeddings = getattr(model.get_input_embeddings(), "weight", None)
        source = next((name for name, weight in model.named_parameters() if weight is embeddings), None)
        model._tied_weights_keys = {name: source for name in model._tied_weights_keys if source not in (None, name)}


@contextmanager
def older_code() -> Iterator[None]:
    """Loads models whose code leaves out `post_init`, or lists tied weights without what they are tied to.

    Without it, transformers 5 stops at such code: "has no attribute 'all_tied_weights_keys'", "'list' object has no
    attribute 'keys'".
    """
    from transformers import PreTrainedModel

    expanded = PreTrainedModel.get_expanded_tied_weights_keys

    def expanded_with_sources(model: TorchModel, *args: bool, **options: bool) -> dict[str, str]:
        _with_sources(model)
        return dict(expanded(model, *args, **options))

    PreTrainedModel.get_expanded_tied_weights_keys = expanded_with_sources
    setattr(PreTrainedModel, LISTED, _LeftOut())
    try:
        yield
    finally:
        PreTrainedModel.get_expanded_tied_weights_keys = expanded
        delattr(PreTrainedModel, LISTED)
