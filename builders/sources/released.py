"""Reads contrast sets that others released: tables of `clip`, `ending0` ..., `label`, taken as they are."""

from collections.abc import Callable
from pathlib import Path

from video_contrast.builders.assembly.difference import changed_words, difference
from video_contrast.builders.sources.caption_table import TableRow, read_table
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import EditRecord, MultipleChoiceRow, multiple_choice_row
from video_contrast.storage.set_records import Facts


def is_released(path: str | Path) -> bool:
    """Whether a file is a five-option TSV (by its header) rather than a list of negatives.

    Raises UsageError: no such file.
    """
    if not Path(path).is_file():
        raise UsageError(f"no such file: {path}")
    first = next(read_table(path), None)
    return first is not None and {"ending0", "label"} <= first.cells.keys()


def released_config(
    path: Path, kind: str, video_path: Callable[[str], str], *, cluster: Callable[[str], str] = str
) -> tuple[dict[str, list[MultipleChoiceRow]], Facts]:
    """Returns a released set as our table, candidates, places, labels and order as they are, and what its card says.

    The file is `clip<TAB>ending0..ending4<TAB>label`, header, no quoting, UTF-8. The contrast among the candidates is
    the one nearest to the true caption; the release does not mark it. `video_path` and `cluster` say of a clip the path
    of its video and the source video, by default the clip itself. Raises UsageError: no such file; VideoContrastError:
    another header, a label out of range, an empty or repeated candidate; names the line.
    """
    rows = []
    for row in read_table(path):
        candidates, label = _candidates(row)
        clip, true = str(row.cells["clip"]), candidates[label]
        others = [n for n in range(len(candidates)) if n != label]
        place = min(others, key=lambda n: (sum(changed_words(true, candidates[n])), n))
        kinds = ["random"] * len(candidates)
        kinds[label], kinds[place] = "true", kind
        edits: list[EditRecord | None] = [None] * len(candidates)
        edits[place] = difference(true, candidates[place], "released").row()
        rows.append(
            multiple_choice_row(
                id=clip,
                video_id=clip,
                video_path=video_path(clip),
                candidates=candidates,
                label=label,
                kinds=kinds,
                edits=edits,
                cluster=cluster(clip),
            )
        )
    if not rows:
        raise VideoContrastError(f"{path}: no rows")
    facts = {
        "negatives": "the released file, options, positions and order as they are",
        "kind": kind,
        "options": len(rows[0]["candidates"]),
        "source": Path(path).name,
        "splits": {"test": {"items": len(rows)}},
    }
    return {"test": rows}, facts


def _candidates(row: TableRow) -> tuple[list[str], int]:
    """The candidates of a row in their order, and which one is true."""
    place, cells = row
    endings = sorted((name for name in cells if name.startswith("ending")), key=lambda name: int(name[6:] or 0))
    if "clip" not in cells or "label" not in cells or len(endings) < 2:
        raise VideoContrastError(f"{place}: the header must be clip, ending0 ..., label, not {', '.join(cells)}")
    candidates, label = [str(cells[name]) for name in endings], str(cells["label"])
    if not label.isdigit() or int(label) >= len(candidates):
        raise VideoContrastError(f"{place}: label {label!r} is not one of 0..{len(candidates) - 1}")
    if any(not text.strip() for text in candidates) or len(set(candidates)) < len(candidates):
        raise VideoContrastError(f"{place}: a candidate is empty, or two are equal")
    return candidates, int(label)
