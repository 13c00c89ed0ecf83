"""The registry of builders, and what a builder returns.

A builder is one function in one file of this folder:

    @builder("captions", configs=("retrieval", "random_mc", "verb_mc"), needs="a table of captions")
    def captions(configs: list[str], *, captions: Annotated[Path, "table of captions"], seed: int = 0) -> BuiltSet: ...

Its keyword parameters are the options of `video-contrast build captions`, with `Annotated[type, "help"]` as the help
text, and the arguments of `video_contrast.build("captions", ...)`. `output` is not its business: it returns tables.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from video_contrast.errors import UsageError, unknown_name
from video_contrast.rows import Row

# One file of this folder a line.
MODULES = (
    "shapes.shapes",
    "sources.captions",
    "sources.msrvtt",
    "sources.lsmdc_ids",
    "sources.youcook2",
    "sources.feint6k",
    "sources.counterfactual",
    "robustness.msrvtt_p",
    "robustness.youcook2_p",
    "robustness.perturbed",
)


@dataclass
class BuiltSet:
    """What a builder made: its tables, and the facts that its card tells.

    Attributes:
        name: the builder's name.
        tables: config -> split -> rows (`video_contrast.rows`).
        facts: JSON-able facts for the card: keys every card shows are `summary`, `sources`, `licence`, `citations`,
            `seed`, `options`; per config facts are under `configs[config]` (how negatives were made, counts by
            reason, thresholds, filter models, audit).
        files: files to write beside the tables, relative path -> function that writes it to the given path.
            They are written atomically, and only where absent or changed.
    """

    name: str
    tables: dict[str, dict[str, list[Row]]]
    facts: dict[str, Any] = field(default_factory=dict)
    files: dict[str, Callable[[Any], None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Builder:
    """A registered builder."""

    name: str
    summary: str
    configs: tuple[str, ...]
    needs: str
    function: Callable[..., BuiltSet]


BUILDERS: dict[str, Builder] = {}


def builder(
    name: str, *, configs: tuple[str, ...], needs: str
) -> Callable[[Callable[..., BuiltSet]], Callable[..., BuiltSet]]:
    """Registers a builder; the summary is the first line of its docstring."""

    def register(function: Callable[..., BuiltSet]) -> Callable[..., BuiltSet]:
        summary = (function.__doc__ or "").strip().partition("\n")[0]
        BUILDERS[name] = Builder(name, summary, configs, needs, function)
        return function

    return register


def all_builders() -> dict[str, Builder]:
    """Every builder by name, in the order of `MODULES`."""
    for module in MODULES:
        import_module(f"video_contrast.builders.{module}")
    return BUILDERS


def get_builder(name: str) -> Builder:
    """The builder called `name`; an unknown name is an error that suggests the nearest."""
    known = all_builders()
    if name not in known:
        raise unknown_name("builder", name, list(known))
    return known[name]


def chosen_configs(builder: Builder, configs: list[str] | None) -> list[str]:
    """The asked-for configs (all of the builder's where none is given), checked, each once, in the builder's order."""
    for config in configs or ():
        if config not in builder.configs:
            raise unknown_name(f"config of {builder.name}", config, builder.configs)
    wanted = [config for config in builder.configs if not configs or config in configs]
    if not wanted:
        raise UsageError(f"{builder.name} has no configs to build")
    return wanted
