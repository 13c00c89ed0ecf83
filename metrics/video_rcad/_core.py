"""What the module computes with. In a Space this file holds that code itself, written out by the package."""

from video_contrast.metrics.checks import Figures, Values
from video_contrast.metrics.optional_columns import OptionalColumns, module_info, where_clusters
from video_contrast.metrics.rcad import rcad

__all__ = ["Figures", "Values", "OptionalColumns", "rcad", "module_info", "where_clusters"]
