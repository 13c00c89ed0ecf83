"""Selective decoding: the right frames in every container, from no more of the file than they need."""

import multiprocessing
from pathlib import Path

import av
import numpy as np
import pytest
from video_files import FRAMES, even, in_sequence, write_clip

from video_contrast.video import Counter, decode, frame_indices, index_of, read_video, verify

CODECS: dict[str, tuple[dict[str, str], ...]] = {
    # B-frames, open groups of pictures, and a picture that is refreshed in stripes without key frames
    "libx264": ({"bf": "0"}, {"bf": "2"}, {"bf": "3", "b-pyramid": "normal", "x264-params": "open-gop=1"},
                {"x264-params": "intra-refresh=1"}),
    "libx265": ({"x265-params": "bframes=0:log-level=none"}, {"x265-params": "bframes=3:open-gop=1:log-level=none"}),
    "mpeg4": ({"bf": "0"}, {"bf": "2"}),
    "mpeg2video": ({"bf": "0"}, {"bf": "2"}),
    "libvpx": ({"auto-alt-ref": "1", "lag-in-frames": "8"},),
    "libvpx-vp9": ({"deadline": "realtime"}, {"auto-alt-ref": "1", "lag-in-frames": "8", "cpu-used": "8"}),
    "av1": ({},),
}  # fmt: skip
HOLDS = {
    "mp4": ("libx264", "libx265", "mpeg4", "mpeg2video", "libvpx-vp9", "av1"),
    "mov": ("libx264", "libx265", "mpeg4", "mpeg2video"),
    "mkv": ("libx264", "libx265", "mpeg4", "mpeg2video", "libvpx", "libvpx-vp9", "av1"),
    "webm": ("libvpx", "libvpx-vp9", "av1"),
    "ts": ("libx264", "libx265", "mpeg4", "mpeg2video"),
    "avi": ("libx264", "mpeg4", "mpeg2video", "libvpx"),
    "mpg": ("mpeg2video",),
    "flv": ("libx264",),
}
CASES = [
    (container, codec, number)
    for container, codecs in HOLDS.items()
    for codec in codecs
    for number in range(len(CODECS[codec]))
]


def variable(number: int) -> int:
    """A rate that changes: short, long and one very long step."""
    return number + number // 3 + 30 * (number > 15)


@pytest.mark.parametrize(("container", "codec", "number"), CASES)
def test_every_frame_of_every_kind_of_file_is_that_of_a_full_decode(
    tmp_path: Path, container: str, codec: str, number: int
) -> None:
    options = CODECS[codec][number]
    rate = even if container in ("avi", "mpg") else variable  # they store no times
    for gop, shown_at in ((5, rate), (12, even), (250, rate)):
        path = tmp_path / f"{gop}-{shown_at.__name__}.{container}"
        every = write_clip(path, codec, options, gop=gop, shown_at=shown_at)
        index = verify(path)
        assert index.n_frames == len(every) == FRAMES
        true = np.array([shown_at(k) for k in range(FRAMES)]) / 25
        np.testing.assert_allclose(index.times, true, atol=1.1e-3)
        assert index.fps == pytest.approx(FRAMES / index.end, rel=0.1)
        for k in range(FRAMES):
            np.testing.assert_array_equal(decode(path, [k])[0], every[k], err_msg=f"{path.name}, frame {k}")
        mixed = [25, 0, 13, 13, 19, 7]
        np.testing.assert_array_equal(decode(path, mixed), every[mixed])
        np.testing.assert_array_equal(read_video(path).frames, every)


@pytest.mark.parametrize("container", ["mkv", "ts", "mp4"])
def test_the_clock_starts_at_the_first_frame(tmp_path: Path, container: str) -> None:
    """First time stamps below or far above zero change no time and no span."""
    for begin in (-5, 0, 175):
        path = tmp_path / f"{begin}.{container}"
        every = write_clip(path, "libx264", {"bf": "2"}, shown_at=lambda number, begin=begin: number + begin)
        index = index_of(path)
        np.testing.assert_allclose(index.times, np.arange(index.n_frames) * 0.04, atol=1.1e-3)
        assert index.n_frames == len(every)
        assert index.span(0.4, 0.8) == (10, 20)
        np.testing.assert_array_equal(read_video(path, 0.4, 0.8).frames, every[10:20])


@pytest.mark.parametrize(("container", "options"), [("mp4", {"bf": "2"}), ("mov", {"x264-params": "open-gop=1"})])
def test_a_clip_cut_without_encoding_it_again_begins_where_its_edit_list_says(
    tmp_path: Path, container: str, options: dict[str, str]
) -> None:
    """Its first picture is in the middle of a group of pictures whose key frame is decoded and not shown."""
    path = tmp_path / f"cut.{container}"
    as_stored = {"avoid_negative_ts": "disabled"}
    every = write_clip(path, "libx264", options, gop=12, shown_at=lambda k: k - 5, container_options=as_stored)
    index = verify(path)
    assert index.n_frames == len(every) == FRAMES - 5
    np.testing.assert_allclose(index.times, np.arange(FRAMES - 5) * 0.04, atol=1.1e-3)
    np.testing.assert_array_equal(read_video(path).frames, every)
    for k in range(FRAMES - 5):
        np.testing.assert_array_equal(decode(path, [k])[0], every[k])


def test_a_matroska_file_cut_at_an_open_group_of_pictures_is_whole(tmp_path: Path) -> None:
    """Pictures before its first key frame refer to others that were cut off: players leave them out."""
    write_clip(tmp_path / "a.mp4", "libx265", {"x265-params": "bframes=3:open-gop=1:log-level=none"}, gop=8)
    path = tmp_path / "cut.mkv"
    as_stored = {"avoid_negative_ts": "disabled"}
    with av.open(str(tmp_path / "a.mp4")) as source, av.open(str(path), "w", options=as_stored) as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        packets = [packet for packet in source.demux(video=0) if packet.size]
        begin = [k for k, packet in enumerate(packets) if packet.is_keyframe][1]
        shift = packets[begin].pts
        for packet in packets[begin:]:
            packet.pts, packet.dts, packet.stream = packet.pts - shift, packet.dts - shift, stream
            target.mux(packet)
    every = in_sequence(path)
    assert len(every) < len(packets) - begin
    np.testing.assert_array_equal(read_video(path).frames, every)


def test_times_of_decoding_under_the_name_of_times_of_display_are_noticed(tmp_path: Path) -> None:
    """Copied from an AVI file, packets keep the order in which they are decoded."""
    write_clip(tmp_path / "a.avi", "libx264", {"bf": "2"}, gop=12)
    with av.open(str(tmp_path / "a.avi")) as source, av.open(str(tmp_path / "a.mp4"), "w") as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = stream
                target.mux(packet)
    every = in_sequence(tmp_path / "a.mp4")
    assert len(every) == FRAMES
    for k in range(FRAMES):
        np.testing.assert_array_equal(decode(tmp_path / "a.mp4", [k])[0], every[k])


def test_only_the_groups_that_hold_wanted_frames_are_decoded(tmp_path: Path) -> None:
    path = tmp_path / "long.mp4"
    write_clip(path, "libx264", {"bf": "2", "sc_threshold": "0"}, gop=12, n_frames=600)
    counter = Counter()
    decode(path, frame_indices(600, 8).tolist(), counter)
    assert counter.converted == 8
    assert counter.minimum < 8 * 12 and counter.decoded <= 1.1 * counter.minimum


def test_a_forked_process_decodes_after_its_parent_did(tmp_path: Path) -> None:
    """`Dataset.map(num_proc=2)` and torch's workers are forks: the threads of the parent's decoder are not in it."""
    path = tmp_path / "clip.mp4"
    write_clip(path)
    expected = read_video(path).frames
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(int(read_video(path).frames.sum(dtype=np.int64))))
    child.start()
    try:
        assert receiver.poll(60), "the forked process waits for ever"
        assert receiver.recv() == expected.sum(dtype=np.int64)
    finally:
        child.kill()
        child.join()
