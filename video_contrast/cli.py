"""The command `video-contrast`: collects the subcommands and turns errors into one line and an exit code.

Exit codes: 0 done, 1 something failed, 2 the call was wrong, 130 interrupted.
"""

import errno
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from video_contrast.errors import VideoContrastError
from video_contrast.version import __version__

# Heading of the help -> modules of `video_contrast.commands`. Each has `add(app)`, which adds its command or group.
COMMANDS = {
    "First": ("demo", "list"),
    "Sets": ("build", "check", "audit", "analyse", "annotate", "perturb", "export", "push"),
    "Scores": ("score", "compare", "table", "report", "reproduce", "metrics"),
    "Training": ("teach", "tune_t5", "vectors"),
}


INTERRUPTED = 130


class InOrder(TyperGroup):
    """Commands stand in the help in the order of `COMMANDS`."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of the commands."""
        return [name.replace("_", "-") for names in COMMANDS.values() for name in names]


app = typer.Typer(
    cls=InOrder,
    name="video-contrast",
    help="Does a video-text model understand who did what, or does it match objects to words?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: video-contrast demo --output demo",
)


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Options that come before the subcommand. `--debug` is read in `main`, also when it stands elsewhere."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code (the console script exits with it)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    given = [word for word in given if word != "--debug"]
    if "--version" in given[:1]:
        print(f"video-contrast {__version__}")
        return 0
    try:
        for heading, names in COMMANDS.items():
            for name in names:
                import_module(f"video_contrast.commands.{name}").add(app)
            for command in app.registered_commands:
                command.rich_help_panel = command.rich_help_panel or heading
            for group in app.registered_groups:
                group.rich_help_panel = group.rich_help_panel or heading
        app(args=given, prog_name="video-contrast")
    except SystemExit as stop:
        if stop.code == INTERRUPTED:  # typer takes Ctrl-C for itself, and says nothing
            return _interrupted()
        return stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except KeyboardInterrupt:
        return _interrupted()
    except VideoContrastError as error:
        return _failed(str(error), error.exit_code, debug)
    except OSError as error:
        return _failed(_system_error(error), 1, debug)
    except Exception as error:  # the last resort: still one line, and it says how to see the rest
        return _failed(f"unexpected {type(error).__name__}: {error} (run again with --debug to see where)", 1, debug)
    return 0


def _interrupted() -> int:
    print("interrupted: run the same command again to go on where that is possible", file=sys.stderr)
    return INTERRUPTED


def _failed(message: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return code


def _system_error(error: OSError) -> str:
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"no space left on the device{where}: free some and run the same command again; nothing was half-written"
    if error.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        return f"no permission to write or read{where}: choose another --output or fix the permissions"
    if error.errno == errno.ENOENT:
        return f"no such file or folder{where}"
    return f"{error.strerror or error}{where}"


if __name__ == "__main__":
    sys.exit(main())
