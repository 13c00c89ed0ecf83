"""Damaged, cut and foreign files: every way of reading tells them alike, and none hangs or reads another file."""

import os
from collections.abc import Callable
from pathlib import Path

import av
import numpy as np
import pytest
from video_files import FRAMES, write_clip

from video_contrast.video import BrokenVideo, Counter, DamagedVideo, decode, index_of, read_video, verify

READERS: dict[str, Callable[[Path], object]] = {
    "check": verify,
    "score": lambda path: decode(path, [index_of(path).n_frames // 2]),
    "perturb": read_video,
}
KINDS = [
    ("mp4", "libx264", {"bf": "2"}),
    ("mkv", "libx264", {"bf": "2"}),
    ("avi", "mpeg4", {"bf": "0"}),
    ("avi", "libx264", {"bf": "2"}),
    ("webm", "libvpx-vp9", {"deadline": "realtime"}),
    ("mov", "libx265", {"x265-params": "log-level=none"}),
]
IN_PARTS = [  # containers of packets or blocks
    ("ts", "libx264", {"bf": "2"}),
    ("m2ts", "libx264", {"bf": "2"}),
    ("gif", "gif", {}),
]


def outcome(read: Callable[[Path], object], path: Path) -> str:
    """The kind of error, or "read"."""
    try:
        read(path)
    except BrokenVideo as error:
        assert str(path) in str(error)
        return type(error).__name__
    return "read"


@pytest.mark.parametrize(
    ("container", "codec", "options", "index_first"),
    [(*kind, False) for kind in KINDS] + [(*kind, True) for kind in KINDS if kind[0] in ("mp4", "mov")],
)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_cut_file_is_refused_by_every_reader(
    tmp_path: Path, container: str, codec: str, options: dict[str, str], share: float, index_first: bool
) -> None:
    path = tmp_path / f"a.{container}"
    moved = {"movflags": "+faststart"} if index_first else {}
    write_clip(path, codec, options, n_frames=100, gop=10, container_options=moved)
    assert {outcome(read, path) for read in READERS.values()} == {"read"}
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    outcomes = {outcome(read, path) for read in READERS.values()}
    assert len(outcomes) == 1 and outcomes <= {"DamagedVideo", "BrokenVideo"}


@pytest.mark.parametrize(("container", "codec", "options"), IN_PARTS)
def test_a_cut_file_of_a_container_of_parts_is_refused(
    tmp_path: Path, container: str, codec: str, options: dict[str, str]
) -> None:
    path = tmp_path / f"a.{container}"
    write_clip(path, codec, options, n_frames=60, gop=10)
    assert {outcome(read, path) for read in READERS.values()} == {"read"}
    data = path.read_bytes()
    for share in (0.31, 0.62, 0.951):
        path.write_bytes(data[: int(share * len(data))])
        assert {outcome(read, path) for read in READERS.values()} == {"DamagedVideo"}, share


def test_a_file_whose_frames_change_size_is_refused_by_every_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.h264"
    for part, (height, width) in enumerate([(48, 64), (96, 64)]):  # streams without a container may follow each other
        with av.open(str(tmp_path / f"{part}.h264"), "w") as container:
            stream = container.add_stream("libx264", rate=25)
            stream.height, stream.width, stream.pix_fmt = height, width, "yuv420p"
            for t in range(10 * part, 10 * part + 10):
                frame = av.VideoFrame.from_ndarray(np.full((height, width, 3), 20 * part + 40, np.uint8))
                frame.pts = t
                container.mux(stream.encode(frame))
            container.mux(stream.encode())
    path.write_bytes(b"".join((tmp_path / f"{part}.h264").read_bytes() for part in range(2)))
    assert [outcome(read, path) for read in (verify, read_video)] == ["BrokenVideo"] * 2
    with pytest.raises(BrokenVideo, match="change size"):
        verify(path)


def test_a_cut_file_is_read_as_far_as_it_goes_where_damage_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "a.mkv"
    every = write_clip(path, "libx264", {"bf": "0"}, n_frames=100, gop=10)
    path.write_bytes(path.read_bytes()[: int(0.6 * path.stat().st_size)])
    index = index_of(path)
    assert "stops in the middle" in index.damage and 40 < index.n_frames < 80
    counter = Counter()
    wanted = list(range(0, index.n_frames - 1, 7))
    np.testing.assert_array_equal(decode(path, wanted, counter, accept_damaged=True), every[wanted])
    assert "stops in the middle" in counter.damaged[str(path)]


@pytest.mark.parametrize(("container", "codec", "options"), KINDS)
def test_what_the_decoder_marks_is_damage_and_unmarked_frames_are_right(
    tmp_path: Path, container: str, codec: str, options: dict[str, str]
) -> None:
    """Bytes are flipped; a player's decoder says which frames it could not make. None of these is handed out."""
    path = tmp_path / f"a.{container}"
    every = write_clip(path, codec, options, n_frames=40, gop=10)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    marked = refused = 0
    for trial in range(12):
        flipped = bytearray(data)
        for at in rng.integers(len(data) // 5, len(data) * 4 // 5, 8):
            flipped[at] ^= int(rng.integers(1, 256))
        path = tmp_path / f"{trial}.{container}"
        path.write_bytes(bytes(flipped))
        bad = player_marks(path)
        told = outcome(verify, path) != "read"
        marked += bad
        refused += told
        assert told or not bad, f"trial {trial}: marked by the decoder, and read without a word"
        assert (outcome(read_video, path) != "read") == told
        if told:
            continue
        whole = read_video(path).frames
        for k in range(0, len(whole), 3):  # a seek finds the frame that a full decode finds, damaged unnoticed or not
            np.testing.assert_array_equal(decode(path, [k])[0], whole[k])
    assert refused >= marked > 0 and len(every) == 40


def player_marks(path: Path) -> bool:
    """Whether a full decode by another loop meets an error, a corrupt frame or too few frames."""
    count = 0
    try:
        lenient = {} if int(av.__version__.partition(".")[0]) >= 19 else {"metadata_errors": "replace"}
        with av.open(str(path), **lenient) as container:
            for packet in container.demux(video=0):
                for frame in packet.decode():
                    count += 1
                    if frame.is_corrupt:
                        return True
    except (av.error.FFmpegError, ValueError, IndexError):
        return True
    return count == 0


def test_damage_elsewhere_in_the_file_does_not_touch_a_clip(tmp_path: Path) -> None:
    """A group of pictures that is decodable is scored; the one that is not is damaged."""
    path = tmp_path / "a.mp4"
    every = write_clip(path, "libx264", {"bf": "0", "sc_threshold": "0"}, n_frames=60, gop=20)
    with av.open(str(path)) as container:
        spot = next(p.pos for p in container.demux(video=0) if p.is_keyframe and p.pts and p.pts > 0)
    data = bytearray(path.read_bytes())
    data[spot + 4 : spot + 60] = bytes(56)
    path.write_bytes(bytes(data))
    np.testing.assert_array_equal(decode(path, [3, 19, 41]), every[[3, 19, 41]])
    with pytest.raises(DamagedVideo, match="damaged: "):
        decode(path, [3, 30])
    with pytest.raises(DamagedVideo):
        verify(path)
    counter = Counter()
    pictures = decode(path, [3, 30, 45], counter, accept_damaged=True)
    np.testing.assert_array_equal(pictures[[0, 2]], every[[3, 45]])
    assert list(counter.damaged) == [str(path)]


@pytest.mark.parametrize("container", ["mp4", "avi"])
def test_a_frame_that_refers_to_a_damaged_one_which_is_shown_later_is_damaged(tmp_path: Path, container: str) -> None:
    """B-frames are shown before the frame that they were made from; the decoder marks only that one."""
    path = tmp_path / f"a.{container}"
    every = write_clip(path, "libx264", {"bf": "2", "b-adapt": "0"}, n_frames=24, gop=12)
    with av.open(str(path)) as source:
        packets = [packet for packet in source.demux(video=0) if packet.size]
        spot, size = packets[1].pos or 0, packets[1].size  # of frame 3; frames 1 and 2 come next
    data = bytearray(path.read_bytes())
    data[spot + size // 3 : spot + size - 2] = bytes(size - 2 - size // 3)
    path.write_bytes(bytes(data))
    with av.open(str(path)) as source:
        source.streams.video[0].codec_context.thread_count = 1
        assert [k for k, frame in enumerate(source.decode(video=0)) if frame.is_corrupt] == [3]
    for number in (1, 2, 3, 5):
        with pytest.raises(DamagedVideo, match=r"frame \d: error while decoding"):
            decode(path, [number])
    np.testing.assert_array_equal(decode(path, [15], accept_damaged=True)[0], every[15])


def test_foreign_files_are_named(tmp_path: Path) -> None:
    write_clip(tmp_path / "good.mp4", "libx264", {"bf": "0"})
    (tmp_path / "text.mp4").write_text("not a video")
    (tmp_path / "empty.mp4").write_bytes(b"")
    (tmp_path / "list.mp4").write_text("ffconcat version 1.0\nfile good.mp4\n")
    (tmp_path / "playlist.mp4").write_text("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\ngood.mp4\n#EXT-X-ENDLIST\n")
    (tmp_path / "folder.mp4").mkdir()
    (tmp_path / "loop.mp4").symlink_to(tmp_path / "loop.mp4")
    os.mkfifo(tmp_path / "pipe.mp4")  # opening it would wait for ever
    with av.open(str(tmp_path / "sound.mp4"), "w") as container:
        stream = container.add_stream("aac", rate=8000)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 8000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    for name, message in (
        ("absent.mp4", "no such file"),
        ("text.mp4", "cannot be read as a video"),
        ("empty.mp4", "cannot be read as a video"),
        ("list.mp4", "cannot be read as a video"),
        ("playlist.mp4", "cannot be read as a video"),
        ("sound.mp4", "has no video stream"),
        ("folder.mp4", "not a regular file"),
        ("loop.mp4", "no such file"),
        ("pipe.mp4", "not a regular file"),
    ):
        for read in READERS.values():
            with pytest.raises(BrokenVideo, match=rf"{name}: .*{message}"):
                read(tmp_path / name)
    with pytest.raises(BrokenVideo, match=r"has frames 0\.\.25"):
        decode(tmp_path / "good.mp4", [26])


def test_a_name_that_looks_like_an_address_is_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_clip(tmp_path / "concat:a.mp4", "libx264", {"bf": "0"})
    monkeypatch.chdir(tmp_path)
    assert index_of("concat:a.mp4").n_frames == FRAMES
