"""The RCAD paper's released evaluation on a stored run: ties count for the model, after a softmax over the videos.

The softmax compares each caption with all videos, so it needs the run's embeddings; scores of own captions do not do.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from video_contrast.metrics.checks import Figures
from video_contrast.reports.embeddings import StoredVectors
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage import RunFolder

_USUAL_SCALE = 100.0  # of the CLIP family, where a checkpoint does not hold its own


def released_rcad(run: str | Path, rows: Sequence[MultipleChoiceRow], config: str) -> dict[str, float] | None:
    """R@1, R@2, R@3 in percent and the mean rank by the released convention; None without the run's embeddings.

    `config`: a config of counterfactual captions, as many for each clip.
    """
    from video_contrast.metrics import rcad

    folder = RunFolder.open(run)
    scored = folder.tables.get((config, "clean"), {})
    rows = [row for row in rows if row["id"] in scored]
    vectors = StoredVectors(folder)
    captions = list(dict.fromkeys(text for row in rows for text in row["candidates"]))
    clips, texts = vectors.clips(rows), vectors.texts(captions)
    if clips is None or texts is None or clips.shape[1] != texts.shape[1]:
        return None
    column = {text: number for number, text in enumerate(captions)}
    numbers: Figures = rcad(  # None where an interval is undefined, which these are not
        clips @ texts.T,
        [row["label"] for row in rows],
        columns=[[column[text] for text in row["candidates"]] for row in rows],
        normalise="videos",
        scale=logit_scale(folder.model),
        ties="released",
    )
    figures: dict[str, float] = {key: 100 * float(numbers[key]) for key in ("R@1", "R@2", "R@3") if key in numbers}
    return figures | {"mean_rank": float(numbers["mean_rank"])}


def logit_scale(model: str) -> float:
    """The factor by which a model multiplies cosines before its softmax; 100 where its checkpoint does not say."""
    from safetensors import safe_open

    from video_contrast.runner.locate import locate

    path = locate(model).path
    for file in sorted(path.glob("*.safetensors")) if path is not None and path.is_dir() else []:
        with safe_open(str(file), "np") as tensors:
            if "logit_scale" in tensors.keys():  # noqa: SIM118  (no mapping)
                return float(np.exp(np.asarray(tensors.get_tensor("logit_scale"), np.float64)).reshape(-1)[0])
    return _USUAL_SCALE
