"""Generators that run a model, one a file. They propose other words; rules, judge and choice are those of the lexicon.

A new generator is a file with a class as `base.CaptionGenerator` describes it, and a line in `GENERATORS`. Its keyword
arguments are its options.
"""

from collections.abc import Callable
from inspect import signature

from video_contrast.errors import unknown_name
from video_contrast.options import Flag, GivenOptions, Option, checked
from video_contrast.perturbations.contrast.generators.base import CaptionGenerator, MaskedSpan
from video_contrast.perturbations.contrast.generators.llm import ChatGenerator
from video_contrast.perturbations.contrast.generators.mlm import MaskedGenerator
from video_contrast.perturbations.contrast.generators.t5 import T5Generator

GENERATORS: dict[str, Callable[..., CaptionGenerator]] = {
    "t5": T5Generator,
    "mlm": MaskedGenerator,
    "llm": ChatGenerator,
}
__all__ = ["GENERATORS", "CaptionGenerator", "MaskedSpan", "check_generator_options", "make_generator"]


def check_generator_options(name: str, options: GivenOptions) -> None:
    """Checks the options of a generator by name and kind of value, before anything is loaded.

    Raises UsageError: it has no option of a name, or a value is of another type than the default.
    """
    parameters = signature(GENERATORS[name]).parameters
    for key, value in options.items():
        if key not in parameters:
            names = sorted(parameters.keys() - {"chat"})
            raise unknown_name(f"option of the generator {name}", key, names)
        default = parameters[key].default
        checked(Option(key, type(default), default, "", Flag(key)), value, f"the generator {name}")


def make_generator(name: str, options: GivenOptions) -> CaptionGenerator:
    """The generator called `name`, a key of `GENERATORS`, with its own options.

    Raises UsageError: an unknown option; VideoContrastError: its model is absent.
    """
    check_generator_options(name, options)
    return GENERATORS[name](**options)
