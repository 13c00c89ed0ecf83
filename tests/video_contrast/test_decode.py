"""Frame sampling and selective decoding: the right frames, from no more of the file than they need."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.errors import VideoContrastError
from video_contrast.video.decode import BrokenVideo, Counter, decode, index_of
from video_contrast.video.sampling import POLICIES, frame_indices, frame_range


@given(st.integers(1, 3000), st.integers(1, 64), st.sampled_from(POLICIES))
@settings(max_examples=200, deadline=None)
def test_sampled_indices_are_in_range_and_in_order(n_frames: int, count: int, policy: str) -> None:
    found = frame_indices(n_frames, count, policy)  # type: ignore[arg-type]
    assert found.shape == (count,) and found.dtype == np.int64
    assert found[0] >= 0 and found[-1] < n_frames and (np.diff(found) >= 0).all()
    if n_frames >= count:
        assert len(set(found.tolist())) == count, "a frame was sampled twice though there are enough"


@given(st.integers(1, 3000), st.integers(1, 32))
@settings(max_examples=200, deadline=None)
def test_uniform_sampling_is_symmetric_in_time_and_spread_evenly(n_frames: int, half: int) -> None:
    found = frame_indices(n_frames, 2 * half)
    np.testing.assert_array_equal(found, n_frames - 1 - found[::-1])
    middles = (np.arange(2 * half) + 0.5) * n_frames / (2 * half)
    assert np.abs(found + 0.5 - middles).max() <= 1


@given(st.integers(1, 500), st.floats(1, 60), st.floats(0, 10), st.floats(0.001, 10))
@settings(max_examples=200, deadline=None)
def test_a_span_holds_the_frames_shown_in_it(n_frames: int, fps: float, start: float, length: float) -> None:
    if start * fps >= n_frames:
        with pytest.raises(VideoContrastError, match="past the end"):
            frame_range(n_frames, fps, start, start + length)
        return
    first, stop = frame_range(n_frames, fps, start, start + length)
    assert 0 <= first < stop <= n_frames
    inside = [k for k in range(n_frames) if start + 1e-5 <= k / fps < start + length - 1e-5]
    assert all(first <= k < stop for k in inside)
    assert len(range(first, stop)) <= len(inside) + 2


def make(path: Path, n_frames: int = 60, gop: int = 12, codec: str = "libx264", **options: str) -> np.ndarray:
    """Writes a clip in which every frame differs, and gives all of its frames as decoded one after another."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=Fraction(25))
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.gop_size = gop
        stream.options = options
        for t in range(n_frames):
            picture = np.full((48, 64, 3), 40, np.uint8)
            picture[:, t % 64 : t % 64 + 4] = (250, 3 * t % 256, 120)
            for packet in stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode(None):
            container.mux(packet)
    with av.open(str(path)) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


FILES = {
    "h264 with B-frames": ("a.mp4", {"codec": "libx264", "bf": "3"}),
    "mkv": ("a.mkv", {"codec": "libx264", "bf": "2"}),
    "mpeg4 in avi": ("a.avi", {"codec": "mpeg4"}),
    "mpeg2 transport stream": ("a.ts", {"codec": "mpeg2video", "bf": "2"}),
    "one group of pictures": ("b.mp4", {"codec": "libx264", "g": "600", "keyint_min": "600"}),
    "webm": ("a.webm", {"codec": "libvpx"}),
}


@pytest.mark.parametrize("what", FILES)
def test_any_frames_in_any_order_are_those_of_a_full_decode(tmp_path: Path, what: str) -> None:
    name, options = FILES[what]
    options = dict(options)
    every = make(tmp_path / name, codec=options.pop("codec"), **options)
    index = index_of(tmp_path / name)
    assert index.n_frames == len(every) == 60
    rng = np.random.default_rng(0)
    for wanted in ([0], [59], [59, 0, 30, 30], rng.permutation(60)[:17].tolist(), range(60)):
        np.testing.assert_array_equal(decode(tmp_path / name, list(wanted)), every[list(wanted)])


def test_only_the_groups_that_hold_wanted_frames_are_decoded(tmp_path: Path) -> None:
    make(tmp_path / "long.mp4", n_frames=600, gop=12, bf="2", sc_threshold="0")
    counter = Counter()
    wanted = frame_indices(600, 8).tolist()
    decode(tmp_path / "long.mp4", wanted, counter)
    assert counter.converted == 8
    assert counter.minimum < 8 * 12 and counter.decoded <= 1.1 * counter.minimum


def test_broken_files_say_what_is_wrong(tmp_path: Path) -> None:
    every = make(tmp_path / "good.mp4")
    (tmp_path / "text.mp4").write_text("not a video")
    (tmp_path / "empty.mp4").write_bytes(b"")
    with av.open(str(tmp_path / "sound.wav"), "w") as container:
        stream = container.add_stream("pcm_s16le", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 800), np.int16), format="s16", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
    with av.open(str(tmp_path / "none.mkv"), "w") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        container.start_encoding()
    for name, message in (
        ("absent.mp4", "no such file"),
        ("text.mp4", "cannot be read as a video"),
        ("empty.mp4", "cannot be read as a video"),
        ("sound.wav", "has no video stream"),
        ("none.mkv", "holds no video frame|cannot be read as a video|has no video stream"),
    ):
        with pytest.raises(BrokenVideo, match=message):
            index_of(tmp_path / name)
    whole = (tmp_path / "good.mp4").read_bytes()
    (tmp_path / "cut.mkv").write_bytes(b"")
    with pytest.raises(BrokenVideo, match=r"has frames 0\.\.59"):
        decode(tmp_path / "good.mp4", [60])
    damaged = bytearray(whole)
    start = whole.index(b"mdat") + 2000
    damaged[start : start + 3000] = bytes(3000)
    (tmp_path / "damaged.mp4").write_bytes(bytes(damaged))
    try:
        found = decode(tmp_path / "damaged.mp4", [0, 59])
    except BrokenVideo as error:
        assert "damaged" in str(error) or "cannot be decoded" in str(error) or "ends before" in str(error)
    else:  # a decoder may conceal errors; then the frames must at least be the right number and size
        assert found.shape == every[[0, 59]].shape


@pytest.mark.shared_data
def test_real_clips_of_all_sorts_are_decoded_exactly(shared_data: Path) -> None:
    for path in sorted((shared_data / "videos").glob("*.m*"))[::7]:
        with av.open(str(path)) as container:
            every = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        wanted = frame_indices(len(every), 8)
        counter = Counter()
        found = decode(path, wanted.tolist(), counter)
        np.testing.assert_array_equal(found, np.stack([every[k] for k in wanted]))
        assert counter.decoded <= 1.1 * counter.minimum
