"""The `evaluate` modules: by path, by bare name, from a Space; their inputs, keys, cards and apps."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import video_contrast
from video_contrast import metrics
from video_contrast.cli import main
from video_contrast.errors import UsageError
from video_contrast.metrics import evaluate_modules as modules

NAMES = list(modules.MODULES)


@pytest.fixture
def mc(evaluate: Any) -> Any:
    return evaluate.load(video_contrast.metric_path("video_contrast_mc"))


@pytest.mark.parametrize("name", NAMES)
def test_every_module_loads_by_path_and_computes_its_example(name: str, evaluate: Any) -> None:
    loaded = evaluate.load(video_contrast.metric_path(name))
    assert loaded.module_type == modules.MODULES[name].kind
    assert loaded.compute(**loaded.example)
    assert "Args:" in loaded.inputs_description


def test_a_bare_name_after_register_and_not_before(evaluate: Any) -> None:
    with pytest.raises(FileNotFoundError):
        evaluate.load("video_contrast_mc")
    with video_contrast.register():
        again = video_contrast.register()
        assert evaluate.load("video_contrast_mc").compute(predictions=[[1, 0]], references=[0])["accuracy"] == 1
        combined = evaluate.combine(["video_contrast_mc", "video_rcad"])
        result = combined.compute(predictions=[[0.1, 0.2, 0.3]] * 2, references=[2, 0])
        assert result["accuracy"] == 0.5
        assert result["video_rcad_R@1"] == 0.5
        assert result["R@3"] == 1
    with pytest.raises(FileNotFoundError):
        evaluate.load("video_contrast_mc")
    again.close()  # already undone: nothing happens


SCRIPT = """
import json, sys
sys.modules["video_contrast"] = None  # the Spaces must do without the package
sys.modules["transformers"] = None  # `evaluate` may do without it: importing it would take most of the seconds
import evaluate
del sys.modules["transformers"]
found = {}
for path in sys.argv[1:]:
    module = evaluate.load(path)
    found[module.name] = module.compute(**module.example)
assert not any(name.startswith("video_contrast.") for name in sys.modules)
del sys.modules["video_contrast"]
for name in list(found):
    module = evaluate.load(name)
    found["bare " + name] = [module.module_type, module.compute(**module.example)]
json.dump(found, sys.stdout)
"""


@pytest.mark.processes
def test_a_script_without_the_package_loads_spaces_and_installed_names(tmp_path: Path, evaluate: Any) -> None:
    modules.install(cache=tmp_path / "hf" / "modules")
    spaces = [modules.write_space(name, tmp_path / "spaces" / name) / f"{name}.py" for name in NAMES]
    environment = {k: v for k, v in os.environ.items() if k != "HF_MODULES_CACHE"} | {"HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, spaces)],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    bare = {name: found.pop(f"bare {name}") for name in NAMES}
    assert bare == {name: [modules.MODULES[name].kind, found[name]] for name in NAMES}
    assert sorted(found) == sorted(NAMES)
    for name, result in found.items():
        here = evaluate.load(video_contrast.metric_path(name))
        assert json.loads(json.dumps(here.compute(**here.example))) == result, name


def test_install_is_versioned_idempotent_and_refreshed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (first,) = modules.install(["video_contrast_mc"], tmp_path)
    (second,) = modules.install(["video_contrast_mc"], tmp_path)
    assert (first.status, second.status) == ("installed", "up to date")
    assert first.path == second.path
    assert video_contrast.__version__ in (first.path / "video_contrast_mc.py").read_text()

    others = first.path.parent / ("0" * 64)
    others.mkdir()
    (others / "video_contrast_mc.py").write_bytes("# from a Space of that name: \u00e9\n".encode("latin-1"))
    os.utime(others / "video_contrast_mc.py", (2e9, 2e9))
    monkeypatch.setattr(modules, "__version__", "99.0")
    (third,) = modules.install(["video_contrast_mc"], tmp_path)
    assert third.status == "refreshed"
    assert not first.path.exists()
    assert others.exists()
    assert "99.0" in (third.path / "video_contrast_mc.py").read_text()

    (third.path / "video_contrast_mc.py").write_text("broken")
    assert modules.install(["video_contrast_mc"], tmp_path)[0].status == "refreshed"
    assert "main_class" in (third.path / "video_contrast_mc.py").read_text()


def test_the_command_installs_all_or_the_named_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["metrics", "install", "video_rcad", "--cache", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("video_rcad: installed")
    assert main(["metrics", "install", "--cache", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(NAMES)
    assert "video_rcad: up to date" in "\n".join(lines)
    assert main(["metrics", "install", "video_rcd", "--cache", str(tmp_path)]) == 2
    assert "did you mean 'video_rcad'?" in capsys.readouterr().err


def test_the_cache_is_where_evaluate_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.find_spec("evaluate.config")
    for environment in ({}, {"HF_HOME": "~/hf"}, {"HF_MODULES_CACHE": "/m"}, {"XDG_CACHE_HOME": "/x"}):
        for name in ("HF_HOME", "HF_MODULES_CACHE", "XDG_CACHE_HOME"):
            monkeypatch.delenv(name, raising=False)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        assert spec is not None and spec.loader is not None
        fresh = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(fresh)
        assert modules.modules_cache() == Path(fresh.HF_MODULES_CACHE), environment


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="did you mean 'video_contrast_mc'"):
        video_contrast.metric_path("video_contrast_mcc")


def test_ties_are_expected_values_and_nan_is_an_error(mc: Any) -> None:
    assert mc.compute(predictions=[[0.5, 0.5, 0.5, 0.5]], references=[2])["accuracy"] == 0.25
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="item 0, candidate 1"):
            mc.compute(predictions=[[0.5, bad]], references=[0])
    with pytest.raises(ValueError, match="item 1 has 3 candidates"):
        mc.compute(predictions=[[0.5, 0.1], [0.1, 0.2, 0.3]], references=[0, 0])
    # The metric is as good as new afterwards.
    assert mc.compute(predictions=[[0.5, 0.1]], references=[0])["accuracy"] == 1


def test_both_schemas_in_one_call_and_one_by_one(mc: Any) -> None:
    scores = np.random.default_rng(0).random((20, 3))
    labels = [0] * 20
    kinds = [["true", "verb_lm", "random"]] * 20
    clusters = list(range(10)) * 2
    plain = mc.compute(predictions=scores, references=labels)
    assert "accuracy_verb_lm" not in plain and "accuracy_low" not in plain
    full = mc.compute(predictions=scores, references=labels, kinds=kinds, clusters=clusters)
    assert full == metrics.multiple_choice(
        scores, labels, kinds=kinds, clusters=[str(c) for c in clusters], interval=True
    )
    for i in range(20):
        mc.add(prediction=list(scores[i]), reference=0, clusters=clusters[i])
    assert mc.compute()["accuracy_low"] == full["accuracy_low"]
    assert mc.compute(predictions=scores, references=labels, kinds=kinds)["accuracy_random"] == full["accuracy_random"]


def test_batches_with_different_columns_are_refused(mc: Any) -> None:
    mc.add_batch(predictions=[[0.1, 0.2]], references=[0], clusters=["a"])
    with pytest.raises(ValueError, match=r"\['clusters'\]"):
        mc.add_batch(predictions=[[0.1, 0.2]], references=[0])


def test_scores_keep_their_precision(mc: Any) -> None:
    assert mc.compute(predictions=[[2.0**24 + 1, 2.0**24]], references=[0])["n_ties"] == 0


def test_retrieval_rows_may_come_in_any_order(evaluate: Any) -> None:
    metric = evaluate.load(video_contrast.metric_path("video_text_retrieval"))
    similarity = np.random.default_rng(0).random((4, 6))
    captions = [[0, 1], [2], [], [3, 4, 5]]
    expected = metrics.retrieval(similarity, [0, 0, 1, 3, 3, 3])
    assert metric.compute(predictions=similarity, references=captions) == expected
    order = [2, 0, 3, 1]
    shuffled = metric.compute(predictions=similarity[order], references=[captions[i] for i in order])
    assert shuffled == pytest.approx(expected)
    with pytest.raises(ValueError, match="caption 1 belongs to video 0 and to video 1"):
        metric.compute(predictions=similarity, references=[[0, 1], [1], [2], [3]])


def test_rcad_with_columns_and_the_released_settings(evaluate: Any) -> None:
    metric = evaluate.load(video_contrast.metric_path("video_rcad"))
    similarity = np.random.default_rng(0).random((5, 15))
    own = np.arange(15).reshape(5, 3)
    options = {"normalise": "videos", "ties": "released", "ks": [1, 2]}
    expected = metrics.rcad(similarity, **options)
    assert metric.compute(predictions=similarity, references=[0] * 5, **options) == expected
    order = [3, 0, 4, 1, 2]
    given = {"predictions": similarity[order], "references": [0] * 5, "columns": own[order].tolist()}
    assert metric.compute(**given, **options) == pytest.approx(expected)


@pytest.mark.parametrize("name", NAMES)
def test_the_card_lists_every_key_and_no_other(name: str, evaluate: Any) -> None:
    """All keys that a module can give, from its example with every optional column and option."""
    card = (modules.module(name).folder / "README.md").read_text(encoding="utf-8")
    table = card.split("## Output")[1].split("## Errors")[0]
    listed = {key for row in re.findall(r"^\| (`.*?) \|", table, re.M) for key in re.findall(r"`([^`]+)`", row)}
    loaded = evaluate.load(video_contrast.metric_path(name))
    inputs = dict(loaded.example)
    n = len(inputs.get("references", inputs.get("predictions")))
    if "clusters" in getattr(loaded, "optional", ()):
        inputs["clusters"] = [f"v{i}" for i in range(n)]
    if name == "video_text_robustness":
        inputs |= {"categories": ["x", "y", "y"], "origins": ["natural", None, None], "chance": 0.01}
    found = set(_keys(loaded.compute(**inputs)))
    if name == "caption_shift":  # those that need WordNet or a language model are tested by themselves
        asked = ("meteor", "perplexity_before", "perplexity_after")
        found |= {f"{key}{end}" for key in asked for end in ("", "_low", "_high")}
    patterns = {key: re.compile(re.sub(r"<\w+>", r"[a-z0-9_]+", re.escape(key).replace("\\<", "<"))) for key in listed}
    assert {key for key in found if not any(p.fullmatch(key) for p in patterns.values())} == set()
    assert {key for key, p in patterns.items() if not any(p.fullmatch(k) for k in found)} == set()


def _keys(result: dict[str, Any]) -> list[str]:
    keys = list(result)
    for key, groups in result.items():
        if key.startswith("by_"):
            keys += [inner for figures in groups.values() for inner in figures]
    return keys


@pytest.mark.parametrize("name", NAMES)
def test_the_cards_header_makes_a_space(name: str) -> None:
    card = (modules.module(name).folder / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(card.split("---\n")[1])
    assert header["title"] == name
    assert (header["sdk"], header["app_file"]) == ("gradio", "app.py")
    assert modules.MODULES[name].kind in header["tags"]
    assert "evaluate" in header["tags"]


def test_the_spaces_need_the_same() -> None:
    folders = [modules.module(name).folder for name in NAMES]
    assert len({(folder / "requirements.txt").read_text(encoding="utf-8") for folder in folders}) == 1


@pytest.mark.parametrize("name", ["video_contrast_mc", "caption_shift"])
def test_the_app_computes_in_a_space(name: str, evaluate: Any, tmp_path: Path) -> None:
    gradio = pytest.importorskip(
        "gradio", reason="the Space's app needs gradio (pip install 'video-contrast[annotate]')"
    )
    folder = modules.write_space(name, tmp_path / "app")
    spec = importlib.util.spec_from_file_location(f"app_{name}", folder / "app.py")
    assert spec is not None and spec.loader is not None
    app = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(app)
    assert isinstance(app.demo, gradio.Blocks)
    assert "video_contrast.metrics" not in (folder / "app.py").read_text(encoding="utf-8"), "a Space has no package"
    metric = evaluate.load(str(folder / f"{name}.py"))
    assert app.measure(metric, json.dumps(metric.example))["n"] == len(metric.example["references"])
    with pytest.raises(gradio.Error, match="not JSON"):
        app.measure(metric, "{")
    with pytest.raises(gradio.Error, match="must be an object"):
        app.measure(metric, "[1]")
    if name == "video_contrast_mc":
        with pytest.raises(gradio.Error, match="item 0, candidate 1 is nan"):
            app.measure(metric, '{"predictions": [[0.1, NaN]], "references": [0]}')
