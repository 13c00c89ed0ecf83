"""bfloat16, float16 and device maps: encoders in half precision, scores in float32, and nothing mixed in the store."""

from pathlib import Path

import numpy as np
import pytest
import runner_set
import tiny_models

from video_contrast.errors import UsageError
from video_contrast.runner import RunResult, score
from video_contrast.storage import open_run

# Measured on these two: at most 0.0031 in bfloat16 and 0.0006 in float16.
TOLERANCE = {"bfloat16": 0.01, "float16": 0.002}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("precision")
    runner_set.write(root / "set", n_clips=5)
    tiny_models.clip(root / "clip")
    tiny_models.xclip(root / "xclip")
    return root


def run(place: Path, model: str, name: str, **given: object) -> RunResult:
    """With the self-test in half precision alone."""
    accept = "all" if given["dtype"] == "float32" else ""
    return score(
        str(place / model), place / "set", "retrieval", output=place / f"{model}-{name}", store=place / "store",
        accept=accept, progress=False, **given,
    )  # fmt: skip


@pytest.mark.parametrize("model", ["clip", "xclip"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_half_precision_encoders_give_float32_scores_near_those_of_float32(place: Path, model: str, dtype: str) -> None:
    run(place, model, "float32", dtype="float32")
    half = run(place, model, dtype, dtype=dtype)
    assert half.record["dtype"] == dtype
    counters = half.record["counters"]
    assert counters["visual_encodings"] == counters["visual_encodings_in_all"] == 5, "rows of float32 were taken"
    whole = open_run(place / f"{model}-float32").matrix("retrieval").values
    found = open_run(place / f"{model}-{dtype}").matrix("retrieval").values
    assert found.dtype == np.float32
    assert 0 < np.abs(found - whole).max() < TOLERANCE[dtype]
    # Rounded to half precision a matrix of cosines has few distinct values; reduced in float32 it has not.
    assert len(np.unique(found)) == found.size


@pytest.mark.parametrize("model", ["clip", "xclip"])
def test_a_model_spread_by_a_device_map_gives_the_same_scores(place: Path, model: str) -> None:
    run(place, model, "whole", dtype="float32")
    spread = score(
        str(place / model), place / "set", "retrieval", output=place / f"{model}-spread", store=place / "own",
        accept="all", progress=False, device_map="auto",
    )  # fmt: skip
    assert spread.record["counters"]["visual_encodings"] == 5
    whole = open_run(place / f"{model}-whole").matrix("retrieval").values
    found = open_run(place / f"{model}-spread").matrix("retrieval").values
    np.testing.assert_array_equal(found, whole)


def test_another_dtype_is_another_run(place: Path) -> None:
    run(place, "clip", "fixed", dtype="float32")
    with pytest.raises(UsageError, match="was made for dtype 'float32', not 'bfloat16'"):
        run(place, "clip", "fixed", dtype="bfloat16")
