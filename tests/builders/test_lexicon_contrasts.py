"""Sets by the generator `lexicon`: a newcomer's clips, equal bytes for any number of processes, reasons in words."""

import json
from pathlib import Path

import pytest

from video_contrast import UsageError, build, launcher, open_set
from video_contrast.cli import main

CAPTIONS = (
    "a woman opens a door", "a man pushes a chair", "a girl lifts a box", "two boys climb a wall",
    "a dog runs on the beach", "a man is playing the guitar on a stage", "a woman is slicing onions in a kitchen",
    "a boy rides a horse on the beach", "a man reads a book", "the cat sits on a sofa",
)  # fmt: skip


def table(folder: Path, captions: tuple[str, ...] = CAPTIONS) -> Path:
    path = folder / "captions.csv"
    path.write_text("video,caption\n" + "".join(f"clips/{n}.mp4,{text}\n" for n, text in enumerate(captions)))
    return path


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_ten_clips_of_ones_own_get_contrasts_that_change_one_verb(tmp_path: Path) -> None:
    root = build("captions", ["verb_mc"], output=tmp_path / "set", captions=str(table(tmp_path)))
    rows = open_set(root).choice_rows("verb_mc", "test")
    assert len(rows) >= 3
    for row in rows:
        true = row["candidates"][row["label"]]
        (place,) = [n for n, edit in enumerate(row["edits"]) if edit]
        edit, text = row["edits"][place], row["candidates"][place]
        assert edit is not None and edit["generator"] == "lexicon" and row["kinds"][place] == "verb_lexical"
        assert text[edit["start"] : edit["end"]] == edit["new"]
        assert text == true[: edit["start"]] + edit["new"] + true[edit["start"] + len(edit["old"]) :]
        assert true in CAPTIONS and text != true


def test_a_table_of_three_clips_has_items_of_a_caption_and_its_contrast(tmp_path: Path, capsys) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(
        "\n".join(json.dumps({"video": f"{n}.mp4", "caption": text}) for n, text in enumerate(CAPTIONS[:3]))
    )
    root = build("captions", ["verb_mc"], output=tmp_path / "set", captions=str(path), quality="all")
    rows = open_set(root).choice_rows("verb_mc", "test")
    assert rows and all(len(row["candidates"]) == 2 and sum(map(bool, row["edits"])) == 1 for row in rows)
    assert "two candidates" in capsys.readouterr().err


def test_any_number_of_processes_writes_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launcher.spread, "__kwdefaults__", {"num_proc": 1, "chunk": 3})
    configs = ["verb_mc", "object_mc"]
    captions = str(table(tmp_path))
    sets = [
        build("captions", configs, output=tmp_path / str(n), captions=captions, quality="all", num_proc=n)
        for n in (1, 2)
    ]
    assert contents(sets[0]) == contents(sets[1])


def test_the_base_caption_alone_may_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(json.dumps({"video": f"{n}.mp4", "caption": text}) for n, text in enumerate(CAPTIONS)))
    options = {"captions": str(path), "quality": "all", "caption": "base"}
    root = build("captions", ["random_mc", "verb_mc"], output=tmp_path / "set", **options)
    true = {row["id"]: row["candidates"][row["label"]] for row in open_set(root).choice_rows("random_mc", "test")}
    for row in open_set(root).choice_rows("verb_mc", "test"):
        assert row["candidates"][row["label"]] == true[row["id"]]


def test_explain_says_for_each_clip_why_it_has_no_contrast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, (*CAPTIONS, "the red car", "someone is there"))
    command = ["build", "captions", "--config", "verb_mc", "--captions", str(path), "--output", str(tmp_path / "set")]
    assert main([*command, "--explain"]) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("no verb contrast for")]
    built = {row["id"] for row in open_set(tmp_path / "set").rows("verb_mc", "test")}
    assert len(lines) == len(CAPTIONS) + 2 - len(built)
    assert any(line.startswith("no verb contrast for clips/10: ") for line in lines)


def test_the_build_tells_how_varied_a_set_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["build", "captions", "--config", "verb_mc", "--captions", str(table(tmp_path))]
    assert main([*command, "--output", str(tmp_path / "set")]) == 0
    facts = open_set(tmp_path / "set").record["configs"]["verb_mc"]["facts"]["word_edits"]
    assert 0.5 <= facts["mean_probability"] <= 1 and facts["effective_edits"] >= 1
    assert f"{facts['effective_edits']} effective edits" in capsys.readouterr().err


def test_own_training_captions_are_added_to_the_counts(tmp_path: Path) -> None:
    training = tmp_path / "training.csv"
    lines = [f"t{n}.mp4,a clerk {verb} a passport" for n, verb in enumerate(["stamps", "burns", "tears"] * 6)]
    training.write_text("\n".join(["video,caption", *lines]))
    options = {"captions": str(table(tmp_path)), "quality": "all"}
    more = build("captions", ["verb_mc"], output=tmp_path / "more", training=str(training), **options)
    facts = open_set(more).record["configs"]["verb_mc"]["facts"]["word_edits"]
    assert any("18 training videos" in source for source in facts["counts"])


def test_other_languages_and_foreign_options_are_refused(tmp_path: Path) -> None:
    german = table(tmp_path, tuple(f"ein Mann reitet ein Pferd und lacht {n}" for n in range(10)))
    with pytest.raises(Exception, match="do not look English"):
        build("captions", ["verb_mc"], output=tmp_path / "set", captions=str(german))
    whole = open_set(build("captions", output=tmp_path / "set", captions=str(german)))  # what can be built
    assert whole.configs == ["random_mc", "retrieval"]
    assert "do not look English" in whole.record["facts"]["left_out"]["verb_mc"]
    with pytest.raises(UsageError, match="lexicon has no model"):
        build("captions", ["verb_mc"], output=tmp_path / "set", captions=str(german), generator_model="any")
