"""Tags of words, kept between builds."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from video_contrast.perturbations.language.store import user_store


@contextmanager
def tag_cache() -> Iterator[None]:
    """Keeps tags between builds in the user's cache (unless VIDEO_CONTRAST_TAGS names another file)."""
    name = "VIDEO_CONTRAST_TAGS"
    if name in os.environ:
        yield
        return
    os.environ[name] = str(user_store())
    try:
        yield
    finally:
        del os.environ[name]
