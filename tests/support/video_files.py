"""Small video files of every kind, in which every frame differs."""

import struct
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import VideoReformatter

FRAMES = 26
FPS = 25
STORED = Path(__file__).parents[1] / "data" / "av1"
_PIXELS = {"gif": "rgb8", "mjpeg": "yuvj420p"}


def even(number: int) -> int:
    """The place of a frame at an even rate, in 25ths of a second."""
    return number


def write_clip(
    path: Path,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    *,
    gop: int = 5,
    shown_at: Callable[[int], int] = even,
    n_frames: int = FRAMES,
    container_options: dict[str, str] | None = None,
    sound: float = 0.0,
) -> np.ndarray:
    """Writes a clip of 64x48 and returns its frames in the order in which the decoder hands them out.

    With `sound`, it has a second track of so many seconds of noise. The pictures of "av1" are stored ones (written as
    below by SVT-AV1, preset 12): that encoder asks for threads of real-time priority where it runs as root, and then
    sometimes never returns.
    """
    if codec == "av1":
        stored = STORED / f"{n_frames}_frames_keys_every_{gop}.mkv"
        with av.open(str(stored)) as source, av.open(str(path), "w", options=container_options or {}) as container:
            copied = container.add_stream_from_template(source.streams.video[0], opaque=True)
            for t, packet in enumerate(packet for packet in source.demux(video=0) if packet.size):
                packet.pts, packet.dts, packet.duration = shown_at(t), shown_at(t), 1
                packet.stream, packet.time_base = copied, Fraction(1, FPS)
                container.mux(packet)
        return in_sequence(path)
    with av.open(str(path), "w", options=container_options or {}) as container:
        stream = container.add_stream(codec, rate=Fraction(FPS))
        stream.width, stream.height, stream.pix_fmt = 64, 48, _PIXELS.get(codec, "yuv420p")
        stream.codec_context.gop_size = gop
        stream.codec_context.thread_count = 1  # threads cost more than such pictures
        stream.options = options or {}
        if sound:
            track = container.add_stream("aac", rate=16000, layout="mono")
            noise = np.random.default_rng(0).normal(0, 0.1, (1, round(16000 * sound))).astype(np.float32)
            heard = av.AudioFrame.from_ndarray(noise, format="fltp", layout="mono")
            heard.sample_rate = 16000
            for packet in (*track.encode(heard), *track.encode(None)):
                container.mux(packet)
        for t in range(n_frames):
            picture = np.full((48, 64, 3), 40, np.uint8)
            picture[:, 2 * t % 64 : 2 * t % 64 + 4] = (250, 9 * t % 256, 120)
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = shown_at(t), Fraction(1, FPS)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return in_sequence(path)


def in_sequence(path: Path) -> np.ndarray:
    """All frames of a file, uint8[T, H, W, 3], decoded one after another."""
    converter = VideoReformatter()  # a new one for every frame costs more than decoding it
    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        frames = container.decode(video=0)
        return np.stack([converter.reformat(frame, format="rgb24").to_ndarray() for frame in frames])


def turn_pictures(path: Path, matrix: tuple[int, int, int, int] = (0, 1, -1, 0)) -> None:
    """Makes an mp4 file say how its pictures are to be shown: turned by 90 degrees clockwise, as phones do."""
    data = bytearray(path.read_bytes())
    # the 3x3 matrix of the track header: 40 bytes after its version field, 16.16 and 2.30 fixed point
    at = data.index(b"tkhd") + 4 + 40
    a, b, c, d = (part << 16 for part in matrix)
    data[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 48 << 16, 0, 1 << 30)
    path.write_bytes(data)
