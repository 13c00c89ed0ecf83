"""Each help fits a screen and ends with an example that the command takes; --json and --quiet do as they say."""

import io
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import CliRunner

from video_contrast import cli
from video_contrast.console import WIDTH

SCREEN = 52  # lines; versions of rich break them differently


def commands() -> dict[str, Any]:
    """Every command without subcommands, by its whole name, and every group."""

    def walk(command: Any, name: str) -> Iterator[tuple[str, Any]]:
        yield name, command
        for word, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{name} {word}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", io.StringIO())
        cli.main(["--help"])  # collects the commands
    return dict(walk(typer.main.get_command(cli.app), "video-contrast"))


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_fits_a_screen_of_100_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERMINAL_WIDTH", "100")
    words = name.split()[1:]
    shown = CliRunner().invoke(COMMANDS["video-contrast"], [*words, "--help"], prog_name="video-contrast").output
    assert "Usage:" in shown and len(shown.strip().splitlines()) <= SCREEN, len(shown.strip().splitlines())


def examples() -> Iterator[tuple[str, list[str]]]:
    for name, command in COMMANDS.items():
        if "Example: " in (command.epilog or ""):
            line = command.epilog.partition("Example: ")[2].partition(" (")[0]
            for part in line.split(" | "):
                if part.startswith("video-contrast "):
                    yield name, shlex.split(part)[1:]


@pytest.mark.parametrize(("name", "words"), list(examples()), ids=lambda value: value if isinstance(value, str) else "")
def test_the_example_is_a_call_that_the_command_takes(name: str, words: list[str]) -> None:
    command, given = COMMANDS["video-contrast"], list(words)
    while hasattr(command, "commands"):
        command = command.commands[given.pop(0)]
    context = command.make_context(name, given)  # raises where an option or an argument is unknown or missing
    assert name == "video-contrast" or command is COMMANDS[name] or hasattr(COMMANDS[name], "commands")
    assert not context.args


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("help") / "set"
    assert cli.main(["build", "shapes", "verb_mc", "retrieval", "--output", str(folder), "--quiet"]) == 0
    return folder


def calls(shapes: Path, tmp_path: Path) -> dict[str, list[str]]:
    score = ["score", "--model", "random", "--dataset", str(shapes), "--config", "verb_mc"]
    run = [*score, "--output", str(tmp_path / "run")]
    assert cli.main([*run, "--quiet"]) == 0
    return {
        "score": run,
        "dry run": [*score, "--dry-run"],
        "compare": ["compare", str(tmp_path / "run"), str(tmp_path / "run")],
        "audit": ["audit", str(shapes), "verb_mc"],
        "check": ["check", str(shapes), "--no-decode"],
        "build": ["build", "shapes", "verb_mc", "--output", str(shapes)],
    }


def test_json_is_all_that_stands_on_the_standard_output(
    shapes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, call in calls(shapes, tmp_path).items():
        capsys.readouterr()
        assert cli.main([*call, "--json"]) == 0, name
        found = json.loads(capsys.readouterr().out)
        if name == "score":
            stored = json.loads((tmp_path / "run" / "metrics.json").read_text())
            assert found["configs"] == stored["configs"] and found["n_missing"] == 0
        assert found, name


def test_quiet_says_nothing(shapes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for name, call in calls(shapes, tmp_path).items():
        if name == "dry run":
            continue  # its plan is what was asked for
        capfd.readouterr()
        assert cli.main([*call, "--quiet"]) == 0, name
        assert capfd.readouterr() == ("", ""), name


def test_the_table_is_plain_and_whole_in_a_file(shapes: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "video_contrast", "score", "--model", "random", "--dataset", str(shapes), "--config",
         "verb_mc,retrieval", "--output", str(tmp_path / "run"), "--conditions", "clean,visual:*"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= WIDTH and "\x1b" not in done.stdout
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())["configs"]
    accuracy = metrics["verb_mc"]["conditions"]["clean"]["accuracy"]
    assert any(line.split()[:4] == ["verb_mc", "clean", "accuracy", f"{accuracy:.3f}"] for line in lines)
    noise = metrics["verb_mc"]["robustness"]["accuracy"]["visual:Noise"]["gamma_relative"]
    assert any("gamma visual:Noise, accuracy" in line and f"relative {noise:.3f}" in line for line in lines)
    assert not any("visual:jumble@3" in line for line in lines), "ninety rows a config are no table"
