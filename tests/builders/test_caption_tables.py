"""Tables of captions: every kind of file that other commands read, the column `split`, and ids without a suffix."""

import json
import zipfile
from pathlib import Path

import openpyxl
import pytest

from video_contrast.builders.sources.caption_table import CaptionTable, read_table
from video_contrast.builders.sources.captions_of_clips import read_splits
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.storage import SetFolder

TEXTS = {"v.mp4": 'a "big" man; he sits', "w.mp4": "a dog runs"}


def workbook(path: Path, rows: list[list[str]]) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
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
    clips = read_splits(CaptionTable(captions=str(table)))[0]["test"]
    assert {clip.video_path: clip.captions[0] for clip in clips} == TEXTS


def test_a_fault_names_the_line_of_the_file(tmp_path: Path) -> None:
    table = tmp_path / "c.csv"
    table.write_text('video;caption;from\nv.mp4;"two\nlines";0\nw.mp4;a dog;soon\n')
    with pytest.raises(VideoContrastError, match=r"c\.csv, line 4: column 'from' must be seconds, not 'soon'"):
        read_splits(CaptionTable(captions=str(table), start_column="from"))
    table.write_text("video;caption\nv.mp4;a;b\n")
    with pytest.raises(VideoContrastError, match=r"line 2: 3 fields, but the header names 2 \(.* by a semicolon\)$"):
        read_splits(CaptionTable(captions=str(table)))
    book = workbook(tmp_path / "c.xlsx", [["video", "caption"], ["v.mp4", "a"], ["../w.mp4", "b"]])
    with pytest.raises(VideoContrastError, match=r"c\.xlsx, row 3: column 'video' must be a path"):
        read_splits(CaptionTable(captions=str(book)))
    nested = tmp_path / "c.json"
    nested.write_text('[{"video": "v.mp4", "caption": ["a"]}, {"video": "w.mp4", "caption": [{"text": "b"}]}]')
    with pytest.raises(VideoContrastError, match=r"c\.json, row 1: column 'caption' must hold a text or a list"):
        read_splits(CaptionTable(captions=str(nested)))


def test_captions_by_video_are_captions_of_clips(tmp_path: Path) -> None:
    table = tmp_path / "c.json"
    table.write_text('{"v1": ["a man runs", "a man sits"], "v2": ["a dog barks"]}')
    clips = read_splits(CaptionTable(captions=str(table)))[0]["test"]
    assert {clip.video_path: clip.captions for clip in clips} == {
        "v1.mp4": ("a man runs", "a man sits"),
        "v2.mp4": ("a dog barks",),
    }
    spans = '"timestamps": [[0, 5], [2.5, 9.0]]'  # as ActivityNet Captions has them
    table.write_text(f'{{"v1": {{"duration": 9.0, {spans}, "sentences": ["a man runs", " a man sits"]}}}}')
    clips = read_splits(CaptionTable(captions=str(table)))[0]["test"]
    assert [(clip.id, clip.start, clip.end, clip.captions) for clip in clips] == [
        ("v1_0_5", 0.0, 5.0, ("a man runs",)),
        ("v1_2.5_9", 2.5, 9.0, ("a man sits",)),
    ]
    table.write_text(f'{{"v1": {{{spans}, "sentences": ["a man runs"]}}}}')
    with pytest.raises(VideoContrastError, match=r"'v1' has 2 timestamps, but 1 sentences"):
        read_splits(CaptionTable(captions=str(table)))
    table.write_text('{"v1": {"timestamps": [[0, 5, 9]], "sentences": ["a man runs"]}}')
    with pytest.raises(VideoContrastError, match=r"'v1' has the timestamp \[0, 5, 9\], not a start and an end"):
        read_splits(CaptionTable(captions=str(table)))
    table.write_text('{"video": ["v1", "v2"], "caption": ["a man runs", "a dog barks"]}')  # columns
    with pytest.raises(VideoContrastError, match="holds no list of rows"):
        read_splits(CaptionTable(captions=str(table)))


def test_videos_and_clips_may_be_named_by_the_number_zero_but_not_by_nothing(tmp_path: Path) -> None:
    table = tmp_path / "c.json"
    table.write_text('[{"video": 0, "clip": 0, "caption": "a man"}, {"video": 1, "clip": 1, "caption": "a dog"}]')
    clips = read_splits(CaptionTable(captions=str(table), id_column="clip"))[0]["test"]
    assert [(clip.id, clip.video_path) for clip in clips] == [("0", "0.mp4"), ("1", "1.mp4")]
    table.write_text('[{"video": "v.mp4", "clip": null, "caption": "a man"}]')
    with pytest.raises(VideoContrastError, match="row 0: column 'clip' must hold the clip's id, and is empty"):
        read_splits(CaptionTable(captions=str(table), id_column="clip"))


def test_a_table_of_one_column_and_marks_in_tsv_stay_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("caption\na dog\n")
    assert [row.cells for row in read_table(tmp_path / "one.csv")] == [{"caption": "a dog"}]
    (tmp_path / "t.tsv").write_text('video\tcaption\nv\t"a man\nw\ta dog"\n')  # the released sets hold such marks
    assert [row.cells["caption"] for row in read_table(tmp_path / "t.tsv")] == ['"a man', 'a dog"']


SPLITS = ("train", "validation", "test")


def split_table(path: Path, splits: tuple[str, ...] = SPLITS, column: str = "split") -> Path:
    """Sixteen videos a split, with a caption each."""
    verbs = ("runs", "sings", "cooks", "dances")
    lines = [
        f"{split}{n}.mp4,a {('man', 'woman')[n % 2]} {verbs[n % 4]} in place {n} {split},{split}"
        for n in range(16)
        for split in splits
    ]
    path.write_text("\n".join([f"video,caption,{column}", *lines]))
    return path


def sizes(root: Path, config: str) -> dict[str, int]:
    record = json.loads((root / "set.json").read_text())["configs"][config]["splits"]
    return {split: entry["num_examples"] for split, entry in record.items()}


@pytest.mark.parametrize("builder", ["captions", "counterfactual", "pairs"])
def test_a_column_of_splits_is_used_and_said(tmp_path: Path, capsys: pytest.CaptureFixture[str], builder: str) -> None:
    table = split_table(tmp_path / "c.csv")
    config = {"pairs": "pairs_mc"}.get(builder, "retrieval")
    call = ["build", builder, "--config", config, "--captions", str(table)]
    call += ["--true", "caption", "--false", "video"] if builder == "pairs" else []
    assert main([*call, "--output", str(tmp_path / "all")]) == 0
    assert sizes(tmp_path / "all", config) == dict.fromkeys(SPLITS, 16)
    rows = SetFolder.open(tmp_path / "all").rows(config, "validation")
    assert all(row["video_path"].startswith("validation") for row in rows)
    said = " ".join(capsys.readouterr().err.split())
    assert "c.csv: rows by their column 'split': train 16, validation 16, test 16" in said
    assert main([*call, "--split", "validation", "--output", str(tmp_path / "one")]) == 0
    assert sizes(tmp_path / "one", config) == {"validation": 16}
    assert main([*call, "--split-column", "none", "--split", "dev", "--output", str(tmp_path / "whole")]) == 0
    assert sizes(tmp_path / "whole", config) == {"dev": 48}
    assert main([*call, "--split", "tset", "--output", str(tmp_path / "no")]) == 2
    assert "has no split 'tset'" in " ".join(capsys.readouterr().err.split()) and not (tmp_path / "no").exists()


def test_other_names_of_splits_are_refused_with_the_row_unless_the_column_is_named(tmp_path: Path) -> None:
    table = str(split_table(tmp_path / "c.csv", ("train", "val")))
    with pytest.raises(VideoContrastError, match=r"c\.csv, line 3: the split 'val' .* --split-column split .* none"):
        read_splits(CaptionTable(captions=table))
    splits, counts = read_splits(CaptionTable(captions=table, split_column="split"))
    assert {name: len(clips) for name, clips in splits.items()} == {"train": 16, "val": 16} and counts["rows"] == 32
    other = str(split_table(tmp_path / "d.csv", ("a b",), "part"))
    assert list(read_splits(CaptionTable(captions=other))[0]) == ["test"]
    with pytest.raises(VideoContrastError, match=r"line 2: the split 'a b' must be letters, digits and '_'"):
        read_splits(CaptionTable(captions=other, split_column="part"))
    with pytest.raises(UsageError, match=r"no column .fold.*--split-column"):
        read_splits(CaptionTable(captions=other, split_column="fold"))


def test_a_row_without_a_split_is_of_test_as_in_other_tables_and_no_clip_is_of_two(tmp_path: Path) -> None:
    table = tmp_path / "c.csv"
    table.write_text("Video,Caption,Split\nv.mp4,a,train\nw.mp4,b,\n")
    assert list(read_splits(CaptionTable(captions=str(table)))[0]) == ["train", "test"]
    table.write_text("video,caption,split\nv.mp4,a,train\nw.mp4,b,test\nv.mp4,c,test\n")
    with pytest.raises(VideoContrastError, match=r"line 4: the clip 'v' is of 'train' too, at c\.csv, line 2"):
        read_splits(CaptionTable(captions=str(table)))


def test_ids_without_an_ending_are_the_files_that_lie_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "c.csv"
    table.write_text("video,caption\nclips/a,x\nclips/b.v1,y\nc.webm,z\n")
    paths = [clip.video_path for clip in read_splits(CaptionTable(captions=str(table)))[0]["test"]]
    assert paths == ["clips/a.mp4", "clips/b.v1.mp4", "c.webm"]  # as in tables that are scored as they are
    assert "2 videos are named without an ending: taken for .mp4" in " ".join(capsys.readouterr().err.split())
    (tmp_path / "d.csv").write_text("video,caption,split\na,x,train\nb,y,test\n")
    read_splits(CaptionTable(captions=str(tmp_path / "d.csv"), split="test"))
    assert "d.csv: 1 video is named without an ending" in " ".join(capsys.readouterr().err.split())
    (tmp_path / "clips").mkdir()
    for name in ("a.webm", "b.v1"):
        (tmp_path / "clips" / name).touch()
    found = read_splits(CaptionTable(captions=str(table), video_root=tmp_path))[0]["test"]
    assert [clip.video_path for clip in found] == ["clips/a.webm", "clips/b.v1", "c.webm"]
    assert [clip.id for clip in found] == ["clips/a", "clips/b", "c"] and capsys.readouterr().err == ""


def test_usual_names_of_columns_are_taken_and_said_and_the_encoding_is_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "c.csv"
    table.write_bytes("File Name|Sentence\nv.mp4|un café\n".encode("cp1252"))
    with pytest.raises(VideoContrastError, match=r"line 2 is not utf-8 .* name its encoding: --encoding cp1252"):
        read_splits(CaptionTable(captions=str(table)))
    (clip,) = read_splits(CaptionTable(captions=str(table), encoding="cp1252", delimiter="|"))[0]["test"]
    assert (clip.video_path, clip.captions) == ("v.mp4", ("un café",))
    assert "c.csv: videos by their column 'File Name'" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(UsageError, match="no column 'video'"):
        read_splits(CaptionTable(captions=str(table), encoding="cp1252", video_column="video"))


def test_a_workbook_keeps_the_numbers_of_its_rows_where_some_are_empty(tmp_path: Path) -> None:
    book = workbook(tmp_path / "c.xlsx", [["video", "caption"], ["v.mp4", "a"], [], ["w.mp4", "b"]])
    assert [row.place for row in read_table(book)] == ["c.xlsx, row 2", "c.xlsx, row 4"]
