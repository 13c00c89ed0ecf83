"""Wheel, sdist and editable install hold the same files: the tree's."""

import compileall
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOMS = ("audit", "builders", "hub_cards", "metrics", "perturbations", "reports", "runner", "teacher")


def tracked(repository: Path) -> list[str]:
    try:
        listed = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=repository, capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("the tree is not a git checkout, so its files cannot be listed")
    return [name for name in listed.stdout.splitlines() if (repository / name).is_file()]


@pytest.fixture(scope="module")
def built(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An sdist, and the wheel built from that sdist."""
    out = tmp_path_factory.mktemp("dist")
    compileall.compile_dir(repository / "video_contrast", quiet=2)  # a tree in use holds bytecode, a wheel must not
    # No isolation: the build back end is installed, and nothing is fetched.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(repository)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return out


def test_every_subpackage_is_listed(repository: Path) -> None:
    settings = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["setuptools"]
    expected = set()
    for name in tracked(repository):
        path = Path(name)
        if path.name == "__init__.py" and path.parts[0] in (*ROOMS, "video_contrast"):
            parts = path.parent.parts if path.parts[0] == "video_contrast" else ("video_contrast", *path.parent.parts)
            expected.add(".".join(parts))
    assert set(settings["packages"]) == expected


def test_the_wheel_holds_the_tree_and_nothing_else(repository: Path, built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    expected = set()
    for name in tracked(repository):
        room = name.split("/")[0]
        if room == "video_contrast":
            expected.add(name)
        elif room in ROOMS:
            expected.add(f"video_contrast/{name}")
    assert held == expected


def test_the_sdist_holds_what_the_wheel_holds(built: Path) -> None:
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    in_wheel = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    with tarfile.open(sdist) as archive:
        in_sdist = {re.sub(r"^[^/]+/", "", name) for name in archive.getnames()}
    for name in in_wheel:
        assert name in in_sdist or name.removeprefix("video_contrast/") in in_sdist, name


def test_the_editable_install_finds_every_module(repository: Path) -> None:
    code = (
        "import importlib.util, sys; "
        "missing = [m for m in sys.argv[1:] if importlib.util.find_spec(m) is None]; assert not missing, missing"
    )
    modules = []
    for name in tracked(repository):
        path = Path(name)
        # metric folders hold scripts that are data, not modules
        if path.suffix == ".py" and path.parts[0] in (*ROOMS, "video_contrast"):
            if path.parts[:2] == ("metrics", "evaluate_modules") and len(path.parts) > 3:
                continue
            parts = path.with_suffix("").parts
            parts = parts if parts[0] == "video_contrast" else ("video_contrast", *parts)
            modules.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    subprocess.run([sys.executable, "-c", code, *modules], check=True, cwd="/")


def test_metadata(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    read = {Path(n).name: archive.read(n).decode() for n in archive.namelist() if ".dist-info/" in n}
    assert "License-Expression: Apache-2.0" in read["METADATA"]
    assert "Requires-Python: >=3.11" in read["METADATA"]
    assert "video-contrast = video_contrast.cli:main" in read["entry_points.txt"]
    # torch is pinned in the constraints file only
    assert re.search(r"^Requires-Dist: torch>=", read["METADATA"], re.M)
