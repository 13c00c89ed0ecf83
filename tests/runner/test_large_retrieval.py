"""Retrieval whose similarities pass by in blocks, or of which the best alone are kept: the figures stay as they are."""

from pathlib import Path

import numpy as np
import pytest
import runner_set
import tiny_models

from video_contrast import open_run
from video_contrast.runner import score, table_scores
from video_contrast.runner.recompute import contradictions

CONDITIONS = "clean,visual:jumble@2,text:drop_first,control:blind"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("blocks")
    runner_set.write(root / "set", n_clips=9)
    tiny_models.xclip(root / "xclip")
    tiny_models.clip(root / "clip")
    return root


def run(place: Path, name: str, model: str, **changed: object) -> Path:
    source = str(place / model) if (place / model).exists() else model
    conditions = CONDITIONS if (place / model).exists() else "clean"
    given = {"conditions": conditions, "store": place / f"store-{model}", "accept": "all", "progress": False} | changed
    score(source, place / "set", "retrieval", output=place / name, **given)  # type: ignore[arg-type]
    return place / name


@pytest.mark.parametrize("model", ["clip", "xclip", "random", "constant", "blind"])
def test_blocks_and_the_best_alone_give_the_figures_of_the_whole(
    place: Path, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(place, f"{model}-whole", model)
    monkeypatch.setattr(table_scores, "BLOCK", 20)
    monkeypatch.setattr(table_scores, "BLOCK_WIDTH", 7)
    blocks = run(place, f"{model}-blocks", model)
    best = run(place, f"{model}-best", model, keep_matrices=0)
    for other in (blocks, best):
        assert (other / "metrics.json").read_bytes() == (whole / "metrics.json").read_bytes()
        assert contradictions(open_run(other)) == []
    for condition in open_run(whole).conditions("retrieval"):
        values = open_run(whole).matrix("retrieval", condition).values
        close = 1e-6 if model == "xclip" else 0  # its joining layers run in float32, in batches of captions
        np.testing.assert_allclose(open_run(blocks).matrix("retrieval", condition).values, values, atol=close, rtol=0)
        kept = open_run(best).matrix("retrieval", condition).best
        assert kept is not None
        np.testing.assert_allclose(np.take_along_axis(values, kept.columns, 1), kept.values, atol=close, rtol=0)
        np.testing.assert_allclose(-np.sort(-values, 1)[:, : kept.values.shape[1]], kept.values, atol=close, rtol=0)
