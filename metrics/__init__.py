"""Metrics of contrast sets, retrieval and robustness: pure numpy functions, arrays in, named numbers out.

One function or family a file. Decisions have one place each: bad input (`checks`), ties and what is reported of ranks
(`ranks`), intervals of shares and differences (`interval`; `bootstrap` for all other statistics), tests
(`paired`). Retrieval counts without sorting, exactly from embeddings too (`retrieval_counts`). The `evaluate`
modules are in `evaluate_modules`, which finds, installs and publishes them.

Arguments of many: `clusters`, the source video of each item (None: every item is its own); `interval`, whether to add
95 % intervals over these, None below five; `seed`, of the bootstrap.
"""

from video_contrast.metrics.bootstrap import OfMeans, bootstrap_weights, cluster_bootstrap
from video_contrast.metrics.consistency import consistency, right_in_all_rotations
from video_contrast.metrics.diagnostics import position_bias, proximity, rarity_gap, sensitivity
from video_contrast.metrics.group_score import average_precision, group_score
from video_contrast.metrics.interval import (
    Interval,
    difference_interval,
    interval_keys,
    median_interval,
    share_interval,
)
from video_contrast.metrics.multiple_choice import multiple_choice, ndcg
from video_contrast.metrics.paired import (
    cluster_standard_error,
    compare_choices,
    holm,
    mcnemar,
    pair_by_id,
    paired_difference,
    sign_flip,
)
from video_contrast.metrics.ranks import Ranks, accuracy, choice_ranks, mean_rank, median_rank, recall_at_k
from video_contrast.metrics.rcad import rcad
from video_contrast.metrics.retrieval import retrieval, retrieval_from_embeddings
from video_contrast.metrics.retrieval_counts import embedding_ranks, matrix_ranks
from video_contrast.metrics.robustness import (
    gamma_absolute,
    gamma_corrected,
    gamma_interval,
    gamma_relative,
    robustness,
)
from video_contrast.metrics.shift import caption_shift, perplexity
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
