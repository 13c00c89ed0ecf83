"""Cards: the README of a data set, a metric's Space and a model's results, rendered from facts with Jinja.

dataset_card(record, root)     the card of a built set; its YAML carries configs, splits and features
croissant(record, root)        the same facts as machine-readable Croissant metadata
space_card(name)               the card of a metric's Space
result_card(results)           the card of a model's results
"""

from pathlib import Path
from typing import Any

__all__ = ["croissant", "dataset_card", "result_card", "space_card"]


def dataset_card(record: dict[str, Any], root: Path) -> str:
    """The card of a built set as markdown. See `video_contrast.hub_cards.dataset`."""
    from video_contrast.hub_cards import dataset

    return dataset.dataset_card(record, root)


def croissant(record: dict[str, Any], root: Path) -> dict[str, Any]:
    """The set as Croissant metadata. See `video_contrast.hub_cards.metadata`."""
    from video_contrast.hub_cards.metadata import croissant as made

    return made(record, root)


def space_card(name: str, **facts: Any) -> str:
    """The card of a metric's Space. See `video_contrast.hub_cards.spaces`."""
    from video_contrast.hub_cards.spaces import space_card as made

    return made(name, **facts)


def result_card(results: Any) -> str:
    """The card of a model's results. See `video_contrast.hub_cards.results`."""
    from video_contrast.hub_cards.results import result_card as made

    return made(results)
