"""A built set as task classes of MTEB: multiple choice, and retrieval both ways.

    OUTPUT/<set>_mteb.py    a class a config and split, and `TASKS`, an instance of each
    OUTPUT/clips ...        the clips, where they were written

Use: `mteb.evaluate(model, TASKS)`. The data is read by `datasets` from the set's folder or its repository.
"""

import re
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.files import write_text
from video_contrast.reports.exports.tables import python_file, tables_of, write_clips
from video_contrast.rows import has_questions
from video_contrast.storage import SetFolder


def mteb(
    folder: str | Path,
    output: str | Path,
    *,
    dataset: str | None = None,
    video_root: str | Path | None = None,
    write_videos: bool = False,
) -> Path:
    """Writes the classes.

    Args:
        folder: a built set.
        output: the folder of the file.
        dataset: the set's name on the Hub, written in the place of the folder (for tasks that are to be shared).
        video_root: where the clips lie; where the set says by default.
        write_videos: write the clips beside the file, cut to their spans.

    Returns:
        The Python file.

    Raises:
        UsageError: not a built set, it has no config of these layouts, or a row cannot be asked (see `tables_of`).
    """
    name, tables = tables_of(folder, ("multiple_choice", "retrieval"), write_videos=write_videos)
    if not tables:
        raise UsageError(f"{folder} has no multiple-choice and no retrieval config")
    root = Path(video_root or SetFolder(Path(folder)).video_root)
    clips = write_clips(tables, root, Path(output)) if write_videos else {}
    stem = re.sub(r"\W+", "_", name)
    lines = []
    for (config, split), rows in tables.items():
        words = "".join(
            word.title() for word in re.split(r"\W+|_", f"{name}_{config}_{split if split != 'test' else ''}")
        )
        for ranked in ("t2v", "v2t") if "captions" in rows[0] else ("choice",):
            ending = "" if ranked == "choice" else ranked.upper()
            lines.append(repr((words + ending, config, split, ranked, has_questions(rows[0]))))
    cut = [(clip.video_path, clip.start, clip.end, path) for clip, path in clips.items() if path != clip.video_path]
    source = python_file("mteb_tasks.py.template", Path(output) if write_videos else root)
    values = {
        "DATASET": repr(dataset or str(Path(folder).resolve())),
        "CUT": "".join(f"    {line!r},\n" for line in cut),
        "SETS": "".join(f"    {line},\n" for line in lines),
    }
    for key, value in values.items():
        source = source.replace(f"@{key}@", value)
    return write_text(Path(output) / f"{stem}_mteb.py", source.replace("THIS_FILE", f"{stem}_mteb"))
