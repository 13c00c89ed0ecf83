"""The two losses of LLM-teacher (RCAD paper, equations 1 and 2), and the in-batch contrast that may stand beside them.

Pure functions of similarities: no model, no state. `s[b, 0]` is the cosine of clip b with its own caption, `s[b, i]`
that with its i-th synthetic negative; a row with fewer negatives than the others is masked.
"""

import torch
from torch import Tensor
from torch.nn import functional

from video_contrast.teacher.batches import Batch
from video_contrast.teacher.options import TrainingOptions


def label_loss(similarities: Tensor, temperature: Tensor | float, mask: Tensor | None = None) -> Tensor:
    """Equation (1): the cross-entropy of the true caption against its synthetic negatives.

    Args:
        similarities: float[B, 1 + k], cosines of each clip with its caption (first) and its negatives.
        temperature: the paper's tau, above 0.
        mask: bool[B, 1 + k], False where there is no such negative; the first column must be True.

    Returns:
        A scalar, the mean over clips; 0 for a clip without negatives.

    Raises:
        ValueError: shapes that do not fit, or a caption that is masked away.

    >>> round(float(label_loss(torch.tensor([[0.5, 0.5]]), 1.0)), 4)
    0.6931
    """
    logits = _logits(similarities, temperature, mask)
    return -functional.log_softmax(logits, dim=1)[:, 0].mean()


def logit_loss(
    similarities: Tensor,
    teacher: Tensor,
    temperature: Tensor | float,
    teacher_temperature: float,
    mask: Tensor | None = None,
) -> Tensor:
    """Equation (2): the divergence between the model's and the teacher's softmax over caption and negatives.

    The teacher's logits are the cosines of the captions' text embeddings with the true caption's (its own is 1). The
    paper writes L_KL(z_video-text, z_LLM) and trains the model to match the teacher: KL(teacher || model), as in
    knowledge distillation. It gives neither temperature.

    Args:
        similarities: float[B, 1 + k], as in `label_loss`.
        teacher: float[B, 1 + k], the teacher's cosines with the true caption.
        temperature: of the model, above 0.
        teacher_temperature: of the teacher, above 0. Near 0 the target is all on the caption, and this is `label_loss`.
        mask: bool[B, 1 + k], as in `label_loss`.

    Returns:
        A scalar, the mean over clips; 0 where both agree. No gradient flows into the teacher.

    Raises:
        ValueError: shapes that do not fit, or a temperature that is not above 0.

    >>> same = torch.tensor([[1.0, 0.2, -0.3]])
    >>> abs(float(logit_loss(same, same, 0.1, 0.1))) < 1e-6
    True
    """
    if teacher.shape != similarities.shape:
        raise ValueError(f"teacher {tuple(teacher.shape)} does not fit similarities {tuple(similarities.shape)}")
    model = functional.log_softmax(_logits(similarities, temperature, mask), dim=1)
    target = functional.log_softmax(_logits(teacher.detach(), teacher_temperature, mask), dim=1)
    # Masked places have weight 0 on both sides; their -inf would make 0 * -inf.
    terms = target.exp() * (target - model)
    if mask is not None:
        terms = terms.masked_fill(~mask, 0.0)
    return terms.sum(1).mean()


def contrast_loss(similarities: Tensor, temperature: Tensor | float, same: Tensor | None = None) -> Tensor:
    """The usual contrast within the batch, both ways: clip b belongs to caption b.

    Args:
        similarities: float[B, B], clips by captions.
        temperature: above 0.
        same: bool[B, B], True where a caption off the diagonal is as good as the clip's own (the same words, or
            another caption of the same clip): no negative.

    Raises:
        ValueError: not a square, or a temperature that is not above 0.

    >>> round(float(contrast_loss(torch.zeros(3, 3), 0.1)), 4)
    1.0986
    """
    if similarities.ndim != 2 or similarities.shape[0] != similarities.shape[1]:
        raise ValueError(f"similarities must be square, not {tuple(similarities.shape)}")
    logits = _scaled(similarities, temperature)
    if same is not None:
        off = same & ~torch.eye(len(same), dtype=torch.bool, device=same.device)
        logits = logits.masked_fill(off, float("-inf"))
    target = torch.arange(len(logits), device=logits.device)
    return (functional.cross_entropy(logits, target) + functional.cross_entropy(logits.T, target)) / 2


def _logits(similarities: Tensor, temperature: Tensor | float, mask: Tensor | None) -> Tensor:
    if similarities.ndim != 2 or similarities.shape[1] < 1:
        raise ValueError(f"similarities must be [clips, 1 + negatives], not {tuple(similarities.shape)}")
    logits = _scaled(similarities, temperature)
    if mask is None:
        return logits
    if mask.shape != similarities.shape:
        raise ValueError(f"mask {tuple(mask.shape)} does not fit similarities {tuple(similarities.shape)}")
    if not bool(mask[:, 0].all()):
        raise ValueError("the caption itself (column 0) must never be masked")
    # A large finite number: -inf would make inf - inf in the gradient of a row that holds nothing else.
    return logits.masked_fill(~mask, -1e9)


def _scaled(similarities: Tensor, temperature: Tensor | float) -> Tensor:
    """Similarities by temperature, in float32 at least: halves cannot tell cosines near 1 apart."""
    value = float(torch.as_tensor(temperature).detach())
    if not value > 0:
        raise ValueError(f"the temperature must be above 0, not {value}")
    return similarities.to(torch.promote_types(similarities.dtype, torch.float32)) / temperature


def losses(
    cosines: Tensor, square: Tensor, temperature: Tensor, batch: Batch, *, options: TrainingOptions
) -> dict[str, Tensor]:
    """The terms of the loss of a batch.

    `cosines`: float[B, 1 + k], of each clip with its caption and its negatives. `square`: float[N, N], of all clips
    with all captions. `temperature`: the model's own, for where the options give none.
    """
    used_temperature: Tensor | float = temperature if options.temperature is None else options.temperature
    own, mask = cosines[: batch.count], batch.mask[: batch.count]
    if not batch.count:  # fewer clips than processes; the others wait for this one's gradients
        term = cosines.sum() * 0.0
    elif options.objective == "lbl":
        term = label_loss(own, used_temperature, mask) * batch.weight
    else:
        target = batch.teacher[: batch.count]
        term = logit_loss(own, target, used_temperature, options.teacher_temperature, mask=mask) * batch.weight
    terms: dict[str, Tensor] = {options.objective: term}
    if options.contrast:
        terms["contrast"] = options.contrast * contrast_loss(square, used_temperature, batch.same)
    return terms
