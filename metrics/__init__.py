"""Metrics of contrast sets, retrieval and robustness: pure numpy functions, arrays in, named numbers out."""

from video_contrast.metrics.cluster_bootstrap import Interval, cluster_bootstrap
from video_contrast.metrics.gamma import gamma_absolute, gamma_corrected, gamma_interval, gamma_relative
from video_contrast.metrics.multiple_choice import multiple_choice
from video_contrast.metrics.retrieval import retrieval, retrieval_from_embeddings

__all__ = [
    "Interval",
    "cluster_bootstrap",
    "gamma_absolute",
    "gamma_corrected",
    "gamma_interval",
    "gamma_relative",
    "multiple_choice",
    "retrieval",
    "retrieval_from_embeddings",
]
