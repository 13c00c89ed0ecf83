"""Browser tests wait for what they expect: a machine that is busy needs more than the five seconds of the library."""

import pytest

PATIENCE = 60_000  # milliseconds


@pytest.fixture(scope="session", autouse=True)
def _patient_browser() -> None:
    try:
        from playwright.sync_api import expect
    except ImportError:  # tests that need it skip, with the reason
        return
    expect.set_options(timeout=PATIENCE)
