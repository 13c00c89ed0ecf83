"""Benchmarks import and explain themselves; those that need what few machines have run small here."""

import runpy
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


@pytest.mark.parametrize("name", sorted(path.name for path in BENCHMARKS.glob("*.py")))
def test_a_benchmark_shows_its_help_and_writes_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(BENCHMARKS / name), run_name="__main__")
    text = capsys.readouterr().out
    assert not stopped.value.code and text.startswith(f"usage: {name}") and f"benchmarks/{name}" in text
    assert not list(tmp_path.iterdir())


def test_the_gpu_benchmark_runs_small_on_a_cpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    import gpu

    monkeypatch.setattr(sys, "argv", ["gpu.py", "--small", "--device", "cpu", "--one-process"])
    gpu.main()
    printed = capsys.readouterr().out
    assert "| ViT-small/16 |" in printed and "bound" in printed
    assert all(f"| {name} " in printed for name in gpu.KERNELS)
