"""The Hub is asked once, and not again and again where nobody answers."""

import time
from pathlib import Path

import pytest
from fake_hub import point_at

from video_contrast.builders.sources.caption_table import read_table
from video_contrast.errors import VideoContrastError
from video_contrast.metrics.shift import perplexity
from video_contrast.pretrained import MissingCheckpoint, load
from video_contrast.reports.xray_input import open_sources


def test_without_a_network_what_is_missing_is_said_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from transformers import AutoConfig

    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)  # between the library's own attempts
    point_at("http://127.0.0.1:9", monkeypatch, tmp_path)
    with pytest.raises(MissingCheckpoint, match="hf download someone/absent"):
        load("someone/absent", AutoConfig, "language_model")
    with pytest.raises(VideoContrastError, match="`hf download someone/absent --repo-type dataset`"):
        next(read_table("someone/absent"))
    with pytest.raises(VideoContrastError, match="someone/absent: no such folder"):
        open_sources("someone/absent")
    with pytest.raises(ValueError, match="hf download someone/absent"):
        perplexity(["a man runs"], "someone/absent")
    assert waits == []
