"""The parts of a subcommand: a function, whose options (`video_contrast.options`) become the flags, and an example.

The functions of a file are decorated with `@command`, below a call of `group` where they are subcommands of one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args

from video_contrast.options import Flag, Option, bind, options_of

if TYPE_CHECKING:
    import cyclopts


@dataclass(frozen=True)
class Command:
    """A subcommand, or a group of them."""

    name: str  # "score", or "perturb text" in a group
    example: str  # a call that runs, with what is said of it in brackets: "video-contrast score ... (offline)"
    function: Callable[..., None] | None = None  # keyword-only parameters are flags, others arguments; None of a group
    help: str = ""  # the function's docstring where empty
    brief: str = ""  # a line for the list of its group; the help's first paragraph where empty
    more: Callable[[], Iterable[Option]] = tuple  # further flags; the function takes their values by name as `options`

    def app(self, *, listed: bool, **settings: Any) -> cyclopts.App:  # arguments of cyclopts, each of its own type
        """The command for cyclopts; `listed`: only to be listed, without its options."""
        import cyclopts

        text = (listed and self.brief) or self.help or inspect.getdoc(self.function) or ""
        text = "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))  # the help wraps it anew
        name, example = self.name.rpartition(" ")[2], f"Example: {self.example}"
        app = cyclopts.App(name=name, help=text, help_epilogue=example, version_flags=[], **settings)
        if self.function is not None:
            app.default((lambda: None) if listed else self.call())
        return app

    def call(self) -> Callable[..., None]:
        """A function with one parameter an option, for cyclopts to read; only what is given reaches the command."""
        assert self.function is not None
        function, more = self.function, {option.name: option for option in self.more()}
        own = [option for option in options_of(function).values() if not option.flag.python_only]
        shown = [option.flag.panel for option in own if not option.flag.hidden]
        panel = shown[0] if shown and all(shown) else ""
        # `main` heeds it
        quiet = Option("quiet", bool, False, "no progress bars, notes or summaries; errors stay", Flag(panel=panel))
        options = sorted([*own, quiet, *more.values()], key=lambda option: not option.positional)
        panels = list(dict.fromkeys(option.flag.panel for option in options if option.flag.panel))

        def call(*arguments: object, **given: object) -> None:
            values = {**dict(zip([option.name for option in options], arguments, strict=False)), **given}
            values.pop(quiet.name, None)
            extra = {name: values.pop(name) for name in list(values) if name in more}
            function(**bind(function, values | ({"options": extra} if extra else {}), self.name))

        signature = inspect.Signature([_parameter(option, panels) for option in options])
        call.__signature__ = signature  # type: ignore[attr-defined]  # read by cyclopts
        return call


Function = TypeVar("Function", bound=Callable[..., None])
DECLARED: dict[str, list[Command]] = {}  # name of a module -> its commands in their order, a group before its own


def command(name: str, example: str, *, more: Callable[[], Iterable[Option]] = tuple) -> Callable[[Function], Function]:
    """Decorates a function as a subcommand; it can still be called. `name, example, more`: as in `Command`."""

    def declare(function: Function) -> Function:
        DECLARED.setdefault(function.__module__, []).append(Command(name, example, function, more=more))
        return function

    return declare


def group(name: str, help: str, example: str) -> None:
    """Declares the group of the subcommands that follow in the file that calls it, and is called as it."""
    DECLARED.setdefault(f"{__package__}.{name}", []).append(Command(name, example, help=help))


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

    members, panel = get_args(option.type), option.flag.panel
    # a text where a list of them will do as well, a path where a text will do as well
    given_type = str if Sequence[str] in members else Path | None if {str, Path} <= {*members} else option.type
    whole = given_type in (int, int | None) or (int in get_args(given_type) and option.choices)
    heading: dict[str, Any] = {"group": cyclopts.Group(panel, sort_key=panels.index(panel))} if panel else {}
    flag = cyclopts.Parameter(
        **heading,
        name=(option.flag.name or None) if option.positional else option.flag_name,
        alias="-q" if option.name == "quiet" else None,
        converter=partial(_whole_or_word, option.choices) if whole else None,
        help=option.help,
        show=False if option.flag.hidden else None,
        show_default=False if option.default is False or option.default in ((), "") else None,
        negative=None if option.default is True else (),
    )
    kind = inspect.Parameter.POSITIONAL_ONLY if option.positional else inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(option.name, kind, default=option.default, annotation=Annotated[given_type, flag])
