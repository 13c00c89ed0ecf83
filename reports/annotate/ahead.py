"""Clips that a page will probably show next, made ready in a background thread while a person looks at one.

Edited clips and files that browsers do not play are written when they are first shown, which takes seconds each.
"""

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.reports.annotate.showing import shown_clip
from video_contrast.rows import MultipleChoiceRow

AHEAD = 2  # clips that are made ready for a person
WAITING = 8  # clips that wait at most, for all persons together


class ClipsAhead:
    """The clips of a page. One at a time is made ready in the background, and none twice."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._changed = threading.Condition()
        self._waiting: list[MultipleChoiceRow] = []
        self._in_hand = ""  # id of the item whose clip is being written
        self._thread: threading.Thread | None = None

    def clip(self, row: MultipleChoiceRow) -> Path:
        """The file to show for an item; one that is just being written is waited for.

        Raises:
            VideoContrastError: the clip is missing or cannot be read.
        """
        with self._changed:
            self._waiting = [other for other in self._waiting if other["id"] != row["id"]]
            self._changed.wait_for(lambda: self._in_hand != row["id"])
        return shown_clip(self.root, row)

    def expect(self, rows: Sequence[MultipleChoiceRow]) -> None:
        """Makes the clips of items ready, in their order, before those that have waited for longer."""
        with self._changed:
            new = {row["id"]: row for row in (*rows, *self._waiting) if row["id"] != self._in_hand}
            self._waiting = list(new.values())[:WAITING]
            if self._waiting and (self._thread is None or not self._thread.is_alive()):
                self._thread = threading.Thread(target=self._work, name="clips ahead")
                self._thread.start()

    def _work(self) -> None:
        """Until nothing waits, or the program ends: it then waits for the clip in hand, and no other."""
        while True:
            with self._changed:
                if not self._waiting or not threading.main_thread().is_alive():
                    self._thread = None
                    return
                row = self._waiting.pop(0)
                self._in_hand = row["id"]
            try:
                with suppress(VideoContrastError, OSError):  # the page says so when the item is shown
                    shown_clip(self.root, row)
            finally:
                with self._changed:
                    self._in_hand = ""
                    self._changed.notify_all()
