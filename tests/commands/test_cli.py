"""The command line: one line an error, the right exit code, nothing heavy before it is needed."""

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from video_contrast import __version__, checkpoint_path, cli
from video_contrast.commands.command import Command
from video_contrast.options import options_of


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == f"video-contrast {__version__}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["scoer"], 'Unknown command "scoer". Did you mean "score"?'),
        (["score", "--modle", "temporal"], "Did you mean --model"),
        (["score", "--model", "temporal", "--dataset", "shapes", "--frames", "x"], "Invalid value for --frames"),
        (
            ["score", "--model", "temporal", "--frames", "1.5"],
            "Invalid value for --frames: '1.5' is neither a whole number nor 'owner'.",
        ),
        (["check"], "check needs DATASET (folder of the set, or a table)."),
        (["analyse", "rarity", "set"], "analyse rarity needs --run (folder that `video-contrast score` wrote)."),
        (["teach", "--demo"], "teach needs --output (folder of the run; the same call resumes it)."),
        (["compare", "a", "b", "--tolerance"], "--tolerance requires an argument"),
        (["doctor", "--model", "temporal"], "MODEL takes no flag: video-contrast doctor MODEL. See `"),
        (["compare", "a", "b", "--points", "-5"], "--points must be above 0, not -5"),
        (["build", "pairs", "--cofnig", "x"], "See `video-contrast build pairs --help`"),
        (["annotate", "judge", "set", "--output", "votes.jsonl", "--port", "99999"], "--port must be 1 to 65535"),
    ],
)
def test_a_wrong_call_is_one_line_and_exits_with_2(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and message in error and error.count("\n") == 1


@pytest.fixture(scope="module")
def listed() -> list[Command]:
    return [command for modules in cli.COMMANDS.values() for name in modules for command in cli.commands(name)]


def test_every_command_says_what_it_does_and_ends_with_an_example(listed: list[Command]) -> None:
    assert len(listed) >= sum(map(len, cli.COMMANDS.values()))
    for command in listed:
        assert command.help or (command.function and command.function.__doc__), command.name
        assert f"video-contrast {command.name}" in command.example, command.name


def test_every_option_has_a_help(listed: list[Command]) -> None:
    for command in listed:
        if command.function is not None:
            for option in (*options_of(command.function).values(), *command.more()):
                assert option.help or option.flag.python_only, (command.name, option.name)


def test_a_command_is_found_without_importing_the_others() -> None:
    code = (
        "import sys; from video_contrast.cli import main; main(['list', 'metrics']); "
        "loaded = {name.rpartition('.')[2] for name in sys.modules if name.startswith('video_contrast.commands.')}; "
        "assert loaded == {'command', 'list'}, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


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


def test_a_machine_without_memory_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import video_contrast.builders

    def too_much(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(video_contrast.builders, "build", too_much)
    assert cli.main(["build", "shapes", "verb_mc", "--output", "sets/shapes"]) == 1
    assert capsys.readouterr().err.startswith("error: there was not enough memory: free some")


def test_a_full_disk_that_safetensors_finds_is_the_same_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from safetensors import SafetensorError

    import video_contrast.builders

    def full(*_: object, **__: object) -> None:
        raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr(video_contrast.builders, "build", full)
    assert cli.main(["build", "shapes", "verb_mc", "--output", "sets/shapes"]) == 1
    assert capsys.readouterr().err.startswith("error: no space left on the device: free some")


def test_an_interrupt_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import video_contrast.builders

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(video_contrast.builders, "build", interrupted)
    assert cli.main(["build", "shapes", "verb_mc", "--output", "sets/shapes"]) == 130
    assert capsys.readouterr().err.strip() == "interrupted: run the same command again to go on where that is possible"


def test_a_command_that_is_ended_by_a_launcher_says_how_to_go_on() -> None:
    code = (
        "import os, signal, sys; from video_contrast import cli; sys.argv = ['video-contrast', 'score']\n"
        "cli._run = lambda words: os.kill(os.getpid(), signal.SIGTERM)\nsys.exit(cli.main())"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stderr.strip() == "interrupted: run the same command again to go on where that is possible"


@pytest.mark.parametrize("words", ["list metrics", "--help", "score --help", "--version"])
def test_a_reader_who_leaves_is_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as pipe, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", pipe)
        assert cli.main(words.split()) == 141
    assert capsys.readouterr().err == ""


def test_a_closed_output_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        patch.setattr(sys, "stderr", None)
        assert cli.main(["list", "metrics"]) == 0 and cli.main(["list", "metrisc"]) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_version_that_cannot_be_printed_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with suppress(OSError), open("/dev/full", "w") as full, monkeypatch.context() as patch:  # closing it fails, too
        patch.setattr(sys, "stdout", full)
        assert cli.main(["--version"]) == 1
    assert capsys.readouterr().err.startswith("error: no space left on the device")


def test_a_file_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "captions.csv").touch()
    assert cli.main(["score", "--model", str(tmp_path / "captions.csv"), "--dataset", "shapes", "--dry-run"]) == 2
    assert "captions.csv is a file; give the folder of a saved model" in capsys.readouterr().err


def test_a_misspelt_name_is_no_hub_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["score", "--model", "temporl", "--dataset", "shapes", "--config", "antonym_mc", "--dry-run"]) == 2
    assert "--model temporl: did you mean 'temporal'?" in capsys.readouterr().err


def test_quiet_turns_the_bars_of_every_library_off() -> None:
    code = (
        "import sys; from video_contrast.cli import main; main(['build', 'shapes', '--config', 'no', '--output', 'no', "
        "'--quiet']); import tqdm.auto, datasets.utils, huggingface_hub.utils as hub; "
        "assert datasets.utils.are_progress_bars_disabled() and hub.are_progress_bars_disabled(); "
        "list(tqdm.auto.tqdm(range(3)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stderr.startswith("error: unknown config") and done.stderr.count("\n") == 1


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = (
        "import sys, video_contrast; "
        "heavy = {'torch', 'transformers', 'datasets', 'evaluate', 'pandas', 'cv2', 'spacy'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_takes_under_half_a_second() -> None:
    call = [sys.executable, "-X", "importtime", "-c", "import video_contrast"]
    lines = subprocess.run(call, check=True, capture_output=True, text=True).stderr.splitlines()
    (whole,) = [line for line in lines if line.endswith("| video_contrast")]
    assert int(whole.split("|")[1]) < 500_000, whole  # microseconds, with all that it imports


def test_the_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from video_contrast.cli import main; main(['--help']); "
        "heavy = {'torch', 'transformers', 'datasets', 'evaluate', 'spacy', 'sklearn'} & set(sys.modules); "
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_a_refused_run_leaves_no_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = ["score", "--model", "temporal", "--dataset", "shapes", "--config", "antonym_mc", "--quiet"]
    for wrong in (["--video-root", str(tmp_path / "no")], ["--frames", "99"], ["--conditions", "no"]):
        assert cli.main([*call, *wrong, "--output", str(tmp_path / "run")]) == 2
        assert not list(tmp_path.iterdir()), wrong


@pytest.mark.parametrize("wrong", ["file", "file/below", "foreign", "closed"])
def test_a_folder_that_cannot_take_a_set_is_refused_before_the_work(
    wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "README.md").write_text("# mine")
    (tmp_path / "closed").mkdir()
    access = os.access  # of a superuser everything can be written
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "closed" and access(path, mode))
    call = ["build", "captions", "--captions", str(tmp_path / "absent.csv"), "--output", str(tmp_path / wrong)]
    assert cli.main(call) == 1  # absent.csv is not even looked for
    assert capsys.readouterr().err.startswith(f"error: --output {tmp_path / wrong}")


@pytest.mark.parametrize("empty", [["--output", ""], ["--output="]])
def test_an_empty_output_is_not_the_current_folder(
    empty: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["build", "shapes", "--config", "antonym_mc", "--items", "4", *empty]) == 2
    assert "--output is empty" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_a_run_whose_model_cannot_be_loaded_leaves_no_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = shutil.copytree(checkpoint_path("temporal"), tmp_path / "model")
    (model / "model.safetensors").write_bytes(b"no weights")
    words = ["score", "--model", str(model), "--dataset", "shapes", "--limit", "2", "--config", "antonym_mc"]
    for output in (tmp_path / "new" / "run", tmp_path / "there"):
        (tmp_path / "there").mkdir(exist_ok=True)
        assert cli.main([*words, "--output", str(output)]) != 0
    assert "error: " in capsys.readouterr().err
    assert not (tmp_path / "new" / "run").exists() and not list((tmp_path / "there").iterdir())
