"""Clips are made ready while a person looks at the one before: no wait, no clip made twice, nothing without end."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import fabricate
import pytest
from annotations import made, rows  # noqa: F401  fixtures

from video_contrast.errors import VideoContrastError
from video_contrast.reports.annotate import Desk, Votes, showing
from video_contrast.reports.annotate.showing import WAITING, ClipsAhead
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
    clips = ClipsAhead(tmp_path)
    clips.expect(edits)
    until(lambda: len(list(showing.shown_folder().glob("[!.]*.mp4"))) == 2)
    monkeypatch.setattr("video_contrast.video.write_video", None)  # nothing is left to be written
    assert clips.clip(edits[0]).is_file() and clips.clip(edits[2]).is_file()
    with pytest.raises(VideoContrastError, match=r"b\.mp4: no such video file"):
        clips.clip(edits[1])


def test_a_clip_in_the_making_is_waited_for_and_made_once(monkeypatch: Any) -> None:
    made: Counter[str] = Counter()
    begun, go_on = threading.Event(), threading.Event()

    def slowly(root: Path, row: Any) -> Path:
        if not made[row["id"]]:  # later calls find the file
            begun.set()
            assert go_on.wait(20)
            made[row["id"]] += 1
        return root / row["id"]

    monkeypatch.setattr(showing, "shown_clip", slowly)
    clips = ClipsAhead(Path("videos"))
    clips.expect([{"id": f"{n}"} for n in range(3 * WAITING)])  # type: ignore[typeddict-item]
    assert begun.wait(20)
    waiting = threading.Thread(target=clips.clip, args=({"id": "0"},))
    waiting.start()
    go_on.set()
    waiting.join(20)
    assert made["0"] == 1
    until(lambda: not any(thread.name == "clips ahead" for thread in threading.enumerate()))
    assert len(made) == WAITING and set(made.values()) == {1}


def test_the_end_of_the_program_waits_for_the_clip_in_hand_and_no_other(tmp_path: Path) -> None:
    program = """
import sys, threading, time
from pathlib import Path
from video_contrast.reports.annotate import showing
begun = threading.Event()
def slowly(root, row):
    begun.set()
    time.sleep(0.5)
    (root / row["id"]).touch()
showing.shown_clip = slowly
showing.ClipsAhead(Path(sys.argv[1])).expect([{"id": "0"}, {"id": "1"}, {"id": "2"}])
begun.wait()
"""
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == ["0"]


def test_the_rows_that_are_expected_are_those_that_come(rows: Any, tmp_path: Path) -> None:
    desk = Desk(rows, Votes(tmp_path / "v.jsonl", "judge"), per_item=1)
    assert [row["id"] for row in desk.upcoming("", 9)] == list(desk.rows)
    expected = None
    while (task := desk.next("ann")) is not None:
        assert expected in (None, task.row["id"])
        coming = desk.upcoming("ann", 2)
        assert task.row["id"] not in [row["id"] for row in coming] and len(coming) <= 2
        expected = coming[0]["id"] if coming else None
        desk.answer("ann", task.row["id"], task.shown[0], 1.0)
    assert expected is None
