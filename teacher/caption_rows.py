"""What a training knows of a caption: its negatives, and how alike the teacher finds them."""

from typing import NotRequired, TypedDict


class CaptionNegatives(TypedDict):
    """A training caption with its negatives, a line of `negatives-SPLIT-KEY.parquet`."""

    id: str  # of the clip
    caption: str
    negatives: list[str]
    kinds: NotRequired[list[str]]  # of each negative: action, object, or a kind by rules


class TaughtCaption(CaptionNegatives):
    """The same with the teacher's similarities."""

    teacher: list[float]  # cosines of the caption with itself (1) and with each negative
    video_id: NotRequired[str]  # of the clip; its id where this is absent
