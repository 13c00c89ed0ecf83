"""Fixtures that many tests share: where the real data lies, and an environment that never reaches the network."""

import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

gc.set_threshold(200_000, 10, 50)  # memory suffices for the collector to come seldom (2% of the CPU time)
# The same examples in every run: what fails, fails for everyone. `--hypothesis-profile=default` looks for new ones.
settings.register_profile("repeatable", derandomize=True)
settings.load_profile("repeatable")
# Nor may they depend on what was imported before: constants of our files are examples too, and reading these takes
# every process five seconds.
providers.is_local_module_file = lambda path: False  # type: ignore[assignment]
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Taggers are chosen by what is there: tests that are about NLTK's data ask for it, the others see none.
NLTK_DATA = os.environ.pop("NLTK_DATA", None)
# Metrics are copied there to be imported: the user's own copies, and those of other processes, stay out of it.
_MODULES = tempfile.TemporaryDirectory(prefix="video-contrast-modules-")
os.environ["HF_MODULES_CACHE"] = _MODULES.name

REPOSITORY = Path(__file__).resolve().parent.parent
DEMO_ITEMS = 100  # a config: half of what `video-contrast demo` builds


# The longest files, first: a file is one worker's (--dist loadscope), and the last should not be a long one.
LONGEST = (
    "project/test_docs.py",
    "commands/test_demo.py",
    "teacher/test_runs.py",
    "video_contrast/test_decode.py",
    "hub_cards/test_push.py",
    "reports/test_report_page.py",
    "teacher/test_teacher.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {REPOSITORY / "tests" / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """What is imported stays, so the collector need not walk it (a tenth of the CPU time)."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The owners' files, for figures of papers: in $VIDEO_CONTRAST_DATA, or `shared/data` beside the checkout.

    Everything else is tested with what is in `tests/data`.
    """
    path = Path(os.environ.get("VIDEO_CONTRAST_DATA") or REPOSITORY.parent / "shared" / "data")
    if not path.is_dir():
        pytest.skip(
            f"compares with a figure of a released set, which is not at {path}: CONTRIBUTING.md (Released sets) says "
            "where to download it; VIDEO_CONTRAST_DATA names its folder"
        )
    return path


@pytest.fixture(scope="session")
def whole_wordnet() -> Path:
    """WordNet as it is released, for what is counted over all of it."""
    path = Path(NLTK_DATA or REPOSITORY.parent / "shared" / "nltk_data") / "corpora" / "wordnet.zip"
    if not path.is_file():
        pytest.skip(f"counts all of WordNet, which is not at {path}: python -m nltk.downloader wordnet; set NLTK_DATA")
    return path


@pytest.fixture(scope="session")
def nltk_data() -> Path:
    """A folder as NLTK keeps its data, with a part of WordNet: some 200 words with all of their senses."""
    return REPOSITORY / "tests" / "data" / "nltk_data"


@pytest.fixture(scope="session", autouse=True)
def _no_nltk_data_of_the_machine() -> None:
    """... nor what lies in NLTK's usual folders."""
    import nltk.data

    nltk.data.path[:] = []


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Sets built on first use go to a folder of the test run, never to the user's cache."""
    os.environ["VIDEO_CONTRAST_CACHE"] = str(tmp_path_factory.getbasetemp() / "video-contrast-cache")


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of the test run see."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session", autouse=True)
def _clips_drawn_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    import drawn_once

    os.environ[drawn_once.FOLDER] = str(shared_folder(tmp_path_factory) / "drawn-clips")
    drawn_once.keep(Path(os.environ[drawn_once.FOLDER]))


@pytest.fixture(scope="session")
def demo_output(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `video-contrast demo` writes, on half of its clips: made once, by the first process in need."""
    from filelock import FileLock

    import video_contrast
    from video_contrast import cli

    folder = shared_folder(tmp_path_factory) / "demo"
    with FileLock(f"{folder}.lock"):
        if not (folder / "report.html").exists():  # written last
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(video_contrast, "build", partial(video_contrast.build, items=DEMO_ITEMS))
                assert cli.main(["demo", "--output", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture(scope="session")
def demo_metrics(demo_output: Path) -> dict[str, dict[str, Any]]:
    """Model -> config -> metrics, of the demo's runs."""
    from video_contrast.storage import RunFolder

    return {
        folder.name: {config: m for run in RunFolder.find(folder) for config, m in run.metrics["configs"].items()}
        for folder in (demo_output / "runs").iterdir()
        if RunFolder.find(folder)
    }


@pytest.fixture(scope="module")
def evaluate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """`evaluate` with its caches in a folder of the test, and without modules that came from another one."""
    import evaluate

    cache = tmp_path_factory.mktemp("hf")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluate.config, "HF_MODULES_CACHE", cache / "modules")
        patch.setattr(evaluate.config, "HF_METRICS_CACHE", cache / "metrics")
        patch.setattr(sys, "path", [place for place in sys.path if not (Path(place) / "evaluate_modules").is_dir()])
        for name in _imported_metrics():
            patch.delitem(sys.modules, name)
        yield evaluate
        for name in _imported_metrics():  # their folders are this test's: the next one would look for its own in them
            del sys.modules[name]


def _imported_metrics() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] == "evaluate_modules"]
