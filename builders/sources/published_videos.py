"""Where the videos of a published set lie: by the names of its release, or as members of a zip."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

from video_contrast.builders.assembly.captioned_clip import VideoSpan
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import is_safe_relative


@dataclass(frozen=True)
class VideoName(VideoSpan):
    """Where the video of an item lies."""

    source: str = ""  # the source video, for intervals; the path without suffix by default

    @property
    def cluster(self) -> str:
        """The source video."""
        return self.source or self.video_id


class Archive:
    """The members of a zip of videos.

    Raises:
        UsageError: no such file, or no zip.
        VideoContrastError: a member's path leads out of the folder into which the zip is unpacked.
    """

    def __init__(self, path: Path) -> None:
        if not zipfile.is_zipfile(path):
            raise UsageError(f"--videos-zip {path}: no such file, or no zip")
        with zipfile.ZipFile(path) as archive:
            self.members = [name for name in archive.namelist() if not name.endswith("/")]
        for number, name in enumerate(self.members):
            if not is_safe_relative(name):
                raise VideoContrastError(
                    f"{path.name}, member {number}: {name!r} leads out of the folder into which it is unpacked"
                )
        self._by_end: dict[str, str | None] = {}
        for name in self.members:
            parts = name.split("/")
            for n in range(len(parts)):
                end = "/".join(parts[n:])
                self._by_end[end] = None if end in self._by_end else name

    def member(self, path: str) -> str | None:
        """The one member that is called so, or whose path ends so; the file's name alone will do."""
        return self._by_end.get(path) or self._by_end.get(path.rsplit("/", 1)[-1])


def file_name(path: str) -> str:
    """The last part of a path or of an address.

    >>> file_name("s3://bucket/a/v_x.mp4?y=1")
    'v_x.mp4'
    """
    return path.partition("?")[0].replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
