"""Accuracy averaged over the verbs of the true captions."""

from pathlib import Path

import numpy as np
import pytest

from video_contrast.rows import MultipleChoiceRow, multiple_choice_row
from video_contrast.runner.conditions import CLEAN
from video_contrast.runner.plan import PlannedTable
from video_contrast.runner.sets import _grouped
from video_contrast.runner.table_metrics import TableScores, metrics_of


def row(number: int, old: str, *, kind: str = "verb_lexical") -> MultipleChoiceRow:
    texts = [f"a man {old} {number}", f"a man waits {number}", f"caption {number}"]
    edit = {"old": old, "new": "waits", "start": 6, "end": 11, "antonym": False, "scores": {}, "generator": "lexicon"}
    return multiple_choice_row(
        id=f"i{number}", video_id=f"v{number}", video_path=f"v{number}.mp4", start=None, end=None, candidates=texts,
        label=0, kinds=["true", kind, "random"], edits=[None, edit, None], replaced=None, cluster=f"v{number}", meta={},
    )  # fmt: skip


def scored(rows: list[MultipleChoiceRow], right: list[bool]) -> TableScores:
    (group,) = _grouped("verb_mc", rows, "")
    table = PlannedTable(group, CLEAN, group.items.texts)
    scores = tuple(np.array([1.0, 0.0, 0.0] if hit else [0.0, 1.0, 0.0]) for hit in right)
    return TableScores(table, tuple(range(len(rows))), scores, (None,) * len(rows))


def test_every_verb_counts_alike_whatever_its_form() -> None:
    old = ["sings", "is singing", "sang", "singing", "sits on", "jumps", "is jumping"]
    right = [True, True, True, True, False, True, False]
    numbers = metrics_of(scored([row(n, text) for n, text in enumerate(old)], right), seed=0)
    assert numbers["verbs"] == 3
    assert numbers["accuracy_over_verbs"] == pytest.approx((1 + 0 + 1 / 2) / 3)
    assert numbers["accuracy"] == pytest.approx(5 / 7)
    assert numbers["accuracy_over_verbs_low"] < 0.5 < numbers["accuracy_over_verbs_high"]
    assert numbers["chance_accuracy_over_verbs"] == pytest.approx(1 / 3)


def test_with_each_verb_once_it_is_the_accuracy() -> None:
    numbers = metrics_of(
        scored([row(n, text) for n, text in enumerate(("sings", "sits", "runs"))], [True, False, True]), seed=0
    )
    assert numbers["accuracy_over_verbs"] == pytest.approx(numbers["accuracy"])


def test_sets_whose_rows_replace_no_verb_have_none() -> None:
    numbers = metrics_of(scored([row(n, "red", kind="attribute") for n in range(3)], [True] * 3), seed=0)
    assert not any("over_verbs" in name for name in numbers)


def test_a_table_shows_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import fabricate

    from video_contrast.cli import main

    root = fabricate.make_set(tmp_path / "set", 20, configs=["verb_mc"], captions=["a woman sings", "a man runs"])
    run = fabricate.make_run(tmp_path / "run", root)
    assert main(["table", str(run)]) == 0
    printed = capsys.readouterr().out
    assert "averaged over verbs" in printed
    assert main(["table", str(run), f"{run}/"]) == 0  # a run that is named twice is told of once
    assert capsys.readouterr().out == printed
