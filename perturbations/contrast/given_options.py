"""Options of generators and constraints by name: the names and the kinds of values, before anything is loaded."""

from collections.abc import Mapping

from video_contrast.errors import UsageError, unknown_name
from video_contrast.options import GivenOptions


def check_given(kind: str, given: GivenOptions, usual: Mapping[str, object]) -> None:
    """Checks options against those that there are.

    Args:
        kind: what they are, for the message ("option of the generator t5").
        given: name -> value.
        usual: name -> default, of every option; a default that is neither number nor text allows any value.

    Raises:
        UsageError: there is no option of a name, or a value is no number (no whole number, no text) where the default
            is one.
    """
    for name, value in given.items():
        if name not in usual:
            raise unknown_name(kind, name, sorted(usual))
        default = usual[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if isinstance(default, int) and not isinstance(default, bool) and not (number and isinstance(value, int)):
            raise UsageError(f"{kind} {name!r} must be a whole number, not {value!r}")
        if isinstance(default, float) and not number:
            raise UsageError(f"{kind} {name!r} must be a number, not {value!r}")
        if isinstance(default, str) and not isinstance(value, str):
            raise UsageError(f"{kind} {name!r} must be a text, not {value!r}")
