"""What the module computes with. In a Space this file holds that code itself, written out by the package."""

from video_contrast.metrics.checks import Figures, Values
from video_contrast.metrics.optional_columns import OptionalColumns, module_info, where_clusters
from video_contrast.metrics.retrieval import retrieval, videos_of_captions

__all__ = ["Figures", "Values", "OptionalColumns", "videos_of_captions", "retrieval", "module_info", "where_clusters"]
