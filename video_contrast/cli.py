"""The command `video-contrast`: collects the subcommands and turns errors into one line and an exit code.

Exit codes: 0 done, 1 something failed, 2 the call was wrong, 130 interrupted, 141 nobody reads on (`| head`).
"""

from __future__ import annotations

import ast
import errno
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from video_contrast.console import calm, hush, unhush
from video_contrast.errors import UsageError, VideoContrastError, missing_library
from video_contrast.version import __version__

if TYPE_CHECKING:
    import cyclopts

    from video_contrast.commands.command import Command

# Heading of the help -> modules of `video_contrast.commands`, each named by its command.
COMMANDS = {
    "First": ("demo", "list"),
    "Sets": ("build", "check", "audit", "xray", "repair", "analyse", "annotate", "perturb", "export", "push"),
    "Scores": (
        "doctor", "certify", "score", "watch", "compare", "why_differ", "table", "report", "leaderboard", "reproduce",
        "metrics",
    ),
    "Training": ("generate", "teach", "tune_t5"),
}  # fmt: skip
SUMMARY = "Does a video-text model understand who did what, or does it match objects to words?"
EXAMPLE = "video-contrast demo --output demo"
EVERYWHERE = (
    "--version prints the version. Every command takes --debug (a traceback of what fails) and --quiet, -q (errors and "
    "what is asked for; no bars, notes or summaries)."
)
INTERRUPTED = 130
READER_LEFT = 141  # as the shell counts SIGPIPE


def commands(module: str, subcommand: str = "") -> Iterator[Command]:
    """The commands of one module of `video_contrast.commands`; a group comes before its subcommands.

    `subcommand`: the one that is asked for, where the module makes its subcommands one by one; "" for all.
    """
    from video_contrast.commands.command import DECLARED

    imported = import_module(f"video_contrast.commands.{module}")
    yield from DECLARED[imported.__name__]
    if hasattr(imported, "commands"):
        yield from imported.commands(subcommand)


def make_app(words: Sequence[str] = ()) -> cyclopts.App:
    """The part of the command line that these words need: the command that comes first, or the list of all commands.

    A list, of all commands or of the subcommands of a group, is without their options, which take time to import.
    """
    import cyclopts

    app = cyclopts.App(
        name="video-contrast", help=f"{SUMMARY}\n\n{EVERYWHERE}", help_epilogue=f"Example: {EXAMPLE}",
        help_format="plaintext", default_parameter=cyclopts.Parameter(negative=()), version_flags=[],
        result_action="return_value", suppress_keyboard_interrupt=False,
    )  # fmt: skip
    first, no_subcommand = words[0].replace("-", "_") if words else "", not words[1:] or words[1].startswith("-")
    listed = not any(first in modules for modules in COMMANDS.values())
    for place, (heading, modules) in enumerate(COMMANDS.items()):
        group = cyclopts.Group(heading, sort_key=place)
        for order, name in enumerate(modules):
            if listed:
                app.command(cyclopts.App(name.replace("_", "-"), help=_summary(name), group=group, sort_key=order))
            for command in commands(name, "".join(words[1:2])) if first == name else ():
                parent = command.name.rpartition(" ")[0]
                if parent:
                    app[parent].command(command.app(listed=no_subcommand, sort_key=order))
                else:
                    app.command(command.app(listed=False, group=group, sort_key=order))
    return app


def _summary(module: str) -> str:
    """The first line of a command's help, read from its file: to import all of them takes a second."""
    source = Path(__file__).with_name("commands").joinpath(f"{module}.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(decorator_list=[_]):
                return (ast.get_docstring(node) or "").partition("\n")[0]
            case ast.Expr(value=ast.Call(func=ast.Name(id="group"), args=[_, text, _])):
                return str(ast.literal_eval(text))
    raise AssertionError(f"{module} declares no command")


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code (the console script exits with it)."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    if debug:
        logging.basicConfig()
        logging.getLogger("video_contrast").setLevel(logging.DEBUG)
    # a command whose output is closed (`>&-`, some daemons) runs as one whose output goes nowhere
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  stays open
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if {"--quiet", "-q"} & set(words):
        hush()
    calm()
    if arguments is None:  # launchers and schedulers end a process so: it says how to go on, as of ctrl-c
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if words[:1] == ["--version"]:
            print(f"video-contrast {__version__}")
        else:
            _run(words)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("interrupted: run the same command again to go on where that is possible", file=sys.stderr)
        return INTERRUPTED
    except SystemExit as error:
        if isinstance(error.__context__, BrokenPipeError):  # of a help: rich ends the process with 1 then
            return READER_LEFT
        raise
    except Exception as error:
        if isinstance(error, BrokenPipeError) and _reader_left():
            return READER_LEFT
        if debug:
            traceback.print_exc()
        print("error: " + " ".join(_message(error).split()), file=sys.stderr)
        if isinstance(error, ModuleNotFoundError):
            return UsageError.exit_code
        return error.exit_code if isinstance(error, VideoContrastError) else 1
    finally:
        unhush()
    return 0


def _run(words: Sequence[str]) -> None:
    import cyclopts

    # An empty path is the current folder, which nobody means who wrote `--output "$UNSET"`.
    if any(word == "--output=" or (before, word) == ("--output", "") for before, word in pairwise(["", *words])):
        raise UsageError("--output is empty: name a folder (a dot is the current one); is a shell variable unset?")
    try:
        make_app(words)(words, exit_on_error=False, print_error=False)
    except cyclopts.CycloptsError as error:
        raise UsageError(_wrong_call(error)) from error


def _wrong_call(error: cyclopts.CycloptsError) -> str:
    """The message of cyclopts on a call, with the help to read; absent names and words that are no flag are named."""
    import cyclopts

    message, call = str(error), " ".join(error.command_chain or ())
    match error:
        case cyclopts.MissingArgumentError(argument=argument, keyword=None) if argument and not argument.tokens:
            text = argument.parameter.help
            message = f"{call} needs {argument.name}{f' ({text})' if text else ''}."
        case cyclopts.UnknownOptionError(token=token):
            word = (token.keyword or token.value).removeprefix("--").upper()
            if any(argument.name == word for argument in error.argument_collection):
                message = f"{word} takes no flag: video-contrast {call} {word}."
    return f"{message} See `video-contrast {f'{call} ' if call else ''}--help`"


def _reader_left() -> bool:
    """Whether nobody reads the output any more (an empty line shows it); what is left to write then goes nowhere."""
    try:
        print(flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return True
    return False


def _message(error: Exception) -> str:
    """One line on an error; what nobody expected says how to see the rest."""
    if isinstance(error, VideoContrastError):
        return str(error)
    if isinstance(error, ModuleNotFoundError):
        return str(missing_library(error) or f"{error.name} is not installed")
    if isinstance(error, MemoryError):
        return "there was not enough memory: free some and run the same command again"
    if "No space left on device (os error" in str(error):  # of libraries in Rust, as safetensors
        error = OSError(errno.ENOSPC, str(error))
    if not isinstance(error, OSError):
        return f"unexpected {type(error).__name__}: {error} (run again with --debug to see where)"
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the device{where}: free some and run the same command again; nothing was half-written"
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"no permission to write or read{where}: choose another place or fix the permissions"
    return f"no such file or folder{where}" if error.errno == errno.ENOENT else f"{error.strerror or error}{where}"


if __name__ == "__main__":
    sys.exit(main())
