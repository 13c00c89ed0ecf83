"""Ours beside the published figures: each table its split, nothing beside what covers too little."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runner_set

import video_contrast
from video_contrast.cli import main
from video_contrast.reports import reproduce as module
from video_contrast.reports.reproduce import (
    NAMES,
    NEEDED_RUNS,
    lines,
    logit_scale,
    published,
    released_rcad,
    reproduce,
    unscored,
)
from video_contrast.storage import open_run, open_set


def smaller(monkeypatch: pytest.MonkeyPatch, name: str, **changes: Any) -> None:
    """Lets a paper's clips be as many as a small set has."""
    parts = tuple(
        replace(part, configs=dict.fromkeys(part.configs, 0), together=0, **changes) for part in NEEDED_RUNS[name].parts
    )
    monkeypatch.setitem(module.NEEDED_RUNS, name, replace(NEEDED_RUNS[name], parts=parts))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("reproduce")
    runner_set.write(root / "set", n_clips=10)
    return root


def ours_of(text: list[str], table: str) -> list[str]:
    start = next(n for n, line in enumerate(text) if line.startswith(f"{table}:"))
    end = next(n for n in range(start, len(text)) if not text[n])
    return [line for line in text[start:end] if "ours" in line]


@pytest.mark.parametrize("name", NAMES)
def test_the_published_tables_are_shown_without_a_model_and_with_their_spread(name: str) -> None:
    text = "\n".join(lines("", unscored(published(name))))
    assert ("±" in text) == (name == "robustness") and "ours" not in text.split("known:")[0]


def test_ours_stand_beside_theirs_on_the_same_split(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller(monkeypatch, "contrast_sets")
    text, table = reproduce("contrast_sets", "constant", place / "set", output=tmp_path, progress=False)
    assert table["ours"] == table["compared"] == {"msrvtt": {"random_mc": pytest.approx(100 / 3)}}
    assert {"gender_mc", "verb_lm_mc", "verb_human_mc", "retrieval", "random_mc (1k-A)"} <= set(table["left_out"])
    assert ours_of(text, "Table 2") and ours_of(text, "Release, 7k / test-full")
    assert not ours_of(text, "Release, 9k / test-1k-A"), "figures of the full test stand in the 1k-A table"


def test_another_split_and_too_few_clips_are_not_compared(place: Path, tmp_path: Path) -> None:
    text, table = reproduce("contrast_sets", "constant", place / "set", output=tmp_path, progress=False, split="test")
    assert table["ours"]["msrvtt"]["random_mc"] == pytest.approx(100 / 3) and not table["compared"]
    assert table["too_few"]["retrieval"] == "split 'test' is not the paper's"
    few = [line for line in text if line.startswith("not compared: random_mc:")]
    assert len(few) == 1 and " of 2,990 items; below 90% figures cannot be compared" in few[0]
    assert not any("ours, constant" in line for line in text)


@pytest.fixture(scope="module")
def feint(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Six captions a clip of the shapes world, as the released csv lists them, and the folder of the clips."""
    root = tmp_path_factory.mktemp("feint")
    shapes = video_contrast.build("shapes", ["counterfactual_mc"], output=root / "shapes", items=12)
    with open(root / "msrvtt.csv", "w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["sentence", "video_id"])
        for row in open_set(shapes).choice_rows("counterfactual_mc", "test"):
            true = row["candidates"][row["label"]]
            for text in [true, *(text for text in row["candidates"] if text != true)]:
                writer.writerow([text, row["video_path"].removesuffix(".mp4")])
    configs = [f"{task}_msrvtt" for task in ("rcad", "random6", "retrieval")]
    folder = video_contrast.build("feint6k", configs, output=root / "set", msrvtt=root / "msrvtt.csv")
    return folder, shapes


def test_rcad_gives_its_own_ranks_and_the_released_convention(
    feint: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller(monkeypatch, "rcad")
    text, table = reproduce(
        "rcad", "bag-of-frames", feint[0], video_root=feint[1], output=tmp_path, frames=6, progress=False,
        store=tmp_path / "store",
    )  # fmt: skip
    first, second = ours_of(text, "Table 1")
    head = next(line for line in text if "R@2" in line and "mean_rank" in line).split()
    assert head == ["R@1", "R@2", "R@3", "mean_rank", "random6", "R@1", "v2t_R@1", "Feint6K", "v2t_R@1"]
    random6 = open_run(tmp_path / "random6_msrvtt").metrics["configs"]["random6_msrvtt"]["conditions"]["clean"]
    retrieval = open_run(tmp_path / "retrieval_msrvtt").metrics["configs"]["retrieval_msrvtt"]["conditions"]["clean"]
    clean = open_run(tmp_path / "rcad_msrvtt").metrics["configs"]["rcad_msrvtt"]["conditions"]["clean"]
    assert first.split()[-7:] == [
        *(f"{100 * clean[k]:.2f}" for k in head[:3]), f"{clean['mean_rank']:.2f}",
        f"{100 * random6['accuracy']:.2f}", "-", f"{100 * retrieval['v2t_R@1']:.2f}",
    ]  # fmt: skip
    assert "released convention" in second and second.split()[-3:] == ["-", "-", "-"]
    assert table["released"]["rcad_msrvtt"]["R@1"] == pytest.approx(float(second.split()[-7]), abs=0.01)

    # by hand: a softmax over the videos of each caption, and ties for the model
    run, rows = open_run(tmp_path / "rcad_msrvtt"), open_set(feint[0]).choice_rows("rcad_msrvtt", "test")
    captions = [text for row in rows for text in row["candidates"]]
    from video_contrast.reports.similarity_plots import StoredVectors

    vectors = StoredVectors(run)
    clips, texts = vectors.clips(rows), vectors.texts(captions)
    assert clips is not None and texts is not None
    similar = clips @ texts.T
    stored = {row["id"]: row["scores"] for row in run.score_rows()}
    logits = logit_scale("bag-of-frames") * similar
    shares = np.exp(logits) / np.exp(logits).sum(axis=0)
    hits = []
    for number, row in enumerate(rows):
        own = shares[number, 6 * number : 6 * number + 6]
        assert similar[number, 6 * number : 6 * number + 6] == pytest.approx(stored[row["id"]], abs=1e-5)
        hits.append(own[row["label"]] >= own.max())
    assert table["released"]["rcad_msrvtt"]["R@1"] == pytest.approx(100 * np.mean(hits))
    (tmp_path / "store").rename(tmp_path / "gone")
    assert released_rcad(tmp_path / "rcad_msrvtt", rows, "rcad_msrvtt") is None


def test_a_cut_csv_of_feint6k_is_not_compared(
    feint: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where: dict[str, Any] = {"output": tmp_path, "progress": False, "parts": ["rcad"]}
    text, table = reproduce("rcad", "constant", feint[0], **where)
    assert table["ours"]["rcad_msrvtt"] and not table["compared"]
    few = table["too_few"]["rcad_msrvtt"]
    assert few == "12 of at least 243 items; below 90% figures cannot be compared" and any(few in line for line in text)

    part = replace(NEEDED_RUNS["rcad"].parts[0], configs={"rcad_msrvtt": 0, "random6_msrvtt": 0}, together=40)
    monkeypatch.setitem(module.NEEDED_RUNS, "rcad", replace(NEEDED_RUNS["rcad"], parts=(part,)))
    _, table = reproduce("rcad", "constant", feint[0], **where)
    assert table["too_few"]["rcad_msrvtt"].startswith("rcad_msrvtt and random6_msrvtt have 24 of 40 items together;")


def test_rcad_of_a_model_that_opens_no_video(feint: tuple[Path, Path], tmp_path: Path) -> None:
    video_contrast.score("blind", feint[0], "rcad_msrvtt", output=tmp_path, progress=False)
    rows = open_set(feint[0]).choice_rows("rcad_msrvtt", "test")
    assert released_rcad(tmp_path, rows, "rcad_msrvtt") is None


@pytest.fixture
def annotations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """MSR-VTT's annotation files, in small, in a folder above that of the videos."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "MSRVTT"
    (folder / "videos").mkdir(parents=True)
    acts = ("a man sings a song", "a woman walks in a park", "a boy kicks a ball", "a girl opens a box",
            "a man cuts a carrot", "a woman drives a car", "a boy climbs a tree")  # fmt: skip
    videos = [{"video_id": f"video{n}", "split": "test", "category": 0, "url": ""} for n in range(len(acts))]
    sentences = [{"video_id": f"video{n}", "caption": act, "sen_id": n} for n, act in enumerate(acts)]
    (folder / "test_videodatainfo.json").write_text(json.dumps({"videos": videos, "sentences": sentences}))
    rows = [f"ret{n},msr{n},video{n},{act}" for n, act in enumerate(acts[:4])]
    (folder / "MSRVTT_JSFUSION_test.csv").write_text("\n".join(["key,vid_key,video_id,sentence", *rows]) + "\n")
    return folder


def test_a_model_and_the_videos_suffice(
    annotations: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ["reproduce", "contrast_sets", "--model", "constant", "--video-root", str(annotations / "videos")]
    assert main(call) == 0
    out = capsys.readouterr().out
    assert "building retrieval, random_mc, gender_mc of msrvtt" in out
    assert "ours, constant" not in out and "not compared: retrieval: 4 of 1,000 items" in out
    assert "left out: verb_lm_mc: sets/msrvtt does not have it" in out
    assert Path("runs/reproduce-contrast_sets-constant/reproduce.json").exists()
    smaller(monkeypatch, "contrast_sets")
    assert main(call) == 0
    out = capsys.readouterr().out
    assert "building" not in out
    ours = next(line for line in out.splitlines() if "ours, constant" in line)
    assert ours.split()[3:5] == ["25.00", "20.00"], "chance among four captions, and among five candidates"
    smaller(monkeypatch, "robustness")
    call = ["reproduce", "robustness", *call[2:], "--conditions", "clean,text:drop_first", "--part", "videoqa"]
    assert main(call) == 0
    table = json.loads(Path("runs/reproduce-robustness-constant/reproduce.json").read_text())
    assert table["ours"]["msrvtt_qa"]["text:gamma_relative"] == 1 and list(table["items"]) == ["random_mc"]


def test_without_a_set_it_says_what_it_needs_and_how_to_make_it(
    annotations: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere" / "videos").mkdir(parents=True)
    assert main(["reproduce", "rcad", "--model", "constant", "--video-root", "elsewhere/videos"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "give --folder FOLDER with Feint6K's csv files" in error
    assert "`video-contrast build feint6k --msrvtt MSRVTT.csv --vatex VATEX.csv --output sets/feint6k`" in error
    assert main(["reproduce", "robustness", "--model", "constant", "--folder", "elsewhere"]) == 2
    assert "--folder elsewhere does not hold MSR-VTT's annotations" in capsys.readouterr().err
    assert main(["reproduce", "robustness", "--model", "constant", "--part", "retreival"]) == 2
    assert "did you mean 'retrieval'" in capsys.readouterr().err
