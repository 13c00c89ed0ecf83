"""Each help fits a screen and ends with an example that the command takes; --json and --quiet do as they say."""

import io
import json
import os
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from video_contrast import cli
from video_contrast.console import bar
from video_contrast.storage import SetFolder

SCREEN = 52  # lines; versions of rich break them differently


COMMANDS = {
    command.name: command for modules in cli.COMMANDS.values() for name in modules for command in cli.commands(name)
}


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_the_help_fits_a_screen_of_100_columns_and_ends_with_an_example(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert cli.main([*name.split(), "--help"]) == 0
    lines = capsys.readouterr().out.strip().splitlines()
    assert lines[0].startswith("Usage: video-contrast") and len(lines) <= SCREEN, len(lines)
    assert "Example: " in "\n".join(lines[-4:])


def test_options_of_clusters_are_shown_by_generate_and_by_the_list_of_a_builder(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words in (["generate", "--help"], ["list", "builders", "captions"]):
        assert cli.main(words) == 0
        shown = capsys.readouterr().out
        assert "--workers" in shown and "--slurm" in shown


def examples() -> Iterator[tuple[str, list[str]]]:
    yield "", shlex.split(cli.EXAMPLE)[1:]
    for name, command in COMMANDS.items():
        for part in command.example.partition(" (")[0].split(" | "):
            if part.startswith("video-contrast "):
                yield name, shlex.split(part)[1:]


@pytest.mark.parametrize(("name", "words"), list(examples()), ids=lambda value: value if isinstance(value, str) else "")
def test_the_example_is_a_call_that_the_command_takes(name: str, words: list[str]) -> None:
    assert " ".join(words).startswith(name)
    pytest.importorskip("pydantic")  # where it is loaded, defaults are held against their types, too
    parsed(words)  # raises where an option or an argument is unknown, missing or of another type


def parsed(words: list[str]) -> partial[None]:
    """The call that the words on the command line are, not yet made."""
    function, bound, _ = cli.make_app(words).parse_args(words, exit_on_error=False, print_error=False)
    return partial(function, *bound.args, **bound.kwargs)


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if command.function])
def test_every_command_can_be_quiet(name: str) -> None:
    example = COMMANDS[name].example.partition(" (")[0].rpartition(" | ")[2]
    for flag in ("--quiet", "-q"):
        assert parsed([*shlex.split(example)[1:], flag]).keywords["quiet"]


def test_configs_are_flags_everywhere_and_positional_ones_are_still_taken(shapes: Path) -> None:
    calls: list[Any] = []
    for configs in (["verb_mc", "gender_mc"], ["--config", "verb_mc,gender_mc"],
                    ["--config", "verb_mc", "--config", "gender_mc"]):  # fmt: skip
        words = ["audit", str(shapes), *configs]
        call = parsed(words)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("video_contrast.audit.xray.audit_set", lambda *args, **_: calls.append(args) or {})
            patch.setattr("video_contrast.hub_cards.write_card", lambda folder: None)
            call()
    assert calls == [(shapes, ["verb_mc", "gender_mc"])] * 3


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("help") / "set"
    assert cli.main(["build", "shapes", "--config", "verb_mc,retrieval", "--output", str(folder), "--quiet"]) == 0
    return folder


def calls(shapes: Path, tmp_path: Path) -> dict[str, list[str]]:
    score = ["score", "--model", "random", "--dataset", str(shapes), "--config", "verb_mc"]
    run = [*score, "--output", str(tmp_path / "run")]
    assert cli.main([*run, "--quiet"]) == 0
    return {
        "score": run,
        "dry run": [*score, "--dry-run"],
        "compare": ["compare", str(tmp_path / "run"), str(tmp_path / "run")],
        "audit": ["audit", str(shapes), "--config", "verb_mc"],
        "check": ["check", str(shapes), "--no-decode"],
        "table": ["table", str(tmp_path / "run")],
        "build": ["build", "shapes", "--config", "verb_mc", "--output", str(shapes)],
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


PRINTED = ("dry run", "compare", "table", "list", "perturb text", "metrics")  # what they print is what they are for


def test_quiet_says_nothing_of_files_and_prints_what_it_was_asked_to_print(
    shapes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a man rides a horse\n")))
    more = {
        "list": ["list", "metrics"],
        "perturb text": ["perturb", "text", "--name", "active_to_passive"],
        "generate": ["generate", str(shapes), "--split", "test", "--limit", "20", "--generator", "lexicon", "--output",
                     str(tmp_path / "negatives")],
        "export": ["export", str(shapes), "--format", "lmms-eval", "--output", str(tmp_path / "tasks")],
        "metrics install": ["metrics", "install", "--cache", str(tmp_path / "modules")],
    }  # fmt: skip
    for name, call in (calls(shapes, tmp_path) | more).items():
        capfd.readouterr()
        assert cli.main([*call, "--quiet"]) == 0, name
        printed, noted = capfd.readouterr()
        assert noted == "" and bool(printed) == (name in PRINTED), name


def test_a_quiet_check_names_what_is_wrong(shapes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    call = ["check", str(shapes), "--video-root", str(tmp_path), "--manifest", str(tmp_path / "manifest.json")]
    assert cli.main(call) == cli.main([*call, "--quiet"]) == 1
    printed, errors = capfd.readouterr()
    assert errors.count("error: ") == 2 and printed.count("missing: clips/") == 20 and printed.count(" row") == 2


def test_quiet_keeps_notes_to_the_record(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What a build of everything leaves out stands in `set.json`; errors are said all the same."""
    table = tmp_path / "msrvtt.csv"
    rows = [
        f"a man {verb} a ball,video{n}" for n in range(6) for verb in ("has", "rolls", "cuts", "eats", "wets", "sells")
    ]
    table.write_text("\n".join(["sentence,video_id", *rows]) + "\n")
    call = ["build", "feint6k", "--msrvtt", str(table), "--output", str(tmp_path / "set")]
    assert cli.main([*call, "--quiet"]) == 0
    assert capfd.readouterr() == ("", "")
    assert "VIDEO_CONTRAST_QUIET" not in os.environ  # a later call in this process is not quiet
    assert "rcad_vatex" in SetFolder(tmp_path / "set").record["facts"]["left_out"]
    assert cli.main(call) == 0
    assert "left out: feint6k rcad_vatex" in capfd.readouterr().err
    assert cli.main([*call, "--quiet", "--seed", "no"]) == 2
    assert capfd.readouterr().err.startswith("error: ")


def test_bars_of_our_own_heed_quiet_too(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    list(bar(range(3), delay=0, leave=True))
    assert "3/3" in capsys.readouterr().err
    monkeypatch.setenv("TQDM_DISABLE", "1")  # as `hush` sets it
    list(bar(range(3), delay=0, leave=True, disable=False))
    assert capsys.readouterr().err == ""


def test_the_table_is_plain_and_whole_in_a_file(
    shapes: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    call = ["score", "--model", "random", "--dataset", str(shapes), "--config", "verb_mc,retrieval", "--output",
            str(tmp_path / "run"), "--conditions", "clean,visual:*", "--limit", "40"]  # fmt: skip
    assert cli.main(call) == 0
    printed = capfd.readouterr().out  # a file, as pytest captures it
    lines = printed.splitlines()
    assert max(map(len, lines)) <= 140 and "\x1b" not in printed
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())["configs"]
    accuracy = metrics["verb_mc"]["conditions"]["clean"]["accuracy"]
    assert any(line.split()[:4] == ["verb_mc", "0.167", "40", f"{accuracy:.3f}"] for line in lines)
    noise = metrics["verb_mc"]["robustness"]["accuracy"]["visual:Noise"]["gamma_relative"]
    assert any("verb_mc: gamma visual:Noise, accuracy" in line and f"relative {noise:.3f}" in line for line in lines)
    assert not any("visual:jumble@3" in line for line in lines), "ninety rows a config are no table"
