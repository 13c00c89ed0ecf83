"""Conditions, comparison of runs, published tables, the commands, and what a finished run costs."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import runner_set

from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.reports.compare import compare_runs, lines
from video_contrast.reports.reproduce import NAMES, published
from video_contrast.runner import score
from video_contrast.runner.clip_reader import feed
from video_contrast.runner.conditions import from_recipe, parse


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("more")
    runner_set.write(root / "set", n_clips=10)  # five videos: fewer have no intervals
    for model in ("random", "constant"):
        score(model, root / "set", ["verb_mc", "retrieval"], output=root / model, progress=False)
    return root


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("clean", 1),
        ("visual:*", 90),
        ("visual:Noise", 20),
        ("visual:jumble", 5),
        ("visual:*@3", 18),
        ("visual:jumble@3,visual:jumble", 5),
        ("text:*", 35),
        ("text:Bias", 4),
        ("pairs", 66),
        ("controls", 4),
        ("clean,visual:*,text:*,pairs", 192),
        ("visual:jumble@3+text:Bias", 4),
    ],
)
def test_the_grammar_names_the_papers_conditions_each_once(text: str, count: int) -> None:
    found = parse(text)
    assert len(found) == len({condition.name for condition in found}) == count


def test_what_is_named_must_run_and_what_a_wildcard_names_may_be_left_out() -> None:
    assert all(condition.wildcard for condition in parse("text:*"))
    by_name = {condition.name: condition for condition in parse("text:*,text:ocr")}
    assert not by_name["text:ocr"].wildcard and by_name["text:keyboard"].wildcard


def test_a_recipe_of_a_perturbed_set_is_the_condition_of_that_name() -> None:
    recipe = {"name": "jumble", "severity": 3, "profile": "paper", "seed": 0, "scope": "clip"}
    found = from_recipe({**recipe, "order": "perturb_then_sample"}, None)
    assert found is not None and found.visual == parse("visual:jumble@3")[0].visual and found.name == "visual:jumble@3"
    assert from_recipe(None, None) is None


@pytest.mark.parametrize("text", ["visual:jumble@0", "text:keybord", "control:blnd", "jumble@3+text:ocr", ",", "pears"])
def test_a_condition_that_there_is_not_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)


def test_a_run_against_itself_differs_by_nothing(place: Path) -> None:
    rows = compare_runs(place / "random", place / "random")
    assert {"accuracy", "t2v R@1", "v2t R@1"} <= {row["figure"] for row in rows}
    assert all(row["difference"] == 0 and row["low"] < 0 < row["high"] and row["p_value"] == 1 for row in rows)


def test_a_comparison_is_of_the_two_runs_own_figures(place: Path) -> None:
    from video_contrast.runner import read_result

    first, second = (read_result(place / name) for name in ("random", "constant"))
    row = next(row for row in compare_runs(place / "random", place / "constant") if row["figure"] == "accuracy")
    expected = [run["verb_mc"]["conditions"]["clean"]["accuracy"] for run in (first, second)]
    assert [row["first"], row["second"]] == expected
    assert row["difference"] == pytest.approx(expected[1] - expected[0])
    assert row["low"] <= row["difference"] <= row["high"] and row["p_holm"] >= row["p_value"]
    for way in ("t2v", "v2t"):
        found = next(row for row in compare_runs(place / "random", place / "constant") if row["figure"] == f"{way} R@1")
        assert found["first"] == pytest.approx(first["retrieval"]["conditions"]["clean"][f"{way}_R@1"])


def test_runs_that_cannot_be_compared_say_why(place: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no finished run"):
        compare_runs(place / "random", tmp_path)
    runner_set.write(tmp_path / "set", n_clips=4)
    score("random", tmp_path / "set", "verb_mc", output=tmp_path / "run", progress=False)
    with pytest.raises(VideoContrastError, match="scored different states of the config verb_mc"):
        compare_runs(place / "random", tmp_path / "run")
    with pytest.raises(UsageError, match="did you mean 'verb_mc'"):
        compare_runs(place / "random", place / "constant", ["verb_md"])


def test_a_comparison_says_what_its_videos_can_show(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = compare_runs(place / "random", place / "constant", ["verb_mc"], points=20)
    assert {row["power"]["difference"] for row in rows} == {0.2}
    assert "can reach" not in "".join(lines([row | {"n_clusters": 6} for row in rows]))
    runner_set.write(tmp_path / "set", n_clips=5)
    for name in ("random", "constant"):
        score(name, tmp_path / "set", "verb_mc", output=tmp_path / name, progress=False)
    call = ["compare", str(tmp_path / "random"), str(tmp_path / "constant"), "--points", "10"]
    assert main(call) == 0
    shown = capsys.readouterr().out
    assert "at 3 videos no difference can reach 0.05: the least p-value is 0.25" in shown
    assert "to tell 10.0 points apart (80 % power) you need" in shown
    assert "there are 3, too few to show any difference" in shown and "points or more" not in shown
    assert "McNemar's test takes a tie as wrong, all else as its share: " in shown  # the constant model ties everywhere


def test_a_comparison_ends_with_code_3_where_the_second_run_is_lower(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = compare_runs(place / "constant", place / "random")
    worst = min(row["difference"] for row in rows)
    call = ["compare", str(place / "constant"), str(place / "random"), "--tolerance"]
    assert worst < 0 and main([*call, str(-worst)]) == 0
    capsys.readouterr()
    assert main([*call, str(-worst / 2)]) == 3
    assert f"figures fell by more than {-worst / 2:g}: " in capsys.readouterr().err
    assert main([*call, "-1"]) == 2


@pytest.mark.parametrize("name", NAMES)
def test_published_tables_have_sources_known_errors_and_plausible_figures(name: str) -> None:
    paper = published(name)
    assert paper["source"] and paper["citation"] and paper["notes"]
    for table in paper["tables"]:
        assert table["rows"]
        for row in table["rows"]:
            assert row["model"] and row["dataset"]
            assert all(0 <= table["value"] <= 100 for table in row["figures"].values())


def test_published_figures_agree_among_themselves() -> None:
    tables = {table["name"]: table for table in published("robustness")["tables"]}
    by_origin, whole = (
        {(r["model"], r["dataset"]): r["figures"] for r in tables[t]["rows"]} for t in ("Table 12", "Table 9")
    )
    assert by_origin.keys() == whole.keys() and len(whole) == 16
    for key, figures in by_origin.items():
        parts = [figures[f"text:{origin}:gamma_relative"]["value"] for origin in ("natural", "machine", "synthetic")]
        assert min(parts) - 0.01 <= whole[key]["text:gamma_relative"]["value"] <= max(parts) + 0.01


@pytest.mark.parametrize(
    ("detail", "key"),
    [
        ("Table 2", "visual:gamma_relative"),
        ("Table 8", "visual:gamma_absolute"),
        ("Table 3", "text:gamma_relative"),
        ("Table 7", "text:gamma_absolute"),
    ],
)
def test_published_means_are_those_of_their_categories_but_for_the_row_that_the_notes_name(
    detail: str, key: str
) -> None:
    """Every category counts with its number of perturbations; figures are printed to two places."""
    import video_contrast.perturbations.text
    import video_contrast.perturbations.video  # noqa: F401  fills the registry
    from video_contrast.perturbations.registry import TEXT, VIDEO

    paper = published("robustness")
    tables = {table["name"]: table["rows"] for table in paper["tables"]}
    numbers = Counter(spec.category for spec in [*TEXT.values(), *VIDEO.values()])
    whole = {(row["model"], row["dataset"]): row["figures"][key]["value"] for row in tables["Table 9"]}
    differing = []
    for row in tables[detail]:
        found = {name.split(":")[1]: table["value"] for name, table in row["figures"].items()}
        if len(found) < (5 if key.startswith("visual") else 6):
            continue  # a row that is legible in part
        mean = sum(numbers[c] * value for c, value in found.items()) / sum(numbers[c] for c in found)
        if abs(mean - whole[row["model"], row["dataset"]]) > 0.015:
            differing.append((row["model"], row["dataset"], round(mean, 3)))
    if key.startswith("visual"):
        assert not differing
    else:
        ((model, _, mean),) = differing
        assert any(f"{model} on YouCook2" in note and str(mean) in note for note in paper["notes"])


def test_the_text_column_of_table_4_is_table_12s_machine() -> None:
    tables = {
        t["name"]: {(r["model"], r["dataset"]): r["figures"] for r in t["rows"]}
        for t in published("robustness")["tables"]
    }
    for row, figures in tables["Table 4"].items():
        for key, table in figures.items():
            assert table == tables["Table 9" if key.startswith("visual") else "Table 12"][row][key], (row, key)


def test_the_commands_score_compare_and_reproduce(
    place: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["score", "--model", "constant", "--dataset", str(place / "set"), "--config", "verb_mc"]
    assert main([*base, "--output", str(tmp_path / "run")]) == 0
    assert "verb_mc" in (printed := capsys.readouterr().out) and "0.333" in printed
    assert main([*base, "--dry-run"]) == 0
    assert "visual_encodings" in capsys.readouterr().out
    assert main([*base, "--dry-run", "--conditions", "clean,visual:*,controls"]) == 0
    shown = capsys.readouterr().out
    assert " 95: clean, visual:shot_noise@1, " in shown and max(map(len, shown.splitlines())) < 140
    assert main(["compare", str(tmp_path / "run"), str(place / "random"), "--config", "verb_mc"]) == 0
    assert "McNemar" in capsys.readouterr().out
    assert main(["reproduce", "rcad"]) == 0
    assert "LanguageBind" in capsys.readouterr().out
    assert main([*base]) == 2
    assert "give --output DIR" in capsys.readouterr().err
    assert main(["score", "--model", "constant", "--dataset", "./nowhere", "--output", str(tmp_path / "x")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1


def test_a_finished_run_is_recognised_before_torch_is_imported(place: Path) -> None:
    code = (
        "import sys, time; from video_contrast.runner import score; "
        f"r = score('random', {str(place / 'set')!r}, ['verb_mc', 'retrieval'], output={str(place / 'random')!r}, "
        "progress=False); assert r.metrics; heavy = {'torch', 'transformers', 'datasets'} & set(sys.modules); "
        "assert not heavy, heavy; assert time.process_time() < 2"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 0, done.stderr


def test_work_is_handed_over_in_order_never_far_ahead_and_with_its_errors() -> None:
    begun: list[int] = []

    def work(job: int):  # type: ignore[no-untyped-def]
        begun.append(job)
        for n in range(5):
            if job == 3 and n == 2:
                raise ValueError("job 3")
            yield (job, n)

    for workers in (0, 1, 4):
        begun.clear()
        seen = []
        for job, results in feed(range(20), work, workers=workers, ahead=4, depth=2):
            assert len(begun) <= job + 1 + 5
            try:
                seen.extend(results)
            except ValueError as error:
                seen.append(str(error))
        expected = [(job, n) if job != 3 or n < 2 else "job 3" for job in range(20) for n in range(5)]
        expected = [e for i, e in enumerate(expected) if e != "job 3" or expected[i - 1] != "job 3"]
        assert seen == expected


def test_a_consumer_that_stops_leaves_no_thread_running() -> None:
    import threading

    before = threading.active_count()
    stream = feed(range(50), lambda job: iter(range(job)), workers=3, ahead=4, depth=1)
    next(stream)
    stream.close()
    assert threading.active_count() <= before


def test_the_store_finds_rows_in_any_order(tmp_path: Path) -> None:
    from video_contrast.runner.embedding_store import Store

    store = Store(tmp_path, "space")
    store.put(["a", "b"], np.eye(2, dtype=np.float32), np.array([[0, 1], [2, 3]]))
    store.put(["c"], np.full((1, 2), 7, np.float32), np.array([[4, 5]]))
    again = Store(tmp_path, "space")
    np.testing.assert_array_equal(again.get(["c", "a"]), [[7, 7], [1, 0]])
    np.testing.assert_array_equal(again.numbers(["b", "c"]), [[2, 3], [4, 5]])
    assert "a" in again and "z" not in again and len(again) == 3
