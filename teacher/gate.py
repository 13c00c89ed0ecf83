"""Before and after: every figure of two models on the same items, with intervals and paired tests; what fell."""

from collections.abc import Mapping, Sequence
from typing import Any

from video_contrast.teacher.evaluation import Hits

Row = dict[str, Any]
ROUNDING = 1e-9  # of a difference of two shares


def paired_rows(before: Mapping[str, Hits], after: Mapping[str, Hits], where: str, *, seed: int = 0) -> list[Row]:
    """One row a figure, as `reports.compare.compare_runs` writes them.

    Args:
        before, after: figure -> hits, of the same items.
        where: what they were measured on.
        seed: of the signs that the test draws where it cannot be exact.

    Returns:
        `config`, `figure`, `first`, `second`, each with its interval (`first_low` ...; 95 %, None below five videos),
        `difference` with `low` and `high`, `p_value` (sign flips of videos), `p_holm` (over the rows), `n`,
        `n_clusters` (videos).
    """
    from video_contrast.metrics import holm, interval_keys, paired_difference, share_interval

    rows: list[Row] = []
    for name, hits in after.items():
        first = before[name]
        row: Row = {"config": where, "figure": name}
        for model, values in (("first", first.values), ("second", hits.values)):
            interval = share_interval(values, hits.clusters)
            row |= {model: float(interval.estimate), **interval_keys(model, interval)}
        paired = paired_difference(first.values, hits.values, hits.clusters, seed=seed)
        rows.append(row | {name: paired[name] for name in ("difference", "low", "high", "p_value", "n", "n_clusters")})
    tested = [row for row in rows if row["p_value"] is not None]
    for row, p in zip(tested, holm([row["p_value"] for row in tested]) if tested else [], strict=True):
        row["p_holm"] = float(p)
    return rows


def fallen(rows: Sequence[Row], tolerance: float) -> list[Row]:
    """The figures that fell by more than the tolerance: an estimate, whatever its test says."""
    return [row for row in rows if row["difference"] < -tolerance - ROUNDING]


def table(rows: Sequence[Row]) -> str:
    """Markdown: one line a figure."""
    lines = [
        "| measured on | figure | before | after | difference | 95 % | p | p (Holm) | items | videos |",
        "|---" * 10 + "|",
    ]
    for row in rows:
        interval = "too few videos" if row["low"] is None else f"{row['low']:+.3f} .. {row['high']:+.3f}"
        p, holm = ("-" if row.get(key) is None else f"{row[key]:.3f}" for key in ("p_value", "p_holm"))
        lines.append(
            f"| {row['config']} | {row['figure']} | {_share(row, 'first')} | {_share(row, 'second')} | "
            f"{row['difference']:+.3f} | {interval} | {p} | {holm} | {row['n']} | {row['n_clusters']} |"
        )
    return "\n".join(lines)


def _share(row: Row, model: str) -> str:
    if row.get(f"{model}_low") is None:
        return f"{row[model]:.3f}"
    return f"{row[model]:.3f} ({row[f'{model}_low']:.3f}-{row[f'{model}_high']:.3f})"
