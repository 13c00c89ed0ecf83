"""A built set as tasks of inspect_ai.

    OUTPUT/<set>.py                      a task a multiple-choice config and split: dataset, solver, scorer
    OUTPUT/<set>_<config>_<split>.jsonl  its samples
    OUTPUT/clips ...                     the clips, where they were written

Use: `inspect eval OUTPUT/<set>.py@<config> --model ...`. Models are shown mp4 files, or with `-T frames=8` images.
"""

import json
import re
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.files import write_text
from video_contrast.question_text import LETTERS, WHICH_SENTENCE, question_of
from video_contrast.reports.exports.tables import Export, python_file
from video_contrast.rows import MultipleChoiceRow
from video_contrast.video import Clip

TASK = '''
@task
def {name}(frames: int = 0):
    """{config}, {split}. frames: so many images instead of the file."""
    return contrast_task("{data}", frames)
'''


def inspect_ai(export: Export) -> list[Path]:
    """Writes the tasks; returns the samples' files, and last the Python file.

    Raises UsageError: as `Export.choice_tables`, or a video is no mp4 file.
    """
    name, tables = export.choice_tables()
    clips, root = export.clips(tables, mp4=True)
    stem, written, tasks = re.sub(r"\W+", "_", name), [], []
    for (config, split), rows in tables.items():
        data = f"{stem}_{config}_{split}.jsonl"
        lines = [json.dumps(_line(row, clips[Clip.of(row)]), ensure_ascii=False) + "\n" for row in rows]
        written.append(write_text(export.output / data, "".join(lines)))
        task = re.sub(r"\W+", "_", config if split == "test" else f"{config}_{split}")
        if not task.isidentifier():
            raise UsageError(f"config {config!r} has no name that a task of inspect_ai can have")
        tasks.append((task, TASK.format(name=task, config=config, split=split, data=data)))
    text = "\n".join(text for _, text in tasks).rstrip("\n")
    source = python_file("inspect_task.py.template", root, TASKS=text, EXAMPLE=tasks[0][0], FILE=f"{stem}.py")
    return [*written, write_text(export.output / f"{stem}.py", source)]


def _line(row: MultipleChoiceRow, video: str) -> dict[str, object]:
    question, candidates = question_of(row) or WHICH_SENTENCE, row["candidates"]
    yes_no = question.is_yes_no(candidates)
    return {
        "id": row["id"],
        "video": video,
        "question": question.text,
        "prompt": question.prompt,
        "option": question.option,
        "target": candidates[row["label"]] if yes_no else LETTERS[row["label"]],
        "candidates": candidates,
        "label": row["label"],
        "kinds": row["kinds"],
        "cluster": row["cluster"],
        "yes_no": yes_no,
    }
