"""Clips in several containers, codecs and lengths through a built set and the command line."""

import csv
from pathlib import Path

import tiny_models
from own_captions import CAPTIONS
from video_files import write_clip

import video_contrast
from video_contrast.cli import main
from video_contrast.runner import read_result

CLIPS = {"a.mkv": ("libx264", 26), "b.mp4": ("mpeg4", 60), "c.webm": ("libvpx-vp9", 9), "d.avi": ("mpeg2video", 40)}


def test_clips_in_several_containers_are_scored_against_their_captions(tmp_path: Path) -> None:
    rows = []
    for (name, (codec, frames)), captions in zip(CLIPS.items(), CAPTIONS, strict=False):
        write_clip(tmp_path / name, codec, n_frames=frames)
        rows += [(name, caption) for caption in captions]
    with open(tmp_path / "captions.csv", "w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows([("file", "caption"), *rows])
    video_contrast.build(
        "captions", ["retrieval"], output=tmp_path / "set", captions=str(tmp_path / "captions.csv"),
        video_column="file", caption_column="caption",
    )  # fmt: skip
    tiny_models.clip(tmp_path / "clip")
    code = main(
        [
            "score", "--model", str(tmp_path / "clip"), "--dataset", str(tmp_path / "set"), "--config", "retrieval",
            "--video-root", str(tmp_path), "--output", str(tmp_path / "run"),
            "--frames", "50",  # more than the shortest clip has
            "--store", str(tmp_path / "store"), "--accept", "all",
        ]
    )  # fmt: skip
    assert code == 0
    result = read_result(tmp_path / "run")
    found = result["retrieval"]["conditions"]["clean"]
    assert found["n_videos"] == len(CLIPS) and found["n_captions"] == len(rows)
    assert result.record["n_missing"] == 0
    assert result.record["counters"]["visual_encodings"] == len(CLIPS)
