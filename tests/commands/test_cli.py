"""The command line: one line an error, the right exit code, nothing heavy before it is needed."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from video_contrast import __version__, cli


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"video-contrast {__version__}"


def test_an_unknown_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scoer"]) == 2


def leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every command without subcommands, by its whole name; of `build` the group, whose leaves are the builders."""
    if hasattr(command, "commands") and name != "video-contrast build":
        for word, inner in command.commands.items():
            yield from leaves(inner, f"{name} {word}")
    else:
        yield name, command


def test_every_command_says_what_it_does_and_ends_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0  # collects the commands
    found = dict(leaves(typer.main.get_command(cli.app), "video-contrast"))
    assert len(found) >= sum(map(len, cli.COMMANDS.values()))
    for name, command in found.items():
        assert command.help, name
        assert (command.epilog or "").startswith(f"Example: {name}") or f"| {name}" in (command.epilog or ""), name


def test_an_unknown_config_suggests_the_nearest_and_exits_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["build", "shapes", "verb_cm", "--output", str(tmp_path / "set")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: unknown config of shapes 'verb_cm': did you mean 'verb_mc'?")
    assert error.count("\n") == 1
    assert not (tmp_path / "set").exists()


def test_debug_shows_the_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--debug", "build", "shapes", "verb_cm", "--output", str(tmp_path / "set")]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_full_disk_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import errno

    import video_contrast.builders

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "sets/shapes")

    monkeypatch.setattr(video_contrast.builders, "build", full)
    assert cli.main(["build", "shapes", "verb_mc", "--output", "sets/shapes"]) == 1
    assert capsys.readouterr().err.startswith("error: no space left on the device (sets/shapes): free some")


def test_an_interrupt_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import video_contrast.builders

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(video_contrast.builders, "build", interrupted)
    assert cli.main(["build", "shapes", "verb_mc", "--output", "sets/shapes"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted: run the same command again to go on where that is possible"


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, video_contrast; "
        "heavy = {'torch', 'transformers', 'datasets', 'evaluate', 'pandas', 'cv2', 'spacy'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from video_contrast.cli import main; main(['--help']); "
        "heavy = {'torch', 'transformers', 'datasets', 'evaluate', 'spacy', 'sklearn'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
