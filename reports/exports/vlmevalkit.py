"""A built set as TSV files for VLMEvalKit's video multiple choice, and the dataset class that reads them.

VLMEvalKit takes any TSV for images and text, but for videos it needs a class; `video_contrast_sets.py` beside the files
is one, and runs VLMEvalKit's own `run.py` with it. It names a video by its path below the data root without `.mp4`, so
only sets of mp4 files can be exported.
"""

import csv
import io
from pathlib import Path

from video_contrast.answer_text import LETTERS
from video_contrast.errors import VideoContrastError
from video_contrast.files import write_text
from video_contrast.reports.exports.lmms_eval import choice_configs, functions
from video_contrast.rows import MultipleChoiceRow

CLASS = "video_contrast_sets.py"
Line = dict[str, str | int | float]  # column -> cell
QUESTION = "Which sentence describes the video?"


def vlmevalkit(folder: str | Path, output: str | Path, *, video_root: str | Path | None = None) -> list[Path]:
    """Writes `OUTPUT/<set>_<config>_<split>.tsv`, a file a multiple-choice config and split, and the class.

    Columns: `index`, `id`, `video` (the path without its ending), `video_path`, `question`, `candidates` (a list of
    lettered options), `A` to the last option, `answer` (a letter), `kinds`, `start`, `end`.

    Args:
        folder: a built set.
        output: the folder of the files.
        video_root: where the clips lie; the set's folder by default.

    Returns:
        The TSV files, and last the Python file.

    Raises:
        UsageError: not a built set, or it has no multiple-choice config.
        VideoContrastError: a video is not an mp4 file.
    """
    root = Path(folder)
    built, configs = choice_configs(root)
    written = []
    for config, splits in configs.items():
        for split in splits:
            rows = built.choice_rows(config, split)
            path = Path(output) / f"{built.builder}_{config}_{split}.tsv"
            written.append(write_text(path, _tsv([_line(number, row, config) for number, row in enumerate(rows)])))
    source = functions("vlmevalkit_sets.txt", Path(video_root or root)).replace("@EXAMPLE@", written[0].stem)
    return [*written, write_text(Path(output) / CLASS, source.replace("THIS_FILE", CLASS.removesuffix(".py")))]


def _line(number: int, row: MultipleChoiceRow, config: str) -> Line:
    if not row["video_path"].endswith(".mp4"):
        raise VideoContrastError(
            f"{config}, row {number} (id {row['id']!r}): VLMEvalKit reads mp4 files only, not {row['video_path']!r}"
        )
    texts = [" ".join(text.split()) for text in row["candidates"]]
    options = {LETTERS[n]: text for n, text in enumerate(texts)}
    return {
        "index": number,
        "id": row["id"],
        "video": row["video_path"].removesuffix(".mp4"),
        "video_path": row["video_path"],
        "question": QUESTION,
        "candidates": repr([f"{letter}. {text}" for letter, text in options.items()]),
        **options,
        "answer": LETTERS[row["label"]],
        "kinds": ",".join(row["kinds"]),
        "start": "" if row["start"] is None else row["start"],
        "end": "" if row["end"] is None else row["end"],
    }


def _tsv(lines: list[Line]) -> str:
    # Items may differ in their number of options: the header has the letters of the longest.
    letters = sorted({key for line in lines for key in line if len(key) == 1})
    first = ["index", "id", "video", "video_path", "question", "candidates"]
    sink = io.StringIO()
    writer = csv.DictWriter(
        sink, [*first, *letters, "answer", "kinds", "start", "end"], delimiter="\t", lineterminator="\n", restval=""
    )
    writer.writeheader()
    writer.writerows(lines)
    return sink.getvalue()
