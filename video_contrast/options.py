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

A group that consists of others inherits from them, and may declare a field anew, with another default or help. Commands
make their flags of the same declarations, and `video_contrast.build(name, **options)` binds the options of a builder.

cyclopts flattens dataclasses, too (`Parameter(name="*")`), but loses the default that a function gives a whole group:
of `sampling: Sampling = Sampling(frames=4)`, help says 8 frames, and 8 are taken once another field is given.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import math
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from video_contrast.errors import UsageError, unknown_name
from video_contrast.files import JsonObject

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Result = TypeVar("Result")
REQUIRED = inspect.Parameter.empty  # the default of an option without one
GivenOptions = Mapping[str, Any]  # option -> value, as the caller has it: of any type until `bind` has checked it
OptionValues = dict[str, Any]  # option -> value, of the type that the option declares
# Types of numbers: what is one of them, its name, and what makes it one of Python (records hold no others).
NUMBERS: dict[type, tuple[Any, str, Callable[[Any], float]]] = {
    bool: (bool, "true or false", bool), int: (Integral, "a whole number", operator.index),
    float: (Real, "a number", lambda value: value if isinstance(value, int) else float(value)),
}  # fmt: skip

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
    """The facts of an option that only the command line knows."""

    name: str = ""  # the flag, where it is not the option's name ("--json" of `as_json`), or the word for an argument
    hidden: bool = False  # taken, but not in the help
    python_only: bool = False  # an option of the function that is no flag
    panel: str = ""  # heading under which the help shows it; "" for that of its dataclass, or the usual one


@dataclass(frozen=True)
class Range:
    """The finite numbers that an option takes."""

    least: float  # itself taken, unless `above`
    most: float = math.inf
    above: bool = False

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most and math.isfinite(value) and not (self.above and value == self.least)

    def __str__(self) -> str:
        if self.most < math.inf:
            return f"from {self.least:g} to {self.most:g}"
        return f"above {self.least:g}" if self.above else f"at least {self.least:g}"


POSITIVE, SHARE = Range(0, above=True), Range(0, 1)


@dataclass(frozen=True)
class Option:
    """One declared option."""

    name: str  # its name in Python
    type: Any  # its type, without the annotations: a class, a union, a `Literal`
    default: Any  # of that type; `REQUIRED` where it has none
    help: str  # its text
    flag: Flag = Flag()  # known to the command line only
    range: Range | None = None  # of its numbers; None for all
    group: str | None = None  # the parameter of the function that holds its dataclass; None where it is one itself
    positional: bool = False  # whether it is a positional argument

    @property
    def flag_name(self) -> str:
        """The flag of the option."""
        return self.flag.name or "--" + self.name.rstrip("_").replace("_", "-")

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
            positional = parameter.kind is not inspect.Parameter.KEYWORD_ONLY
            hint = hints.get(name, Any)  # a bare name takes anything
            options.append(_option(name, hint, parameter.default, positional=positional))
    by_name = {option.name: option for option in options}
    if len(by_name) < len(options):
        raise TypeError(f"{function.__name__} declares an option twice: {[option.name for option in options]}")
    return by_name


def bind(function: Callable[..., object], given: GivenOptions, where: str = "") -> OptionValues:
    """The keyword arguments of `function` from options by name: groups are made, texts become paths, values checked.

    Returns parameter name -> value. Parameters without a given option are left out where they have a default. Raises
    UsageError: an unknown option (the nearest is suggested), a value that it does not take, or one that is missing.

    `given`: option name -> value; or parameter name -> a whole dataclass. `where`: what the options belong to, for
    messages ("build captions"); the function's name by default.
    """
    function, where = inspect.unwrap(function), where or getattr(function, "__name__", "")
    options, hints = options_of(function), get_type_hints(function)
    parameters = {} if dataclasses.is_dataclass(function) else inspect.signature(function).parameters
    groups = {name: hints[name] for name in parameters if dataclasses.is_dataclass(hints.get(name))}
    values: OptionValues = {name: value for name, value in given.items() if isinstance(value, groups.get(name, ()))}
    fields: dict[str | None, OptionValues] = {None: values, **{name: {} for name in groups}}
    for name, value in given.items():
        if name in options:
            fields[options[name].group][name] = checked(options[name], value, where)
        elif name not in values:
            raise unknown_name(f"option of {where}", name, list(options))
    for name, option in options.items():
        if name not in given and option.default is REQUIRED and option.group not in values:
            raise UsageError(f"{where} needs {option.flag_name}" + (f" ({option.help})" if option.help else ""))
    for name, group in groups.items():
        start = values.get(name, parameters[name].default)
        if start is REQUIRED:
            values[name] = group(**fields[name])
        elif fields[name]:
            values[name] = replace(start, **fields[name])
    return values


def checked(option: Option, value: object, where: str) -> object:
    """A value as the option takes it: a text becomes a path, a number of NumPy one of Python.

    `where`: what the option belongs to, for messages. Raises UsageError: it is of another type, or no choice.
    """
    members, choices = _members(option.type), option.choices
    if value in choices or (
        value is None and (option.default is None or not {types.NoneType, Any}.isdisjoint(members))
    ):
        return value
    if isinstance(value, str) and {str, Path} & {*members}:
        return value if str in members else Path(value)
    kind = next((kind for kind in NUMBERS if kind in members), None)
    if kind is not None:
        abstract, takes, convert = NUMBERS[kind]
        if isinstance(value, abstract) and isinstance(value, bool) == (kind is bool):
            if option.range is not None and value not in option.range:
                raise UsageError(f"{where}: {option.flag_name} must be {option.range}, not {value}")
            return convert(value)
        wrong = f"{option.flag_name} takes {' or '.join([takes, *map(repr, choices)])}, not {value!r}"
    elif choices:
        wrong = str(unknown_name(f"value of {option.flag_name}", str(value), choices))
    elif {str, Path} & {*members} and isinstance(value, bool | int | float | None):
        # YAML counts where it can
        wrong = f"{option.flag_name} takes text{' (put it in quotes)' * (value is not None)}, not {value!r}"
    elif Mapping in map(get_origin, members) and not isinstance(value, Mapping):
        wrong = f"{option.name} takes names and values, not {value!r}"
    else:
        return value
    raise UsageError(f"{where}: {wrong} (in Python: {option.name}=)")


def with_options(function: Callable[..., Result]) -> Callable[..., Result]:
    """Decorates a function so that the fields of its dataclass parameters are keyword arguments.

    The signature and the `Args` of the docstring that `help()` shows are those of the single options.
    """
    options = options_of(function).values()
    parameters = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD if option.positional else inspect.Parameter.KEYWORD_ONLY,
            default=option.default,
            annotation=option.type,
        )
        for option in options
    ]
    new_signature = inspect.signature(function).replace(parameters=parameters)

    @functools.wraps(function)
    def call(*args: object, **given: object) -> Result:
        try:
            arguments = {name: value for name, value in given.items() if name in new_signature.parameters}
            values = new_signature.bind_partial(*args, **arguments).arguments  # none of them twice
        except TypeError as error:
            raise TypeError(f"{function.__name__}: {error}") from error
        return function(**bind(function, {**given, **values}))

    call.__signature__ = new_signature  # type: ignore[attr-defined]  # read by `help` and `inspect`
    call.__doc__ = _documented(inspect.getdoc(function) or "", [option for option in options if option.group])
    return call


def names_in(*given: str | Sequence[str] | None) -> list[str] | None:
    """The names of options that may be lists and may hold several names separated by commas; None if there are none.

    >>> names_in(["verb_mc,gender_mc"], None, "retrieval")
    ['verb_mc', 'gender_mc', 'retrieval']
    """
    words = [word for part in given for word in ([part] if isinstance(part, str) else part or ())]
    return [name for word in words for part in word.split(",") if (name := part.strip())] or None


def named_values(text: str | None, option: str) -> dict[str, object]:
    """`name=value,...` as keywords; numbers become numbers."""
    values: dict[str, object] = {}
    for part in names_in(text) or ():
        name, equals, value = map(str.strip, part.partition("="))
        if not equals:
            raise UsageError(f"{option}: {part!r} must be name=value, several with commas between them")
        try:
            values[name] = float(value) if "." in value else int(value)
        except ValueError:
            values[name] = value
    return values


def as_record(options: DataclassInstance) -> JsonObject:
    """A dataclass of options as JSON-able values by name: paths as text, sequences as lists."""
    values = {field.name: getattr(options, field.name) for field in dataclasses.fields(options)}
    record: JsonObject = json.loads(json.dumps(values, default=str))
    return record


def describe(option: Option) -> str:
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
        default = REQUIRED if default is dataclasses.MISSING else default
        default = default if start is REQUIRED else getattr(start, field.name)
        option = _option(field.name, hints[field.name], default, group=parameter)
        # the `PANEL` of the class that declares it, or of the first that inherits it and has one
        owner = next(base for base in group.__mro__ if field.name in inspect.get_annotations(base))
        heirs = (base for base in reversed(group.__mro__) if issubclass(base, owner))
        panel = option.flag.panel or next((base.PANEL for base in heirs if hasattr(base, "PANEL")), "")
        hidden = option.flag.hidden or field.name in getattr(group, "HIDDEN", ())
        options.append(replace(option, flag=replace(option.flag, panel=panel, hidden=hidden)))
    return options


def _option(name: str, hint: object, default: object, **place: Any) -> Option:  # fields of `Option`
    kind, notes = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    text = next((note for note in reversed(notes) if isinstance(note, str)), "")
    flag = next((note for note in reversed(notes) if isinstance(note, Flag)), Flag())
    numbers = next((note for note in reversed(notes) if isinstance(note, Range)), None)
    return Option(name, kind, default, text, flag, numbers, **place)


def _members(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)


def _documented(text: str, options: list[Option]) -> str:
    """The docstring with a line for each option at the end of its `Args`."""
    lines = [f"    {option.name}: {describe(option)}" for option in options]
    head, mark, rest = text.partition("Args:\n")
    if not mark:
        return "\n".join([text, "", "Args:", *lines])
    own, gap, tail = rest.partition("\n\n")
    return head + mark + "\n".join([own.rstrip("\n"), *lines]) + gap + tail
