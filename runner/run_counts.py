"""What a run did: counters that every process keeps and that are added up when the processes meet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from video_contrast.video import Clip, Counter

Progress = Callable[[int], None]  # is told how many more units are done


@dataclass
class RunCounts:
    """What this run did."""

    decode: Counter = field(default_factory=Counter)  # frames decoded, converted, and the least that would have done
    visual_encodings: int = 0  # views that went through the model
    frame_encodings: int = 0  # frames that went through the model by themselves, for all edited clips that show them
    text_encodings: int = 0  # texts that went through the model
    batches: int = 0  # forward passes of encoders
    notes: list[str] = field(default_factory=list)  # what the user should know, each once
    broken: dict[Clip, str] = field(default_factory=dict)  # clip -> why it could not be read, or is not shown whole
    unseen: set[Clip] = field(default_factory=set)  # edited clips of which the sampling does not show every segment
    frames_seen: dict[Clip, str] = field(default_factory=dict)  # clip -> digest of its frames, unperturbed

    def add(self, other: RunCounts) -> None:
        """Adds what another process did."""
        self.decode.add(other.decode)
        self.visual_encodings += other.visual_encodings
        self.frame_encodings += other.frame_encodings
        self.text_encodings += other.text_encodings
        self.batches += other.batches
        self.notes += [note for note in other.notes if note not in self.notes]
        self.broken.update(other.broken)
        self.unseen |= other.unseen
        self.frames_seen.update(other.frames_seen)
