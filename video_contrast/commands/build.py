"""`video-contrast build NAME --output DIR`: one subcommand a builder, its options are the builder's."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from video_contrast.commands.command import Command, group
from video_contrast.console import AsJson, note, say, tell
from video_contrast.options import REQUIRED, Configs, Flag, GivenOptions, names_in, options_of

if TYPE_CHECKING:
    from video_contrast.builders.registry import Builder

SHOWN = 8  # configs named in a help
MANY = 12  # options of a builder, from which on each has one line
LINE = 40  # characters of it
SUMMARY = 74  # characters of a builder's line in the list of all

group(
    "build",
    "Build a set from your videos and captions into a folder that `load_dataset` loads.",
    "video-contrast build shapes --config verb_mc --output sets/shapes",
)


def commands(subcommand: str) -> Iterator[Command]:
    """One command a builder; only the one that is asked for is imported, all where it is none of them."""
    from video_contrast.builders import all_builders, get_builder, names

    builders = [get_builder(subcommand)] if subcommand in names() else all_builders().values()
    yield from map(_command, builders)


def _command(builder: Builder) -> Command:
    options = [option for option in options_of(builder.function).values() if not option.positional]
    if len(options) > MANY:
        options = [replace(option, help=_first_clause(option.help)) for option in options]
    names = ", ".join(builder.configs)
    if len(builder.configs) > SHOWN:
        names = ", ".join(builder.configs[:SHOWN]) + f" ... ({len(builder.configs)}: `list builders {builder.name}`)"
    text = f"{builder.summary}\n\nConfigs: {names}.\n\nNeeds: {builder.requirements}."
    flags = " ".join(f"{option.flag_name} {option.name.upper()}" for option in options if option.default is REQUIRED)
    example = f"video-contrast build {builder.name} {flags} --output sets/{builder.name}".replace("  ", " ")
    if len(options) > MANY:
        example += f" (all options, each in full: video-contrast list builders {builder.name})"

    def build(
        configs: Annotated[Configs, Flag(hidden=True)] = None,
        *,
        config: Configs = None,
        output: Annotated[str, "folder to write the set into, or its address (s3://...)"],
        as_json: AsJson = False,
        options: Annotated[GivenOptions | None, Flag(python_only=True)] = None,
    ) -> None:
        from video_contrast import builders
        from video_contrast.builders.writing import blind_report, blind_warnings, build_report
        from video_contrast.launcher import is_writer
        from video_contrast.storage.set_folder import SetFolder

        config_names = names_in(configs, config)
        root = builders.build(builder.name, config_names, output=output, **(options or {}))
        if not is_writer():
            return
        if (record := SetFolder.record_at(root)) is None:
            say(f"{builder.name}: submitted; {root} is whole when the jobs have ended; the same command goes on")
            return
        dataset = builder.select(config_names)
        warnings = [*record.get("facts", {}).get("warnings", ()), *blind_warnings(record, dataset, root)]
        of_configs = {name: record["configs"][name] for name in dataset if name in record["configs"]}
        lines = [*build_report(record, dataset), f"{builder.name}: written to {root}", *blind_report(record, dataset)]
        tell({"output": str(root), "configs": of_configs, "warnings": warnings}, lines, as_json)
        for warning in () if as_json else warnings:
            note(f"warning: {warning}")

    brief = textwrap.shorten(builder.summary, SUMMARY, placeholder=" ...")
    return Command(f"build {builder.name}", example, build, help=text, brief=brief, more=lambda: options)


def _first_clause(text: str) -> str:
    """A text that fits a line of the help: cut after the first clause, if it is long.

    >>> _first_clause("caption that a contrast is built on: eligible (the first that allows it) or base")
    'caption that a contrast is built on'
    """
    cuts = [at for mark in (": ", "; ", " (", ", ") if 8 < (at := text.find(mark)) <= LINE]
    return text if len(text) <= LINE or not cuts else text[: min(cuts)]
