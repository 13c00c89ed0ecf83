"""A run's numbers as rows: nothing of `metrics.json` is lost or taken for another figure."""

import fabricate
import pytest

from video_contrast.storage import RunFolder
from video_contrast.storage.run_figures import ACCURACY, MAIN, FigureKey, RunFigure, RunNumbers, against
from video_contrast.storage.run_file_fields import ConfigMetrics, RunMetrics

CONDITIONS = {"visual:jumble@1": 1.4, "visual:jumble@5": 0.4, "text:keyboard": 1.0}


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> RunMetrics:
    root = tmp_path_factory.mktemp("figures")
    fabricate.make_set(root / "set", 40)
    run = fabricate.make_run(root / "run", root / "set", ["verb_mc", "retrieval"], skill=1.8, conditions=CONDITIONS)
    return RunFolder(run).metrics


def test_every_row_holds_the_numbers_that_stand_under_its_name(metrics: RunMetrics) -> None:
    for config, entry in metrics["configs"].items():
        for place, row in RunNumbers.of({config: entry}).figures.items():
            numbers, name = entry["conditions"][row.condition], row.score.key
            assert (row.config, row.value) == (config, numbers[name])
            assert place == (row.config, row.condition, row.score)
            assert (row.low, row.high) == (numbers.get(f"{name}_low"), numbers.get(f"{name}_high"))


def test_every_accuracy_and_recall_with_an_interval_has_a_row(metrics: RunMetrics) -> None:
    for config, entry in metrics["configs"].items():
        rows = {place.score.key for place in RunNumbers.of({config: entry}).figures if place.condition == "clean"}
        ends = (name.removesuffix("_low") for name in entry["conditions"]["clean"] if name.endswith("_low"))
        shares = {name for name in ends if name.startswith("accuracy") or name.startswith(("t2v_R@", "v2t_R@"))}
        assert shares and shares <= rows


def test_a_row_is_over_what_looks_for_the_other(metrics: RunMetrics) -> None:
    clean = metrics["configs"]["retrieval"]["conditions"]["clean"]
    figures = RunNumbers.of(metrics["configs"]).figures
    t2v, v2t = (figures[FigureKey("retrieval", "clean", score)] for score in MAIN["retrieval"])
    assert (t2v.n, v2t.n) == (clean["n_captions"], clean["n_videos"]) == (14, 7)
    accuracy = figures[FigureKey("verb_mc", "clean", ACCURACY)]
    assert (accuracy.n, accuracy.chance) == (40, pytest.approx(0.2))
    assert FigureKey("verb_mc", "control:blind", ACCURACY) not in figures


def test_gammas_are_rows_by_group_and_by_condition(metrics: RunMetrics) -> None:
    robust = metrics["configs"]["verb_mc"]["robustness"]
    gammas = RunNumbers.of({"verb_mc": metrics["configs"]["verb_mc"]}).gammas
    rows = {row.group or row.condition: row for row in gammas}
    assert rows["visual"].relative == robust["accuracy"]["visual"]["gamma_relative"]
    assert rows["visual:jumble@5"].absolute == robust["accuracy"]["conditions"]["visual:jumble@5"]["gamma_absolute"]
    assert {"visual", "text", "visual:Temporal", *CONDITIONS} <= set(rows)
    assert {row.clean for row in rows.values()} == {metrics["configs"]["verb_mc"]["conditions"]["clean"]["accuracy"]}


@pytest.mark.parametrize("kind", ["t2v", "person_id", "noun_low"])
def test_a_kind_of_any_name_is_a_kind(kind: str) -> None:
    from video_contrast.metrics import multiple_choice

    numbers = dict(multiple_choice([[0.9, 0.1]] * 8, [0] * 8, kinds=[["true", kind]] * 8, interval=True))
    entry: ConfigMetrics = {"layout": "multiple_choice", "conditions": {"clean": numbers}}
    rows = [row for row in RunNumbers.of({"mc": entry}).figures.values() if row.score.kind]
    assert rows == [RunFigure("mc", "clean", against(kind), 1.0, rows[0].low, 1.0, 0.5, 8)]
