"""Built sets in the formats of other evaluation tools, each a function of an `Export` that returns the files it wrote.

lmms_eval     a task folder for lmms-eval: one YAML a config, its functions, the data
vlmevalkit    one TSV a config for VLMEvalKit's video multiple choice
inspect_ai    a file of tasks for `inspect eval`, with the samples of each
mteb          a file of task classes for `mteb.evaluate`: multiple choice, and retrieval both ways
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import cast

from video_contrast.errors import UsageError
from video_contrast.files import copy_file, remove_abandoned, resolve_under, write_text
from video_contrast.question_text import LETTERS, WHICH_SENTENCE, question_of
from video_contrast.reports.spreadsheet import no_formula
from video_contrast.rows import Layout, MultipleChoiceRow, Row
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.video import Clip, footage_of, write_video

Tables = dict[tuple[str, str], list[MultipleChoiceRow]]  # (config, split) -> rows
AnyTables = dict[tuple[str, str], list[Row]]


@dataclass(frozen=True)
class Export:
    """The table that is exported, and where its files go."""

    folder: Path  # of a built set
    output: Path  # folder of the files
    dataset: str | None = None  # lmms-eval, mteb: the set's name on the Hub, in the place of its folder
    video_root: Path | None = None  # folder of the clips; by default the one that the set names
    write_videos: bool = False  # write the clips beside the files, cut to their spans

    def tables(self, layouts: Sequence[Layout]) -> tuple[str, AnyTables]:
        """The name of the set and its tables of some layouts.

        Raises UsageError: not a built set, or a row that would be asked about a clip that is not its own (a span, where
        clips are not written) or has more candidates than there are letters.
        """
        dataset = SetFolder.built(self.folder)
        tables = {
            (config, split): dataset.rows(config, split)
            for config in sorted(dataset.configs)
            if dataset.layout(config) in layouts
            for split in sorted(dataset.splits(config))
        }
        for (config, _), rows in tables.items():
            for number, row in enumerate(rows):
                if reason := _rejection_reason(row, self.write_videos):
                    raise UsageError(f"{config}, row {number} (id {row['id']!r}): {reason}")
        return dataset.builder, tables

    def choice_tables(self) -> tuple[str, Tables]:
        """The name of the set and its multiple-choice tables. Raises UsageError: as `tables`, or it has none."""
        name, tables = self.tables(("multiple_choice",))
        if not tables:
            raise UsageError(f"{self.folder} has no multiple-choice config; retrieval has no place in this format")
        return name, cast(Tables, tables)

    def clips(self, tables: Mapping[tuple[str, str], Sequence[Row]], *, mp4: bool) -> tuple[dict[Clip, str], Path]:
        """The file of each clip, below the folder that is returned with them; written where that is asked for.

        `mp4`: the tool reads mp4 files only. Raises UsageError: a video is of another kind, and clips are not to be
        written; VideoContrastError: a video is missing or cannot be read.
        """
        root = self.video_root or SetFolder(self.folder).video_root
        if self.write_videos:
            return _write_clips(tables, root, self.output), self.output
        for (config, _), rows in tables.items():
            for number, row in enumerate(rows):
                if mp4 and not row["video_path"].endswith(".mp4"):
                    raise UsageError(
                        f"{config}, row {number} (id {row['id']!r}): this format takes mp4 files only, not "
                        f"{row['video_path']!r}: give --write-videos, which makes them"
                    )
        return {Clip.of(row): row["video_path"] for rows in tables.values() for row in rows}, root

    @property
    def source(self) -> str:
        """The name or folder under which `datasets` reads the set: its name on the Hub, or its folder."""
        return self.dataset or str(self.folder.resolve())


def _rejection_reason(row: Row, write_videos: bool) -> str | None:
    """Why a tool that reads whole files, and answers by letter, cannot be asked a row."""
    if "candidates" in row and len(row["candidates"]) > len(LETTERS):
        return f"has {len(row['candidates'])} candidates, and answers are among {len(LETTERS)} letters"
    if row.get("video_perturbation"):
        return "other tools cannot perturb its clip as its recipe says: build the perturbed set with --files"
    if row.get("segments"):
        return "other tools cannot edit its clip as its recipe says: build the edited clips with --write-videos"
    if not write_videos and (row["start"] is not None or row["end"] is not None):
        return "is a span of its video, and other tools show whole files: give --write-videos, which cuts them"
    return None


def _write_clips(tables: Mapping[tuple[str, str], Sequence[Row]], video_root: Path, output: Path) -> dict[Clip, str]:
    """Writes the clips of tables as mp4 files below `output`; returns the relative path of each.

    A whole mp4 file is copied; a span, or a file of another kind, is encoded again.
    """
    remove_abandoned(output)
    paths: dict[Clip, str] = {}
    clips = sorted({Clip.of(row) for rows in tables.values() for row in rows}, key=lambda clip: clip.sort_key)
    for clip, footage in [(clip, footage_of(video_root, clip)) for clip in clips]:
        whole = clip.start is None and clip.end is None and clip.video_path.endswith(".mp4")
        paths[clip] = clip.video_path if whole else f"clips/{digest('export', str(clip)).hex()[:16]}.mp4"
        target = output / paths[clip]
        if not whole:
            numbers = range(*footage.span)
            times = footage.times[numbers.start : numbers.stop]
            write_video(target, footage.decode(numbers), footage.fps, times=times)
            continue
        source = resolve_under(video_root, clip.video_path)
        if not (target.exists() and target.samefile(source)):
            copy_file(source, target)
    return paths


def cut_clips(clips: Mapping[Clip, str]) -> str:
    """The clips that were cut, as lines of a list in Python: video, start, end and file of each."""
    cut = [(clip.video_path, clip.start, clip.end, path) for clip, path in clips.items() if path != clip.video_path]
    return "".join(f"    {line!r},\n" for line in cut)


def filled(template: str, **values: str) -> str:
    """A template of this folder with its `@NAMES@` filled in."""
    text = (files("video_contrast.reports.exports") / template).read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def python_file(template: str, video_root: Path, **values: str) -> str:
    """The Python file that goes with an export; it carries the code that asks and reads answers."""
    carried = (files("video_contrast") / "question_text.py").read_text(encoding="utf-8")
    root = json.dumps(video_root.resolve().as_posix(), ensure_ascii=False)
    return filled(template, **values, CARRIED=carried.rstrip("\n"), VIDEO_ROOT=root)


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
    stem, outputs, tasks = re.sub(r"\W+", "_", name), [], []
    for (config, split), rows in tables.items():
        data = f"{stem}_{config}_{split}.jsonl"
        lines = [json.dumps(_sample(row, clips[Clip.of(row)]), ensure_ascii=False) + "\n" for row in rows]
        outputs.append(write_text(export.output / data, "".join(lines)))
        task = re.sub(r"\W+", "_", config if split == "test" else f"{config}_{split}")
        if not task.isidentifier():
            raise UsageError(f"config {config!r} has no name that a task of inspect_ai can have")
        tasks.append((task, TASK.format(name=task, config=config, split=split, data=data)))
    text = "\n".join(text for _, text in tasks).rstrip("\n")
    source = python_file("inspect_task.py.template", root, TASKS=text, EXAMPLE=tasks[0][0], FILE=f"{stem}.py")
    return [*outputs, write_text(export.output / f"{stem}.py", source)]


def _asked(row: MultipleChoiceRow) -> tuple[dict[str, str], bool, str]:
    """The question of a row, whether it is for yes or no, and the right answer: yes or no, or a letter."""
    question, candidates = question_of(row) or WHICH_SENTENCE, row["candidates"]
    yes_no = question.is_yes_no(candidates)
    words = {"question": question.text, "prompt": question.prompt, "option": question.option}
    return words, yes_no, candidates[row["label"]] if yes_no else LETTERS[row["label"]]


def _sample(row: MultipleChoiceRow, video: str) -> dict[str, object]:
    words, yes_no, target = _asked(row)
    own = {"candidates": row["candidates"], "label": row["label"], "kinds": row["kinds"], "cluster": row["cluster"]}
    return {"id": row["id"], "video": video, **words, "target": target, **own, "yes_no": yes_no}


def lmms_eval(export: Export) -> list[Path]:
    """Writes the task folder; returns its files. Raises UsageError: as `Export.choice_tables`.

    `datasets` reads the data from the set's folder or its repository; videos come from `VIDEO_CONTRAST_ROOT`, or from
    where they lie now. Clips are cut here: its `start_time` and `end_time` reach only those of its models that read
    them; the others show the whole file.
    """
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


def mteb(export: Export) -> list[Path]:
    """Writes the classes; returns the file. Raises UsageError: as `Export.tables`, or no config of these layouts."""
    name, tables = export.tables(("multiple_choice", "retrieval"))
    if not tables:
        raise UsageError(f"{export.folder} has no multiple-choice and no retrieval config")
    clips, root = export.clips(tables, mp4=False)
    stem = re.sub(r"\W+", "_", name)
    lines = []
    for (config, split), rows in tables.items():
        words = re.split(r"\W+|_", f"{name}_{config}_{split if split != 'test' else ''}")
        for task in ("t2v", "v2t") if "captions" in rows[0] else ("choice",):
            ending = "" if task == "choice" else task.upper()
            class_name = "".join(word.title() for word in words) + ending
            lines.append(f"    {(class_name, config, split, task, 'question' in rows[0])!r},\n")
    values = {"DATASET": repr(export.source), "CUT": cut_clips(clips), "SETS": "".join(lines)}
    source = python_file("mteb_tasks.py.template", root, **values, FILE=f"{stem}_mteb")
    return [write_text(export.output / f"{stem}_mteb.py", source)]


CLASS = "video_contrast_sets.py"
Line = dict[str, str | int]  # column -> cell
_FIRST = ("index", "id", "video", "question", "prompt", "option", "candidates")


def vlmevalkit(export: Export) -> list[Path]:
    """Writes `OUTPUT/<set>_<config>_<split>.tsv`, a file a multiple-choice config and split, and the class.

    Columns: `index`, `id`, `video` (the path without its ending), `question`, `prompt` and `option` (how its release
    asks it, with places for question, options and number of frames), `candidates` (a list), `A` to the last candidate,
    `answer` (a letter, or yes or no), `kinds`. Text that a spreadsheet would run as a formula has an apostrophe before
    it, which the class takes away.

    Returns the TSV files, and last the Python file. Raises UsageError: as `Export.choice_tables`, or no mp4 file.
    """
    import pandas as pd

    name, tables = export.choice_tables()
    clips, root = export.clips(tables, mp4=True)
    outputs = []
    for (config, split), rows in tables.items():
        lines: list[Line] = []
        for number, row in enumerate(rows):
            words, _, answer = _asked(row)
            texts = dict(zip(LETTERS, (" ".join(text.split()) for text in row["candidates"]), strict=False))
            line: Line = {"index": number, "id": row["id"], "video": clips[Clip.of(row)].removesuffix(".mp4"), **words}
            kinds = ",".join(row["kinds"])
            lines.append(line | {"candidates": repr(row["candidates"]), **texts, "answer": answer, "kinds": kinds})
        # Items may differ in their number of candidates: the header has the letters of the longest.
        letters = sorted({key for line in lines for key in line if len(key) == 1})
        cells = [{name: no_formula(cell) for name, cell in line.items()} for line in lines]
        table = pd.DataFrame(cells, columns=[*_FIRST, *letters, "answer", "kinds"])
        text = str(table.to_csv(sep="\t", index=False, lineterminator="\n"))
        outputs.append(write_text(export.output / f"{name}_{config}_{split}.tsv", text))
    source = python_file("vlmevalkit_sets.py.template", root, EXAMPLE=outputs[0].stem, FILE=CLASS.removesuffix(".py"))
    return [*outputs, write_text(export.output / CLASS, source)]


__all__ = ["FORMATS", "Export", "inspect_ai", "lmms_eval", "mteb", "vlmevalkit"]

FORMATS = {"lmms-eval": lmms_eval, "vlmevalkit": vlmevalkit, "inspect-ai": inspect_ai, "mteb": mteb}
