"""The table that `score` prints, and what stands below it."""

from typing import Any

import numpy as np
import pytest

from video_contrast.metrics import multiple_choice
from video_contrast.reports.table_formats import show
from video_contrast.reports.table_lines import lines_of
from video_contrast.storage.run_figures import RunNumbers
from video_contrast.storage.run_notes import remarks


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    def lines(layout: str = "multiple_choice", config: str = "mixed_mc", **conditions: Any) -> list[str]:
        numbers = RunNumbers.of({config: {"layout": layout, "conditions": conditions}})  # type: ignore[typeddict-item]
        show(lines_of({"m": numbers}, detailed=True), ["m"])
        return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    return lines


def test_accuracies_by_kind_stand_with_their_interval_and_chance(printed: Any) -> None:
    scores = np.random.default_rng(0).normal(size=(40, 4))
    kinds = [["true", "verb", "random", "random"]] * 20 + [["true", "gender", "random", "random"]] * 20
    numbers = multiple_choice(scores, [0] * 40, kinds=kinds, interval=True)
    lines = printed(clean=numbers)
    for kind, chance in (("verb", 0.5), ("gender", 0.5), ("random", 1 / 3)):
        share, low, high = (numbers[f"accuracy_{kind}{end}"] for end in ("", "_low", "_high"))
        interval = f"{share:.3f} [{low:.3f}, {high:.3f}]"
        assert f"mixed_mc: against {kind} {chance:.3f} {numbers[f'n_{kind}']} {interval}" in lines


def test_retrieval_stands_with_its_chance_and_what_looks_for_the_other(printed: Any) -> None:
    ways = {"t2v_R@1": 0.5, "v2t_R@1": 0.4, "t2v_chance_R@1": 0.25, "v2t_chance_R@1": 0.125}
    ways |= {"n_captions": 8, "n_videos": 4}
    lines = printed("retrieval", "retrieval", clean=ways, **{"control:blind": ways | {"v2t_chance_R@1": 0.25}})
    assert "retrieval: text to video R@1 0.250 8 0.500" in lines
    assert "retrieval: video to text R@1 0.125 4 0.400" in lines
    assert "retrieval, control:blind: video to text R@1 0.250 4 0.400" in lines


def test_a_missing_file_is_named_once_and_only_the_first_few_are() -> None:
    missing = {f"my clips/{n}.mp4": f"my clips/{n}.mp4: cannot be read" for n in range(7)}
    model = {"revision": None, "kind": "none", "kind_version": "1", "options": {}}
    record: Any = {"n_missing": 7, "missing": missing, "model": model, "dtype": "float32"}
    lines = remarks(record)[1:]
    assert lines[0] == "  my clips/0.mp4: cannot be read"
    assert len(lines) == 6 and lines[-1] == "  and 2 more (run.json)"
    one: Any = record | {"n_missing": 1, "missing": {"a.mp4": "cannot be read"}}
    assert remarks(one)[0] == "1 clip missing; every figure is over the clips that all conditions have:"


def test_one_kind_needs_no_line_of_its_own(printed: Any) -> None:
    scores = np.random.default_rng(0).normal(size=(40, 2))
    numbers = multiple_choice(scores, [0] * 40, kinds=[["true", "verb"]] * 40, interval=True)
    assert [line for line in printed(clean=numbers) if "verb" in line] == []


def test_clips_with_several_questions_show_the_share_of_those_without_a_wrong_answer(printed: Any) -> None:
    scores = np.random.default_rng(0).normal(size=(40, 2))
    numbers = dict(multiple_choice(scores, [0] * 40, kinds=[["true", "order"]] * 40, interval=True))
    sides = {"right_in_all_of_clip_low": 0.2, "right_in_all_of_clip_high": 0.5, "clips": 20}
    lines = printed(clean=numbers | {"right_in_all_of_clip": 0.333} | sides)
    assert "mixed_mc: all questions of a clip 20 0.333 [0.200, 0.500]" in lines


def test_a_corrected_gamma_of_a_model_at_chance_is_no_number() -> None:
    from video_contrast.runner.conditions import parse
    from video_contrast.runner.table_metrics import robustness_of

    conditions = {condition.name: condition for condition in parse(["clean", "text:drop_first"])}
    perturbed = next(name for name in conditions if name != "clean")

    def measured(low: float) -> dict[str, Any]:
        clean = {"accuracy": 0.55, "accuracy_low": low, "accuracy_high": 0.8, "chance": 0.5}
        numbers = {"clean": clean, perturbed: {"accuracy": 0.8, "chance": 0.5}}
        found = robustness_of("multiple_choice", conditions, numbers)["accuracy"]
        return {"at_chance": found["at_chance"], "one": found["conditions"][perturbed], "mean": found["text"]}

    noise, able = measured(0.4), measured(0.52)
    assert noise["at_chance"] and noise["one"]["gamma_corrected"] is None and noise["mean"]["gamma_corrected"] is None
    assert not able["at_chance"] and able["one"]["gamma_corrected"] > 1 and able["mean"]["gamma_corrected"] > 1
    assert noise["one"]["gamma_relative"] == able["one"]["gamma_relative"]
