"""The terms of the loss of a batch: the objective over a caption and its negatives, and the in-batch term."""

import torch

from video_contrast.teacher.batches import Batch
from video_contrast.teacher.losses import contrast_loss, label_loss, logit_loss
from video_contrast.teacher.options import TrainingOptions


def losses(
    cosines: torch.Tensor,
    square: torch.Tensor,
    temperature: torch.Tensor,
    batch: Batch,
    *,
    options: TrainingOptions,
) -> dict[str, torch.Tensor]:
    """The terms of the loss of a batch.

    Args:
        cosines: float[B, 1 + k], of each clip with its caption and its negatives.
        square: float[N, N], of all clips with all captions.
        temperature: the model's own, for where the options give none.
        batch: which rows count, and how much.
        options: objective, temperatures, weight of the in-batch term.
    """
    used_temperature: torch.Tensor | float = temperature if options.temperature is None else options.temperature
    own, mask = cosines[: batch.count], batch.mask[: batch.count]
    if not batch.count:  # fewer clips than processes; the others wait for this one's gradients
        term = cosines.sum() * 0.0
    elif options.objective == "lbl":
        term = label_loss(own, used_temperature, mask) * batch.weight
    else:
        target = batch.teacher[: batch.count]
        term = logit_loss(own, target, used_temperature, options.teacher_temperature, mask=mask) * batch.weight
    terms: dict[str, torch.Tensor] = {options.objective: term}
    if options.contrast:
        terms["contrast"] = options.contrast * contrast_loss(square, used_temperature, batch.same)
    return terms
