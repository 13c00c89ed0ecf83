"""A clip as a browser can show it: right colours, only the item's span, large enough to see.

Edited clips and files that browsers do not play are written when they are first shown, which takes seconds each: a
background thread makes them ready in the order of the page.
"""

import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

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
_writing = threading.Lock()
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
    if target.exists():
        return target
    with _writing:  # one clip at a time, and none twice: a person waits for the one in hand
        if not target.exists():
            from video_contrast.video import footage_of, write_video

            footage = footage_of(root, clip)
            numbers = range(*footage.span)
            pictures = footage.decode(numbers)
            height, width = (side - side % 2 for side in pictures.shape[1:3])
            times = -(-_SMALLEST // min(height, width))
            frames = pictures[:, :height, :width].repeat(times, axis=1).repeat(times, axis=2)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_video(target, frames, footage.fps, times=footage.times[numbers.start : numbers.stop])
    return target


def _plays(path: Path) -> bool:
    if path.suffix.lower() not in _ENDINGS:
        return False
    with opened(str(path)) as (_, stream):
        context = stream.codec_context
        return min(context.width, context.height) >= _SMALLEST and (context.name, context.pix_fmt) in _PLAYED


def make_ready(root: Path, rows: Iterable[MultipleChoiceRow]) -> None:
    """Makes the clips of items ready in the background, one after the other, until the program ends."""

    def work() -> None:
        for row in rows:
            if not threading.main_thread().is_alive():
                return
            with suppress(VideoContrastError, OSError):  # the page says so when the item is shown
                shown_clip(root, row)

    threading.Thread(target=work, name="clips ahead").start()
