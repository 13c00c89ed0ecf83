"""Which contrasts count as swaps of an action or an object."""

from pathlib import Path

import pytest

from video_contrast.storage import RunFolder
from video_contrast.teacher.demo import changes


@pytest.mark.parametrize("kind", ["verb_lm", "verb_human", "verb_mlm", "antonym", "counterfactual", "object"])
def test_every_kind_of_verb_contrast_is_a_swap_of_the_action(tmp_path: Path, kind: str) -> None:
    run = RunFolder(tmp_path)
    run.write_scores([
        {"config": "c", "condition": "clean", "id": "i", "video_id": "v", "cluster": "v", "label": 1,
         "kinds": [kind, "true", "random"], "scores": [0.25, 1.0, 0.0], "replaced_score": None, "parts": None,
         "frames": []}
    ])  # fmt: skip
    run.write_metrics({"configs": {}})
    run.finish({"version": "0.1.0"})
    swap, other = ("object", "action") if kind == "object" else ("action", "object")
    assert changes(tmp_path)[swap].tolist() == [-0.75] and not len(changes(tmp_path)[other])
