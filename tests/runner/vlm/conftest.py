"""These tests need torchvision beside torch: `make test` runs them with one of their own (see the Makefile)."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_vlm import MAKERS

from video_contrast.runner.kinds.base import ClipFrames

HERE = Path(__file__).parent


def torchvision_works() -> bool:
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):
        return False
    return True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if HERE in item.path.parents]
    if mine and not torchvision_works():
        skip = pytest.mark.skip(reason="no working torchvision here; `make test` runs these in a second step")
        for item in mine:
            item.add_marker(skip)


@pytest.fixture(scope="session")
def tiny_vlm(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny checkpoint of a generative class, made on first use."""
    root = tmp_path_factory.mktemp("vlm")
    return cache(lambda name: MAKERS[name](root / name))


@pytest.fixture(scope="session")
def loaded(tiny_vlm: Callable[[str], Path]) -> Callable[[str], tuple[Any, Any]]:
    """Such a model in evaluation mode and its processor, loaded on first use: a test leaves them as they are."""
    from transformers import AutoModelForImageTextToText, AutoProcessor, Qwen2_5OmniThinkerForConditionalGeneration

    @cache
    def get(name: str) -> tuple[Any, Any]:
        folder = tiny_vlm(name)
        loader = Qwen2_5OmniThinkerForConditionalGeneration if "omni" in name else AutoModelForImageTextToText
        return loader.from_pretrained(folder).eval(), AutoProcessor.from_pretrained(folder)

    return get


@pytest.fixture(scope="session")
def clip() -> ClipFrames:
    """Four frames of noise with a moving bar, 60 x 80, two a second."""
    frames = np.random.default_rng(0).integers(0, 255, (4, 60, 80, 3), dtype=np.uint8)
    for t in range(4):
        frames[t, :, 10 * t : 10 * t + 20] = (200, 40, 40)
    return ClipFrames(frames, (0.0, 0.5, 1.0, 1.5))
