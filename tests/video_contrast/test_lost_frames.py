"""Frames that a container loses, ends that are missing, and what a file cannot tell: damage, or a remark."""

import logging
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import av.logging
import numpy as np
import pytest
from video_files import turn_pictures, write_clip

from video_contrast.video import BrokenVideo, Counter, DamagedVideo, VideoIndex, decode, index_of, read_video, verify

Damage = Callable[[bytearray, int], None]
OPEN_END = "its container does not say where it ends"
GAPS = "its even times have gaps"


def zeros(data: bytearray, at: int) -> None:
    length = len(data) // 20
    data[at : at + length] = bytes(length)


def loss(data: bytearray, at: int) -> None:
    del data[at : at + len(data) // 20]


# Containers whose demuxer goes on behind what it cannot read, and codecs that fill in what they cannot decode.
LOSSY = [
    ("webm", "libvpx-vp9", {"deadline": "realtime"}),
    ("ogv", "libvpx", {}),
    ("avi", "mjpeg", {}),
    ("avi", "mpeg4", {}),
    ("mkv", "ffv1", {}),
    ("nut", "ffv1", {}),
    ("mkv", "mjpeg", {}),
    ("webm", "av1", {}),
    ("mxf", "mpeg2video", {}),
    ("wmv", "wmv2", {}),
    ("ivf", "libvpx-vp9", {"deadline": "realtime"}),
    ("gif", "gif", {}),
]


def remarks_of(index: VideoIndex) -> str:
    return "; ".join(index.remarks)


@pytest.mark.parametrize("damage", [zeros, loss])
@pytest.mark.parametrize(("container", "codec", "options"), LOSSY)
def test_a_file_that_lost_frames_is_never_read_as_a_shorter_one(
    tmp_path: Path, container: str, codec: str, options: dict[str, str], damage: Damage
) -> None:
    path = tmp_path / f"a.{container}"
    every = write_clip(path, codec, options, n_frames=56, gop=8)
    assert verify(path).n_frames == 56 and GAPS not in remarks_of(index_of(path))
    whole = path.read_bytes()
    refused = 0
    for share in (0.25, 0.4, 0.55, 0.7):
        data = bytearray(whole)
        damage(data, int(share * len(data)))
        path.write_bytes(bytes(data))
        try:
            index = verify(path)
        except BrokenVideo:
            refused += 1
            with pytest.raises(BrokenVideo):
                read_video(path)
            continue
        assert index.n_frames == len(every) or GAPS in remarks_of(index)
    assert refused or codec == "libvpx-vp9"  # whose pictures have no mark by which a decoder could tell


def test_damage_that_ffmpeg_only_logs_is_that_of_its_frames(tmp_path: Path) -> None:
    """FFV1 has a checksum a slice; a picture that fails it is handed out with those of the one before filled in."""
    path = tmp_path / "a.mkv"
    every = write_clip(path, "ffv1", {"slicecrc": "1", "level": "3"}, n_frames=30, gop=1)
    with av.open(str(path)) as container:
        spot = next(p.pos for p in container.demux(video=0) if p.pts and p.pts > 500)
    data = bytearray(path.read_bytes())
    data[spot + 100 : spot + 110] = bytes(10)
    path.write_bytes(bytes(data))
    np.testing.assert_array_equal(decode(path, [3, 29]), every[[3, 29]])
    with pytest.raises(DamagedVideo, match="near frame 13: slice CRC mismatch"):
        decode(path, [3, 13, 29])
    counter = Counter()
    decode(path, [13], counter, accept_damaged=True)
    assert "slice CRC mismatch" in counter.damaged[str(path)]


def test_what_ffmpeg_logs_in_another_thread_is_not_printed(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as in a process that sets up no logging
    logging.getLogger("libav.h264").error("slice CRC mismatch")
    assert capsys.readouterr().err == ""


def test_the_log_of_ffmpeg_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    write_clip(path, "ffv1", {})
    threads = [threading.Thread(target=verify, args=(path,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert av.logging.get_level() is None and av.logging.get_skip_repeated()
    av.logging.set_level(av.logging.ERROR)
    try:
        verify(path)
        assert av.logging.get_level() == av.logging.ERROR
    finally:
        av.logging.set_level(None)


FRAGMENTS = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}


def fragments(data: bytes) -> list[int]:
    """Where the fragments of an MP4 file begin."""
    at, begins = 0, []
    while at < len(data):
        if data[at + 4 : at + 8] == b"moof":
            begins.append(at)
        at += int.from_bytes(data[at : at + 4], "big")
    return begins


def test_an_mp4_that_is_cut_between_fragments_is_damaged_or_its_end_is_open(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    for more, whole_is_open, cut_is_damaged in (("", False, False), ("+global_sidx", False, True)):
        write_clip(path, "libx264", {"bf": "0"}, n_frames=84, gop=12,
                   container_options={"movflags": FRAGMENTS["movflags"] + more})  # fmt: skip
        assert (OPEN_END in remarks_of(verify(path))) == whole_is_open and index_of(path).n_frames == 84
        data = path.read_bytes()
        path.write_bytes(data[: fragments(data)[4]])
        if cut_is_damaged:
            with pytest.raises(DamagedVideo, match="stops in the middle"):
                verify(path)
        else:
            assert 0 < index_of(path).n_frames < 84 and OPEN_END in remarks_of(verify(path))


def test_a_cut_file_is_damaged_or_its_end_is_open(tmp_path: Path) -> None:
    for container, codec, damaged in (
        ("mxf", "mpeg2video", True), ("ivf", "libvpx", True), ("ogv", "libvpx", False), ("nut", "mjpeg", False),
        ("ts", "mpeg2video", False), ("h264", "libx264", False),
    ):  # fmt: skip
        path = tmp_path / f"a.{container}"
        write_clip(path, codec, {}, n_frames=84, gop=6)
        assert (OPEN_END in remarks_of(verify(path))) == (not damaged), container
        with av.open(str(path)) as source:
            starts = [p.pos for p in source.demux(video=0) if p.pos is not None and p.pos > 0]
        data = path.read_bytes()
        if container == "mxf":
            starts = [at for at in starts if data[at : at + 4] == b"\x06\x0e\x2b\x34"] or starts
        path.write_bytes(data[: starts[len(starts) * 6 // 10]])
        if damaged:
            with pytest.raises(DamagedVideo):
                verify(path)
        elif container == "ts":
            assert OPEN_END in remarks_of(verify(path))


def test_matroska_of_unknown_size_has_an_open_end(tmp_path: Path) -> None:
    path = tmp_path / "a.webm"
    write_clip(path, "libvpx", {}, n_frames=60, gop=6, container_options={"live": "1"})
    assert OPEN_END in remarks_of(verify(path))
    data = path.read_bytes()
    for share in (0.4, 0.6, 0.8):
        path.write_bytes(data[: int(share * len(data))])
        try:
            assert OPEN_END in remarks_of(verify(path))
        except DamagedVideo:
            continue


def two_pictures(path: Path, flagged: int) -> list[np.ndarray]:
    """A file with a dark and a bright picture, of which one is flagged default; returns the first frame of each."""
    with av.open(str(path), "w") as container:
        streams = [container.add_stream("ffv1", rate=25) for _ in range(2)]
        for n, stream in enumerate(streams):
            stream.width, stream.height, stream.pix_fmt = 32, 32, "bgr0"
            stream.disposition = av.stream.Disposition.default if n == flagged else av.stream.Disposition(0)
        for t in range(10):
            for n, stream in enumerate(streams):
                frame = av.VideoFrame.from_ndarray(np.full((32, 32, 3), 40 + 96 * n, np.uint8))
                frame.pts = t
                container.mux(stream.encode(frame))
        for stream in streams:
            container.mux(stream.encode(None))
    return [np.full((32, 32, 3), 40 + 96 * n, np.uint8) for n in range(2)]


@pytest.mark.parametrize("flagged", [0, 1])
def test_the_picture_that_a_file_flags_default_is_read(tmp_path: Path, flagged: int) -> None:
    path = tmp_path / "a.mkv"
    pictures = two_pictures(path, flagged)
    counter = Counter()
    np.testing.assert_array_equal(decode(path, [0], counter)[0], pictures[flagged])
    (remark,) = counter.remarks
    assert "2 video streams" in remark and counter.remarks[remark] == {str(path)}


@pytest.mark.parametrize("lengths", [(30, 30), (40, 24)])
def test_joined_transport_streams_have_all_frames(tmp_path: Path, lengths: tuple[int, int]) -> None:
    parts = []
    for n, length in enumerate(lengths):
        parts.append(write_clip(tmp_path / f"{n}.ts", "libx264", {"bf": "2"}, n_frames=length))
    path = tmp_path / "joined.ts"
    path.write_bytes(b"".join((tmp_path / f"{n}.ts").read_bytes() for n in range(2)))
    np.testing.assert_array_equal(read_video(path).frames, np.concatenate(parts))
    assert index_of(path).end == pytest.approx(sum(lengths) / 25, abs=0.1)
    data = path.read_bytes()
    at = len(data) // 4 // 188 * 188
    path.write_bytes(data[:at] + data[at + 4 * 188 :])
    with pytest.raises(DamagedVideo):
        verify(path)


def test_a_turn_by_an_odd_angle_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    write_clip(path)
    turn_pictures(path, (1, 1, -1, 1))
    assert "not by about 315 as it asks" in remarks_of(verify(path)) or "not by about 45" in remarks_of(verify(path))
    counter = Counter()
    decode(path, [2], counter)
    assert any("degrees" in remark for remark in counter.remarks)
    turn_pictures(path)
    assert not verify(path).remarks


@pytest.mark.parametrize("sides", [Fraction(1), Fraction(640, 639), Fraction(4, 3)])  # the second: a rounded width
def test_pixels_that_are_not_square_are_told(tmp_path: Path, sides: Fraction) -> None:
    path, squeezed = tmp_path / "a.mp4", sides > 1.1
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        if sides != 1:
            stream.codec_context.sample_aspect_ratio = sides
        for grey in (40, 80, 120):
            picture = av.VideoFrame.from_ndarray(np.full((48, 64, 3), grey, np.uint8), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    assert any("not square (4/3)" in remark for remark in verify(path).remarks) is squeezed
    assert read_video(path).frames.shape == (3, 48, 64, 3)


def test_what_a_download_appended_to_an_mp4_is_not_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    every = write_clip(path)
    whole = path.read_bytes()
    path.write_bytes(whole + bytes(range(128, 256)) * 8)
    assert not verify(path).damage
    np.testing.assert_array_equal(read_video(path).frames, every)
    path.write_bytes(whole[:-200])
    with pytest.raises(BrokenVideo):
        read_video(path)
