"""Generators of contrast captions, one a file. They propose; the constraints accept.

A new generator is a file with a class as `base.CaptionGenerator` describes it, and a line in `GENERATORS`. Its keyword
arguments are its options; it is handed `counts`, `target` and `device` if it takes arguments of these names.
"""

from collections.abc import Callable
from inspect import signature

from video_contrast.errors import UsageError, unknown_name
from video_contrast.options import GivenOptions
from video_contrast.perturbations.contrast.generators.base import CaptionGenerator
from video_contrast.perturbations.contrast.generators.llm import ChatGenerator
from video_contrast.perturbations.contrast.generators.mlm import MaskedGenerator
from video_contrast.perturbations.contrast.generators.t5 import T5Generator
from video_contrast.perturbations.contrast.given_options import check_given
from video_contrast.perturbations.contrast.target import Target

GENERATORS: dict[str, Callable[..., CaptionGenerator]] = {
    "t5": T5Generator,
    "mlm": MaskedGenerator,
    "llm": ChatGenerator,
}
__all__ = [
    "GENERATORS",
    "CaptionGenerator",
    "check_generator",
    "check_generator_options",
    "make_generator",
]


def check_generator(name: str, target: Target) -> None:
    """Checks a generator's name, before anything is loaded.

    Raises:
        UsageError: there is none of this name, or it cannot propose such words.
    """
    if name not in GENERATORS:
        raise unknown_name(f"{target.name} generator", name, list(GENERATORS))
    if target.generators is not None and name not in target.generators:
        raise UsageError(f"{target.name}s have the generators {', '.join(target.generators)}, not {name!r}")


def check_generator_options(name: str, options: GivenOptions) -> None:
    """Checks the options of a generator, before anything is loaded.

    Raises:
        UsageError: it has no option of a name; the message names those that it has. Or a value of another kind.
    """
    parameters = signature(GENERATORS[name]).parameters
    usual = {key: value.default for key, value in parameters.items() if key not in ("target", "chat")}
    by_user = {key: value for key, value in options.items() if key != "chat" or key not in parameters}
    check_given(f"option of the generator {name}", by_user, usual)


def make_generator(name: str, target: Target, device: str, options: GivenOptions) -> CaptionGenerator:
    """The generator called `name`.

    Args:
        name: a key of `GENERATORS`.
        target: the part of speech that it replaces.
        device: "auto", "cpu", "cuda" ...; `options` may name another one.
        options: the generator's own arguments.

    Raises:
        UsageError: an unknown name or option.
        VideoContrastError: its model is absent.
    """
    check_generator(name, target)
    check_generator_options(name, options)
    parameters = signature(GENERATORS[name]).parameters
    context: dict[str, object] = {"device": device, "target": target}
    arguments = {key: value for key, value in context.items() if key in parameters} | dict(options)
    return GENERATORS[name](**arguments)
