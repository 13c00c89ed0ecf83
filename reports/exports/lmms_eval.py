"""A built set as a task folder of lmms-eval.

    OUTPUT/<set>_<config>.yaml    one task a multiple-choice config, and a group of all of them
    OUTPUT/utils.py               prompt, video and scoring functions; needs nothing but the standard library
    OUTPUT/clips ...              the clips, where they were written

Use: `python -m lmms_eval --include_path OUTPUT --tasks <set>_<config> ...`. The data is read by `datasets` from the
set's folder or its repository; the videos from `VIDEO_CONTRAST_ROOT`, or from where they lie now. Clips are cut here:
its `start_time` and `end_time` reach only those of its models that read them; the others show the whole file.
"""

import json
import re
from pathlib import Path

from video_contrast.files import write_text
from video_contrast.reports.exports.tables import Export, cut_clips, filled, python_file


def lmms_eval(export: Export) -> list[Path]:
    """Writes the task folder; returns its files. Raises UsageError: as `Export.choice_tables`."""
    name, tables = export.choice_tables()
    clips, root = export.clips(tables, mp4=False)
    stem = re.sub(r"\W+", "_", name)
    tasks = {f"{stem}_{config}" + ("" if split == "test" else f"_{split}"): (config, split) for config, split in tables}
    for task, (config, split) in tasks.items():
        values = {"NAME": task, "DATASET": json.dumps(export.source), "CONFIG": config, "SPLIT": split}
        write_text(export.output / f"{task}.yaml", filled("lmms_eval_task.yaml.template", **values))
    if len(tasks) > 1:
        group = f"group: {stem}\ntask:\n" + "".join(f"- {task}\n" for task in tasks)
        write_text(export.output / f"_{stem}.yaml", group)
    write_text(export.output / "utils.py", python_file("lmms_eval_utils.py.template", root, CUT=cut_clips(clips)))
    return sorted(export.output.iterdir())
