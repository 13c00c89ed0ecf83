"""What the analyses read: which items a stored run got right, and the contrast of each item."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.reports.hits import hit
from video_contrast.rows import MultipleChoiceRow, contrast_places
from video_contrast.storage import RunFolder


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
    edited = ((row, [n for n in contrast_places(row["kinds"]) if row["edits"][n]]) for row in rows)
    return [(row, places[0]) for row, places in edited if places]


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
