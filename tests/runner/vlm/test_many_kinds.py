"""Many kinds, one table: the same command scores whatever the model is."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from own_captions import CAPTIONS
from video_files import write_clip

import video_contrast
from video_contrast import cli
from video_contrast.video import write_video

PAIR_MODELS = ("qwen3_vl", "internvl", "BlipForImageTextRetrieval")  # a family each; test_doctor_families.py has all
SCORED = 5  # fewer have no interval


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A contrast set of short clips: each model's self-test decodes them anew."""
    folder = tmp_path_factory.mktemp("clips")
    lines = ["file,caption"]
    for number, captions in enumerate(CAPTIONS[: SCORED + 1]):
        ground = np.random.default_rng(number).integers(0, 255, (6, 8, 3), np.uint8).repeat(40, 0).repeat(40, 1)
        write_video(folder / f"{number}.mkv", np.stack([np.roll(ground, 8 * t, 1) for t in range(20 + number)]), 25)
        lines.append(f"{number}.mkv,{captions[0]}")
    (folder / "captions.csv").write_text("\n".join(lines), encoding="utf-8")
    return video_contrast.build(
        "captions",
        ["random_mc"],
        output=folder / "set",
        captions=str(folder / "captions.csv"),
        video_column="file",
        caption_column="caption",
        video_root=folder,
    )


def score(model: str, clips: Path, output: Path, *more: str) -> int:
    where = ["--dataset", str(clips), "--output", str(output)]
    what = ["--config", "random_mc", "--frames", "2", "--limit", str(SCORED)]
    return cli.main(["score", "--model", model, *where, *what, *more])


def test_one_table_of_many_kinds(
    clips: Path,
    tmp_path: Path,
    tiny_vlm: Callable[[str], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    sources = {name: str(tiny_vlm(name)) for name in PAIR_MODELS}
    sources |= {name: name for name in ("bag-of-frames", "random", "blind")}
    for name, source in sources.items():
        assert score(source, clips, tmp_path / name) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert cli.main(["table", *(str(tmp_path / name) for name in sources)]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in sources)
    assert shown.count("[") == len(sources)  # one interval a model
    for name in sources:
        rows = pq.read_table(tmp_path / name / "scores.parquet").to_pylist()
        assert len(rows) == SCORED
        assert all(np.isfinite(row["scores"]).all() and len(row["scores"]) == 5 for row in rows)


def test_a_finished_pair_run_is_not_asked_again_and_an_interrupted_one_goes_on(
    clips: Path, tmp_path: Path, tiny_vlm: Callable[[str], Path]
) -> None:
    source = str(tiny_vlm("llava_onevision"))
    assert score(source, clips, tmp_path / "whole") == 0
    cut = shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    (answers,) = cut.glob("answers/*/answers-*.jsonl")
    lines = answers.read_bytes().split(b"\n")
    answers.write_bytes(b"\n".join(lines[:3]) + b"\n" + lines[3][:30])  # killed in the middle of the fourth answer
    for name in ("run.json", "metrics.json", "scores.parquet"):
        (cut / name).unlink()
    assert score(source, clips, cut) == 0
    assert (cut / "metrics.json").read_bytes() == (tmp_path / "whole" / "metrics.json").read_bytes()
    assert len(list(cut.glob("answers/*/answers-*.jsonl"))) == 2


def test_letters_with_rotations(clips: Path, tmp_path: Path, tiny_vlm: Callable[[str], Path]) -> None:
    source = str(tiny_vlm("internvl"))
    more = ("--scoring", "letter", "--rotations", "rotate")
    assert score(source, clips, tmp_path / "letters", *more) == 0
    rows = pq.read_table(tmp_path / "letters" / "scores.parquet").to_pylist()
    assert all(row["scores"][0] < 0 for row in rows)
    clean = json.loads((tmp_path / "letters" / "metrics.json").read_text())["configs"]["random_mc"]["conditions"][
        "clean"
    ]
    assert clean["rotations"] == 5
    assert 0 <= clean["right_in_all_rotations"] <= 1
    right = []
    for row in rows:  # by hand: right in a rotation if the true option's letter is the likeliest there
        parts = json.loads(row["parts"]) if isinstance(row["parts"], str) else row["parts"]
        right.append(
            all(
                max(range(5), key=lambda i, name=name: parts[i][name]) == row["label"]
                for name in (f"rotation{r}" for r in range(5))
            )
        )
    assert clean["right_in_all_rotations"] == pytest.approx(sum(right) / len(right))


def test_edited_clips_are_shown_part_by_part_in_their_order(tmp_path: Path, tiny_vlm: Callable[[str], Path]) -> None:
    for name, length in (("a", 30), ("b", 40)):
        write_clip(tmp_path / f"{name}.mp4", n_frames=length)
    (tmp_path / "clips.csv").write_text("video,caption\na.mp4,a man runs\nb.mp4,two dogs sleep\n")
    folder = video_contrast.build(
        "clip_edits", ["order"], output=tmp_path / "set", captions=str(tmp_path / "clips.csv"), video_root=tmp_path
    )
    run = video_contrast.score(str(tiny_vlm("smolvlm")), folder, video_root=tmp_path, frames=4, store=tmp_path / "s")
    first, second = run.scores
    assert run.record["n_missing"] == 0 and np.isfinite([first["scores"], second["scores"]]).all()
    assert first["scores"] != second["scores"]  # the same frames in another order
