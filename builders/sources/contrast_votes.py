"""Votes on contrasts: the ticks of a review page, or a table of contrasts that people have read."""

from pathlib import Path

from video_contrast.builders.assembly.captioned_clip import normal
from video_contrast.builders.assembly.difference import difference
from video_contrast.builders.sources.caption_table import TableRow, read_table
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.judge_votes import ContrastVote

_CAPTION, _CONTRAST = ("caption", "original"), ("contrast", "edited")
_ANSWERS = {"yes": True, "1": True, "true": True, "no": False, "0": False, "false": False, "": None}


def read_votes(path: Path) -> list[ContrastVote]:
    """Reads rows with `caption` (or `original`), `contrast` (`edited`), and `vote` or `natural` and `surely false`.

    A reader each may have columns ("natural 1", "surely false 1", "natural 2" ...); rows without an answer are left
    out. Raises UsageError: a column is missing; VideoContrastError: another answer than yes, no, 1 or 0, an empty
    caption, or one that its contrast equals; names the line.
    """
    return [vote for row in read_table(path) for vote in _of_row(row)]


def _of_row(row: TableRow) -> list[ContrastVote]:
    caption, contrast = (row.text(row.usual(None, names), f"a column {names[0]}") for names in (_CAPTION, _CONTRAST))
    if normal(caption) == normal(contrast):
        raise VideoContrastError(f"{row.place}: the contrast equals the caption: {caption!r}")
    edit = difference(caption, contrast, "vote")
    readers = [name.removeprefix("natural") for name in row.cells if name.startswith("natural")]
    answers = [(_answer(row, f"natural{reader}"), _answer(row, f"surely false{reader}")) for reader in readers]
    if readers:
        return [ContrastVote(caption, edit, *answer) for answer in answers if answer != (None, None)]
    tick = _answer(row, "vote")
    return [] if tick is None else [ContrastVote(caption, edit, *((True, True) if tick else (None, None)))]


def _answer(row: TableRow, column: str) -> bool | None:
    answer = " ".join(row.texts(column, "columns vote, or natural and surely false")).lower()
    if answer not in _ANSWERS:
        raise VideoContrastError(f"{row.place}: {column} must be yes or no (1 or 0), not {answer!r}")
    return _ANSWERS[answer]
