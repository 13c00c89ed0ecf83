"""`teach` from the outside: presets, dry runs, trackers, temperatures, rates, the table before and after, the gate."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import teacher_set
import tiny_models
import torch
from teacher_set import SETTINGS

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.cli import main
from video_contrast.errors import UsageError
from video_contrast.rows import multiple_choice_row, retrieval_row
from video_contrast.storage import SetDraft
from video_contrast.teacher import gate, teach, training_data
from video_contrast.teacher.batches import open_store
from video_contrast.teacher.evaluation import Hits
from video_contrast.teacher.options import TeachOptions
from video_contrast.teacher.run import check_tracker
from video_contrast.teacher.trainer import parameter_groups
from video_contrast.teacher.training_data import read_splits
from video_contrast.teacher.two_towers import load_checkpoint


@pytest.fixture(scope="module")
def place(common: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As for the other tests, with twice as many clips to validate on: retrieval and random options need them."""
    root = tmp_path_factory.mktemp("repair")
    teacher_set.write(root / "set", train=9, validation=6)
    shutil.copytree(common / "clip", root / "clip")
    (root / "store").symlink_to(common / "store")
    return root


def taught(place: Path, name: str, **changed: Any) -> dict[str, Any]:
    settings = SETTINGS | {"store": place / "store"} | changed
    return teach(settings.pop("model", place / "clip"), place / "set", output=place / name, **settings)


@pytest.fixture(scope="module")
def plain(place: Path) -> dict[str, Any]:
    """A run with the settings that others change."""
    return taught(place, "plain")


def flags(place: Path, name: str, *more: str) -> list[str]:
    return [
        "teach", "--model", str(place / "clip"), "--dataset", str(place / "set"), "--output", str(place / name),
        "--epochs", "1", "--batch-size", "6", "--frames", "4", "--negatives", "5-action",
        "--store", str(place / "store"), *more,
    ]  # fmt: skip


# What is learned, and how fast


def test_each_part_of_the_model_has_its_rate(tmp_path: Path) -> None:
    net = load_checkpoint(tiny_models.xclip(tmp_path / "xclip"))[0]
    options = TeachOptions(output=tmp_path, learning_rate=1e-5, text_learning_rate=2e-6)
    groups = parameter_groups(net, 0.05, options.rates(lora=False))
    rate_of = {id(p): group["lr"] for group in groups for p in group["params"]}
    decay_of = {id(p): group["weight_decay"] for group in groups for p in group["params"]}
    parameters = dict(net.named_parameters())
    assert set(rate_of) == {id(p) for p in parameters.values()}
    for name, parameter in parameters.items():
        side = name.partition(".")[0]
        expected = {"vision_model": 1e-5, "visual_projection": 1e-5, "text_model": 2e-6, "text_projection": 2e-6}
        assert rate_of[id(parameter)] == expected.get(side, 1e-5 if side == "logit_scale" else 1e-4), name
        assert decay_of[id(parameter)] == (0.05 if parameter.ndim >= 2 else 0.0), name


def test_the_defaults_suit_pretrained_towers_and_adapters(tmp_path: Path) -> None:
    usual = TeachOptions(output=tmp_path)
    assert usual.rates(lora=False) == {"vision": 1e-5, "text": 1e-5, "head": pytest.approx(1e-4)}
    assert usual.rates(lora=True) == {"vision": 2e-4, "text": 2e-4, "head": 2e-4}


def test_the_models_own_temperature_is_used_and_learns_on_request(place: Path, plain: dict[str, Any]) -> None:
    start = load_checkpoint(place / "clip")[0].logit_scale.detach()
    taught(place, "learned", logit_scale="learned")
    frozen, learned = (load_checkpoint(place / name / "model")[0].logit_scale for name in ("plain", "learned"))
    assert torch.equal(frozen, start) and not torch.equal(learned, start)
    given = taught(place, "given", temperature=float(torch.exp(-start)))
    assert given["best_loss"] == pytest.approx(plain["best_loss"], rel=1e-4)
    with pytest.raises(UsageError, match="leave out --temperature"):
        taught(place, "both", logit_scale="learned", temperature=0.05)


def test_gradient_checkpointing_changes_no_number(place: Path, plain: dict[str, Any]) -> None:
    other = taught(place, "saving", gradient_checkpointing=True)
    assert other["best_loss"] == pytest.approx(plain["best_loss"], rel=1e-5)


def test_a_checkpoint_whose_config_names_another_class_is_trained_as_it_is_scored(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "clip", tmp_path / "clip4clip")
    config = json.loads((place / "clip" / "config.json").read_text())
    for architectures in (["CLIP4Clip"], None, ["CLIPVisionModelWithProjection"]):
        (tmp_path / "clip4clip" / "config.json").write_text(json.dumps(config | {"architectures": architectures}))
        assert type(load_checkpoint(tmp_path / "clip4clip")[0]).__name__ == "CLIPModel"
    assert taught(place, str(tmp_path / "run"), model=tmp_path / "clip4clip", stop_after=1)["step"] == 1


# Validation


def test_validation_has_retrieval_random_options_and_each_kind(place: Path) -> None:
    result = taught(place, "kinds", negatives="3-action-2-object", generator="lexicon", quality="0")
    rows = {row["figure"]: row for row in result["validation"]}
    assert {"retrieval t2v R@1", "retrieval v2t R@1", "random options", "RCAD R@1", "action"} <= set(rows)
    assert rows["random options"]["n"] == rows["retrieval t2v R@1"]["n"] == 12
    for row in rows.values():
        assert row["difference"] == pytest.approx(row["second"] - row["first"])
        assert row["first_low"] <= row["first"] <= row["first_high"] and 0 <= row["p_holm"] <= 1
    header = (place / "kinds" / "curves.csv").read_text().splitlines()[0]
    assert "validation_retrieval v2t R@1" in header and "validation_action" in header


def test_retrieval_of_the_validation_is_what_the_runner_measures(
    place: Path, plain: dict[str, Any], tmp_path: Path
) -> None:
    import video_contrast

    scored = video_contrast.score(
        place / "clip", place / "set", ["retrieval"], split="validation", frames=4, output=tmp_path, progress=False
    ).metrics["configs"]["retrieval"]["conditions"]["clean"]
    rows = {row["figure"]: row["first"] for row in plain["validation"]}
    assert rows["retrieval v2t R@1"] == pytest.approx(scored["v2t_R@1"], abs=0.17)
    assert rows["retrieval t2v R@1"] == pytest.approx(scored["t2v_R@1"], abs=0.09)


# The gate


def test_the_gate_names_what_fell_and_passes_what_did_not() -> None:
    clusters = [str(n) for n in range(20)]
    before = {"a": Hits(np.ones(20), clusters), "b": Hits(np.zeros(20), clusters)}
    after = {"a": Hits(np.r_[np.zeros(15), np.ones(5)], clusters), "b": Hits(np.ones(20), clusters)}
    rows = gate.paired_rows(before, after, "validation")
    assert [row["figure"] for row in gate.fallen(rows, 0.5)] == ["a"]
    assert gate.fallen(rows, 0.75) == []
    assert gate.fallen([rows[0] | {"difference": 0.3 - 0.4}], 0.1) == []  # -0.10000000000000003
    assert rows[0]["p_value"] < 0.001 and rows[0]["low"] < -0.75 < rows[0]["high"]
    assert "| validation | a | 1.000" in gate.table(rows)


def test_the_command_ends_with_the_table_and_with_code_3_where_something_fell(
    place: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(flags(place, "gate", "--tolerance", "1")) == 0
    printed = capsys.readouterr().out
    assert "has a test split here: the table is of validation clips alone" in printed
    assert "| measured on | figure | before | after |" in printed and "random options" in printed
    assert json.loads((place / "gate" / "before_after.json").read_text())
    monkeypatch.setattr(gate, "fallen", lambda rows, tolerance: rows[:1])
    assert main(flags(place, "gate", "--tolerance", "0.01")) == 3
    assert "figures fell by more than 0.01: validation " in capsys.readouterr().err
    assert main(flags(place, "gate", "--tolerance", "5")) == 2


def test_a_set_to_test_on_is_looked_for_before_training(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for other, message in ((place / "nowhere", "--evaluate-on: no such folder"), (place / "set", "has a split 'test'")):
        assert main(flags(place, "elsewhere", "--evaluate-on", str(other))) == 2
        assert message in capsys.readouterr().err and not (place / "elsewhere").exists()


def test_the_test_split_is_scored_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import video_contrast

    sizes = {"items": 4, "gallery": 4, "train": 12, "validation": 4}
    dataset = video_contrast.build("shapes", ["retrieval", "antonym_mc"], output=tmp_path / "set", **sizes)
    given = ["--model", "bag-of-frames", "--dataset", str(dataset), "--output", str(tmp_path / "run"), "--epochs", "1"]
    assert main(["teach", *given, "--batch-size", "12"]) == 0
    rows = json.loads((tmp_path / "run" / "before_after.json").read_text())
    assert {row["config"] for row in rows} == {"validation", "retrieval", "antonym_mc"}
    assert "| antonym_mc | accuracy |" in capsys.readouterr().out


# Presets, dry runs, trackers


def test_the_papers_preset_gives_way_to_what_is_given(tmp_path: Path) -> None:
    paper = TeachOptions(output=tmp_path, preset="paper", batch_size=64)
    assert (paper.negatives, paper.generator, paper.objective, paper.batch_size) == ("10-action", "mlm", "lgt", 64)
    assert paper.quality == "0"  # the paper trains on what the model proposes
    usual = TeachOptions(output=tmp_path)
    for name in ("objective", "encoder", "batch_size", "generator"):  # given, although it is what there is without it
        value = getattr(usual, name)
        assert getattr(TeachOptions(**{"output": tmp_path, "preset": "paper", name: value}), name) == value
    served = TeachOptions(
        output=tmp_path, preset="paper", generator_model="m", generator_options="endpoint=http://x/v1"
    )
    assert (served.generator, served.generator_model) == ("llm", "m")
    assert replace(paper, objective="lbl").objective == "lbl"


def test_a_dry_run_counts_and_prices_and_writes_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    served = ["--preset", "paper", "--generator-model", "m", "--generator-options", "endpoint=http://localhost:9/v1"]
    assert main(flags(place, "dry", "--dry-run", "--price-in", "1", "--price-out", "2", *served)) == 0
    printed = capsys.readouterr().out
    facts = {line[:20].strip(): line[20:].strip() for line in printed.splitlines()}  # "captions, validation"
    assert facts["clips, train"] == "9" and facts["captions, train"] == "18" and facts["steps"] == "3"
    assert int(facts["questions"]) > 0 and int(facts["tokens sent"]) > 1000 and float(facts["seconds a step"]) > 0
    assert float(facts["price"]) >= 0
    assert facts["left out"] == "0 clips" and not (place / "dry").exists()
    assert facts["not at hand"] == "2 models" and "encoder 'sentence-transformers/bert-base-nli-mean" in printed


def one_split(root: Path, videos: int) -> TeachOptions:
    rows = [
        retrieval_row(id=f"{n}-{k}", video_id=f"video{n}", video_path=f"video{n}.mp4", captions=["a man sits"])
        for n in range(videos)
        for k in range(2)
    ]
    write_set(BuiltSet("captions", {"retrieval": {"train": rows}}, {"summary": "clips"}), root)
    return TeachOptions(output=root / "run")


def test_a_set_that_is_too_small_to_set_clips_aside_says_what_to_add(tmp_path: Path) -> None:
    options = one_split(tmp_path / "set", 1)
    with pytest.raises(UsageError, match=r"2 clips of 1 video: .* takes two videos; add a split 'validation' to it"):
        read_splits(tmp_path / "set", options)


@pytest.mark.parametrize(("videos", "aside"), [(2, 1), (9, 1), (48, 5)])
def test_a_tenth_of_few_videos_is_set_aside_whatever_they_are_called(tmp_path: Path, videos: int, aside: int) -> None:
    """Each of these names was drawn for training, so that 48 clips were said to be too few."""
    split = read_splits(tmp_path / "set", one_split(tmp_path / "set", videos))
    held, learned = ({row["video_id"] for row in rows} for rows in (split.validation, split.train))
    assert len(held) == aside and len(learned) == videos - aside and not held & learned


def test_captions_that_were_changed_in_the_set_are_read_anew(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "set", tmp_path / "set")
    [file] = (tmp_path / "set" / "retrieval").glob("train-*")
    before = file.stat()
    options = TeachOptions(output=tmp_path / "run")
    assert read_splits(tmp_path / "set", options).train[0]["captions"][0] == teacher_set.caption(0)
    table = pq.read_table(file)
    captions = [["someone waves"], *table["captions"].to_pylist()[1:]]
    column = pa.array(captions, table.schema.field("captions").type)
    pq.write_table(table.set_column(table.column_names.index("captions"), "captions", column), file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))  # as of a copy that keeps times
    assert read_splits(tmp_path / "set", options).train[0]["captions"] == ["someone waves"]


def test_unreadable_videos_are_named_before_negatives_are_made(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(place / "set", tmp_path / "set")
    (tmp_path / "set" / "clips" / "02.mp4").unlink()
    elsewhere = tmp_path / "elsewhere.mp4"
    (tmp_path / "set" / "clips" / "03.mp4").rename(elsewhere)
    (tmp_path / "set" / "clips" / "03.mp4").symlink_to(elsewhere)  # the user's own link: followed
    asked: list[str] = []

    def made(rows: Any, *_: Any, **__: Any) -> Any:
        asked.extend(row["id"] for row in rows)
        raise RuntimeError("no further")

    monkeypatch.setattr(training_data, "negatives", made)
    settings = SETTINGS | {"progress": True}
    with pytest.raises(RuntimeError, match="no further"):
        teach(place / "clip", tmp_path / "set", output=tmp_path / "run", **settings)
    assert "clip2: " in capsys.readouterr().out
    assert "clip2" not in asked and "clip3" in asked


def test_odd_captions_one_validation_clip_and_an_unreadable_video_in_the_middle(place: Path, tmp_path: Path) -> None:
    said = [
        ["a man sings", 'he says "sing"\nand\tsings', "someone's dog, the old one, sings  "],
        ["a woman runs"],
        ["a boy sings"],
        ["a girl runs"],
        ["the end, un été"],
    ]
    rows: list[Any] = []
    items: list[Any] = []
    for n, captions in enumerate(said):
        columns: dict[str, Any] = {"video_id": f"v{n}", "video_path": f"clips/{n:02d}.mp4"}
        rows.append(retrieval_row(id=f"c{n}", captions=captions, **columns))
        others = [said[(n + 1) % len(said)][0], "no one does anything"]  # one is the caption of another clip
        items += [
            multiple_choice_row(
                id=f"c{n}-{k}", candidates=[text, *others], label=0, kinds=["true", "verb", "verb"], **columns
            )
            for k, text in enumerate(captions) if n != 3
        ]  # fmt: skip
    shutil.copytree(place / "set" / "clips", tmp_path / "set" / "clips")
    (tmp_path / "set" / "clips" / "02.mp4").write_bytes(b"no video" * 99)
    splits = {"train": rows[:4], "validation": rows[4:]}
    write_set(BuiltSet("captions", {"retrieval": splits}, {"summary": "odd"}), tmp_path / "set")
    draft = SetDraft(tmp_path / "negatives", "captions")
    draft.add("negatives_mc", {"train": items}, {})
    draft.save()
    settings = SETTINGS | {"generator": "set", "generator_model": str(tmp_path / "negatives"), "batch_size": 2}
    result = teach(place / "clip", tmp_path / "set", output=tmp_path / "run", **settings)
    assert result["finished"] and list(result["unread"]) == ["c2"]
    assert result["negatives"]["train"]["captions"] == 5 and result["negatives"]["train"]["negatives"] == 8
    assert {row["figure"]: row["n"] for row in result["validation"]} == {"RCAD R@1": 1, "action": 1}


def test_a_tracker_writes_what_the_library_writes(place: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    taught(place, "tracked", report_to="tensorboard")
    assert list((place / "tracked" / "state").rglob("events.out.tfevents.*"))


def test_a_tracker_that_is_absent_or_has_no_credentials_is_said(
    place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import importlib.util

    found: Any = object()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "tensorboard" else found)
    with pytest.raises(UsageError, match="--report-to tensorboard: the package tensorboard is not installed"):
        taught(place, str(tmp_path / "run"), report_to="tensorboard")
    assert not (tmp_path / "run").exists()
    for name in ("WANDB_API_KEY", "WANDB_MODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with pytest.raises(UsageError, match="--report-to wandb: no credentials; run `wandb login`"):
        check_tracker("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    check_tracker("wandb")
    check_tracker("none")


# The frame store


def test_a_replaced_video_gives_new_frames(place: Path, tmp_path: Path) -> None:
    shutil.copytree(place / "set" / "clips", tmp_path / "clips")
    images = load_checkpoint(place / "clip")[1].image_processor
    rows: Any = [{"id": "a", "video_path": "clips/00.mp4", "start": None, "end": None}]
    given = {"frames": 4, "progress": False}
    before = np.array(open_store(tmp_path / "s" / "f", rows, tmp_path, images, **given).frames)
    shutil.copy(tmp_path / "clips" / "05.mp4", tmp_path / "clips" / "00.mp4")
    after = np.array(open_store(tmp_path / "s" / "f", rows, tmp_path, images, **given).frames)
    assert not np.array_equal(before, after)


def test_edited_clips_are_refused(place: Path, tmp_path: Path) -> None:
    images = load_checkpoint(place / "clip")[1].image_processor
    rows: Any = [{"id": "a", "video_path": "x.mp4", "start": None, "end": None, "segments": [{"video_path": "x.mp4"}]}]
    with pytest.raises(UsageError, match="row 'a' is an edited clip"):
        open_store(tmp_path / "f", rows, tmp_path, images, frames=4, progress=False)


def test_damaged_videos_are_learned_from_on_request(place: Path, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    data = bytearray((place / "set" / "clips" / "00.mp4").read_bytes())
    begin = data.index(b"mdat") + 4
    for at in range(begin + 60, len(data) - 8, 7):
        if data[at : at + 4] == b"moov" or b"moov" in data[at - 8 : at + 12]:
            break
        data[at] ^= 0x55
    (tmp_path / "clips" / "00.mp4").write_bytes(data)
    shutil.copy(place / "set" / "clips" / "01.mp4", tmp_path / "clips" / "01.mp4")
    images = load_checkpoint(place / "clip")[1].image_processor
    rows: Any = [{"id": str(n), "video_path": f"clips/{n:02d}.mp4", "start": None, "end": None} for n in range(2)]
    given = {"frames": 4, "progress": False}
    refused = open_store(tmp_path / "s" / "f", rows, tmp_path, images, **given)
    assert "damaged" in refused.missing[0] and 1 not in refused.missing
    accepted = open_store(tmp_path / "s" / "f", rows, tmp_path, images, accept_damaged=True, **given)
    assert not accepted.missing
