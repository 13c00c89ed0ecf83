"""Sentences below a comparison: what its test can show, and both intervals where clips are not independent."""

from collections.abc import Sequence

from video_contrast.reports.compare import Comparison

_ALIKE = 1e-9  # a difference that a sample without any variance shows


def power_lines(rows: Sequence[Comparison]) -> list[str]:
    """A sentence a row: what its test can show, and both intervals where they differ."""
    lines = []
    for row in rows:
        several = any(row["config"] == other["config"] and row is not other for other in rows)
        name = f"{row['config']}, {row['figure']}" if several else row["config"]
        if row.get("independent_low") is not None and row["low"] is not None:
            lines.append(
                f"{name}: by source video {row['difference']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}], "
                f"p {row['p_value']:.2g}; as if clips were independent [{row['independent_low']:+.3f}, "
                f"{row['independent_high']:+.3f}], p {row['independent_p_value']:.2g}"
            )
        facts = row["power"]
        if facts is None:
            continue
        points, floor = 100 * facts["difference"], facts["detectable_with_more_items"]
        unit = "items" if floor is None else "source videos"
        if facts["detectable"] < _ALIKE:
            lines.append(f"{name}: differs alike in all {facts['n_clusters']:,} {unit}: too few to tell the power")
            continue
        needed = f"{facts['clusters_needed']:,} {unit}"
        text = f"{name}: to tell {points:.1f} points apart (80 % power) you need {needed}"
        if floor and not facts["enough"]:
            more = f"more items of these videos reach {100 * floor:.1f} points at best"
            if floor >= 1:
                text += ", not more items"
            else:
                text += f", not more items: {more}" if floor > facts["difference"] else f", or more items: {more}"
        lines.append(f"{text}; there are {facts['n_clusters']:,}, {shown(facts['detectable'])}")
    return lines


def shown(detectable: float) -> str:
    """What a sample shows, as the end of a sentence.

    >>> shown(0.123), shown(1.2)
    ('which show 12.3 points or more', 'too few to show any difference')
    """
    return "too few to show any difference" if detectable >= 1 else f"which show {100 * detectable:.1f} points or more"
