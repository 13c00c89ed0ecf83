"""A finished run is returned as it is only while its videos are those that were scored."""

import os
import shutil
from pathlib import Path

import pytest
import runner_set

import video_contrast


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


def test_a_run_that_broke_off_after_it_saw_the_new_video_is_not_finished(scored: Path) -> None:
    run = video_contrast.open_run(scored / "run")
    videos = run.videos
    run.write_videos(videos)
    assert run.is_finished
    run.write_videos({**videos, "clips/00.mp4": {**videos["clips/00.mp4"], "sha256": "another"}})
    assert not run.is_finished
