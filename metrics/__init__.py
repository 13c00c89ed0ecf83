"""Metrics of contrast sets, retrieval and robustness: pure numpy functions, arrays in, named numbers out.

One function or family a file. Decisions have one place each: bad input (`checks`), ties (`ranks`), what is reported of
ranks (`rank_figures`), intervals of shares and differences (`interval`; `bootstrap` for all other statistics), tests
(`significance`). Retrieval counts without sorting (`retrieval_counts`), exactly from embeddings too
(`embedding_ranks`). The `evaluate` modules are in `evaluate_modules`, which finds, installs and publishes them.
"""

from video_contrast.metrics.average_precision import average_precision
from video_contrast.metrics.bootstrap import OfMeans, bootstrap_weights, cluster_bootstrap
from video_contrast.metrics.consistency import consistency, right_in_all_rotations
from video_contrast.metrics.embedding_ranks import embedding_ranks
from video_contrast.metrics.gamma import gamma_absolute, gamma_corrected, gamma_interval, gamma_relative
from video_contrast.metrics.group_score import group_score
from video_contrast.metrics.interval import (
    Interval,
    difference_interval,
    interval_keys,
    median_interval,
    share_interval,
)
from video_contrast.metrics.multiple_choice import multiple_choice
from video_contrast.metrics.ndcg import ndcg
from video_contrast.metrics.paired import cluster_standard_error, compare_choices, pair_by_id, paired_difference
from video_contrast.metrics.perplexity import perplexity
from video_contrast.metrics.position_bias import position_bias
from video_contrast.metrics.proximity import proximity
from video_contrast.metrics.ranks import Ranks, choice_ranks
from video_contrast.metrics.rarity_gap import rarity_gap
from video_contrast.metrics.rcad import rcad
from video_contrast.metrics.recall_and_rank import accuracy, mean_rank, median_rank, recall_at_k
from video_contrast.metrics.retrieval import retrieval, retrieval_from_embeddings
from video_contrast.metrics.retrieval_counts import matrix_ranks
from video_contrast.metrics.robustness import robustness
from video_contrast.metrics.sensitivity import sensitivity
from video_contrast.metrics.shift import caption_shift
from video_contrast.metrics.significance import holm, mcnemar, sign_flip
from video_contrast.metrics.votes import agreement, majority_vote

__all__ = [
    "Interval", "OfMeans", "Ranks", "accuracy", "agreement", "average_precision", "bootstrap_weights",
    "caption_shift", "choice_ranks", "cluster_bootstrap", "cluster_standard_error", "compare_choices",
    "consistency", "difference_interval", "embedding_ranks", "gamma_absolute", "gamma_corrected",
    "gamma_interval", "gamma_relative", "group_score", "holm", "interval_keys", "majority_vote", "matrix_ranks",
    "mcnemar", "mean_rank", "median_interval", "median_rank", "multiple_choice", "ndcg", "pair_by_id",
    "paired_difference", "perplexity", "position_bias", "proximity", "rarity_gap", "rcad", "recall_at_k",
    "retrieval", "retrieval_from_embeddings", "right_in_all_rotations", "robustness", "sensitivity",
    "share_interval", "sign_flip",
]  # fmt: skip
