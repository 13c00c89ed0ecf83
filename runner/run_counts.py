"""What a run did: counters that every process keeps and that are added up when the processes meet."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from video_contrast.storage.run_records import VideoFile
from video_contrast.video import Clip
from video_contrast.video import Counter as DecodeCounter

Done = Callable[[int], None]  # is told the number of a chunk that is done

_LOCK = threading.Lock()  # decoding threads count, too


@dataclass
class RunCounts:
    """What this run did."""

    decode: DecodeCounter = field(default_factory=DecodeCounter)  # frames decoded, converted, and the least needed
    visual_encodings: int = 0  # views that went through the model
    frame_encodings: int = 0  # frames that went through the model by themselves, for all edited clips that show them
    text_encodings: int = 0  # texts that went through the model
    batches: int = 0  # forward passes of encoders
    notes: list[str] = field(default_factory=list)  # what the user should know, each once
    broken: dict[Clip, str] = field(default_factory=dict)  # clip -> why it could not be read, or is not shown whole
    unseen: set[Clip] = field(default_factory=set)  # edited clips of which the sampling does not show every segment
    frames_seen: dict[Clip, str] = field(default_factory=dict)  # clip -> digest of its frames, unperturbed
    videos: dict[str, VideoFile] = field(default_factory=dict)  # as in `videos.json`, of files that were looked at
    planned: Counter[str] = field(default_factory=Counter)  # how many views and texts were found missing

    def add(self, other: "RunCounts") -> None:
        """Adds what another process did."""
        self.decode.add(other.decode)
        for name in ("visual_encodings", "frame_encodings", "text_encodings", "batches"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.notes += [note for note in other.notes if note not in self.notes]
        for name in ("broken", "unseen", "frames_seen", "videos", "planned"):
            getattr(self, name).update(getattr(other, name))

    def read(self, clip: Clip, decode: DecodeCounter, planned: int, digest: str) -> None:
        """Counts what reading a clip took; called in decoding threads.

        `planned`: how many of its views were asked for. `digest`: of its frames, where they are unperturbed; or "".
        """
        with _LOCK:
            self.decode.add(decode)
            self.planned["visual_encodings"] += planned
            if digest:
                self.frames_seen[clip] = digest

    def look_at(self, path: str, entry: VideoFile) -> None:
        """Notes what is known of a video file; called in decoding threads."""
        with _LOCK:
            self.videos[path] = entry

    def taken(self) -> "RunCounts":
        """What was counted since the last call."""
        with _LOCK:
            counted = RunCounts(**vars(self))
            vars(self).update(vars(RunCounts()))
        return counted
