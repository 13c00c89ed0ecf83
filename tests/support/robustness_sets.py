"""Short videos and a clean set for the tests of robustness builders."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from video_contrast.builders import build
from video_contrast.video import write_video


def pictures(seed: int, length: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    frames = np.full((length, 32, 48, 3), rng.integers(40, 200, 3), np.uint8)
    for t, frame in enumerate(frames):
        frame[8:20, t : t + 8] = rng.integers(0, 256, 3)
    return frames


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three short videos."""
    root = tmp_path_factory.mktemp("videos")
    for number in range(3):
        write_video(root / f"v{number}.mp4", pictures(number), 20, quality="lossless")
    return root


CAPTIONS = ["a man runs in a park", "a girl eats a red apple", "two dogs play with a ball"]


@pytest.fixture(scope="module")
def clean(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A retrieval set of three clips with spans."""
    table = tmp_path_factory.mktemp("table") / "captions.jsonl"
    rows = [{"video": f"v{n}.mp4", "caption": [text], "start": 0.25, "end": 1.5} for n, text in enumerate(CAPTIONS)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return build(
        "captions", ["retrieval"], output=table.parent / "set", captions=str(table), start_column="start",
        end_column="end",
    )  # fmt: skip


def rows_of(root: Path, config: str) -> list[dict]:
    return pq.read_table(next((root / config).glob("*.parquet"))).to_pylist()


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
