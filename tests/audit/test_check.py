"""`check` finds what is wrong with a set and its videos, names it, and writes a manifest."""

import hashlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from video_files import write_clip

from video_contrast.audit import check as checking
from video_contrast.builders import build
from video_contrast.cli import main
from video_contrast.runner import score
from video_contrast.storage.run_notes import remarks
from video_contrast.video import write_video


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A set of six clips whose videos lie in its own folder."""
    root = tmp_path_factory.mktemp("check")
    rng = np.random.default_rng(0)
    for n in range(6):
        frames = rng.integers(0, 255, (6, 48, 64, 3), dtype=np.uint8)
        (root / "set" / "clips").mkdir(parents=True, exist_ok=True)
        write_video(root / "set" / "clips" / f"v{n}.mp4", frames, 12)
    (root / "c.csv").write_text("video,caption\n" + "\n".join(f"clips/v{n}.mp4,a man does thing {n}" for n in range(6)))
    build("captions", ["retrieval", "random_mc", "gender_mc"], output=root / "set", captions=str(root / "c.csv"))
    return root / "set"


@pytest.fixture
def folder(original, tmp_path):
    return shutil.copytree(original, tmp_path / "set")


def test_a_sound_set_passes_and_its_manifest_holds_every_video(folder, capsys):
    assert main(["check", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "gender_mc: test 6 rows" in said and "videos: 6 readable" in said
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["rows"]["retrieval"] == {"test": 6} and not manifest["missing"] and not manifest["unreadable"]
    for n in range(6):
        data = (folder / f"clips/v{n}.mp4").read_bytes()
        entry = manifest["videos"][f"clips/v{n}.mp4"]
        assert entry["sha256"] == hashlib.sha256(data).hexdigest() and entry["bytes"] == len(data)
        assert entry["frames"] == 6 and entry["seconds"] == 0.5
    first = (folder / "manifest.json").read_bytes()
    assert main(["check", str(folder), "--num-proc", "2", "--no-decode"]) == 0
    assert (folder / "manifest.json").read_bytes() == first


def test_missing_and_unreadable_videos_are_named(folder, capsys):
    (folder / "clips/v1.mp4").unlink()
    (folder / "clips/v2.mp4").write_bytes(b"not a video")
    whole = (folder / "clips/v3.mp4").read_bytes()
    (folder / "clips/v3.mp4").write_bytes(whole[: len(whole) // 2])
    (folder / "clips/v4.mp4").write_bytes(b"")
    write_clip(folder / "clips/v5.mkv", n_frames=60)
    (folder / "clips/v5.mkv").rename(folder / "clips/v5.mp4")
    os.truncate(folder / "clips/v5.mp4", (folder / "clips/v5.mp4").stat().st_size * 7 // 10)
    assert main(["check", str(folder)]) == 1
    said = capsys.readouterr()
    assert "missing: clips/v1.mp4" in said.out
    assert all(f"unreadable: clips/v{n}.mp4: " in said.out for n in (2, 3, 4))
    assert "1 video missing, 3 unreadable, 1 damaged" in said.err
    assert "damaged: clips/v5.mp4: the file stops in the middle, after " in said.out
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["missing"] == ["clips/v1.mp4"] and sorted(manifest["unreadable"]) == [
        f"clips/v{n}.mp4" for n in (2, 3, 4)
    ]


def test_what_a_file_cannot_tell_is_said_once_for_all(folder, capsys):
    for n in (1, 2):
        write_clip(folder / "clips/v.ts", n_frames=30)
        (folder / "clips/v.ts").rename(folder / f"clips/v{n}.mp4")
    assert main(["check", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "2 videos (clips/v1.mp4, ...): its container does not say where it ends" in said
    manifest = json.loads((folder / "manifest.json").read_text())
    (remark,) = manifest["remarks"]
    assert manifest["remarks"][remark] == ["clips/v1.mp4", "clips/v2.mp4"]
    assert (
        manifest["videos"]["clips/v1.mp4"]["remarks"] == [remark]
        and "remarks" not in manifest["videos"]["clips/v3.mp4"]
    )
    result = score("temporal", folder, "retrieval", accept="all", progress=False)
    assert result.record["remarks"] == manifest["remarks"]
    assert any(line.startswith("2 videos (clips/v1.mp4, ...)") for line in remarks(result.record))


def test_a_name_longer_than_the_file_system_takes_is_a_missing_video(tmp_path, capsys):
    row = {"video": f"{'x' * 300}.mp4", "candidates": ["a dog runs", "a cat runs"], "label": 0}
    (tmp_path / "table.jsonl").write_text(json.dumps(row))
    assert main(["check", str(tmp_path / "table.jsonl"), "--video-root", str(tmp_path)]) == 1
    said = capsys.readouterr()
    assert "missing: xxx" in said.out and "1 video missing" in said.err


def test_a_video_that_may_not_be_read_is_named(folder, monkeypatch, capsys):
    def forbidden(file):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(checking, "sha256", forbidden)
    assert main(["check", str(folder), "--no-decode"]) == 1
    assert "unreadable: clips/v1.mp4: Permission denied" in capsys.readouterr().out


def test_linked_videos_are_read(folder, tmp_path):
    shutil.move(folder / "clips", tmp_path / "elsewhere")
    (folder / "clips").symlink_to(tmp_path / "elsewhere")
    assert checking.check(folder).ok
    shutil.copytree(tmp_path / "elsewhere", tmp_path / "blobs")
    (folder / "clips").unlink()
    (folder / "clips").mkdir()
    for file in (tmp_path / "blobs").iterdir():
        (folder / "clips" / file.name).symlink_to(file)
    assert checking.check(folder).ok


def test_a_changed_video_is_named_by_the_hashes_of_a_former_check(folder, tmp_path, capsys):
    """Another picture in a sound file: only its hash tells."""
    assert main(["check", str(folder)]) == 0
    former = shutil.copy(folder / "manifest.json", tmp_path / "former.json")
    (folder / "clips/v1.mp4").write_bytes((folder / "clips/v2.mp4").read_bytes())
    assert main(["check", str(folder)]) == 0
    capsys.readouterr()
    assert main(["check", str(folder), "--sha256", str(former)]) == 1
    said = capsys.readouterr()
    assert "changed: clips/v1.mp4" in said.out and said.err.count("1 changed") == 1
    (tmp_path / "videos.json").write_text(json.dumps(json.loads(Path(former).read_text())["videos"]))
    assert checking.check(folder, expected=tmp_path / "videos.json").changed == ["clips/v1.mp4"]
    (tmp_path / "none.json").write_text("{}")
    assert main(["check", str(folder), "--sha256", str(tmp_path / "none.json")]) == 2


def test_videos_may_lie_elsewhere_or_nowhere(folder, tmp_path, capsys):
    shutil.move(folder / "clips", tmp_path / "videos" / "clips")
    assert main(["check", str(folder)]) == 0  # a set of ids: nothing to look at
    assert "give --video-root to check them" in capsys.readouterr().out and not (folder / "manifest.json").exists()
    where = tmp_path / "m.json"
    assert main(["check", str(folder), "--video-root", str(tmp_path / "videos"), "--manifest", str(where)]) == 0
    assert len(json.loads(where.read_text())["videos"]) == 6
    (tmp_path / "empty").mkdir()
    assert main(["check", str(folder), "--video-root", str(tmp_path / "empty")]) == 1
    assert "6 videos missing" in capsys.readouterr().err


def change(folder, config, edit):
    path = folder / config / "test-00000-of-00001.parquet"
    table = pq.ParquetFile(path).read()
    rows = table.to_pylist()
    edit(rows)
    pq.write_table(type(table).from_pylist(rows, schema=table.schema), path)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda rows: rows[2].update(label=9), r"random_mc, test: row 2 \(id 'clips/v2'\), column 'label'"),
        (lambda rows: rows[1].update(id="clips/v0"), "column 'id': is a duplicate of row 0"),
        (lambda rows: rows[0].update(video_path="../x.mp4"), "column 'video_path'"),
        (lambda rows: rows.pop(), "set.json speaks of {'test': 6}, the tables hold {'test': 5}"),
        (lambda rows: rows.clear(), "random_mc, test: no rows"),
    ],
)
def test_broken_tables_are_named_with_row_and_column(folder, edit, message):
    change(folder, "random_mc", edit)
    problems = checking.check(folder, decode=False).problems
    assert any(__import__("re").search(message.replace("{", r"\{"), problem) for problem in problems), problems


def test_a_clip_that_begins_after_its_video_ends_is_named(folder):
    change(folder, "retrieval", lambda rows: rows[0].update(start=3.0, end=4.0))
    found = checking.check(folder)
    assert found.short == ["clips/v0.mp4: a clip begins at 3 s, the video ends at 0.5 s"] and not found.ok


def test_broken_folders_are_named(folder, tmp_path, capsys):
    assert main(["check", str(tmp_path / "no")]) == 2 and "no such folder" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["check", str(tmp_path / "empty")]) == 2 and "holds no set" in capsys.readouterr().err
    assert main(["check", str(folder), "--video-root", str(tmp_path / "no")]) == 2
    assert "--video-root" in capsys.readouterr().err
    (folder / "random_mc/test-00000-of-00001.parquet").write_bytes(b"PAR1")
    (folder / "README.md").unlink()
    problems = checking.check(folder, decode=False).problems
    assert any("cannot be read as parquet" in problem for problem in problems)
    assert any("README.md is missing" in problem for problem in problems)


def test_a_table_is_checked_as_it_is_scored(folder, capsys):
    rows = [{"video": f"clips/v{n}.mp4", "candidates": ["a man sits", "a man runs"], "label": 0} for n in (0, 1, 9)]
    (folder / "mine.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert main(["check", str(folder / "mine.jsonl")]) == 1
    said = capsys.readouterr()
    assert "mine: test 3 rows" in said.out and "videos: 2 readable" in said.out and "problem" not in said.out
    assert "missing: clips/v9.mp4" in said.out and "1 video missing" in said.err
    assert json.loads((folder / "mine.manifest.json").read_text())["missing"] == ["clips/v9.mp4"]


def test_check_takes_the_columns_that_score_and_xray_take(folder, capsys):
    lines = ["Datei;gut;schlecht;richtig", "clips/v0.mp4;2;1;1", "clips/v1.mp4;ein Mädchen;ein Hund;0"]
    (folder / "mine.csv").write_text("\n".join(lines), encoding="cp1252")
    flags = ["--candidates", "gut,schlecht", "--label", "richtig", "--video", "Datei", "--encoding", "cp1252",
             "--label-is", "place0"]  # fmt: skip
    assert main(["check", str(folder / "mine.csv")]) == 1
    capsys.readouterr()
    assert main(["check", str(folder / "mine.csv"), *flags]) == 0
    assert "mine: test 2 rows" in capsys.readouterr().out


def test_a_table_that_names_no_video_has_no_manifest(folder, capsys):
    (folder / "mine.csv").write_text("video,caption\na.mp4,a man sits\n")
    assert main(["check", str(folder / "mine.csv"), "--video-root", str(folder)]) == 1
    said = capsys.readouterr()
    assert said.out.startswith("problem: ") and "videos:" not in said.out
    assert not (folder / "mine.manifest.json").exists()
    assert main(["check", str(folder), "--num-proc", "0"]) == 2
    assert "--num-proc must be at least 1, not 0" in capsys.readouterr().err
