"""Certificates on the golden eight: the same model passes wherever it runs, and every planted fault fails."""

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_late
import tiny_models
import tiny_vlm
import torch

from video_contrast.checkpoints import NAMES
from video_contrast.cli import main
from video_contrast.golden import CAPTIONS, CERTIFICATES, GOLDEN, QUESTIONS
from video_contrast.reports.why_differ import certificate_side, compare, failed_stage
from video_contrast.runner import self_test
from video_contrast.runner.doctor.probe import Probe
from video_contrast.runner.kinds.base import ClipFrames, Encoder
from video_contrast.runner.options import ScoreOptions
from video_contrast.runner.process_share import Run
from video_contrast.runner.score_call import make_job
from video_contrast.video import read_video

FAMILIES: dict[str, Callable[[Path], Path]] = {
    **{name: tiny_models.MAKERS[name] for name in ("CLIPModel", "Siglip2Model", "AlignModel", "XCLIPModel")},
    "ColPaliForRetrieval": tiny_late.MAKERS["ColPaliForRetrieval"],
    "gemma3": tiny_vlm.MAKERS["gemma3"],
}
Pictures = Callable[[np.ndarray], np.ndarray]
# Faults of adapters that leave every check of the self-test as it was.
FRAMES: dict[str, Pictures] = {
    "reversed": lambda frames: frames[::-1],
    "shuffled": lambda frames: frames[np.random.default_rng(0).permutation(len(frames))],
    "mirrored": lambda frames: frames[:, :, ::-1],
    "transposed": lambda frames: frames.swapaxes(1, 2),
    "cropped": lambda frames: frames[:, frames.shape[1] // 8 : -frames.shape[1] // 8],
    "grey": lambda frames: np.repeat(frames.mean(axis=3, keepdims=True).astype(np.uint8), 3, 3),
    "channels": lambda frames: frames[..., ::-1],
    "another mean": lambda frames: (frames * 0.9).astype(np.uint8),
}


def given(model: Any, pictures: Pictures, captions: Callable[[str], str] = str) -> Any:
    """A copy of a model whose adapter changes what it is given."""
    broken = copy.copy(model)

    def changed(clip: ClipFrames) -> ClipFrames:
        return replace(clip, frames=np.ascontiguousarray(pictures(clip.frames)))

    if isinstance(model, Encoder):
        broken.prepare = lambda clip: model.prepare(changed(clip))
        broken.encode_texts = lambda texts: model.encode_texts([captions(text) for text in texts])
    else:
        for name in ("score", "rendered_input"):
            method = getattr(model, name)

            def call(clip: ClipFrames, texts: Sequence[str], method: Any = method, **more: Any) -> Any:
                return method(changed(clip), [captions(text) for text in texts], **more)

            setattr(broken, name, call)
    return broken


def certified(model: Path | str, captions: Path = CAPTIONS, **options: Any) -> Any:
    """The certificate of a model, as it stands in a file."""
    job = make_job(model, captions, None, folder=None, request=ScoreOptions(**options))
    return json.loads(json.dumps(self_test.certify(job)))


def three_clips(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Certificates on three of the golden eight, which show a fault as well as all do; returns their captions."""
    monkeypatch.setattr(self_test, "ITEMS", 3)
    for path in (CAPTIONS, QUESTIONS):
        lines = path.read_text(encoding="utf-8").splitlines()[:3]
        for line in lines:
            shutil.copy(GOLDEN / json.loads(line)["video_path"], folder)
        (folder / path.name).write_text("\n".join(lines), encoding="utf-8")
    monkeypatch.setattr(self_test, "QUESTIONS", folder / QUESTIONS.name)
    return folder / CAPTIONS.name


@pytest.mark.parametrize("family", FAMILIES)
def test_every_planted_fault_fails(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("video_contrast.runner.kinds.generative.check_torchvision", lambda: None)
    folder = FAMILIES[family](tmp_path / "model")
    captions = three_clips(tmp_path, monkeypatch)
    runs: dict[str, Run] = {}
    probes: dict[str, Probe] = {}
    broken: list[Any] = []
    load, make = self_test.loaded_run, self_test.make_probe

    def loaded(job: Any) -> Run:
        """The run of the model, loaded once; of the broken one where there is one."""
        own = runs.setdefault("run", load(job))
        return replace(own, model=broken[-1]) if broken else own

    def probed(run: Run) -> Probe:
        own = probes.setdefault(
            str(run.job.dataset.fingerprints), make(runs["run"] if run.job is runs["run"].job else run)
        )
        return replace(own, model=run.model, scores_of={})

    monkeypatch.setattr(self_test, "loaded_run", loaded)
    monkeypatch.setattr(self_test, "make_probe", probed)
    frames = None if family == "XCLIPModel" else 4
    whole = certified(folder, captions, frames=frames)
    assert len(json.dumps(whole)) < 40_000

    def stage() -> str | None:
        made = certified(folder, captions, frames=frames)
        failed = failed_stage(compare(certificate_side(made, "now"), certificate_side(whole, "then")))
        return failed and failed.stage

    assert stage() is None
    model = runs["run"].model
    # Every fault of pictures in a dual encoder and in a generative model; elsewhere every third.
    place = list(FAMILIES).index(family)
    shown = FRAMES if family in ("CLIPModel", "gemma3") else list(FRAMES)[place % 3 :: 3]
    for name in shown:
        broken.append(given(model, FRAMES[name]))
        assert stage() == "pixels", name
    broken.append(given(model, lambda frames: frames, lambda text: text.rpartition(" ")[0]))
    assert stage() == "prompt"
    broken.append(model)
    with torch.no_grad():
        for parameter in model.model.parameters():
            parameter.mul_(1.05)
    assert stage() == "model"


@pytest.mark.parametrize(
    ("name", "dtype"), [*((name, "float32") for name in NAMES), ("temporal", "bfloat16"), ("temporal", "float16")]
)
def test_the_shipped_certificates_hold_in_every_dtype(name: str, dtype: str) -> None:
    assert main(["certify", name, "--against", str(CERTIFICATES / f"{name}.json"), "--dtype", dtype]) == 0


# The plainest instructions of torch and oneDNN.
MACHINE = {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
CERTIFY = """
import json, sys
from video_contrast.golden import CAPTIONS
from video_contrast.runner import self_test
from video_contrast.runner.kinds import generative
from video_contrast.runner.options import ScoreOptions
from video_contrast.runner.score_call import make_job
generative.check_torchvision = lambda: None
jobs = [make_job(folder, CAPTIONS, None, folder=None, request=ScoreOptions(dtype=dtype))
        for folder, dtype in json.loads(sys.argv[1])]
print(json.dumps(list(map(self_test.certify, jobs))))
"""


def test_certificates_hold_on_another_kind_of_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("video_contrast.runner.kinds.generative.check_torchvision", lambda: None)
    models = [
        (str(FAMILIES[name](tmp_path / name)), "float32") for name in ("XCLIPModel", "ColPaliForRetrieval", "gemma3")
    ]
    models.append(("temporal", "bfloat16"))
    words = [sys.executable, "-c", CERTIFY, json.dumps(models)]
    done = subprocess.run(words, env=os.environ | MACHINE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for (folder, dtype), other in zip(models, json.loads(done.stdout), strict=True):
        here = certified(folder, dtype=dtype)
        failed = failed_stage(compare(certificate_side(here, "here"), certificate_side(other, "there")))
        assert failed is None, f"{Path(folder).name}, {dtype}: {failed}"


def test_another_model_or_sampling_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    against = ["--against", str(CERTIFICATES / "bag-of-frames.json")]
    assert main(["certify", "bag-of-frames", *against, "--sampling", "head", "--json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["first"] == "frames" and "in the frames" in shown.err
    assert main(["certify", "bag-of-frames", *against, "--pooling", "max"]) == 1
    assert "in the joining: pooling 'max' and 'mean'" in capsys.readouterr().err
    assert main(["certify", "random", *against]) == 2
    (tmp_path / "other.json").write_text("{}")
    assert main(["certify", "temporal", "--against", str(tmp_path / "other.json")]) == 1
    assert "no certificate of version" in capsys.readouterr().err
    assert main(["certify", "temporal", "--against", "http://example.org/a.json"]) == 2
    cut = json.loads((CERTIFICATES / "temporal.json").read_text(encoding="utf-8"))
    for kept in (0, 3):
        (tmp_path / "cut.json").write_text(json.dumps({**cut, "traces": cut["traces"][:kept]}))
        assert main(["certify", "temporal", "--against", str(tmp_path / "cut.json")]) == 1
        assert f"cut.json holds {kept} of the 8 golden items" in capsys.readouterr().err


def test_a_run_says_that_its_model_is_certified(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["score", "--model", "temporal", "--dataset", str(GOLDEN / "captions.jsonl"), "--accept", "all"]
    assert main([*words, "--output", str(tmp_path / "run")]) == 0
    assert "certified for this revision: temporal.json (float32, torch " in capsys.readouterr().out
    monkeypatch.setattr("video_contrast.storage.certificates.CERTIFICATES", tmp_path)
    assert main([*words, "--output", str(tmp_path / "other")]) == 0
    assert "certified" not in capsys.readouterr().out


def test_the_golden_eight_are_small_and_varied() -> None:
    files = sorted(GOLDEN.glob("*.mp4"))
    assert len(files) == 8 and sum(path.stat().st_size for path in files) < 1_500_000
    clips = [read_video(path) for path in files]
    sizes = {clip.frames.shape[2:0:-1] for clip in clips}
    assert {(320, 240), (1280, 720), (540, 960)} <= sizes and len(sizes) == 8
    assert sum(len({round(step, 3) for step in np.diff(clip.times)}) > 1 for clip in clips) == 1
