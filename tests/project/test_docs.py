"""Every command and snippet of the README and the docs runs as printed, in order, in a fresh folder, offline.

Blocks marked `bash` and `python` run; `text` blocks are output, or commands that a test cannot run (downloads).
A block that names $MSRVTT or $YOUCOOK2 (folders with the data sets' annotations) is left out where there is none.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import warm_command

REPOSITORY = Path(__file__).resolve().parents[2]
PAGES = sorted([REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *(REPOSITORY / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.M | re.S)
DATA = {"MSRVTT": "msrvtt", "YOUCOOK2": "youcook2", "CLIPS": "videos", "RELEASED_SETS": "park_contrast_sets"}


def data_variables() -> dict[str, str]:
    root = Path(os.environ.get("VIDEO_CONTRAST_DATA") or REPOSITORY.parent / "shared" / "data")
    return {name: str(root / folder) for name, folder in DATA.items() if (root / folder).is_dir()}


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PATH on which `video-contrast` need not import everything at each call; the others are the environment's."""
    with warm_command.command(tmp_path_factory.mktemp("bin")) as folder:
        yield os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])


def run_bash(code: str, variables: dict[str, str], path: str) -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", code],
        env={**os.environ, **variables, "PATH": path},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.returncode == 0, f"{code}\n--- exited with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}"


@pytest.fixture
def _registries() -> Iterator[None]:
    """What a page registers (CONTRIBUTING adds one of everything) is gone when its test ends."""
    import video_contrast.perturbations.text
    import video_contrast.perturbations.video  # noqa: F401  fills the registry
    from video_contrast.builders.registry import all_builders
    from video_contrast.perturbations.registry import TEXT, VIDEO
    from video_contrast.runner.kinds import all_kinds

    before = [(registry, dict(registry)) for registry in (all_builders(), TEXT, VIDEO, all_kinds())]
    yield
    for registry, entries in before:
        registry.clear()
        registry.update(entries)  # type: ignore[call-overload]


@pytest.mark.usefixtures("_registries")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page: Path, commands: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    variables = data_variables()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    namespace: dict[str, Any] = {"__name__": "__docs__"}
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if any(f"${name}" in code or f'"{name}"' in code for name in DATA if name not in variables):
            continue
        # The two commands of the set-up make an environment and run this very suite; test_demo.py covers them.
        if all(line.startswith(("make ", "git clone", "cd ", "#")) or not line for line in code.splitlines()):
            continue
        if language == "bash":
            run_bash(code, variables, commands)
        else:
            exec(compile(code, str(page), "exec"), namespace)
    assert seen_by_git(tmp_path) == []


def seen_by_git(folder: Path) -> list[str]:
    """The names in a folder that git would see in the repository's root; none where that is no clone."""
    if not (REPOSITORY / ".git").exists():
        return []
    names = [f"{path.name}/" if path.is_dir() else path.name for path in sorted(folder.iterdir())]
    asked = ["git", "check-ignore", "--no-index", "--stdin"]
    ignored = subprocess.run(asked, input="\n".join(names), cwd=REPOSITORY, capture_output=True, text=True).stdout
    return [name for name in names if name not in ignored.splitlines()]


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page: the second of two equal ones ends in "-1"."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", prose(page), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        found.add(next(label for n in range(9) if (label := f"{name}-{n}" if n else name) not in found))
    return found


LINKING = sorted({*PAGES, REPOSITORY / "CHANGELOG.md", *(REPOSITORY / "docs").rglob("*.md")})


@pytest.mark.parametrize("page", LINKING, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_link_leads_to_a_file_and_every_anchor_to_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" in target or target.startswith("mailto:"):
            continue
        name, _, anchor = target.partition("#")
        linked = page.parent / name if name else page
        assert linked.exists(), f"{page.name} links to {target}"
        assert not anchor or linked.suffix != ".md" or anchor in anchors(linked), f"{page.name} links to {target}"


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_demo_runs_the_commands_that_the_tests_run() -> None:
    shown = subprocess.run(["make", "-n", "demo"], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert "video-contrast metrics install" in shown
    assert "video-contrast demo --output demo" in shown
