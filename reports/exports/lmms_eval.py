"""A built set as a task folder of lmms-eval.

    OUTPUT/<set>_<config>.yaml    one task a multiple-choice config, and a group of all of them
    OUTPUT/utils.py               prompt, video and scoring functions; needs nothing but the standard library

Use: `python -m lmms_eval --include_path OUTPUT --tasks <set>_<config> ...`. The data is read by `datasets` from the
set's folder or its repository; the videos from `VIDEO_CONTRAST_ROOT`, or from where they lie now.
"""

import re
from importlib.resources import files
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.files import write_text
from video_contrast.storage import SetFolder


def lmms_eval(
    folder: str | Path, output: str | Path, *, dataset: str | None = None, video_root: str | Path | None = None
) -> Path:
    """Writes the task folder.

    Args:
        folder: a built set.
        output: the task folder.
        dataset: the set's name on the Hub, written in the place of the folder (for a task that is to be shared).
        video_root: where the clips lie; the set's folder by default.

    Raises:
        UsageError: not a built set, or it has no multiple-choice config.
    """
    built, configs = choice_configs(folder)
    target = Path(output)
    stem = re.sub(r"\W+", "_", built.builder)
    names = []
    for config, splits in configs.items():
        for split in splits:
            name = f"{stem}_{config}" + ("" if split == "test" else f"_{split}")
            names.append(name)
            write_text(target / f"{name}.yaml", _task(name, dataset or str(Path(folder).resolve()), config, split))
    if len(names) > 1:
        write_text(target / f"_{stem}.yaml", f"group: {stem}\ntask:\n" + "".join(f"- {name}\n" for name in names))
    write_text(target / "utils.py", functions("lmms_eval_utils.txt", Path(video_root or folder)))
    return target


def functions(template: str, video_root: Path) -> str:
    """The Python file that goes with an export: a template of this folder, with the video root written in."""
    here = files("video_contrast.reports.exports")
    source = (here / template).read_text(encoding="utf-8")
    letters = files("video_contrast").joinpath("answer_text.py").read_text(encoding="utf-8")
    root = str(video_root.resolve()).replace("\\", "/").replace('"', "")
    return source.replace("@LETTERS@\n", letters).replace("@VIDEO_ROOT@", root)


def choice_configs(folder: str | Path) -> tuple[SetFolder, dict[str, list[str]]]:
    """A built set, and its multiple-choice configs with their splits.

    Raises:
        UsageError: not a built set, or it has none.
    """
    built = SetFolder.built(folder)
    configs = {
        config: sorted(built.splits(config))
        for config in sorted(built.configs)
        if built.layout(config) == "multiple_choice"
    }
    if not configs:
        raise UsageError(f"{folder} has no multiple-choice config; retrieval sets have no place in these formats")
    return built, configs


def _task(name: str, dataset: str, config: str, split: str) -> str:
    import json

    return f"""\
task: {name}
dataset_path: {json.dumps(dataset)}
dataset_name: {config}
test_split: {split}
output_type: generate_until
doc_to_visual: !function utils.doc_to_visual
doc_to_text: !function utils.doc_to_text
doc_to_target: !function utils.doc_to_target
generation_kwargs:
  max_new_tokens: 16
  temperature: 0
  do_sample: false
process_results: !function utils.process_results
metric_list:
- metric: accuracy
  aggregation: !function utils.aggregate
  higher_is_better: true
lmms_eval_specific_kwargs:
  default:
    pre_prompt: ""
    post_prompt: "Answer with the letter of the sentence that describes the video."
metadata:
- version: 1.0
"""
