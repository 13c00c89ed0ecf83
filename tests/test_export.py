"""Built sets in the formats of lmms-eval and VLMEvalKit."""

import ast
import csv
import importlib.util
from pathlib import Path
from typing import Any

import fabricate
import pytest
import yaml

from video_contrast.cli import main
from video_contrast.reports.annotate.results import rows_of
from video_contrast.reports.exports import lmms_eval, vlmevalkit


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.make_set(tmp_path_factory.mktemp("sets") / "made", 12, captions=fabricate.HOSTILE)


def read_task(path: Path) -> tuple[dict[str, Any], Any]:
    """A task as lmms-eval reads it: `!function utils.name` is the function of the file beside it."""
    spec = importlib.util.spec_from_file_location("utils", path.parent / "utils.py")
    assert spec is not None and spec.loader is not None
    utils = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(utils)

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: getattr(utils, node.value.partition(".")[2]))
    return yaml.load(path.read_text(encoding="utf-8"), Loader), utils


def test_an_lmms_eval_task_asks_and_scores_every_item(made: Path, tmp_path: Path) -> None:
    import datasets

    tasks = lmms_eval(made, tmp_path / "tasks")
    assert {p.name for p in tasks.iterdir()} == {
        "utils.py", "_fabricated.yaml", "fabricated_random_mc.yaml", "fabricated_verb_mc.yaml",
    }  # fmt: skip
    task, utils = read_task(tasks / "fabricated_verb_mc.yaml")
    rows = datasets.load_dataset(task["dataset_path"], task["dataset_name"], split=task["test_split"])
    results = []
    for number, row in enumerate(rows):
        assert Path(task["doc_to_visual"](row)[0]).is_file()
        prompt = task["doc_to_text"](row, task["lmms_eval_specific_kwargs"]["default"])
        letter = task["doc_to_target"](row)
        assert f"{letter}. {row['candidates'][row['label']]}" in prompt
        answer = letter if number % 2 else "I do not know."
        results.append(task["process_results"](row, [answer])["accuracy"])
    assert task["metric_list"][0]["aggregation"](results) == 50.0
    assert {result["chosen"] for result in results} == {"true", "unparseable"}
    assert utils.letter_of("(B) because", ["x", "y"]) == "B"
    assert utils.letter_of("A man runs", ["x", "y"]) == ""
    assert utils.letter_of("Bman", ["x", "y"]) == ""
    assert utils.letter_of("Y.", ["x", "y"]) == "B"


def test_a_vlmevalkit_tsv_holds_the_items(made: Path, tmp_path: Path) -> None:
    files = vlmevalkit(made, tmp_path)
    assert [file.name for file in files] == ["fabricated_random_mc_test.tsv", "fabricated_verb_mc_test.tsv"]
    with open(files[1], encoding="utf-8", newline="") as handle:
        lines = list(csv.DictReader(handle, delimiter="\t"))
    rows = rows_of(made, "verb_mc")
    for number, (line, row) in enumerate(zip(lines, rows, strict=True)):
        assert int(line["index"]) == number
        assert line[line["answer"]] == row["candidates"][row["label"]]
        assert ast.literal_eval(line["candidates"])[row["label"]] == f"{line['answer']}. {line[line['answer']]}"
        assert (made / f"{line['video']}.mp4").is_file()


def test_lmms_eval_itself_reads_the_task(made: Path, tmp_path: Path) -> None:
    tasks = pytest.importorskip("lmms_eval.tasks", reason="lmms-eval is not installed")
    lmms_eval(made, tmp_path / "tasks")
    manager = tasks.TaskManager(include_path=str(tmp_path / "tasks"))
    assert "fabricated_verb_mc" in manager.all_tasks


def test_vlmevalkit_itself_reads_the_tsv(made: Path, tmp_path: Path) -> None:
    smp = pytest.importorskip("vlmeval.smp", reason="VLMEvalKit is not installed")
    assert len(smp.load(str(vlmevalkit(made, tmp_path)[1]))) == 12


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path), "--format", "vlmevalkit", "--output", str(tmp_path / "o")]) == 2
    assert "not a built set" in capsys.readouterr().err
