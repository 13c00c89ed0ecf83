"""A clip: a span of a video file. The one class that names what is decoded, perturbed, encoded and scored."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Clip:
    """One clip. Equal clips are decoded and encoded once.

    Attributes:
        video_id: the name of the video; random perturbations are seeded by it.
        video_path: the file, relative to the video root, POSIX.
        start: seconds from the beginning of the file; None is the beginning.
        end: seconds from the beginning of the file; None is the end.
    """

    video_id: str
    video_path: str
    start: float | None = None
    end: float | None = None

    @property
    def sort_key(self) -> tuple[str, str, float, float]:
        """Orders clips, so that segments of one file follow each other."""
        return (self.video_path, self.video_id, self.start or 0.0, self.end if self.end is not None else -1.0)
