"""Files appear whole or not at all, and paths from tables stay below their root."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from video_contrast.errors import VideoContrastError
from video_contrast.files import atomic_path, is_safe_relative, read_json, resolve_under, write_json, write_text


def test_a_failure_while_writing_leaves_the_former_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "scores.json"
    target.write_text("former")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError("killed")
    assert target.read_text() == "former"
    assert os.listdir(tmp_path) == ["scores.json"]


def test_the_temporary_name_keeps_the_suffix(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "clip.mp4") as temporary:
        assert temporary.suffix == ".mp4"
        temporary.write_bytes(b"x")
    assert (tmp_path / "clip.mp4").read_bytes() == b"x"


def test_an_error_of_the_system_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    target = tmp_path / "clip.mp4"
    with pytest.raises(PermissionError) as caught, atomic_path(target):
        raise PermissionError(errno.EACCES, "Permission denied")  # as encoders do: without a name
    assert caught.value.filename == str(target)
    with pytest.raises(FileNotFoundError) as caught, atomic_path(target) as temporary:
        temporary.read_bytes()
    assert caught.value.filename == str(target)
    with pytest.raises(FileNotFoundError) as caught, atomic_path(target):
        (tmp_path / "another").read_bytes()
    assert caught.value.filename == str(tmp_path / "another")


def test_json_refuses_nan(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        write_json(tmp_path / "metrics.json", {"accuracy": float("nan")})
    assert not (tmp_path / "metrics.json").exists()


def test_broken_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "set.json"
    path.write_text("{")
    with pytest.raises(VideoContrastError, match=r"set\.json is not valid JSON"):
        read_json(path)


@given(st.text(max_size=30))
def test_a_safe_path_never_leads_outside(text: str) -> None:
    if is_safe_relative(text):
        full = os.path.normpath(os.path.join("/root-of-set", text))
        assert full == "/root-of-set" or full.startswith("/root-of-set/")


def test_links_of_the_users_folder_are_followed(tmp_path: Path) -> None:
    root, blobs = tmp_path / "snapshots" / "main", tmp_path / "blobs"
    root.mkdir(parents=True)
    blobs.mkdir()
    (blobs / "3f5a").write_bytes(b"x")
    (root / "clip.mp4").symlink_to("../../blobs/3f5a")  # as the Hub's cache does it
    (root / "videos").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "clip.mp4").write_bytes(b"x")
    (tmp_path / "link").symlink_to(root)
    for path in (root / "clip.mp4", root / "videos" / "clip.mp4", tmp_path / "link" / "clip.mp4"):
        assert resolve_under(path.parent, path.name).read_bytes() == b"x"


@pytest.mark.parametrize("path", ["../clip.mp4", "a/../../clip.mp4", "/etc/passwd", "a\\b", ""])
def test_paths_of_a_data_set_never_lead_outside(tmp_path: Path, path: str) -> None:
    with pytest.raises(VideoContrastError, match="must be relative"):
        resolve_under(tmp_path, path)


def test_an_error_of_a_read_only_place_names_the_file_and_not_its_temporary_name(tmp_path, monkeypatch):
    """A read-only file system refuses to take away what is not there, too."""

    def refuse(self, *args, **options):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "write_bytes", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(OSError, match="Read-only") as raised:
        write_text(tmp_path / "report.html", "x")
    assert raised.value.filename == str(tmp_path / "report.html")
