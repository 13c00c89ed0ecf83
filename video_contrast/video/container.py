"""Opening a video file: regular files of video containers only, nothing over the network, one thread."""

import logging
import os
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from video_contrast.errors import VideoContrastError
from video_contrast.files import AnyPath
from video_contrast.untyped import AvContainer, AvStream

# Demuxers of video containers. Playlists (concat, hls, dash, sdp) read other files than the one that is named.
FORMATS = (
    "mov", "matroska", "avi", "mpegts", "mpeg", "mpegvideo", "asf", "flv", "ogg", "gif", "ivf", "nut", "mxf", "rm",
    "dv", "h264", "hevc", "m4v", "obu",
)  # fmt: skip
logging.getLogger("libav").addHandler(logging.NullHandler())  # Python prints what reaches no handler
_LOST = "edit unit sync lost"  # message of MXF for frames that are left out; not marked as an error


class BrokenVideo(VideoContrastError):
    """A file that is missing, unreadable or holds no frame; a run records it and goes on."""


class DamagedVideo(BrokenVideo):
    """A file that can be opened, and whose picture is cut short or wrong where it is looked at."""


@contextmanager
def opened(path: str) -> Iterator[tuple[AvContainer, AvStream]]:
    """Opens a file and yields its PyAV container and its video stream: the one flagged default, or the first.

    Raises BrokenVideo: no such file, not a regular file, not a video container, or no video stream in it.
    """
    import av

    regular(path)
    options = {"format_whitelist": ",".join(FORMATS), "protocol_whitelist": "file"}
    # Titles that are not UTF-8 are no reason to refuse a file: PyAV 19 thinks so too, and has no option for it.
    tolerant: dict[str, Any] = {} if int(av.__version__.partition(".")[0]) >= 19 else {"metadata_errors": "replace"}
    try:
        container = av.open(f"file:{path}", options=options, **tolerant)
    except (av.error.FFmpegError, OSError, ValueError) as error:
        raise BrokenVideo(f"{path}: cannot be read as a video ({reason(error)}); cut off, or no video?") from error
    with container:
        if not (streams := streams_of(container)):
            raise BrokenVideo(f"{path}: has no video stream that can be decoded")
        defaults = [stream for stream in streams if stream.disposition & av.stream.Disposition.default]
        stream = (defaults or streams)[0]
        # One thread a file: the workers are the parallelism, and the bits then never depend on the machine.
        stream.codec_context.thread_count = 1
        stream.codec_context.thread_type = "NONE"
        try:
            yield container, stream
        except av.error.FFmpegError as error:
            raise DamagedVideo(f"{path}: damaged ({reason(error)})") from error


def streams_of(container: AvContainer) -> list[AvStream]:
    """The video streams of a container that can be decoded, without pictures of its cover."""
    import av

    covers = av.stream.Disposition.attached_pic
    return [s for s in container.streams.video if s.codec_context is not None and not s.disposition & covers]


@contextmanager
def logged_errors() -> Iterator[Callable[[str], str]]:
    """Yields a function that returns the first error which FFmpeg logged in this thread since the last call, or "".

    Its argument is the name of a format, for what its demuxer logs, or "" for all. A demuxer that meets bytes which it
    cannot read goes on behind them, and a decoder fills in what it cannot decode; both say so in the log only.
    """
    import av.logging

    def first(demuxer: str) -> str:
        own = [(level, text.strip()) for level, name, text in entries if demuxer in ("", name)]
        entries.clear()
        return next((text for level, text in own if level <= av.logging.ERROR or _LOST in text), "")

    with _log_on(), av.logging.Capture() as entries:
        yield first


_LOG_LOCK = threading.Lock()
_LOG_BEFORE: list[tuple[int | None, bool]] = []  # how the log was as each thread that listens began to


@contextmanager
def _log_on() -> Iterator[None]:
    """Turns the log of FFmpeg on, which PyAV has off, while any thread listens to it."""
    from av import logging

    with _LOG_LOCK:
        _LOG_BEFORE.append((logging.get_level(), logging.get_skip_repeated()))
        logging.set_skip_repeated(False)  # it would swallow the first line of a file that is the last's last
        logging.set_level(max(logging.WARNING, logging.get_level() or 0))
    try:
        yield
    finally:
        with _LOG_LOCK:
            level, skip = _LOG_BEFORE.pop()
            if not _LOG_BEFORE:
                logging.set_level(level)
                logging.set_skip_repeated(skip)


def regular(path: AnyPath) -> os.stat_result:
    """Returns the `os.stat_result` of a regular file. Devices and pipes are refused: opening one may never return.

    Raises BrokenVideo: no such file, a circle of links, or not a regular file.
    """
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        why = "" if isinstance(error, FileNotFoundError) else f" ({reason(error)})"
        raise BrokenVideo(f"{path}: no such file{why}") from error
    if not stat.S_ISREG(status.st_mode):
        raise BrokenVideo(f"{path}: is not a regular file")
    return status


def reason(error: BaseException) -> str:
    """Returns what an error of PyAV or the operating system says, in a few words."""
    return str(getattr(error, "strerror", "") or error)
