"""Exports run in inspect_ai and MTEB themselves, with a packaged checkpoint: every item is scored as by `score`."""

import base64
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import video_contrast
from video_contrast.cli import main
from video_contrast.reports.exports import Export, inspect_ai, mteb
from video_contrast.reports.foreign_logs import read_logs
from video_contrast.reports.runs import hit
from video_contrast.runner.kinds.base import LoadOptions
from video_contrast.storage import RunFolder, open_set
from video_contrast.video import Clip, footage_of

MODEL = "bag-of-frames"
FRAMES = 6


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of the shapes world, and a run of the packaged checkpoint on it."""
    root = tmp_path_factory.mktemp("peers")
    video_contrast.build("shapes", ["retrieval", "gender_mc"], output=root / "set", items=24)
    video_contrast.score(MODEL, root / "set", output=root / "run", frames=FRAMES, progress=False, accept="all")
    return root


@pytest.fixture(scope="module")
def encoder() -> Any:
    from video_contrast.runner.kinds import choose
    from video_contrast.runner.model_files import locate

    source = locate(str(video_contrast.checkpoint_path(MODEL)))
    return choose(source).load(source, LoadOptions())


def frames_of(path: Path) -> np.ndarray:
    footage = footage_of(path.parent, Clip(path.stem, path.name, None, None))
    return footage.decode(footage.sample(FRAMES, "uniform").tolist())


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_inspect_ai_runs_the_task_and_scores_every_item_as_the_run(
    world: Path, encoder: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inspect = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    from inspect_ai.model import ContentVideo, ModelAPI, ModelOutput, get_model, modelapi

    asked: list[int] = []

    class Checkpoint(ModelAPI):
        """Answers with the letter of the caption that the checkpoint prefers, in words; every fifth not at all."""

        async def generate(self, input: Any, tools: Any, tool_choice: Any, config: Any) -> Any:
            *shown, text = input[-1].content
            assert [type(part) for part in shown] == [ContentVideo]
            captions = [line[3:] for line in text.text.splitlines() if line[1:3] == ". "]
            file = tmp_path / "clip.mp4"  # inspect_ai sends the file itself
            file.write_bytes(base64.b64decode(shown[0].video.removeprefix("data:video/mp4;base64,")))
            clip = encoder.encode_videos([frames_of(file)])
            best = "ABCDEF"[int(np.argmax(encoder.join(clip, encoder.encode_texts(captions))[0]))]
            asked.append(1)
            manners = (
                f"{best}.",
                f"The answer is ({best})",
                f"**{best}** because he moves",
                f"{best}",
                "I cannot tell.",
            )
            return ModelOutput.from_content("checkpoint", manners[len(asked) % 5])

    modelapi(name="contrast_test")(lambda: Checkpoint)
    *data, source = inspect_ai(Export(world / "set", tmp_path / "tasks"))
    assert [path.name for path in data] == ["shapes_gender_mc_test.jsonl"] and source.name == "shapes.py"
    logs = inspect.eval(
        f"{source}@gender_mc", model=get_model("contrast_test/checkpoint"), log_dir=str(tmp_path / "logs"),
        display="none", max_connections=1,
    )  # fmt: skip
    assert [log.status for log in logs] == ["success"], logs[0].error
    own = RunFolder(world / "run").tables["gender_mc", "clean"]
    samples = {sample.id: sample.scores["named_candidate"] for sample in logs[0].samples}
    unread = [name for name, score in samples.items() if score.metadata["chosen"] == "unparseable"]
    assert len(samples) == len(own) == 24 and len(unread) == 5
    right = {name: score.value == "C" for name, score in samples.items()}
    assert right == {name: name not in unread and hit(row) == 1 for name, row in own.items()}
    [log] = read_logs(tmp_path / "logs")
    assert log.hits == {name: float(value) for name, value in right.items()}
    assert log.clusters == {name: row["cluster"] for name, row in own.items()}
    assert log.choices == {name: int(np.argmax(own[name]["scores"])) for name in own if name not in unread}
    reported = {name: metric.value for name, metric in logs[0].results.scores[0].metrics.items()}
    assert reported["accuracy"] == pytest.approx(np.mean(list(right.values()))) and "stderr" in reported


def test_inspect_ai_shows_images_on_request(world: Path, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
    from inspect_ai.model import ContentImage, ContentText

    module = imported(inspect_ai(Export(world / "set", tmp_path))[-1])
    sample = module.gender_mc(frames=3).dataset[0]
    assert [type(part) for part in sample.input[0].content] == [ContentImage] * 3 + [ContentText]
    assert sample.input[0].content[0].image.startswith("data:image/jpeg;base64,")


def test_mteb_ranks_every_item_as_the_run(
    world: Path, encoder: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = pytest.importorskip("mteb", reason="mteb is not installed")
    import datasets
    from mteb.models.model_meta import ModelMeta

    # `datasets` decodes with torchcodec, which machines without its FFmpeg lack: the model is told the file instead.
    monkeypatch.setattr(datasets.Video, "decode_example", lambda self, value, **_: value["path"])
    monkeypatch.setitem(datasets.config.__dict__, "TORCHCODEC_AVAILABLE", True)

    class Checkpoint:
        """The checkpoint as a model of MTEB."""

        mteb_model_meta = ModelMeta.create_empty(
            {"name": "test/checkpoint", "revision": "1", "modalities": ["text", "video"]}
        )

        def encode(self, inputs: Any, **_: Any) -> np.ndarray:
            rows = []
            for batch in inputs:
                if "video" in batch:
                    rows += [encoder.encode_videos([frames_of(Path(path))])[0] for path in batch["video"]]
                else:
                    rows += list(encoder.encode_texts(list(batch["text"])))
            return np.stack(rows)

        def similarity(self, first: Any, second: Any) -> Any:
            import torch

            return torch.as_tensor(np.asarray(first) @ np.asarray(second).T)

        similarity_pairwise = similarity

    module = imported(mteb(Export(world / "set", tmp_path))[0])
    names = ["ShapesGenderMc", "ShapesRetrievalT2V", "ShapesRetrievalV2T"]
    assert [task.metadata.name for task in module.TASKS] == names
    results = peer.evaluate(
        Checkpoint(), module.TASKS, cache=None, prediction_folder=tmp_path / "predictions", show_progress_bar=False
    )
    figures = {result.task_name: result.scores["test"][0] for result in results.task_results}
    run = RunFolder(world / "run")
    own = {config: entry["conditions"]["clean"] for config, entry in run.metrics["configs"].items()}
    expected = (own["gender_mc"]["accuracy"], own["retrieval"]["t2v_R@1"], own["retrieval"]["v2t_R@1"])
    for name, figure in zip(names, expected, strict=True):
        assert figures[name]["main_score"] == pytest.approx(figure, abs=1e-5)
    predicted = json.loads((tmp_path / "predictions/ShapesGenderMc_predictions.json").read_text())["default"]["test"]
    for item, row in run.tables["gender_mc", "clean"].items():
        scores = [predicted[item][f"{item}#{n}"] for n in range(len(row["scores"]))]
        np.testing.assert_allclose(scores, row["scores"], atol=2e-6)


def test_the_command_writes_files_that_compile(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, count in (("inspect-ai", 2), ("mteb", 1)):
        assert main(["export", str(world / "set"), "--format", name, "--output", str(tmp_path / name), "--json"]) == 0
        files = [Path(path) for path in json.loads(capsys.readouterr().out)]
        source = files[-1].read_text(encoding="utf-8")
        assert len(files) == count and not [
            mark for mark in ("@CUT@", "@TASKS@", "@SETS@", "THIS_FILE") if mark in source
        ]
        compile(source, files[-1].name, "exec")
    lines = (tmp_path / "inspect-ai/shapes_gender_mc_test.jsonl").read_text(encoding="utf-8").splitlines()
    rows = open_set(world / "set").choice_rows("gender_mc", "test")
    assert [json.loads(line)["id"] for line in lines] == [row["id"] for row in rows]
    assert main(["export", str(world / "set"), "--format", "inspect-ai", "--repo", "a/b", "--output", "x"]) == 2
