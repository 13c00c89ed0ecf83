"""A built set on its way to another tool: its tables, and clips that a tool can show which reads whole files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import cast

from video_contrast.errors import UsageError
from video_contrast.files import copy_file, resolve_under
from video_contrast.question_text import LETTERS
from video_contrast.rows import Layout, MultipleChoiceRow, Row
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.video import Clip, footage_of, write_video

Tables = dict[tuple[str, str], list[MultipleChoiceRow]]  # (config, split) -> rows
AnyTables = dict[tuple[str, str], list[Row]]


@dataclass(frozen=True)
class Export:
    """What is exported, and where to."""

    folder: Path  # of a built set
    output: Path  # folder of the files
    dataset: str | None = None  # lmms-eval, mteb: the set's name on the Hub, in the place of its folder
    video_root: Path | None = None  # where the clips lie; where the set says by default
    write_videos: bool = False  # write the clips beside the files, cut to their spans

    def tables(self, layouts: Sequence[Layout]) -> tuple[str, AnyTables]:
        """The name of the set and its tables of some layouts.

        Raises UsageError: not a built set, or a row that would be asked about a clip that is not its own (a span, where
        clips are not written) or has more candidates than there are letters.
        """
        built = SetFolder.built(self.folder)
        tables = {
            (config, split): built.rows(config, split)
            for config in sorted(built.configs)
            if built.layout(config) in layouts
            for split in sorted(built.splits(config))
        }
        for (config, _), rows in tables.items():
            for number, row in enumerate(rows):
                if reason := _rejection_reason(row, self.write_videos):
                    raise UsageError(f"{config}, row {number} (id {row['id']!r}): {reason}")
        return built.builder, tables

    def choice_tables(self) -> tuple[str, Tables]:
        """The name of the set and its multiple-choice tables. Raises UsageError: as `tables`, or it has none."""
        name, tables = self.tables(("multiple_choice",))
        if not tables:
            raise UsageError(
                f"{self.folder} has no multiple-choice config; retrieval sets have no place in this format"
            )
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
        """Where `datasets` reads the set: its name on the Hub, or its folder."""
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
    written: dict[Clip, str] = {}
    clips = sorted({Clip.of(row) for rows in tables.values() for row in rows}, key=lambda clip: clip.sort_key)
    for clip, footage in [(clip, footage_of(video_root, clip)) for clip in clips]:
        whole = clip.start is None and clip.end is None and clip.video_path.endswith(".mp4")
        written[clip] = clip.video_path if whole else f"clips/{digest('export', str(clip)).hex()[:16]}.mp4"
        target = output / written[clip]
        target.parent.mkdir(parents=True, exist_ok=True)
        if not whole:
            numbers = range(*footage.span)
            times = footage.times[numbers.start : numbers.stop]
            write_video(target, footage.decode(numbers), footage.fps, times=times)
            continue
        source = resolve_under(video_root, clip.video_path)
        if not (target.exists() and target.samefile(source)):
            copy_file(source, target)
    return written


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
