"""Cards: the README of a data set, a metric's Space and a model's results, rendered from facts with Jinja.

write_card(folder)             renders the card, the Croissant file and the `eval.yaml` of a set on disk
dataset_card(record, folder)   the card of a set; its YAML carries configs, splits and features
croissant(record, folder)      the same facts as machine-readable Croissant metadata
space_card(name)               the card of a metric's Space
result_card(results, record)   the card of a model's results
"""

from video_contrast.hub_cards.dataset import croissant, dataset_card, write_card
from video_contrast.hub_cards.publishing import space_card
from video_contrast.hub_cards.results import result_card

__all__ = ["croissant", "dataset_card", "result_card", "space_card", "write_card"]
