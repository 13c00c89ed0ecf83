"""By how much numbers of two machines may differ and still be equal: what a certificate passes (docs/why_differ.md)."""

import numpy as np

from video_contrast.files import Json
from video_contrast.reports.why_differ.sides import Side

GREY_LEVELS = 2.0  # of frames: decoders round differently
PIXELS = 0.03  # of the standard deviation of the pixels: two grey levels, or bfloat16
SCORES = {"float32": 1e-3, "bfloat16": 8e-2, "float16": 2e-2}  # of the standard deviation of scores or embeddings


def tolerance(a: Side, b: Side) -> float:
    """The largest rounding difference of scores, in standard deviations: that of the coarser dtype."""
    return max(SCORES.get(str(side.model.get("dtype")), SCORES["float32"]) for side in (a, b))


def summary_gap(x: Json, y: Json) -> float:
    """The largest difference of two summaries of arrays; infinite where their shapes differ."""
    if x["shape"] != y["shape"]:
        return float("inf")
    largest = np.abs(np.subtract(x["sample"], y["sample"])).max(initial=0.0)
    return max(float(largest), float(abs(x["mean"] - y["mean"])))
