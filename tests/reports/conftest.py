"""Browser tests wait for what they expect: a machine that is busy needs more than the five seconds of the library."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = [Path("/usr/bin") / name for name in ("chromium", "chromium-browser", "google-chrome")]
PATIENCE = 60_000  # milliseconds


@pytest.fixture(scope="session", autouse=True)
def _patient_browser() -> None:
    try:
        from playwright.sync_api import expect
    except ImportError:  # tests that need it skip, with the reason
        return
    expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = next((path for path in CHROMIUM if path.exists()), None)
    if program is None:
        pytest.skip("no Chromium in /usr/bin")
    with api.sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()
