"""A clip as a browser can show it: right colours, only the item's span, large enough to see.

Edited clips and files that browsers do not play are written when they are first shown, which takes seconds each: a
background thread makes the next ones ready while a person looks at one.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.files import cache_dir
from video_contrast.reports.strips import clip_files
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import digest
from video_contrast.video import Clip
from video_contrast.video.container import opened

# What browsers and phones play. Lossless h264 holds RGB, which they show in false colours without an error.
_PLAYED = {("h264", "yuv420p"), ("h264", "yuvj420p"), ("vp9", "yuv420p"), ("av1", "yuv420p")}
_ENDINGS = (".mp4", ".webm", ".m4v")
_SMALLEST = 240  # pixels of the shorter side; smaller pictures are enlarged without blur


def shown_folder() -> Path:
    """Where converted clips are kept."""
    return cache_dir() / "annotate"


def shown_clip(root: Path, row: MultipleChoiceRow) -> Path:
    """The file to show for an item: the clip itself, or a copy that a browser can play, cut to the item's span.

    Raises VideoContrastError: the clip is missing or cannot be read.
    """
    clip = Clip.of(row)
    paths = clip_files(root, clip)
    path = paths[0]
    if not clip.segments and row["start"] is None and row["end"] is None and _plays(path):
        return path
    files = ((str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths)
    source = (*(value for file in files for value in file), row["start"], row["end"], *map(repr, clip.segments))
    key = digest("annotate", *source).hex()[:32]
    target = shown_folder() / f"{key}.mp4"
    if not target.exists():
        from video_contrast.video import footage_of, write_video

        footage = footage_of(root, clip)
        numbers = range(*footage.span)
        pictures = footage.decode(numbers)
        height, width = (side - side % 2 for side in pictures.shape[1:3])
        frames = pictures[:, :height, :width]
        times = -(-_SMALLEST // min(height, width))
        if times > 1:
            frames = np.repeat(np.repeat(frames, times, axis=1), times, axis=2)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_video(target, frames, footage.fps, times=footage.times[numbers.start : numbers.stop])
    return target


def _plays(path: Path) -> bool:
    if path.suffix.lower() not in _ENDINGS:
        return False
    with opened(str(path)) as (_, stream):
        context = stream.codec_context
        return min(context.width, context.height) >= _SMALLEST and (context.name, context.pix_fmt) in _PLAYED


AHEAD = 2  # clips that are made ready for a person
WAITING = 8  # clips that wait at most, for all persons together


class ClipsAhead:
    """The clips of a page. One at a time is made ready in the background, and none twice."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._changed = threading.Condition()
        self._waiting: list[MultipleChoiceRow] = []
        self._in_hand = ""  # id of the item whose clip is being written
        self._thread: threading.Thread | None = None

    def clip(self, row: MultipleChoiceRow) -> Path:
        """The file to show for an item; one that is just being written is waited for.

        Raises VideoContrastError: the clip is missing or cannot be read.
        """
        with self._changed:
            self._waiting = [other for other in self._waiting if other["id"] != row["id"]]
            self._changed.wait_for(lambda: self._in_hand != row["id"])
        return shown_clip(self.root, row)

    def expect(self, rows: Sequence[MultipleChoiceRow]) -> None:
        """Makes the clips of items ready, in their order, before those that have waited for longer."""
        with self._changed:
            new = {row["id"]: row for row in (*rows, *self._waiting) if row["id"] != self._in_hand}
            self._waiting = list(new.values())[:WAITING]
            if self._waiting and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._work, name="clips ahead")
                self._thread.start()

    def _work(self) -> None:
        """Until nothing waits, or the program ends: it then waits for the clip in hand, and no other."""
        while True:
            with self._changed:
                if not self._waiting or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                row = self._waiting.pop(0)
                self._in_hand = row["id"]
            try:
                with suppress(VideoContrastError, OSError):  # the page says so when the item is shown
                    shown_clip(self.root, row)
            finally:
                with self._changed:
                    self._in_hand = ""
                    self._changed.notify_all()
