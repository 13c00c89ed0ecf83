"""A built set as TSV files for VLMEvalKit's video multiple choice, and the dataset class that reads them.

VLMEvalKit takes any TSV for images and text, but for videos it needs a class; `video_contrast_sets.py` beside the files
is one, and runs VLMEvalKit's own `run.py` with it. It names a video by its path below the data root without `.mp4`, and
shows whole files: other videos, and spans, are written as mp4 files.
"""

from pathlib import Path

from video_contrast.files import write_text
from video_contrast.question_text import LETTERS, WHICH_SENTENCE, question_of
from video_contrast.reports.exports.tables import Export, python_file
from video_contrast.reports.layout import no_formula
from video_contrast.rows import MultipleChoiceRow
from video_contrast.video import Clip

CLASS = "video_contrast_sets.py"
Line = dict[str, str | int]  # column -> cell
_FIRST = ("index", "id", "video", "question", "prompt", "option", "candidates")


def vlmevalkit(export: Export) -> list[Path]:
    """Writes `OUTPUT/<set>_<config>_<split>.tsv`, a file a multiple-choice config and split, and the class.

    Columns: `index`, `id`, `video` (the path without its ending), `question`, `prompt` and `option` (how its release
    asks it, with places for question, options and number of frames), `candidates` (a list), `A` to the last candidate,
    `answer` (a letter, or yes or no), `kinds`. Text that a spreadsheet would run as a formula has an apostrophe before
    it, which the class takes away.

    Returns the TSV files, and last the Python file. Raises UsageError: as `Export.choice_tables`, or a video is no mp4
    file.
    """
    name, tables = export.choice_tables()
    clips, root = export.clips(tables, mp4=True)
    written = [
        write_text(
            export.output / f"{name}_{config}_{split}.tsv",
            _tsv([_line(number, row, clips[Clip.of(row)]) for number, row in enumerate(rows)]),
        )
        for (config, split), rows in tables.items()
    ]
    file = CLASS.removesuffix(".py")
    source = python_file("vlmevalkit_sets.py.template", root, EXAMPLE=written[0].stem, FILE=file)
    return [*written, write_text(export.output / CLASS, source)]


def _line(number: int, row: MultipleChoiceRow, video: str) -> Line:
    question, candidates = question_of(row) or WHICH_SENTENCE, row["candidates"]
    texts = [" ".join(text.split()) for text in candidates]
    return {
        "index": number,
        "id": row["id"],
        "video": video.removesuffix(".mp4"),
        "question": question.text,
        "prompt": question.prompt,
        "option": question.option,
        "candidates": repr(candidates),
        **dict(zip(LETTERS, texts, strict=False)),
        "answer": candidates[row["label"]] if question.is_yes_no(candidates) else LETTERS[row["label"]],
        "kinds": ",".join(row["kinds"]),
    }


def _tsv(lines: list[Line]) -> str:
    import pandas as pd

    # Items may differ in their number of candidates: the header has the letters of the longest.
    letters = sorted({key for line in lines for key in line if len(key) == 1})
    cells = [{name: no_formula(cell) for name, cell in line.items()} for line in lines]
    table = pd.DataFrame(cells, columns=[*_FIRST, *letters, "answer", "kinds"])
    return str(table.to_csv(sep="\t", index=False, lineterminator="\n"))
