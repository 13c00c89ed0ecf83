"""What `set.json` says of a set."""

from typing import Any, NotRequired, TypedDict

from video_contrast.rows import Layout

Facts = dict[str, Any]  # JSON: what a builder tells the card, under names of its own


class SplitSize(TypedDict):
    """The size of one split's table."""

    num_examples: int
    num_bytes: int


class ConfigRecord(TypedDict):
    """One config of a set."""

    layout: Layout
    perturbed: bool
    questions: NotRequired[bool]  # whether its rows have a question
    edited: NotRequired[bool]  # whether its clips are put together from segments
    splits: dict[str, SplitSize]
    facts: Facts


class SetRecord(TypedDict):
    """The content of `set.json`."""

    builder: str
    version: str
    configs: dict[str, ConfigRecord]
    facts: Facts
