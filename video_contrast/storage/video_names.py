"""Names of videos in tables: ids that stand for a file are given its ending."""

import re
from pathlib import Path

ENDINGS = (
    "mp4", "m4v", "mov", "3gp", "3g2", "mkv", "webm", "avi", "wmv", "asf", "flv", "f4v", "mpg", "mpeg", "vob", "ts",
    "mts", "m2ts", "ogv", "ogg", "gif", "mxf", "rm", "rmvb", "dv",
)  # fmt: skip
ENDING = re.compile(rf"\.({'|'.join(ENDINGS)}|jpe?g|png|webp)$", re.I)  # of files: sets of images are read, too


def with_ending(video: str, root: Path | None = None) -> str:
    """The file of a video that may be named without its ending: the one that lies there, else .mp4.

    `video`: the name, relative to `root`. `root`: the folder of the videos, where it is known.

    >>> with_ending("clips/a"), with_ending("a.webm"), with_ending("film_00.01")
    ('clips/a.mp4', 'a.webm', 'film_00.01.mp4')
    """
    if ENDING.search(video):
        return video
    names = (video, *(f"{video}.{ending}" for ending in ENDINGS))
    return next((name for name in names if lies_there(name, root)), f"{video}.mp4")


def lies_there(video: str, root: Path | None) -> bool:
    """Whether a file lies below a folder; False where the folder is not known."""
    try:
        return root is not None and (root / video).is_file()
    except OSError:  # a name that is too long for the file system
        return False
