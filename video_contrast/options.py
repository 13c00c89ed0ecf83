"""Options: each is declared once, with type, default and help; Python, the command line and the records read it there.

An option is a keyword-only parameter, or a field of a frozen dataclass that functions share:

    @dataclass(frozen=True, kw_only=True)
    class Sampling:
        '''Which frames of a clip the model sees.'''
        PANEL: ClassVar[str] = "How it runs"                    # heading in the help of a command; may be left out
        HIDDEN: ClassVar[frozenset[str]] = frozenset()          # fields that the help leaves out; likewise
        frames: Annotated[int | None, "frames a clip; 8, or what the model needs"] = None
        policy: Annotated[Literal["uniform", "head"], "where the frames lie", Flag("--sampling")] = "uniform"

    @with_options
    def score(model: str, dataset: str, *, sampling: Sampling, seed: Seed = 0) -> RunResult: ...

    score("temporal", "shapes", frames=8, seed=3)               # the fields are keyword arguments ...
    score("temporal", "shapes", sampling=Sampling(frames=8))    # ... or the group is given whole

A group needs no default: the defaults of its fields are taken. A group that consists of others inherits from them
(`class ScoreOptions(ModelOptions, Sampling): ...`), and may declare a field anew, with another default or help.
The commands make their flags of the same declarations, and `video_contrast.build(name, **options)` binds the options
of a builder: `name(configs, *, table: CaptionTable, build: BuildOptions, cast: Annotated[Path | None, "..."] = None)`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    SupportsIndex,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from video_contrast.errors import UsageError, unknown_name
from video_contrast.files import JsonObject

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Result = TypeVar("Result")
REQUIRED = inspect.Parameter.empty  # the default of an option without one
GivenOptions = Mapping[str, Any]  # option -> value, as the caller has it: of any type until `bind` has checked it
OptionValues = dict[str, Any]  # option -> value, of the type that the option declares

# Options that many commands have.
Seed = Annotated[int, "seed of all random draws"]
Device = Annotated[str, "auto (first GPU, else CPU), cpu, cuda, cuda:1, mps"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]
VideoRoot = Annotated[Path | None, "where video paths start: a folder, or s3://...; default: the set's own"]
SetPath = Annotated[Path, "folder of the set"]
Split = Annotated[str, "which split"]
Config = Annotated[str, "which config"]
Configs = Annotated[list[str] | None, "which configs, comma-separated or the flag repeated; default: all"]


@dataclass(frozen=True)
class Flag:
    """What only the command line knows of an option."""

    name: str = ""  # the flag, where it is not the option's name ("--format" of `format_`), or the word for an argument
    short: str = ""  # its short form ("-q")
    hidden: bool = False  # taken, but not in the help
    python_only: bool = False  # an option of the function that is no flag
    panel: str = ""  # heading under which the help shows it, where no dataclass says so


@dataclass(frozen=True)
class Option:
    """One declared option."""

    name: str  # its name in Python
    # its type, without the annotations.
    type: Any  # an annotation: a class, a union, a `Literal`
    # its default; `REQUIRED` where it has none.
    default: Any  # of that type, or `REQUIRED`
    help: str  # its text
    flag: Flag = Flag()  # what only the command line knows
    # heading under which the help of a command shows it: `PANEL` of its dataclass; "" for the usual one.
    panel: str = ""
    # the parameter of the function that holds the dataclass; None where the option is a parameter itself.
    group: str | None = None
    positional: bool = False  # whether it is a positional argument

    @property
    def names(self) -> tuple[str, ...]:
        """Its flags: the long one, then the short one."""
        long = self.flag.name or "--" + self.name.rstrip("_").replace("_", "-")
        return (long, self.flag.short) if self.flag.short else (long,)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that a `Literal` type allows; () for any other type."""
        return next((get_args(part) for part in _members(self.type) if get_origin(part) is Literal), ())


def options_of(function: Callable[..., object]) -> dict[str, Option]:
    """The options of a function or dataclass by name: its parameters, with dataclasses replaced by their fields."""
    function = inspect.unwrap(function)
    if dataclasses.is_dataclass(function):
        return {option.name: option for option in _fields(function)}
    hints = get_type_hints(function, include_extras=True)
    options: list[Option] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if dataclasses.is_dataclass(hints.get(name)):
            options += _fields(hints[name], name, parameter.default)
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            option = _option(name, hints.get(name, Any), parameter.default)  # a bare name takes anything
            positional = parameter.kind is not inspect.Parameter.KEYWORD_ONLY
            options.append(dataclasses.replace(option, positional=positional))
    by_name = {option.name: option for option in options}
    if len(by_name) < len(options):
        raise TypeError(f"{function.__name__} declares an option twice: {[option.name for option in options]}")
    return by_name


def bind(function: Callable[..., object], given: GivenOptions, where: str = "") -> OptionValues:
    """The keyword arguments of `function` from options by name: groups are made, texts become paths, values checked.

    Returns parameter name -> value. Parameters without a given option are left out where they have a default. Raises
    UsageError: an unknown option (the nearest is suggested), a value that is no choice, or one that is missing.

    `given`: option name -> value; or parameter name -> a whole dataclass. `where`: what the options belong to, for
    messages ("build captions"); the function's name by default.
    """
    function, where = inspect.unwrap(function), where or getattr(function, "__name__", "")
    known = options_of(function)
    parameters = {} if dataclasses.is_dataclass(function) else inspect.signature(function).parameters
    hints: dict[str, type] = get_type_hints(function)
    groups = {name: hints[name] for name in parameters if dataclasses.is_dataclass(hints.get(name))}
    values: OptionValues = {}
    fields: dict[str, OptionValues] = {name: {} for name in groups}
    for given_name, value in given.items():
        if given_name in fields and isinstance(value, groups[given_name]):
            values[given_name] = value
            continue
        if given_name not in known:
            raise unknown_name(f"option of {where}", given_name, list(known))
        option = known[given_name]
        (values if option.group is None else fields[option.group])[given_name] = _converted(option, value)
    for option in known.values():
        holder = values if option.group is None else fields[option.group]
        if option.default is REQUIRED and option.name not in holder and option.group not in values:
            raise UsageError(f"{where} needs {option.names[0]} ({option.help})")
    for name, part in fields.items():
        start = values.get(name, parameters[name].default)
        if part or start is REQUIRED:
            values[name] = groups[name](**part) if start is REQUIRED else dataclasses.replace(start, **part)
    return values


def with_options(function: Callable[..., Result]) -> Callable[..., Result]:
    """Decorates a function so that the fields of its dataclass parameters are keyword arguments.

    The signature and the `Args` of the docstring that `help()` shows are those of the single options.
    """
    grouped = [option for option in options_of(function).values() if option.group is not None]
    groups = {option.group for option in grouped}

    @functools.wraps(function)
    def call(*args: object, **given: object) -> Result:
        parameters = [name for name in inspect.signature(function).parameters if name not in groups]
        if len(args) > len(parameters):
            raise TypeError(f"{function.__name__} takes {len(parameters)} positional arguments, not {len(args)}")
        return function(**bind(function, {**dict(zip(parameters, args, strict=False)), **given}))

    call.__signature__ = signature(function)  # type: ignore[attr-defined]  # what `help` and `inspect` read
    call.__doc__ = _documented(inspect.getdoc(function) or "", grouped)
    return call


def signature(function: Callable[..., object]) -> inspect.Signature:
    """The signature of a function with its dataclass parameters replaced by their fields."""
    parameters = []
    for option in options_of(function).values():
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if option.positional else inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(option.name, kind, default=option.default, annotation=option.type))
    return inspect.Signature(parameters, return_annotation=inspect.signature(function).return_annotation)


def as_record(options: DataclassInstance) -> JsonObject:
    """A dataclass of options as JSON-able values by name: paths as text, sequences as lists."""
    return {field.name: _plain(getattr(options, field.name)) for field in dataclasses.fields(options)}


def describe(option: Any) -> str:  # an `Option`, or one of a model's kind
    """The help of an option with its choices and its default."""
    choices = f" ({', '.join(map(str, option.choices))})" if option.choices else ""
    plain = option.default is REQUIRED or option.default is False or option.default in (None, "", (), {})
    default = "" if plain else f" [default: {option.default}]"
    return f"{option.help}{choices}{default}"


def _fields(group: type[DataclassInstance], parameter: str | None = None, start: object = REQUIRED) -> list[Option]:
    hints = get_type_hints(group, include_extras=True)
    options = []
    for field in dataclasses.fields(group):
        default = field.default_factory() if field.default_factory is not dataclasses.MISSING else field.default
        default = default if start is REQUIRED else getattr(start, field.name)
        option = _option(field.name, hints[field.name], REQUIRED if default is dataclasses.MISSING else default)
        panel = option.panel or _panel(group, field.name)
        if field.name in getattr(group, "HIDDEN", ()):
            option = dataclasses.replace(option, flag=dataclasses.replace(option.flag, hidden=True))
        options.append(dataclasses.replace(option, group=parameter, panel=panel))
    return options


def _panel(group: type, field: str) -> str:
    """The heading of a field: `PANEL` of the class that declares it, or of the first that inherits it and has one."""
    owner = next(base for base in group.__mro__ if field in inspect.get_annotations(base))
    heirs = (base for base in reversed(group.__mro__) if issubclass(base, owner))
    return next((base.PANEL for base in heirs if hasattr(base, "PANEL")), "")


def _option(name: str, hint: object, default: object) -> Option:
    kind, notes = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    text = next((note for note in reversed(notes) if isinstance(note, str)), "")
    flag = next((note for note in reversed(notes) if isinstance(note, Flag)), Flag())
    return Option(name=name, type=kind, default=default, help=text, flag=flag, panel=flag.panel)


def _members(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _converted(option: Option, value: object) -> object:
    members, in_python = _members(option.type), f"(in Python: {option.name}=)"
    if isinstance(value, str) and Path in members and str not in members:
        return Path(value)
    is_number = isinstance(value, int) and int in members  # of a number or a word: "--frames owner"
    if option.choices and value is not None and not is_number and value not in option.choices:
        unknown = unknown_name(f"value of {option.names[0]}", str(value), [str(choice) for choice in option.choices])
        raise UsageError(f"{unknown} {in_python}")
    if int in members and {*members} <= {int, type(None)} and value is not None:
        if isinstance(value, bool) or not isinstance(value, SupportsIndex):
            raise UsageError(f"{option.names[0]} takes a whole number, not {value!r} {in_python}")
        return operator.index(value)  # of NumPy's, too, which records cannot hold
    return value


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return {name: _plain(part) for name, part in value.items()} if isinstance(value, Mapping) else value


def _documented(text: str, options: list[Option]) -> str:
    """The docstring with a line for each option at the end of its `Args`."""
    lines = [f"    {option.name}: {describe(option)}" for option in options]
    head, mark, rest = text.partition("Args:\n")
    if not mark:
        return "\n".join([text, "", "Args:", *lines])
    own, gap, tail = rest.partition("\n\n")
    return head + mark + "\n".join([own.rstrip("\n"), *lines]) + gap + tail
