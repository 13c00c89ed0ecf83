"""A finished run is returned as it is only while its videos are those that were scored."""

import json
import os
import shutil
from pathlib import Path

import pytest
import runner_set

import video_contrast
from video_contrast.cli import main


@pytest.fixture
def scored(tmp_path: Path) -> Path:
    runner_set.write(tmp_path / "set", n_clips=4)
    again(tmp_path)
    return tmp_path


def again(place: Path) -> list[float]:
    result = video_contrast.score("temporal", place / "set", "retrieval", output=place / "run", store=place / "store",
                                  accept="all", progress=False)  # fmt: skip
    assert result.output is not None
    return video_contrast.open_run(result.output).matrix("retrieval").values[0].tolist()


def written(place: Path) -> int:
    return (place / "run" / "run.json").stat().st_mtime_ns


def test_a_replaced_video_is_scored_again(scored: Path) -> None:
    before, when = again(scored), written(scored)
    shutil.copyfile(scored / "set/clips/03.mp4", scored / "set/clips/00.mp4")
    assert again(scored) != before and written(scored) != when
    assert again(scored)[0] == video_contrast.open_run(scored / "run").matrix("retrieval").values[3, 0]


def test_a_new_time_alone_is_no_change_and_a_video_that_is_gone_is_named(
    scored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, when = again(scored), written(scored)
    os.utime(scored / "set/clips/00.mp4")
    assert again(scored) == before and written(scored) == when and not capsys.readouterr().err
    (scored / "set/clips/01.mp4").unlink()
    assert again(scored) == before and written(scored) == when
    assert "with 1 video not under" in (said := capsys.readouterr().err) and "clips/01.mp4" in said
    given = ["--config", "retrieval", "--output", str(scored / "run"), "--store", str(scored / "store")]
    command = ["score", "--model", "temporal", "--dataset", str(scored / "set"), *given, "--accept", "all", "--json"]
    assert main(command) == 0 and json.loads(capsys.readouterr().out)["gone"] == ["clips/01.mp4"]
    assert written(scored) == when


def test_a_video_replaced_by_one_of_the_same_size_and_time_is_scored_again(tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set", n_clips=4)
    old, new = (tmp_path / f"set/clips/0{n}.mp4" for n in (0, 3))
    size = max(old.stat().st_size, new.stat().st_size)
    for path in (old, new):
        path.write_bytes(path.read_bytes().ljust(size, b"\0"))
    again(tmp_path)
    before, when, times = again(tmp_path), written(tmp_path), old.stat()
    shutil.copyfile(new, old)
    os.utime(old, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert (old.stat().st_size, old.stat().st_mtime_ns) == (times.st_size, times.st_mtime_ns)
    assert again(tmp_path) != before and written(tmp_path) != when


def test_a_run_that_broke_off_after_it_saw_the_new_video_is_not_finished(scored: Path) -> None:
    run = video_contrast.open_run(scored / "run")
    videos = run.videos
    run.write_videos(videos)
    assert run.is_finished
    run.write_videos({**videos, "clips/00.mp4": {**videos["clips/00.mp4"], "sha256": "another"}})
    assert not run.is_finished
