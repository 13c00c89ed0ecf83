"""Metrics and perturbations run on the light installation: without torch, transformers, datasets and their like."""

import re
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

# Finds no library that is installed by an extra only, as in an environment that lacks it.
BLOCKED = """
import sys
HEAVY = {
    "accelerate", "datasets", "evaluate", "huggingface_hub", "jinja2", "lemminflect", "matplotlib", "nltk",
    "openpyxl", "pandas", "pyarrow", "safetensors", "sentence_transformers", "sklearn", "spacy", "threadpoolctl",
    "torch", "tqdm", "transformers", "yaml",
}
class Light:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, *others):
        return None if name.partition(".")[0] in HEAVY else self.finder.find_spec(name, *others)
    def __getattr__(self, name):
        return getattr(self.finder, name)
sys.meta_path[:] = map(Light, sys.meta_path)
"""
USE = """
import numpy as np
from video_contrast import metrics, TextPerturbation
from video_contrast.perturbations.video import NAMES, perturb_clip

assert metrics.multiple_choice([[0.9, 0.1]], [0])["accuracy"] == 1
assert metrics.retrieval(np.eye(3))
assert metrics.cluster_bootstrap and metrics.robustness and metrics.share_interval(np.array([1.0, 0.0]))
frames = np.random.default_rng(0).integers(0, 256, (16, 32, 32, 3), np.uint8)
for name in NAMES:
    assert perturb_clip(frames, name, 3, seed=0, video_id="a").dtype == np.uint8, name
row = TextPerturbation("keyboard", seed=0)({"id": "a", "captions": ["a man rides a horse"]})
assert row["captions"] != ["a man rides a horse"]
"""
TOLD = r"""
import io, sys
from video_contrast.cli import main
import video_contrast
from video_contrast.errors import UsageError
from video_contrast.perturbations.text import how_to_get, text_spec

sys.stdin = io.TextIOWrapper(io.BytesIO(b"a man rides a horse"))
assert main(["perturb", "text", "--name", "keyboard"]) == 0
assert main(["list", "perturbations"]) == 0
assert "video-contrast[english]" in how_to_get(text_spec("gender_swap")) and how_to_get(text_spec("ocr")) == "nothing"
assert main(["--help"]) == 0
row = {"id": "a", "captions": ["a man rides a horse"]}
for call, extra in (
    (lambda: video_contrast.score, "all"),
    (lambda: video_contrast.TextPerturbation("gender_swap", seed=0)(row), "english"),
    (video_contrast.register, "evaluate"),
):
    try:
        call()
    except UsageError as error:
        assert f"video-contrast[{extra}]" in str(error), error
    else:
        raise AssertionError(extra)
sys.stdin = io.TextIOWrapper(io.BytesIO(b"a man rides a horse"))
assert main(["perturb", "text", "--name", "gender_swap"]) == 2
"""


def run(code: str, python: str = sys.executable) -> str:
    done = subprocess.run([python, "-c", textwrap.dedent(code)], capture_output=True, text=True, cwd="/", timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def light(repository: Path) -> set[str]:
    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    return {re.split(r"[><=\[]", name)[0] for name in project["dependencies"]}


def test_metrics_and_perturbations_need_nothing_heavy() -> None:
    run(BLOCKED + USE)


def test_what_lacks_a_library_names_its_extra() -> None:
    assert 'pip install "video-contrast[english]"' in run(BLOCKED + TOLD)


def test_the_light_installation_is_light(repository: Path) -> None:
    assert light(repository) == {"av", "cyclopts", "numpy", "opencv-python-headless", "pillow", "rich", "scipy"}


def test_a_wheel_in_a_bare_environment_has_metrics_and_perturbations(repository: Path, tmp_path: Path) -> None:
    """Nothing is fetched: the light libraries are those of this environment, seen one by one."""
    import importlib.metadata
    import venv

    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(repository)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    bare = tmp_path / "bare"
    venv.create(bare, symlinks=True)
    packages = next((bare / "lib").glob("python*/site-packages"))
    pending, placed = sorted(light(repository)), set[str]()
    while pending:
        name = pending.pop()
        if name in placed:
            continue
        placed.add(name)
        try:
            library = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system or Python
        for top in {path.parts[0] for path in library.files or () if path.parts[0] not in ("..", "__pycache__")}:
            source = Path(str(library.locate_file(top)))
            if source.exists() and not (packages / top).exists():
                (packages / top).symlink_to(source)
        required = [text for text in library.requires or () if "extra ==" not in text]
        pending += [re.split(r"[^\w.-]", text)[0].lower() for text in required]
    (wheel,) = tmp_path.glob("*.whl")
    import zipfile

    zipfile.ZipFile(wheel).extractall(packages)
    python = str(bare / "bin" / "python")
    run(USE + "import importlib.util\nassert importlib.util.find_spec('torch') is None", python)


@pytest.mark.parametrize("extra", ["english", "evaluate", "all"])
def test_every_extra_that_an_error_names_exists(repository: Path, extra: str) -> None:
    from video_contrast import errors

    project = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    assert extra in project["optional-dependencies"] and extra in errors._EXTRAS.values()
