"""What the analyses read: which items a stored run got right, and the contrast of each item."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.reports.hits import hit
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage import RunFolder

NOT_EDITED = ("true", "random")


def read_hits(run: str | Path, config: str, condition: str = "clean") -> dict[str, float]:
    """Item id -> 1 right, 0 wrong, between them on a tie, from a run's scores.

    Args:
        run: a finished run's folder.
        config, condition: whose scores.

    Raises:
        UsageError: there is no run, or none of this config and condition.
    """
    tables = RunFolder.open(run).tables
    if (config, condition) not in tables:
        known = ", ".join(f"{own} ({under})" for own, under in sorted(tables)) or "none"
        raise UsageError(f"{run} has no scores of {config} ({condition}); it has {known}")
    return {name: hit(row) for name, row in tables[config, condition].items()}


def contrasts_of(rows: Iterable[MultipleChoiceRow]) -> list[tuple[MultipleChoiceRow, int]]:
    """Each row with the number of its contrast (the first, where there are several); rows without one are left out."""
    pairs = []
    for row in rows:
        hard = [n for n, kind in enumerate(row["kinds"]) if kind not in NOT_EDITED and row["edits"][n]]
        if hard:
            pairs.append((row, hard[0]))
    return pairs


def scored_contrasts(
    rows: Sequence[MultipleChoiceRow], hits: Mapping[str, float]
) -> list[tuple[MultipleChoiceRow, int]]:
    """Rows with a contrast that the run scored, each with the number of its contrast.

    Raises:
        UsageError: there is none.
    """
    pairs = [(row, n) for row, n in contrasts_of(rows) if row["id"] in hits]
    if not pairs:
        raise UsageError("no item with a contrast was scored: do set, config and run belong together?")
    return pairs
