"""The parameters that learn, in groups by learning rate and weight decay."""

from video_contrast.untyped import Tensor, TorchModel


def parameter_groups(
    model: TorchModel, weight_decay: float, rates: dict[str, float] | None = None
) -> list[dict[str, object]]:
    """The parameters that learn, for an optimizer: matrices with weight decay, the others without.

    `model`: a dual encoder or X-CLIP. `rates`: the learning rates of the "vision" tower, of the "text" tower and of the
    "head": what is neither a tower nor a projection behind it (X-CLIP's layers over frames and its prompts). None: no
    rate of their own.
    """
    members: dict[tuple[str, bool], list[Tensor]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            side = _side(name) if rates else ""
            members.setdefault((side, parameter.ndim >= 2), []).append(parameter)
    return [
        {
            "params": parameters,
            "weight_decay": weight_decay if matrices else 0.0,
            **({"lr": rates[side]} if rates else {}),
        }
        for (side, matrices), parameters in sorted(members.items(), key=lambda item: (item[0][0], not item[0][1]))
    ]


def _side(name: str) -> str:
    """The part of the model that a parameter belongs to: "vision", "text" or "head"."""
    first = name.partition(".")[0]
    if first in ("vision_model", "visual_projection", "logit_scale", "logit_bias", "temperature"):
        return "vision"
    return "text" if first in ("text_model", "text_projection") else "head"
