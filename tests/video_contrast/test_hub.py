"""The Hub is asked once, and not again and again where nobody answers."""

import time
from pathlib import Path

import pytest
from fake_hub import point_at

from video_contrast.perturbations.pretrained import MissingCheckpoint, load


def test_without_a_network_a_missing_model_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from transformers import AutoConfig

    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)  # between the library's own attempts
    point_at("http://127.0.0.1:9", monkeypatch, tmp_path)
    with pytest.raises(MissingCheckpoint, match="hf download someone/absent"):
        load("someone/absent", AutoConfig, "language_model")
    assert waits == []
