"""A decoded frame as a picture: RGB, and upright as its file asks (phones store a picture and how to turn it)."""

import threading

import numpy as np
import numpy.typing as npt

from video_contrast.untyped import AvFrame

_OF_THREAD = threading.local()


def picture(frame: AvFrame) -> npt.NDArray[np.uint8]:
    """Returns a decoded frame as uint8[H, W, 3], RGB and upright."""
    # One converter a thread: setting a new one up for every frame costs more than converting a small frame. It has no
    # threads of its own: a process that is forked (`Dataset.map`, torch's workers) would wait for them for ever.
    if not hasattr(_OF_THREAD, "reformatter"):
        from av.video.reformatter import VideoReformatter

        _OF_THREAD.reformatter = VideoReformatter()
    pixels: npt.NDArray[np.uint8] = _OF_THREAD.reformatter.reformat(frame, format="rgb24", threads=1).to_ndarray()
    area = _area(frame)
    return np.ascontiguousarray(np.rot90(pixels if area >= 0 else pixels[::-1], _quarters(frame))) if area else pixels


def remarks_on(frame: AvFrame) -> tuple[str, ...]:
    """The wishes of a file that `picture` does not grant: a rotation by an angle that is no multiple of 90 degrees."""
    if not _area(frame) or abs((frame.rotation + 45) % 90 - 45) < 1:
        return ()
    rotation = frame.rotation % 360  # PyAV cuts off what is behind the comma
    return (f"its pictures are turned by {90 * _quarters(frame)} degrees, not by about {rotation:g} as it asks",)


def _quarters(frame: AvFrame) -> int:
    """Quarters of a turn, counter-clockwise."""
    return int(round(frame.rotation / 90) % 4)


def _area(frame: AvFrame) -> int:
    """Above 0 if a frame has a display matrix, below 0 if it mirrors (top to bottom, then turns); 0 if none or zero."""
    if (matrix := frame.side_data.get("DISPLAYMATRIX")) is None:
        return 0
    a, b, _, c, d = np.frombuffer(matrix, np.int32)[:5].tolist()
    return int(a * d - b * c)
