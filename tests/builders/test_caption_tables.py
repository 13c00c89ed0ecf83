"""Tables of captions: every kind of file that other commands read, the column `split`, and ids without a suffix."""

import json
import zipfile
from pathlib import Path

import pytest

from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.clip_table import CaptionTable, read_clips
from video_contrast.errors import VideoContrastError

TEXTS = {"v.mp4": 'a "big" man; he sits', "w.mp4": "a dog runs"}


def workbook(path: Path, rows: list[list[str]]) -> Path:
    """A sheet with its texts in place."""
    cells = "".join(
        "<row>" + "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in row) + "</row>" for row in rows
    )
    sheet = f'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{cells}'
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("xl/worksheets/sheet1.xml", sheet + "</sheetData></worksheet>")
    return path


@pytest.mark.parametrize("kind", ["semicolon", "tab.csv", "utf-16", "xlsx", "zip", "ndjson"])
def test_builders_read_every_kind_of_table_that_other_commands_read(tmp_path: Path, kind: str) -> None:
    lines = [f'{video};"{text.replace(chr(34), chr(34) * 2)}"' for video, text in TEXTS.items()]
    text = "\n".join(["video;caption", *lines])
    table = tmp_path / "c.csv"
    if kind == "xlsx":
        table = workbook(tmp_path / "c.xlsx", [["video", "caption"], *([*pair] for pair in TEXTS.items())])
    elif kind == "zip":
        table = tmp_path / "c.zip"
        with zipfile.ZipFile(table, "w") as archive:
            archive.writestr("inner/c.csv", text)
    elif kind == "ndjson":
        table = tmp_path / "c.ndjson"
        table.write_text("\n".join(json.dumps({"video": video, "caption": text}) for video, text in TEXTS.items()))
    elif kind == "tab.csv":
        table.write_text("video\tcaption\n" + "\n".join(f"{video}\t{text}" for video, text in TEXTS.items()))
    else:
        table.write_text(text, encoding="utf-8" if kind == "semicolon" else "utf-16")
    clips, _ = read_clips(CaptionTable(captions=str(table)))
    assert {clip.video_path: clip.captions[0] for clip in clips} == TEXTS


def test_a_fault_names_the_line_of_the_file(tmp_path: Path) -> None:
    table = tmp_path / "c.csv"
    table.write_text('video;caption;from\nv.mp4;"two\nlines";0\nw.mp4;a dog;soon\n')
    with pytest.raises(VideoContrastError, match=r"c\.csv, line 4: column 'from' must be seconds, not 'soon'"):
        read_clips(CaptionTable(captions=str(table), start_column="from"))
    table.write_text("video;caption\nv.mp4;a;b\n")
    with pytest.raises(VideoContrastError, match=r"line 2: 3 fields, but the header names 2 \(.* by a semicolon\)$"):
        read_clips(CaptionTable(captions=str(table)))
    book = workbook(tmp_path / "c.xlsx", [["video", "caption"], ["v.mp4", "a"], ["../w.mp4", "b"]])
    with pytest.raises(VideoContrastError, match=r"c\.xlsx, row 3: column 'video' must be a path"):
        read_clips(CaptionTable(captions=str(book)))


def test_a_table_of_one_column_and_marks_in_tsv_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("caption\na dog\n")
    assert [row.cells for row in read_table(tmp_path / "one.csv")] == [{"caption": "a dog"}]
    (tmp_path / "t.tsv").write_text('video\tcaption\nv\t"a man\nw\ta dog"\n')  # the released sets hold such marks
    assert [row.cells["caption"] for row in read_table(tmp_path / "t.tsv")] == ['"a man', 'a dog"']
