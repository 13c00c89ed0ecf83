"""Reads contrast sets that others released: tables of `clip`, `ending0` ..., `label`, taken as they are."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from video_contrast.builders.assembly.difference import changed_words, difference
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import EditRecord, MultipleChoiceRow, multiple_choice_row
from video_contrast.storage.set_records import Facts


@dataclass(frozen=True)
class ReleasedItem:
    """One row of a released set, as it is: candidates in their order, and which one is true."""

    place: str
    clip: str
    candidates: tuple[str, ...]
    label: int

    def contrast(self) -> int:
        """The candidate that was made from the true caption: the one that differs from it in the fewest words."""
        true = self.candidates[self.label]
        others = [n for n in range(len(self.candidates)) if n != self.label]
        return min(others, key=lambda n: (sum(changed_words(true, self.candidates[n])), n))


def read_released(path: str | Path) -> list[ReleasedItem]:
    """Items of a released set: `clip<TAB>ending0..ending4<TAB>label`, header, no quoting, UTF-8.

    Raises UsageError: no such file; VideoContrastError: another header, a label out of range, an empty or repeated
    candidate; names the line.
    """
    items: list[ReleasedItem] = []
    for place, row in read_table(path):
        endings = sorted((name for name in row if name.startswith("ending")), key=lambda name: int(name[6:] or 0))
        if "clip" not in row or "label" not in row or len(endings) < 2:
            raise VideoContrastError(f"{place}: the header must be clip, ending0 ..., label, not {', '.join(row)}")
        candidates = tuple(str(row[name]) for name in endings)
        label = str(row["label"])
        if not label.isdigit() or int(label) >= len(candidates):
            raise VideoContrastError(f"{place}: label {label!r} is not one of 0..{len(candidates) - 1}")
        if any(not text.strip() for text in candidates) or len(set(candidates)) < len(candidates):
            raise VideoContrastError(f"{place}: a candidate is empty, or two are equal")
        items.append(ReleasedItem(place, str(row["clip"]), candidates, int(label)))
    if not items:
        raise VideoContrastError(f"{path}: no rows")
    return items


def is_released(path: str | Path) -> bool:
    """Whether a file is a five-option TSV (by its header) rather than a list of negatives.

    Raises UsageError: no such file.
    """
    if not Path(path).is_file():
        raise UsageError(f"no such file: {path}")
    first = next(read_table(path), None)
    return first is not None and {"ending0", "label"} <= first.cells.keys()


def released_config(
    path: Path, kind: str, *, video_path: Callable[[str], str], cluster: Callable[[str], str] = str
) -> tuple[dict[str, list[MultipleChoiceRow]], Facts]:
    """Returns a released set as our table, candidates, places, labels and order as they are, and what its card says.

    The contrast among the candidates is the one nearest to the true caption; the release does not mark it.

    Args:
        kind: of its contrasts, one of `rows.KINDS`.
        video_path: clip -> path of its video under the video root.
        cluster: clip -> source video; by default each clip is one of its own.
    """
    rows = []
    for item in read_released(path):
        place = item.contrast()
        kinds = ["random"] * len(item.candidates)
        kinds[item.label], kinds[place] = "true", kind
        edits: list[EditRecord | None] = [None] * len(item.candidates)
        edits[place] = difference(item.candidates[item.label], item.candidates[place], "released").row()
        rows.append(
            multiple_choice_row(
                id=item.clip,
                video_id=item.clip,
                video_path=video_path(item.clip),
                candidates=list(item.candidates),
                label=item.label,
                kinds=kinds,
                edits=edits,
                cluster=cluster(item.clip),
            )
        )
    facts = {
        "negatives": "the released file, options, positions and order as they are",
        "kind": kind,
        "options": len(rows[0]["candidates"]),
        "source": Path(path).name,
        "splits": {"test": {"items": len(rows)}},
    }
    return {"test": rows}, facts
