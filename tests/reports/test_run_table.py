"""The table that `score` prints."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from video_contrast.metrics import multiple_choice
from video_contrast.reports.run_table import remarks, table


def printed(**conditions: Any) -> list[str]:
    from io import StringIO

    from rich.console import Console

    entry = {"layout": "multiple_choice", "conditions": conditions}
    result: Any = SimpleNamespace(metrics={"configs": {"mixed_mc": entry}}, record={})
    console = Console(file=StringIO(), width=140)
    console.print(table(result))
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_accuracies_by_kind_stand_with_their_interval_and_chance() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 4))
    kinds = [["true", "verb", "random", "random"]] * 20 + [["true", "gender", "random", "random"]] * 20
    numbers = multiple_choice(scores, [0] * 40, kinds=kinds, interval=True)
    lines = printed(clean=numbers)
    for kind, chance in (("verb", 0.5), ("gender", 0.5), ("random", 1 / 3)):
        share, low, high = (numbers[f"accuracy_{kind}{end}"] for end in ("", "_low", "_high"))
        assert f"{kind} {share:.3f} [{low:.3f}, {high:.3f}] {chance:.3f} {numbers[f'n_{kind}']}" in lines


def test_retrieval_stands_with_its_chance() -> None:
    from io import StringIO

    from rich.console import Console

    ways = {"t2v_R@1": 0.5, "v2t_R@1": 0.4, "t2v_chance_R@1": 0.25, "v2t_chance_R@1": 0.125, "n_captions": 8}
    entry = {"layout": "retrieval", "conditions": {"clean": ways, "control:blind": ways | {"v2t_chance_R@1": 0.25}}}
    result: Any = SimpleNamespace(metrics={"configs": {"retrieval": entry}}, record={})
    console = Console(file=StringIO(), width=140)
    console.print(table(result))
    lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert "retrieval clean t2v R@1 0.500 v2t R@1 0.400 0.250 0.125 8" in lines
    assert "retrieval control:blind t2v R@1 0.500 v2t R@1 0.400 0.250 8" in lines


def test_a_missing_file_is_named_once_and_only_the_first_few_are() -> None:
    missing = {f"my clips/{n}.mp4": f"my clips/{n}.mp4: cannot be read" for n in range(7)}
    result: Any = SimpleNamespace(metrics={"configs": {}}, record={"n_missing": 7, "missing": missing})
    lines = remarks(result)[1:]
    assert lines[0] == "  my clips/0.mp4: cannot be read"
    assert len(lines) == 6 and lines[-1] == "  and 2 more (run.json)"
    one: Any = SimpleNamespace(metrics={"configs": {}}, record={"n_missing": 1, "missing": {"a.mp4": "cannot be read"}})
    assert remarks(one)[0] == "1 clip missing; every figure is over the clips that all conditions have:"


def test_one_kind_needs_no_line_of_its_own() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 2))
    numbers = multiple_choice(scores, [0] * 40, kinds=[["true", "verb"]] * 40, interval=True)
    assert not any(line.startswith("verb") for line in printed(clean=numbers))


def test_clips_with_several_questions_show_the_share_of_those_without_a_wrong_answer() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 2))
    numbers = dict(multiple_choice(scores, [0] * 40, kinds=[["true", "order"]] * 40, interval=True))
    sides = {"right_in_all_of_clip_low": 0.2, "right_in_all_of_clip_high": 0.5, "clips": 20}
    lines = printed(clean=numbers | {"right_in_all_of_clip": 0.333} | sides)
    assert any("all questions of a clip 0.333 [0.200, 0.500]" in line for line in lines)


def test_a_corrected_gamma_of_a_model_at_chance_is_no_number() -> None:
    from video_contrast.runner.conditions import parse
    from video_contrast.runner.robustness import robustness_of

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
