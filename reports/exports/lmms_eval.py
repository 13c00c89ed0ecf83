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
from importlib.resources import files
from pathlib import Path

from video_contrast.files import write_text
from video_contrast.reports.exports.tables import choice_tables, python_file, write_clips
from video_contrast.storage import SetFolder


def lmms_eval(
    folder: str | Path,
    output: str | Path,
    *,
    dataset: str | None = None,
    video_root: str | Path | None = None,
    write_videos: bool = False,
) -> Path:
    """Writes the task folder.

    Args:
        folder: a built set.
        output: the task folder.
        dataset: the set's name on the Hub, written in the place of the folder (for a task that is to be shared).
        video_root: where the clips lie; where the set says by default.
        write_videos: write the clips beside the tasks, cut to their spans.

    Raises:
        UsageError: not a built set, it has no multiple-choice config, or a row cannot be asked (see `choice_tables`).
    """
    name, tables = choice_tables(folder, write_videos=write_videos)
    target, root = Path(output), Path(video_root or SetFolder(Path(folder)).video_root)
    clips = write_clips(tables, root, target) if write_videos else {}
    stem = re.sub(r"\W+", "_", name)
    tasks = {}
    for config, split in tables:
        task = f"{stem}_{config}" + ("" if split == "test" else f"_{split}")
        tasks[task] = _task(task, dataset or str(Path(folder).resolve()), config, split)
    for task, text in tasks.items():
        write_text(target / f"{task}.yaml", text)
    if len(tasks) > 1:
        write_text(target / f"_{stem}.yaml", f"group: {stem}\ntask:\n" + "".join(f"- {task}\n" for task in tasks))
    cut = [[clip.video_path, clip.start, clip.end, path] for clip, path in clips.items() if path != clip.video_path]
    source = python_file("lmms_eval_utils.py.template", target if write_videos else root)
    write_text(target / "utils.py", source.replace("@CUT@", "".join(f"    {tuple(line)!r},\n" for line in cut)))
    return target


def _task(name: str, dataset: str, config: str, split: str) -> str:
    """The YAML of a task."""
    template = files("video_contrast.reports.exports") / "lmms_eval_task.yaml.template"
    text = template.read_text(encoding="utf-8")
    for key, value in {"NAME": name, "DATASET": json.dumps(dataset), "CONFIG": config, "SPLIT": split}.items():
        text = text.replace(f"@{key}@", value)
    return text
