"""What a subcommand is: a function, whose options (`video_contrast.options`) become the flags, and an example.

The functions of a file are decorated with `@command`, below a call of `group` where they are subcommands of one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from video_contrast.console import hush
from video_contrast.options import Flag, GivenOptions, Option, OptionValues, bind, options_of

if TYPE_CHECKING:
    import cyclopts


# Every command takes it (see `video_contrast.console`).
QUIET = Option("quiet", bool, False, "no progress bars, notes or summaries; errors stay", Flag(short="-q"))


@dataclass(frozen=True)
class CommandGroup:
    """A command that only has subcommands."""

    name: str  # its name
    help: str  # what its subcommands do
    example: str  # a call of one of them


@dataclass(frozen=True)
class Command:
    """A subcommand."""

    name: str  # "score", or "perturb text" in a group
    function: Callable[..., None]  # its keyword-only parameters are the flags, the others the arguments of the command
    example: str  # a call that runs, with what is said of it in brackets: "video-contrast score ... (offline)"
    help: str = ""  # the function's docstring where empty
    brief: str = ""  # a line for the list of its group; the help's first paragraph where empty
    # returns further flags, whose values the function takes together, by name, as its option `options`.
    more: Callable[[], Iterable[Option]] = tuple

    def run(self, given: GivenOptions) -> None:
        """Calls the function with the options that were given on the command line, by name."""
        self.function(**self.arguments(given))

    def arguments(self, given: GivenOptions) -> OptionValues:
        """The arguments of the function: options by name, those of `more` together."""
        more = {option.name for option in self.more()}
        extra = {name: value for name, value in given.items() if name in more}
        values = {name: value for name, value in given.items() if name not in more}
        return bind(self.function, values | ({"options": extra} if extra else {}), self.name)


Function = TypeVar("Function", bound=Callable[..., None])
_OF_MODULE: dict[str, list[Command | CommandGroup]] = {}  # name of a module -> what it declares, in its order


def command(name: str, example: str, *, more: Callable[[], Iterable[Option]] = tuple) -> Callable[[Function], Function]:
    """Decorates a function as a subcommand; it can still be called. `name, example, more`: as in `Command`."""

    def declare(function: Function) -> Function:
        _OF_MODULE.setdefault(function.__module__, []).append(Command(name, function, example, more=more))
        return function

    return declare


def group(name: str, help: str, example: str) -> None:
    """Declares the group of the subcommands that follow in the file that calls it.

    `name, help, example`: as in `CommandGroup`.
    """
    _OF_MODULE.setdefault(f"{__package__}.{name}", []).append(CommandGroup(name, help, example))


def declared_in(module: ModuleType, subcommand: str = "") -> Iterator[Command | CommandGroup]:
    """The commands of a file, a group before its subcommands; those that its `commands(subcommand)` makes come last."""
    yield from _OF_MODULE.get(module.__name__, ())
    if hasattr(module, "commands"):
        yield from module.commands(subcommand)


def names_in(*lists: Sequence[str] | None) -> list[str] | None:
    """The names of flags that may be repeated and may hold several names separated by commas; None if there are none.

    >>> names_in(["verb_mc,gender_mc"], None, ["retrieval"])
    ['verb_mc', 'gender_mc', 'retrieval']
    """
    words = [word for words in lists for word in words or ()]
    return [name for word in words for part in word.split(",") if (name := part.strip())] or None


def add_to(
    app: cyclopts.App,
    command: Command | CommandGroup,
    *,
    heading: cyclopts.Group | None,
    order: int,
    listed: bool = False,
) -> None:
    """Adds a command to the app, under a heading at a place, or to the group that its name begins with.

    `listed`: only list it, without its options.
    """
    import cyclopts

    *path, name = command.name.split(" ")
    parent = app[path[0]] if path else app
    settings: dict[str, Any] = {  # arguments of cyclopts, each of its own type
        "name": name,
        "help_epilogue": f"Example: {command.example}",
        "sort_key": order,
    }
    if heading is not None and not path:
        settings["group"] = heading
    if isinstance(command, CommandGroup):
        parent.command(cyclopts.App(help=command.help, **settings))
        return
    text = (listed and command.brief) or command.help or inspect.getdoc(command.function) or ""
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))  # the help wraps it anew
    parent.command((lambda: None) if listed else _call(command), help=text, **settings)


def _call(command: Command) -> Callable[..., None]:
    """A function with one parameter an option, for cyclopts to read; only what is given reaches the command."""
    declared = [option for option in options_of(command.function).values() if not option.flag.python_only]
    shown = [option for option in declared if not option.flag.hidden]
    panel = shown[0].panel if shown and all(option.panel for option in shown) else ""
    options = [*declared, replace(QUIET, panel=panel), *command.more()]
    options = sorted(options, key=lambda option: not option.positional)
    panels = list(dict.fromkeys(option.panel for option in options if option.panel))

    def call(*arguments: object, **given: object) -> None:
        if given.pop(QUIET.name, False):
            hush()
        positional = [option.name for option in options if option.positional]
        command.run({**dict(zip(positional, arguments, strict=False)), **given})

    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what cyclopts reads
        [_parameter(option, panels) for option in options]
    )
    return call


def _given_type(kind: Any) -> Any:  # annotations, as `Option.type`
    """What the command line gives: a text where a list of them will do as well, a path where a text will do as well."""
    members = get_args(kind)
    if str in members and Sequence[str] in members:
        return str
    if str in members and Path in members:
        return Path | None if type(None) in members else Path
    return kind


def _whole_or_word(words: Sequence[str], _kind: type, tokens: Sequence[cyclopts.Token]) -> int | str:
    """A whole number, or one of some words; cyclopts itself would round 1.5 frames to two."""
    value = tokens[0].value
    try:
        return value if value in words else int(value)
    except ValueError as error:
        either = f"neither a whole number nor {' or '.join(map(repr, words))}" if words else "no whole number"
        raise ValueError(f"{value!r} is {either}.") from error


def _parameter(option: Option, panels: Sequence[str]) -> inspect.Parameter:
    import cyclopts

    panel: dict[str, Any] = (  # arguments of cyclopts, each of its own type
        {"group": cyclopts.Group(option.panel, sort_key=panels.index(option.panel))} if option.panel else {}
    )
    given_type = _given_type(option.type)
    if given_type in (int, int | None) or (int in get_args(given_type) and option.choices):
        panel["converter"] = partial(_whole_or_word, option.choices)
    flag = cyclopts.Parameter(
        **panel,
        name=(option.flag.name or None) if option.positional else list(option.names),
        help=option.help,
        show=False if option.flag.hidden else None,
        show_default=False if option.default is False or option.default in ((), "") else None,
        negative=f"--no-{option.names[0][2:]}" if option.default is True else (),
    )
    kind = inspect.Parameter.POSITIONAL_ONLY if option.positional else inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(option.name, kind, default=option.default, annotation=Annotated[given_type, flag])
