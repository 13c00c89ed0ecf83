"""Clips are made ready in the background: no wait for those that come later, nothing without end."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import fabricate
import pytest

from video_contrast.errors import VideoContrastError
from video_contrast.reports.annotate import pages
from video_contrast.video import Segment, write_video


def until(holds: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


@pytest.fixture
def edits(tmp_path: Path, monkeypatch: Any) -> list[Any]:
    """Rows of three edited clips; the file of the second is missing."""
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path / "cache"))
    write_video(tmp_path / "a.mp4", fabricate.clip(3, size=32), 8)
    names = {"one": "a.mp4", "lost": "b.mp4", "two": "a.mp4"}
    return [
        {"id": name, "video_id": name, "video_path": path, "start": None, "end": None,
         "segments": [Segment(path, 0.0, 0.5 + number / 8).record()]}
        for number, (name, path) in enumerate(names.items())
    ]  # fmt: skip


def test_clips_are_ready_before_they_are_shown(edits: list[Any], tmp_path: Path, monkeypatch: Any) -> None:
    pages.make_ready(tmp_path, edits)
    until(lambda: len(list(pages.shown_folder().glob("[!.]*.mp4"))) == 2)
    monkeypatch.setattr("video_contrast.video.write_video", None)  # nothing is left to be written
    assert pages.shown_clip(tmp_path, edits[0]).is_file() and pages.shown_clip(tmp_path, edits[2]).is_file()
    with pytest.raises(VideoContrastError, match=r"b\.mp4: no such video file"):
        pages.shown_clip(tmp_path, edits[1])


def test_the_end_of_the_program_waits_for_the_clip_in_hand_and_no_other(tmp_path: Path) -> None:
    program = """
import sys, threading, time
from pathlib import Path
from video_contrast.reports.annotate import pages
begun = threading.Event()
def slowly(root, row):
    begun.set()
    time.sleep(0.5)
    (root / row["id"]).touch()
pages.shown_clip = slowly
pages.make_ready(Path(sys.argv[1]), [{"id": "0"}, {"id": "1"}, {"id": "2"}])
begun.wait()
"""
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["0"]
