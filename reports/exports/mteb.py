"""A built set as task classes of MTEB: multiple choice, and retrieval both ways.

    OUTPUT/<set>_mteb.py    a class a config and split, and `TASKS`, an instance of each
    OUTPUT/clips ...        the clips, where they were written

Use: `mteb.evaluate(model, TASKS)`. The data is read by `datasets` from the set's folder or its repository.
"""

import re
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.files import write_text
from video_contrast.reports.exports.tables import Export, cut_clips, python_file
from video_contrast.rows import has_questions


def mteb(export: Export) -> list[Path]:
    """Writes the classes; returns the Python file.

    Raises UsageError: as `Export.tables`, or the set has no config of these layouts.
    """
    name, tables = export.tables(("multiple_choice", "retrieval"))
    if not tables:
        raise UsageError(f"{export.folder} has no multiple-choice and no retrieval config")
    clips, root = export.clips(tables, mp4=False)
    stem = re.sub(r"\W+", "_", name)
    lines = []
    for (config, split), rows in tables.items():
        words = re.split(r"\W+|_", f"{name}_{config}_{split if split != 'test' else ''}")
        for ranked in ("t2v", "v2t") if "captions" in rows[0] else ("choice",):
            ending = "" if ranked == "choice" else ranked.upper()
            class_name = "".join(word.title() for word in words) + ending
            lines.append(f"    {(class_name, config, split, ranked, has_questions(rows[0]))!r},\n")
    source = python_file(
        "mteb_tasks.py.template",
        root,
        DATASET=repr(export.source),
        CUT=cut_clips(clips),
        SETS="".join(lines),
        FILE=f"{stem}_mteb",
    )
    return [write_text(export.output / f"{stem}_mteb.py", source)]
