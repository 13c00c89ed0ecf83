"""Before and after: every figure of two models on the same items, with intervals and paired tests; what fell."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from video_contrast.errors import VideoContrastError
from video_contrast.metrics import holm, interval_keys, paired_difference, share_interval

if TYPE_CHECKING:
    from video_contrast.teacher.evaluation import Hits

ROUNDING = 1e-9  # of a difference of two shares
FigureRow = dict[str, Any]  # of `paired_rows`; those of `reports.compare` lack the intervals of each model alone


class FallenFigures(VideoContrastError):
    """Figures fell by more than was allowed."""

    exit_code = 3


def paired_rows(
    before: "Mapping[str, Hits]", after: "Mapping[str, Hits]", where: str, *, seed: int = 0
) -> list[FigureRow]:
    """Returns one row a figure; its intervals are of 95 %, and None below five videos.

    Keys: `config` (what it was measured on), `figure`, `first` and `second` (before and after) with `_low` and `_high`;
    `difference` (after less before) with `low`, `high` and `p_value` (sign flips of videos; `p_holm` over the rows that
    have one); `n`, `n_clusters` (videos). `before, after`: figure -> hits, of the same items. `seed`: of the signs that
    the test draws where it cannot be exact.
    """
    rows: list[FigureRow] = []
    for name, hits in after.items():
        gap = paired_difference(before[name].values, hits.values, hits.clusters, seed=seed)
        row: FigureRow = {"config": where, "figure": name} | {k: v for k, v in gap.items() if k != "standard_error"}
        for side, values in (("first", before[name].values), ("second", hits.values)):
            share = share_interval(values, hits.clusters)
            row |= {side: float(share.estimate), **interval_keys(side, share)}
        rows.append(row)
    correct_for_family(rows)
    return rows


def correct_for_family(rows: Sequence[FigureRow]) -> None:
    """Adds `p_holm` to the rows that have a p-value: Holm's correction over all of them."""
    with_p = [row for row in rows if row["p_value"] is not None]
    for row, p in zip(with_p, holm([row["p_value"] for row in with_p]) if with_p else [], strict=True):
        row["p_holm"] = float(p)


def fallen(rows: Sequence[FigureRow], tolerance: float) -> list[FigureRow]:
    """The figures that fell by more than the tolerance: an estimate, whatever its test says."""
    return [row for row in rows if row["difference"] < -tolerance - ROUNDING]


def check_fallen(rows: Sequence[FigureRow], tolerance: float) -> None:
    """Raises FallenFigures (exit code 3): some fell by more than the tolerance; each is named."""
    if fallen_rows := fallen(rows, tolerance):
        names = []
        for row in fallen_rows:
            condition = "" if row.get("condition") in (None, "clean") else f" ({row['condition']})"
            names.append(f"{row['config']} {row['figure']}{condition} by {-row['difference']:.3f}")
        few = f"{len(fallen_rows)} of {len(rows)} figures"
        raise FallenFigures(f"{few} fell by more than {tolerance:g}: {', '.join(names)}")


def table(rows: Sequence[FigureRow]) -> str:
    """Markdown: one line a figure."""
    lines = [
        "| measured on | figure | before | after | difference | 95 % | p | p (Holm) | items | videos |",
        "|---" * 10 + "|",
    ]
    for row in rows:
        interval = "too few videos" if row["low"] is None else f"{row['low']:+.3f} .. {row['high']:+.3f}"
        p, holm = ("-" if value is None else f"{value:.3f}" for value in (row["p_value"], row.get("p_holm")))
        before = _share(row["first"], row.get("first_low"), row.get("first_high"))
        after = _share(row["second"], row.get("second_low"), row.get("second_high"))
        lines.append(
            f"| {row['config']} | {row['figure']} | {before} | {after} | {row['difference']:+.3f} | {interval} | "
            f"{p} | {holm} | {row['n']} | {row['n_clusters']} |"
        )
    return "\n".join(lines)


def _share(value: float, low: float | None, high: float | None) -> str:
    return f"{value:.3f}" if low is None else f"{value:.3f} ({low:.3f}-{high:.3f})"
