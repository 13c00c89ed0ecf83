"""`--perturb-on device`: the frames are perturbed by torch, which the record and the stored rows know."""

from pathlib import Path

import numpy as np
import runner_set
import tiny_models

from video_contrast.runner import score


def test_scores_of_frames_perturbed_by_torch(tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set", n_clips=3)
    tiny_models.clip(tmp_path / "clip")
    conditions = "clean,visual:gaussian_noise@3,visual:rotate@3,visual:zoom_blur@3,visual:jpeg@3"
    runs = {
        where: score(
            str(tmp_path / "clip"), tmp_path / "set", "verb_mc", conditions=conditions, perturb_on=where, device="cpu",
            output=tmp_path / where, store=tmp_path / "store", progress=False, accept="all",
        )
        for where in ("auto", "device")
    }  # fmt: skip
    scores = {
        where: {(row["id"], row["condition"]): np.array(row["scores"]) for row in run.scores}
        for where, run in runs.items()
    }
    assert runs["auto"].record["perturb_on"] == "cpu"
    assert runs["device"].record["perturb_on"] == "device"
    # Kernels that agree to the last bit share their rows in the store; of the others there are two kinds.
    assert runs["device"].record["counters"]["visual_encodings"] == 3
    for (item, condition), expected in scores["auto"].items():
        found = scores["device"][item, condition]
        if condition.startswith("visual:zoom_blur"):
            np.testing.assert_allclose(found, expected, atol=0.02)
            assert not np.array_equal(found, expected)
        else:
            np.testing.assert_array_equal(found, expected)
