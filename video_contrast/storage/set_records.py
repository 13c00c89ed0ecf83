"""What `set.json` says of a set."""

from typing import Any, Literal, NotRequired, TypedDict

from video_contrast.rows import Layout

Facts = dict[str, Any]  # JSON: what a builder tells the card, under names of its own

# Keys of an audit that hold the accuracy of a blind model, and what that is called.
ScorerKey = Literal[
    "blind", "language_model", "text_features", "common_position", "large_language_model", "shorter_wins", "longer_wins"
]
BLIND_NAMES: dict[ScorerKey, str] = {
    "blind": "blind classifier",
    "language_model": "trigram model",
    "text_features": "form of candidates",
    "common_position": "common position",
    "large_language_model": "language model",
    "shorter_wins": "shorter wins",
    "longer_wins": "longer wins",
}


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
