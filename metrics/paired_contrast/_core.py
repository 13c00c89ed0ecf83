"""What the module computes with. In a Space this file holds that code itself, written out by the package."""

from video_contrast.metrics.checks import Figures, Values
from video_contrast.metrics.compare import compare_choices
from video_contrast.metrics.optional_columns import OptionalColumns, module_info

__all__ = ["Figures", "Values", "OptionalColumns", "compare_choices", "module_info"]
