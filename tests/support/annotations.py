"""A set to be annotated, and its rows."""

from pathlib import Path
from typing import Any

import fabricate
import pytest

from video_contrast.storage import open_set

CAPTIONS = (
    "a woman is singing <b>loudly</b>",
    "a boy sits down on a chair",
    "two dogs run",
    "a man opens a door",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.make_set(tmp_path_factory.mktemp("sets") / "made", 4, captions=CAPTIONS)


@pytest.fixture
def rows(made: Path) -> list[dict[str, Any]]:
    return open_set(made).choice_rows("random_mc", "test")


def label(rows: list[dict[str, Any]], item: str) -> int:
    return next(row["label"] for row in rows if row["id"] == item)
