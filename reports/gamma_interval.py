"""The interval of a mean gamma, from the scores that a run kept of each condition."""

from video_contrast.metrics import robustness
from video_contrast.reports.runs import ConfigRun
from video_contrast.storage.run_figures import Gamma
from video_contrast.storage.run_folder import CLEAN


def gamma_ends(run: ConfigRun, gamma: Gamma) -> tuple[float, float] | None:
    """The 95 % interval of the mean relative gamma of a group of perturbations, by bootstrap over videos.

    Args:
        run: on one config.
        gamma: of the group "visual", "text" or "pairs" of this run.

    Returns:
        Its ends; None below five videos, where nothing changes, and where the scores of a condition were not kept.
    """
    k = int(gamma.name.partition("@")[2] or 1)
    clean = run.hits(CLEAN, k)
    before, after, names, severities, clusters = [], [], [], [], []
    for condition in run.conditions:
        if ("pairs" if "+" in condition else condition.partition(":")[0]) != gamma.group:
            continue
        hits = run.hits(condition, k)
        if hits.keys() != clean.keys() or not hits:
            return None
        name, _, severity = condition.partition("@") if gamma.group == "visual" else (condition, "", "")
        for item, (hit, cluster) in hits.items():
            before.append(clean[item][0])
            after.append(hit)
            clusters.append(cluster)
        names += [name] * len(hits)
        severities += [severity or None] * len(hits)
    figures = robustness(before, after, names, severities=severities, clusters=clusters)
    low, high = figures["gamma_r_low"], figures["gamma_r_high"]
    return None if low is None or high is None else (float(low), float(high))
