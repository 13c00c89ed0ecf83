"""Built sets in the formats of lmms-eval and VLMEvalKit."""

import ast
import csv
import importlib.util
import json
import runpy
import sys
import types
from pathlib import Path
from typing import Any

import fabricate
import pandas as pd
import pytest
import yaml

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.cli import main
from video_contrast.errors import UsageError
from video_contrast.files import write_text
from video_contrast.question_text import Question
from video_contrast.reports.exports import Export, lmms_eval, vlmevalkit
from video_contrast.reports.foreign_logs import read_logs
from video_contrast.rows import multiple_choice_row
from video_contrast.storage import open_set
from video_contrast.video import read_video, write_video


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

    tasks = tmp_path / "tasks"
    assert {p.name for p in lmms_eval(Export(made, tasks))} == {
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
    samples = [{"doc_id": n, "target": "A", "accuracy": result} for n, result in enumerate(results)]
    log = write_text(tmp_path / "m" / "1_samples_verb_mc.jsonl", "\n".join(map(json.dumps, samples)))
    assert read_logs(log)[0].hits == {row["id"]: number % 2 for number, row in enumerate(rows)}
    assert utils.letter_of("(B) because", ["x", "y"]) == "B"
    assert utils.letter_of("A man runs", ["x", "y"]) == ""
    assert utils.letter_of("Bman", ["x", "y"]) == ""
    assert utils.letter_of("Y.", ["x", "y"]) == "B"


def test_a_vlmevalkit_tsv_holds_the_items(made: Path, tmp_path: Path) -> None:
    files = vlmevalkit(Export(made, tmp_path))
    assert [file.name for file in files] == [
        "fabricated_random_mc_test.tsv", "fabricated_verb_mc_test.tsv", "video_contrast_sets.py",
    ]  # fmt: skip
    compile(files[2].read_text(encoding="utf-8"), "video_contrast_sets.py", "exec")
    with open(files[1], encoding="utf-8", newline="") as handle:
        lines = list(csv.DictReader(handle, delimiter="\t"))
    rows = open_set(made).choice_rows("verb_mc", "test")
    for number, (line, row) in enumerate(zip(lines, rows, strict=True)):
        assert int(line["index"]) == number
        assert line[line["answer"]] == row["candidates"][row["label"]]
        assert ast.literal_eval(line["candidates"])[row["label"]] == line[line["answer"]]
        assert (made / f"{line['video']}.mp4").is_file()


def test_no_cell_is_a_formula_and_the_class_restores_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A caption of anyone could begin as a formula that a spreadsheet runs."""
    texts = ['=HYPERLINK("http://x","y")', "+1 is shown", "@SUM(A1)", "-a man sits", "'=1", "-3"]
    rows = [
        multiple_choice_row(
            id=f"={n}", video_id="v", video_path="v.mp4", candidates=[text, "a dog runs"], label=0,
            kinds=["true", "random"], edits=[None] * 2,
        )
        for n, text in enumerate(texts)
    ]  # fmt: skip
    facts = {"pretty_name": "T", "summary": "s", "licence": "x", "seed": 0, "configs": {"random_mc": {}}}
    write_set(BuiltSet("fabricated", {"random_mc": {"test": rows}}, facts, {}), tmp_path / "set")
    (tmp_path / "set" / "v.mp4").write_bytes(b"")
    files = vlmevalkit(Export(tmp_path / "set", tmp_path / "out"))
    with open(files[0], encoding="utf-8", newline="") as handle:
        lines = list(csv.DictReader(handle, delimiter="\t"))
    cells = [cell for line in lines for cell in line.values()]
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "@") or (cell[:1] == "-" and cell != "-3")]
    source = files[-1].read_text(encoding="utf-8")
    restored = runpy.run_path(str(_only(source, "restored", tmp_path)))["restored"]
    assert [restored(line["A"]) for line in lines] == texts
    assert [restored(line["id"]) for line in lines] == [row["id"] for row in rows]


def test_a_video_root_with_quotes_is_found(tmp_path: Path) -> None:
    rows = [multiple_choice_row(id="a", video_id="v", video_path="v.mp4", candidates=["a man", "a dog"], label=0,
                                kinds=["true", "random"], edits=[None] * 2)]  # fmt: skip
    facts = {"pretty_name": "T", "summary": "s", "licence": "x", "seed": 0, "configs": {"random_mc": {}}}
    root = tmp_path / 'the "best" o\'f ü 😀'
    write_set(BuiltSet("fabricated", {"random_mc": {"test": rows}}, facts, {}), root)
    (root / "v.mp4").write_bytes(b"")
    lmms_eval(Export(root, tmp_path / "out"))
    utils = runpy.run_path(str(next((tmp_path / "out").rglob("utils.py"))))
    assert utils["doc_to_visual"](rows[0]) == [str(root / "v.mp4")]


def _only(source: str, name: str, folder: Path) -> Path:
    """A file with one function of a Python source, and its imports of the standard library."""
    tree = ast.parse(source)
    tree.body = [
        node for node in tree.body
        if getattr(node, "name", "") == name or (isinstance(node, ast.Import) and node.names[0].name == "re")
    ]  # fmt: skip
    path = folder / f"{name}.py"
    path.write_text(ast.unparse(tree), encoding="utf-8")
    return path


def test_lmms_eval_itself_reads_asks_and_scores_the_task(made: Path, tmp_path: Path) -> None:
    tasks = pytest.importorskip("lmms_eval.tasks", reason="lmms-eval is not installed")
    evaluator = pytest.importorskip("lmms_eval.evaluator", reason="lmms-eval's evaluator does not import")
    from lmms_eval.api.model import lmms

    class EverySecond(lmms):  # type: ignore[misc]
        """Answers the letter of every second item."""

        def generate_until(self, requests: Any) -> list[str]:
            found = []
            for request in requests:
                _, _, visual, number, task, split = request.args
                row = self.task_dict[task][split][number]
                assert Path(visual(row)[0]).is_file()
                found.append("ABCDE"[row["label"]] if number % 2 else "I do not know.")
            return found

        def generate_until_multi_round(self, requests: Any) -> Any:
            raise AssertionError("only one round is asked for")

        def loglikelihood(self, requests: Any) -> Any:
            raise AssertionError("only generation is asked for")

    lmms_eval(Export(made, tmp_path / "tasks"))
    manager = tasks.TaskManager(include_path=str(tmp_path / "tasks"))
    assert {"fabricated", "fabricated_verb_mc", "fabricated_random_mc"} <= set(manager.all_tasks)
    found = evaluator.simple_evaluate(
        model=EverySecond(), tasks=["fabricated_verb_mc"], task_manager=manager, batch_size=1
    )
    assert found["results"]["fabricated_verb_mc"]["accuracy,none"] == 50.0


def test_vlmevalkit_itself_reads_asks_and_scores_the_set(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = pytest.importorskip("vlmeval.dataset", reason="VLMEvalKit is not installed")
    monkeypatch.setenv("HOME", str(tmp_path))  # it keeps frames there
    files = vlmevalkit(Export(made, tmp_path / "tsv"))
    spec = importlib.util.spec_from_file_location("video_contrast_sets", files[-1])
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register()
    data = known.build_dataset("fabricated_verb_mc_test", nframe=3)
    rows = open_set(made).choice_rows("verb_mc", "test")
    assert len(data) == len(rows) == 12
    shown = data.build_prompt(2, video_llm=True)
    assert Path(shown[0]["value"]).is_file() and rows[2]["candidates"][4] in shown[-1]["value"]
    if importlib.util.find_spec("decord"):
        frames = [part["value"] for part in data.build_prompt(2, video_llm=False) if part["type"] == "image"]
        assert len(frames) == 3 and all(Path(frame).is_file() for frame in frames)
    answers = data.data.copy()
    answers["prediction"] = [letter if n % 2 else "I do not know." for n, letter in enumerate(answers["answer"])]
    answers.to_csv(tmp_path / "p.tsv", sep="\t", index=False)
    assert data.evaluate(str(tmp_path / "p.tsv")) == {
        "accuracy": 50.0, "chose true": 50.0, "chose unparseable": 50.0,
    }  # fmt: skip


def set_of(folder: Path, name: str, configs: dict[str, list[Any]]) -> Path:
    return write_set(BuiltSet(name, {config: {"test": rows} for config, rows in configs.items()}), folder)


PROMPT = "Look at {frames} frames. {question}\nOptions:\n{options}\nAnswer with one letter."


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set whose first row has a question with a prompt of its release, and a span; the second asks yes or no."""
    folder = tmp_path_factory.mktemp("sets") / "questions"
    write_video(folder / "clips/a.mp4", fabricate.clip(0, frames=16), 8)
    shared = {"video_id": "a", "video_path": "clips/a.mp4", "kinds": ["true", "order"], "label": 0}
    lettered = multiple_choice_row(
        id="0", candidates=["to play {frames}", "to rest"], question="Why does he run?", start=0.5, end=1.0,
        meta={"prompt": PROMPT, "option": "({letter}) {text}"}, **shared,
    )  # fmt: skip
    yes = multiple_choice_row(
        id="1", candidates=["Yes", "No"], question="Does he run?", meta={"prompt": "{question} Yes or no?"}, **shared
    )
    return set_of(folder, "asked", {"why_mc": [lettered, yes]})


ASKED = "Look at 8 frames. Why does he run?\nOptions:\n(A) to play {frames}\n(B) to rest\nAnswer with one letter."


def test_lmms_eval_asks_the_question_with_the_prompt_of_its_release(questions: Path, tmp_path: Path) -> None:
    task, _ = read_task(
        next(f for f in lmms_eval(Export(questions, tmp_path, write_videos=True)) if f.suffix == ".yaml")
    )
    first, second = open_set(questions).choice_rows("why_mc", "test")
    own = task["lmms_eval_specific_kwargs"]["default"]
    assert task["doc_to_text"](first, own) == ASKED
    assert task["doc_to_text"](second, own) == "Does he run? Yes or no?" and task["doc_to_target"](second) == "Yes"
    answers = ("Yes, he does.", "no", "A")
    assert [task["process_results"](second, [text])["accuracy"]["right"] for text in answers] == [True, False, False]


def test_vlmevalkit_asks_the_question_with_the_prompt_of_its_release(questions: Path, tmp_path: Path) -> None:
    files = vlmevalkit(Export(questions, tmp_path, write_videos=True))
    with open(files[0], encoding="utf-8", newline="") as handle:
        first, second = csv.DictReader(handle, delimiter="\t")
    asked = Question(*(first[name] for name in ("question", "prompt", "option"))).of_frames(8)
    assert asked.prompt_for(ast.literal_eval(first["candidates"])) == ASKED
    assert second["question"] == "Does he run?" and second["prompt"] == "{question} Yes or no?"
    assert (first["answer"], second["answer"]) == ("A", "Yes")


@pytest.mark.parametrize("export", [lmms_eval, vlmevalkit])
def test_a_span_is_refused_or_cut(questions: Path, tmp_path: Path, export: Any) -> None:
    with pytest.raises(UsageError, match=r"why_mc, row 0 \(id '0'\): .* --write-videos"):
        export(Export(questions, tmp_path / "refused"))
    assert not (tmp_path / "refused").exists()
    export(Export(questions, tmp_path / "cut", write_videos=True))
    [cut] = set((tmp_path / "cut" / "clips").iterdir()) - {tmp_path / "cut/clips/a.mp4"}
    assert len(read_video(cut).frames) == 4  # 0.5 s of 8 frames a second


def test_lmms_eval_shows_the_cut_file_of_a_span(questions: Path, tmp_path: Path) -> None:
    task, _ = read_task(
        next(f for f in lmms_eval(Export(questions, tmp_path, write_videos=True)) if f.suffix == ".yaml")
    )
    first, second = open_set(questions).choice_rows("why_mc", "test")
    [cut] = set((tmp_path / "clips").iterdir()) - {tmp_path / "clips/a.mp4"}
    assert task["doc_to_visual"](first) == [str(cut)]
    assert task["doc_to_visual"](second) == [str(tmp_path / "clips/a.mp4")]


def test_a_perturbed_set_is_refused(tmp_path: Path) -> None:
    recipe = {"name": "blur", "severity": 3, "profile": "paper", "seed": 0, "scope": "clip", "order": "perturb_first"}
    row = fabricate.choice_rows(1)[0] | {"text_perturbation": None, "video_perturbation": recipe}
    set_of(tmp_path / "set", "blurred", {"mc": [row]})
    for export in (lmms_eval, vlmevalkit):
        with pytest.raises(UsageError, match="perturb"):
            export(Export(tmp_path / "set", tmp_path / "out", write_videos=True))


def test_more_candidates_than_letters_are_refused(tmp_path: Path) -> None:
    row = multiple_choice_row(
        id="0", video_id="a", video_path="a.mp4", candidates=[f"text {n}" for n in range(27)], label=0,
        kinds=["true"] + ["random"] * 26,
    )  # fmt: skip
    set_of(tmp_path / "set", "long", {"mc": [row]})
    for export in (lmms_eval, vlmevalkit):
        with pytest.raises(UsageError, match="26"):
            export(Export(tmp_path / "set", tmp_path / "out"))


def test_the_class_for_vlmevalkit_asks_and_scores(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against stand-ins of what it takes from VLMEvalKit, where that is not installed."""

    class VideoBaseDataset:
        def __init__(self, dataset: str, nframe: int, fps: float) -> None:
            self.nframe, self.data_root = nframe, self.prepare_dataset(dataset)["root"]  # type: ignore[attr-defined]

    parts: dict[str, dict[str, Any]] = {
        "vlmeval": {},
        "vlmeval.dataset": {"DATASET_CLASSES": []},
        "vlmeval.dataset.video_base": {"VideoBaseDataset": VideoBaseDataset},
        "vlmeval.dataset.video_dataset_config": {"supported_video_datasets": {}},
        "vlmeval.smp": {
            "load": lambda path: pd.read_csv(path, sep="\t"),
            "dump": lambda result, path: isinstance(result, dict) or result.to_csv(f"{path}.tsv", sep="\t"),
            "get_intermediate_file_path": lambda path, ending: path + ending,
        },
    }
    for name, content in parts.items():
        module = types.ModuleType(name)
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, name, module)
    files = vlmevalkit(Export(questions, tmp_path, write_videos=True))
    script = runpy.run_path(str(files[-1]))
    script["register"]()
    data = parts["vlmeval.dataset.video_dataset_config"]["supported_video_datasets"]["asked_why_mc_test"]()
    lines = pd.read_csv(files[0], sep="\t")
    video, text = data.build_prompt(lines.iloc[0], video_llm=True)
    assert text["value"] == ASKED and len(read_video(video["value"]).frames) == 4
    lines["prediction"] = ["(A) to play {frames}", "It does not."]
    lines.to_csv(tmp_path / "answers.tsv", sep="\t", index=False)
    result = data.evaluate(str(tmp_path / "answers.tsv"))
    assert result == {"accuracy": 50.0, "chose true": 50.0, "chose unparseable": 50.0}
    assert read_logs(tmp_path / "answers.tsv_score.tsv")[0].hits == {"0": 1.0, "1": 0.0}


def test_the_command_names_its_files(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, count in (("lmms-eval", 4), ("vlmevalkit", 3)):
        assert main(["export", str(made), "--format", name, "--output", str(tmp_path / name), "--json"]) == 0
        files = json.loads(capsys.readouterr().out)
        assert len(files) == count and all(Path(file).is_file() for file in files)


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path), "--format", "vlmevalkit", "--output", str(tmp_path / "o")]) == 2
    assert "not a built set" in capsys.readouterr().err
