"""JPEG, a frame by itself; and video codecs, in memory.

Every group of 12 frames is coded by itself at a fixed quantiser and decoded again.
No container, one thread, no B-frames and no scene cuts, so a frame depends on the frames before it in its group and
on nothing else: to know some frames, only their groups up to them need coding, and equal frames give equal pictures.
FFmpeg's quantisers end at 31; higher ones of the paper are 31, which makes its upper severities equal.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import cv2
import numpy as np

from video_contrast.errors import UsageError
from video_contrast.perturbations.registry import Frame, Frames, VideoSpec, video_perturbation

QUALITY = (25, 18, 15, 10, 7)  # robustness paper, appendix A.1


@video_perturbation("jpeg", category="Digital", acts="frame")
def jpeg(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """JPEG at quality 25, 18, 15, 10, 7 (robustness paper, appendix A.1); the pixels Pillow gives, bit for bit."""
    mirrored = cv2.cvtColor(frame, cv2.COLOR_RGB2BGR)
    _, jpeg_bytes = cv2.imencode(".jpg", mirrored, (cv2.IMWRITE_JPEG_QUALITY, QUALITY[severity - 1]))
    if _DECODES_RGB is not None:
        return np.asarray(cv2.imdecode(jpeg_bytes, _DECODES_RGB))
    return np.asarray(cv2.cvtColor(cv2.imdecode(jpeg_bytes, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB), np.uint8)


_DECODES_RGB: int | None = getattr(cv2, "IMREAD_COLOR_RGB", None)  # from OpenCV 4.11 on
GROUP = 12  # FFmpeg's default distance of key frames, as in the release
LARGEST_QUANTISER = 31
_RISING = {"quantisers": (6, 12, 18, 24, 31)}
# perturbation -> FFmpeg encoder and the paper's quantisers (appendix A.1)
CODECS: dict[str, tuple[str, Sequence[int]]] = {
    "codec1": ("mpeg2video", (20, 40, 60, 80, 100)),
    "codec2": ("mpeg4", (15, 30, 45, 60, 75)),
}


@video_perturbation("codec1", category="Digital", acts="codec", profiles={"monotone": _RISING})
def codec1(frames: Frames, severity: int, quantisers: Sequence[int] = CODECS["codec1"][1]) -> Frames:
    """MPEG-2 video at quantiser 20, then 31 (the paper's MPEG1: qscale 20 40 60 80 100; appendix A.1)."""
    return _through(frames, CODECS["codec1"][0], quantisers[severity - 1])


@video_perturbation("codec2", category="Digital", acts="codec", profiles={"monotone": _RISING})
def codec2(frames: Frames, severity: int, quantisers: Sequence[int] = CODECS["codec2"][1]) -> Frames:
    """MPEG-4 at quantiser 15, 30, then 31 (the paper's MPEG2: qscale 15 30 45 60 75; appendix A.1)."""
    return _through(frames, CODECS["codec2"][0], quantisers[severity - 1])


def codec_and_quantiser(spec: VideoSpec, severity: int, profile: str = "paper") -> tuple[str, int]:
    """The FFmpeg encoder that a codec perturbation uses, and its quantiser.

    >>> from video_contrast.perturbations.video import video_spec
    >>> codec_and_quantiser(video_spec("codec1"), 2)
    ('mpeg2video', 31)
    """
    encoder, paper = CODECS[spec.name]
    quantisers = spec.profiles.get(profile, {}).get("quantisers", paper)
    return encoder, min(quantisers[severity - 1], LARGEST_QUANTISER)


def _through(frames: Frames, codec: str, quantiser: int) -> Frames:
    out = np.empty_like(frames)
    for first in range(0, len(frames), GROUP):
        group = slice(first, first + GROUP)
        out[group] = _code_group(frames[group], codec, min(quantiser, LARGEST_QUANTISER))
    return out


def _code_group(frames: Frames, codec: str, quantiser: int) -> Frames:
    """A group of pictures (the first one a key frame) encoded and decoded; odd sides are extended by their edge."""
    import av

    count, height, width = frames.shape[:3]
    if max(height, width) > _MAX_SIDE[codec]:
        raise UsageError(
            f"{codec} takes pictures of up to {_MAX_SIDE[codec]} pixels a side, not {width}x{height}: scale them down "
            "first"
        )
    tall, wide = max(_MIN_SIDE, height + height % 2), max(_MIN_SIDE, width + width % 2)
    if codec == "mpeg2video":  # its header cannot say a multiple of 4096
        tall, wide = tall + 2 * (tall % 4096 == 0), wide + 2 * (wide % 4096 == 0)
    encoder: Any = av.CodecContext.create(codec, "w")  # of PyAV: by its types a codec of any medium
    encoder.width, encoder.height, encoder.pix_fmt = wide, tall, "yuv420p"
    encoder.time_base = Fraction(1, 25)
    encoder.framerate = Fraction(25)
    encoder.gop_size = GROUP
    encoder.thread_count = 1
    encoder.options = {
        "qmin": str(quantiser), "qmax": str(quantiser), "bf": "0", "sc_threshold": "1000000000", "flags": "+bitexact",
    }  # fmt: skip
    decoder: Any = av.CodecContext.create(codec, "r")  # as the encoder
    decoder.thread_count = 1
    pictures = []
    for position, picture in enumerate(frames):
        if (tall, wide) != (height, width):
            picture = cv2.copyMakeBorder(picture, 0, tall - height, 0, wide - width, cv2.BORDER_REPLICATE)
        video_frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="yuv420p")
        video_frame.pts = position
        video_frame.time_base = encoder.time_base
        for packet in encoder.encode(video_frame):
            pictures += decoder.decode(packet)
    for packet in encoder.encode(None):
        pictures += decoder.decode(packet)
    pictures += decoder.decode(None)
    if len(pictures) != count:
        raise RuntimeError(f"{codec} returned {len(pictures)} of {count} frames")
    return np.stack([picture.to_ndarray(format="rgb24")[:height, :width] for picture in pictures])


_MIN_SIDE = 16
_MAX_SIDE = {"mpeg2video": 16_382, "mpeg4": 8_190}  # even numbers that fit into 14 and 13 bits
