"""Answers as lines of a file that only grows: a killed server loses nothing, two servers do not mix their lines."""

import json
import os
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from video_contrast.errors import VideoContrastError

PageTask = Literal["judge", "write"]
UNCLEAR = "not clear"


@dataclass(frozen=True)
class Vote:
    """One answer of one person to one item."""

    task: PageTask  # which page it comes from
    item: str  # id of the row
    annotator: str  # name of the person
    # judge: number of the chosen candidate, or "not clear"; write: the new sentence. A returned answer repeats
    # the former one.
    answer: int | str
    seconds: float = 0.0  # from the item's showing to the answer
    status: Literal["done", "returned"] = "done"  # "done", or "returned" by a reviewer, who may say why in `note`
    note: str = ""
    shown: tuple[int, ...] = ()  # judge: the candidates' numbers in the order in which they were shown
    time: float = 0.0  # seconds since 1970


class Votes:
    """The file of answers. Every answer is on the disk before `add` returns.

    Args:
        path: a `.jsonl` file; made if there is none.
        task: only answers of this page are read.

    Raises:
        VideoContrastError: a line in the middle of the file is broken (the last one may be: a killed server).
    """

    def __init__(self, path: str | Path, task: PageTask) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.task = task
        self._lock = threading.RLock()
        self._latest: dict[tuple[str, str], Vote] = {}
        self._read = 0
        self.refresh()

    def refresh(self) -> None:
        """Reads what another server has added since."""
        with self._lock:
            if not self.path.exists():
                return
            with open(self.path, "rb") as handle:
                handle.seek(self._read)
                content = handle.read()
            whole = content.rfind(b"\n") + 1
            for number, line in enumerate(content[:whole].split(b"\n")):
                if line.strip():
                    self._take(line, number)
            self._read += whole

    def add(self, vote: Vote) -> Vote:
        """Appends an answer.

        Raises VideoContrastError: this person has answered this item already, and it was not sent back.
        """
        with self._lock:
            with open(self.path, "ab") as handle:
                _hold(handle)
                self.refresh()
                former = self._latest.get((vote.item, vote.annotator))
                if former is not None and former.status == "done" and vote.status == "done":
                    raise VideoContrastError(f"{vote.annotator} has already answered {vote.item}")
                vote = Vote(**{**asdict(vote), "shown": tuple(vote.shown), "time": vote.time or time.time()})
                line = json.dumps(asdict(vote), ensure_ascii=False, sort_keys=True) + "\n"
                # A line that a killed server left unfinished is closed first, so that this one stands alone.
                torn = self.path.stat().st_size > self._read
                handle.write((b"\n" if torn else b"") + line.encode("utf-8"))
                handle.flush()
                os.fsync(handle.fileno())
            self.refresh()
            return vote

    def of(self, annotator: str) -> dict[str, Vote]:
        """The latest answer of a person to each item."""
        with self._lock:
            return {item: vote for (item, name), vote in self._latest.items() if name == annotator}

    def latest(self) -> list[Vote]:
        """The latest answer of each person to each item, in the order of their first answers."""
        with self._lock:
            return list(self._latest.values())

    def done(self) -> dict[str, list[Vote]]:
        """Item -> its answers that stand."""
        by_item: dict[str, list[Vote]] = {}
        for vote in self.latest():
            if vote.status == "done":
                by_item.setdefault(vote.item, []).append(vote)
        return by_item

    def _take(self, line: bytes, number: int) -> None:
        try:
            values = json.loads(line)
            vote = Vote(**{**values, "shown": tuple(values.get("shown", ()))})
        except (ValueError, TypeError) as error:
            if line.startswith(b"{") and not line.rstrip().endswith(b"}"):  # the beginning of one, never finished
                return
            raise VideoContrastError(f"{self.path}, line {number + 1}: not an answer: {error}") from error
        if vote.task == self.task:
            self._latest[vote.item, vote.annotator] = vote


def _hold(handle: BinaryIO) -> None:
    """Locks the file against other servers until it is closed, where the system can."""
    try:
        import fcntl
    except ImportError:
        return
    fcntl.flock(handle, fcntl.LOCK_EX)
