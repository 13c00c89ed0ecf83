"""Real clips (mkv at 30 frames a second, odd sizes, few frames) through a built set and the command line."""

import csv
from pathlib import Path

import pytest
import tiny_models

import video_contrast
from video_contrast.cli import main
from video_contrast.runner import read_result


@pytest.mark.shared_data
def test_real_clips_are_scored_against_their_captions(shared_data: Path, tmp_path: Path) -> None:
    with open(shared_data / "videos" / "captions.csv", encoding="utf-8", newline="") as handle:
        rows = [row for row in csv.DictReader(handle) if row["file"].startswith(("msrvtt_video977", "asl_bi", "asl_e"))]
    with open(tmp_path / "captions.csv", "w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    video_contrast.build(
        "captions", ["retrieval"], output=tmp_path / "set", captions=str(tmp_path / "captions.csv"),
        video_column="file", caption_column="caption",
    )  # fmt: skip
    tiny_models.clip(tmp_path / "clip")
    frames = 50  # more than the shortest clip has
    code = main(
        [
            "score", "--model", str(tmp_path / "clip"), "--dataset", str(tmp_path / "set"), "--config", "retrieval",
            "--video-root", str(shared_data / "videos"), "--output", str(tmp_path / "run"), "--frames", str(frames),
            "--store", str(tmp_path / "store"), "--accept", "all",
        ]
    )  # fmt: skip
    assert code == 0
    result = read_result(tmp_path / "run")
    clips = {row["file"] for row in rows}
    found = result["retrieval"]["conditions"]["clean"]
    assert found["n_videos"] == len(clips) and found["n_captions"] == len(rows)
    assert result.record["n_missing"] == 0
    assert result.record["counters"]["visual_encodings"] == len(clips)
