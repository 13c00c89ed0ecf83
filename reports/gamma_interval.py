"""The interval of a mean gamma, from the scores that a run kept of each condition."""

import numpy as np

from video_contrast.metrics import robustness
from video_contrast.metrics.retrieval_counts import matrix_ranks
from video_contrast.reports.hits import Hits, choice_hits
from video_contrast.reports.runs import ConfigRun
from video_contrast.storage.run_folder import CLEAN


def gamma_ends(run: ConfigRun, group: str, score: str) -> tuple[float, float] | None:
    """The 95 % interval of the mean relative gamma of a group of perturbations, by bootstrap over videos.

    Args:
        run: on one config.
        group: "visual", "text" or "pairs".
        score: "accuracy", "t2v_R@1" or "t2v_R@5".

    Returns:
        Its ends; None below five videos, where nothing changes, and where the scores of a condition were not kept.
    """
    clean = _hits(run, CLEAN, score)
    before, after, names, severities, clusters = [], [], [], [], []
    for condition in run.conditions:
        if _group(condition) != group:
            continue
        hits = _hits(run, condition, score)
        if hits.keys() != clean.keys() or not hits:
            return None
        name, _, severity = condition.partition("@") if group == "visual" else (condition, "", "")
        for item, (hit, cluster) in hits.items():
            before.append(clean[item][0])
            after.append(hit)
            clusters.append(cluster)
        names += [name] * len(hits)
        severities += [severity or None] * len(hits)
    figures = robustness(before, after, names, severities=severities, clusters=clusters)
    low, high = figures["gamma_r_low"], figures["gamma_r_high"]
    return None if low is None or high is None else (float(low), float(high))


def _group(condition: str) -> str:
    kind = condition.partition(":")[0]
    return "pairs" if "+" in condition else kind


def _hits(run: ConfigRun, condition: str, score: str) -> Hits:
    """Hits by item, or of retrieval by the place of the caption; {} where they were not kept."""
    if run.layout != "retrieval":
        return choice_hits(run.choices.get(condition, {}))
    if not run.has_matrix(condition):
        return {}
    matrix = run.matrix(condition)
    ranks = matrix_ranks(matrix.values, np.asarray(matrix.relevant, np.int64)).text_to_video
    hits = ranks.hit(int(score.partition("@")[2])).tolist()
    videos = [matrix.videos[row] for row in matrix.relevant]
    return {str(n): (hit, video) for n, (hit, video) in enumerate(zip(hits, videos, strict=True))}
