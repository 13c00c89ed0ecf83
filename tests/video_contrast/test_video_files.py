"""Claims about video files: what is written comes back, upright and whole, or an error says what is wrong."""

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from tests.support.video_files import turn_pictures
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.video import index_of, read_video, sampled_frames, write_video


def moving(length: int = 20, height: int = 48, width: int = 64) -> np.ndarray:
    """A bright square that moves over a gradient."""
    frames = np.zeros((length, height, width, 3), np.uint8)
    frames[..., 0] = np.linspace(0, 255, width).astype(np.uint8)
    frames[..., 1] = np.linspace(0, 255, height).astype(np.uint8)[:, None]
    for t, frame in enumerate(frames):
        frame[5:15, t : t + 10] = 255
    return frames


def test_lossless_files_give_the_same_bits_back(tmp_path: Path) -> None:
    for shape in ((20, 48, 64), (1, 48, 64), (14, 33, 17), (3, 2, 2)):
        frames = moving(*shape)
        clip = read_video(write_video(tmp_path / "a.mp4", frames, 25, quality="lossless"))
        assert np.array_equal(clip.frames, frames)
        assert clip.fps == 25


@pytest.mark.parametrize("shape", [(20, 48, 64), (20, 47, 63)])
def test_high_quality_keeps_size_and_picture(tmp_path: Path, shape: tuple[int, int, int]) -> None:
    frames = moving(*shape)
    clip = read_video(write_video(tmp_path / "a.mp4", frames, 30000 / 1001))
    assert clip.frames.shape == frames.shape
    assert np.mean((clip.frames.astype(float) - frames) ** 2) < 255**2 / 10**3.5  # 35 dB on hard colour edges
    assert clip.fps == pytest.approx(30000 / 1001)


def test_equal_frames_give_equal_bytes_in_every_process(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frames = np.clip(moving(40, 120, 160) + rng.normal(0, 8, (40, 120, 160, 3)), 0, 255).astype(np.uint8)
    np.save(tmp_path / "frames.npy", frames)
    first = write_video(tmp_path / "a.mp4", frames, 30).read_bytes()
    assert first == write_video(tmp_path / "b.mp4", frames, 30).read_bytes()
    assert b"x264" not in first and b"Lav" not in first
    code = (
        "import sys, numpy as np; from video_contrast.video import write_video; "
        "write_video(sys.argv[2], np.load(sys.argv[1]), 30)"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "frames.npy", tmp_path / "c.mp4"], check=True)
    assert first == (tmp_path / "c.mp4").read_bytes()


def test_a_span_holds_the_frames_shown_in_it(tmp_path: Path) -> None:
    frames = moving(50)
    path = write_video(tmp_path / "a.mp4", frames, 25, quality="lossless")
    clip = read_video(path, 0.4, 1.2)
    assert clip.first == 10 and np.array_equal(clip.frames, frames[10:30])
    assert np.allclose(clip.times, np.arange(10, 30) / 25)
    assert np.allclose(index_of(path).times, np.arange(50) / 25)
    kept = read_video(path, 0.4, 1.2, keep=[0, 7])
    assert np.array_equal(kept.frames, frames[[10, 17]])


def test_a_span_between_two_frames_holds_the_one_shown_then(tmp_path: Path) -> None:
    frames = moving(10)
    path = write_video(tmp_path / "a.mp4", frames, 25, quality="lossless")
    for start, end, shown in ((0.05, 0.06, 1), (0.375, None, 9)):
        clip = read_video(path, start, end)
        assert clip.first == shown and np.array_equal(clip.frames, frames[[shown]])


def test_a_span_without_frames_is_an_error(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mp4", moving(10), 25)
    with pytest.raises(VideoContrastError, match=r"a\.mp4: start 5 s is past the end of the video \(0\.40 s\)"):
        read_video(path, 5)
    with pytest.raises(VideoContrastError, match="past the end"):
        read_video(path, 0.41)
    for start, end in ((0.2, 0.1), (0.2, 0.2), (None, 0.0), (0.1, float("nan"))):
        with pytest.raises(VideoContrastError, match=r"a\.mp4: end \S+ s is not after start"):
            read_video(path, start, end)


def test_rotation_metadata_is_applied(tmp_path: Path) -> None:
    frames = moving(4)
    path = write_video(tmp_path / "a.mp4", frames, 25, quality="lossless")
    turn_pictures(path)
    assert np.array_equal(read_video(path).frames, np.rot90(frames, -1, axes=(1, 2)))


@pytest.mark.parametrize(
    ("matrix", "shown"),
    [
        ((-1, 0, 0, 1), lambda frames: frames[:, :, ::-1]),  # as some front cameras store it
        ((1, 0, 0, -1), lambda frames: frames[:, ::-1]),
        ((0, 1, 1, 0), lambda frames: frames.swapaxes(1, 2)),
        ((0, -1, -1, 0), lambda frames: frames.swapaxes(1, 2)[:, ::-1, ::-1]),
        ((0, 0, 0, 0), lambda frames: frames),  # left empty by the writer
    ],
)
def test_mirrored_pictures_are_mirrored(matrix, shown, tmp_path):
    frames = moving(4)
    path = write_video(tmp_path / "a.mp4", frames, 25, quality="lossless")
    turn_pictures(path, matrix)
    np.testing.assert_array_equal(read_video(path).frames, shown(frames))


def test_a_variable_frame_rate_keeps_every_frame_and_its_time(tmp_path: Path) -> None:
    frames = moving(6)
    stamps = [0, 40, 50, 200, 210, 400]
    with av.open(str(tmp_path / "a.mkv"), "w") as container:
        stream = container.add_stream("libx264rgb", rate=25, options={"crf": "0", "bf": "0"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "rgb24"
        stream.codec_context.time_base = Fraction(1, 1000)
        for stamp, picture in zip(stamps, frames, strict=True):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = stamp, Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    clip = read_video(tmp_path / "a.mkv")
    assert np.array_equal(clip.frames, frames)
    assert np.allclose(clip.times, np.array(stamps) / 1000)


def test_a_clip_of_variable_rate_is_written_with_its_times(tmp_path: Path) -> None:
    """So the same frames are sampled from the written clip as from the clip itself."""
    frames = moving(8)
    times = np.array([0, 0.04, 0.05, 0.2, 0.21, 0.4, 1.5, 1.52])
    for quality in ("high", "lossless"):
        path = write_video(tmp_path / "a.mp4", frames, 25, quality=quality, times=3 + times)
        clip = read_video(path)
        assert np.allclose(clip.times, times, atol=1e-4) and len(clip.frames) == 8
        index, source = index_of(path), sampled_frames(times, 1.56, 4)
        assert index.sample((0, 8), 4).tolist() == source.tolist()
    even = write_video(tmp_path / "b.mp4", frames, 25, times=np.arange(8) / 25 + 0.004)
    assert even.read_bytes() == write_video(tmp_path / "c.mp4", frames, 25).read_bytes()


def test_a_file_that_stops_in_the_middle_is_an_error_not_a_shorter_clip(tmp_path: Path) -> None:
    path = write_video(tmp_path / "a.mkv", moving(100), 25, quality="lossless")
    whole = path.read_bytes()
    for share in (0.3, 0.6, 0.9):
        path.write_bytes(whole[: int(share * len(whole))])
        with pytest.raises(
            VideoContrastError, match=r"a\.mkv: damaged: the file stops in the middle, after \d+ frames"
        ):
            read_video(path)
    mp4 = write_video(tmp_path / "a.mp4", moving(30), 25)
    mp4.write_bytes(mp4.read_bytes()[:1000])
    with pytest.raises(VideoContrastError, match="cannot be read as a video"):
        read_video(mp4)


def test_missing_and_foreign_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(VideoContrastError, match=r"none\.mp4: no such file"):
        read_video(tmp_path / "none.mp4")
    (tmp_path / "text.mp4").write_text("not a video")
    with pytest.raises(VideoContrastError, match=r"text\.mp4: cannot be read as a video"):
        read_video(tmp_path / "text.mp4")


@pytest.mark.parametrize(
    ("frames", "says"),
    [
        (np.zeros((4, 8, 8, 3), np.float32), "float32: convert to uint8"),
        (np.zeros((4, 8, 8), np.uint8), "greyscale"),
        (np.zeros((4, 8, 8, 1), np.uint8), "greyscale"),
        (np.zeros((4, 8, 8, 4), np.uint8), "RGBA"),
        (np.zeros((0, 8, 8, 3), np.uint8), "empty"),
        (np.zeros((8, 8, 3), np.uint8), "one picture"),
        (np.zeros((2, 1, 8, 3), np.uint8), "at least 2x2"),
        ([[1]], "numpy array"),
    ],
)
def test_frames_of_another_kind_are_refused(tmp_path: Path, frames: np.ndarray, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        write_video(tmp_path / "a.mp4", frames, 25)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="frames a second"):
        write_video(tmp_path / "a.mp4", moving(4), 0)
    with pytest.raises(UsageError, match="quality"):
        write_video(tmp_path / "a.mp4", moving(4), 25, quality="low")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", [".mp4", ".mkv"])
@pytest.mark.parametrize("times", [[0.63, 0.76, 0.94, 1.05, 1.17, 1.37], [0.0, 1.0], [3.0, 3.4, 3.8, 4.2]])
def test_a_span_of_a_clip_of_variable_rate_keeps_its_length(times, suffix, tmp_path):
    """The span is nearly even by itself, at another rate than the clip's average."""
    shown = np.array(times)
    frames = np.zeros((len(times), 32, 32, 3), np.uint8)
    path = write_video(tmp_path / f"span{suffix}", frames, 20.0, times=shown)
    assert read_video(path).times == pytest.approx(shown - shown[0], abs=0.002)


def test_an_even_clip_is_written_at_its_rate(tmp_path):
    shown = np.arange(50) / 20 + np.where(np.arange(50) % 2, 0.004, 0)
    frames = np.zeros((50, 32, 32, 3), np.uint8)
    path = write_video(tmp_path / "even.mp4", frames, 20.0, times=shown)
    assert read_video(path).times == pytest.approx(np.arange(50) / 20)
