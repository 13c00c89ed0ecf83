"""Tags of words, kept between builds."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from video_contrast.files import cache_dir


@contextmanager
def tag_cache() -> Iterator[None]:
    """Keeps tags between builds in the user's cache (unless VIDEO_CONTRAST_TAGS names another file)."""
    name = "VIDEO_CONTRAST_TAGS"
    if name in os.environ:
        yield
        return
    place = cache_dir() / "tags.sqlite"
    place.parent.mkdir(parents=True, exist_ok=True)
    os.environ[name] = str(place)
    try:
        yield
    finally:
        del os.environ[name]
