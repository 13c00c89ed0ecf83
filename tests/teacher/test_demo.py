"""`teach --demo`: goes on where it was killed, and prints all that the finding needs."""

import ast
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from video_contrast import builders, cli
from video_contrast.storage.run_figures import RunFigure, RunNumbers
from video_contrast.teacher import demo
from video_contrast.teacher.demo import changes

SMALL: dict[str, Any] = {
    "clips": 8, "items": 3, "progress": False, "epochs": 1, "evaluate_every": 1, "grouped": True, "batch_size": 8,
}  # fmt: skip


class Killed(BaseException):
    """What ends the first attempt."""


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    root = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("video_contrast.teacher.run.plot_curves", lambda output: None)  # as in the tests (conftest.py)
        patch.setattr(demo, "build", partial(builders.build, gallery=8))  # of 100 clips
        return root, demo.run(root / "whole", shared=root, **SMALL)


def test_a_killed_demo_ends_with_the_same_numbers(whole: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    root, metrics = whole

    def killed_in_the_second(*given: Any, **named: Any) -> Any:
        if named["objective"] == "lbl":
            return teach(*given, **named)
        teach(*given, **named, stop_after=1)
        raise Killed

    teach = demo.teach
    with monkeypatch.context() as patch:
        patch.setattr(demo, "teach", killed_in_the_second)
        with pytest.raises(Killed):
            demo.run(root / "killed", shared=root, **SMALL)
    assert (root / "killed" / "lgt" / "state").exists() and not (root / "killed" / "lgt" / "model").exists()
    assert demo.run(root / "killed", shared=root, **SMALL) == metrics
    for name in ("table.md", "lgt/curves.csv", "lgt/model/model.safetensors"):
        assert (root / "killed" / name).read_bytes() == (root / "whole" / name).read_bytes(), name


def test_the_table_has_a_line_a_model_and_all_of_its_columns(whole: tuple[Path, Any]) -> None:
    root, numbers = whole
    table = (root / "whole" / "table.md").read_text()
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines() if line.startswith("|")]
    assert lines[0][1:5] == ["RCAD R@1", "R@2", "R@3", "mean rank"]
    assert "retrieval v2t R@1" in lines[0] and "gender*" in lines[0]
    assert [line[0] for line in lines[2:]] == ["base", "lbl", "lgt"]
    assert lines[2][1] == f"{numbers['base'].figures[demo.COLUMNS['RCAD R@1']].value:.3f}"


def test_sensitivity_is_drawn_from_every_swap(whole: tuple[Path, Any]) -> None:
    root = whole[0]
    found = changes(root / "whole" / "scores" / "lbl")
    assert len(found["action"]) > len(found["object"]) > 0
    assert (root / "whole" / "sensitivity.png").read_bytes().startswith(b"\x89PNG")


def test_several_seeds_are_a_mean_and_a_deviation() -> None:
    def run(value: float) -> dict[str, RunNumbers]:
        figures = {place: RunFigure(*place, value) for place in demo.COLUMNS.values()}
        return {"lbl": RunNumbers(figures, [], [])}

    assert demo.table([run(0.5), run(0.7)]).splitlines()[2].startswith("| lbl | 0.600 ± 0.141 | 0.600 ± 0.141 |")
    assert demo.table([run(0.5)]).splitlines()[2].startswith("| lbl | 0.500 | 0.500 |")


@pytest.mark.parametrize(("rank", "tables"), [("0", 1), ("1", 0)])
def test_one_process_of_several_prints_the_table(
    rank: str, tables: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setattr(demo, "run", lambda output, **_: {})
    assert cli.main(["teach", "--demo", "--output", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("| mean rank |") == tables


def test_as_a_command_the_file_has_all_that_it_calls() -> None:
    *_, last = ast.parse(Path(demo.__file__).read_text(encoding="utf-8")).body
    assert isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'"
