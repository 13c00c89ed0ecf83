"""`video-contrast build NAME [CONFIG ...] --output DIR`: one subcommand a builder, its options are the builder's."""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from video_contrast.builders.registry import Builder, all_builders, chosen_configs
from video_contrast.console import AsJson, Quiet, hush, print_json

SHOWN = 12  # configs named in a help
MANY = 12  # options of a builder, from which on each has one line
LINE = 40  # characters of it


def add(app: typer.Typer) -> None:
    """Adds the group `build`."""
    group = typer.Typer(
        help="Build a set from your videos and captions into a folder that `load_dataset` loads.",
        no_args_is_help=True,
        epilog="Example: video-contrast build shapes verb_mc --output sets/shapes",
    )
    for builder in all_builders().values():
        details = f"All of each option's text: video-contrast list builders {builder.name}"
        epilog = details if len(options_of(builder)) > MANY else None
        group.command(builder.name, help=_help(builder), epilog=epilog)(_command(builder))
    app.add_typer(group, name="build")


def _help(builder: Builder) -> str:
    names = ", ".join(builder.configs)
    if len(builder.configs) > SHOWN:
        names = ", ".join(builder.configs[:SHOWN]) + f" ... ({len(builder.configs)}: `list builders {builder.name}`)"
    return f"{builder.summary}\n\nConfigs: {names}.\n\nNeeds: {builder.needs}."


def _command(builder: Builder) -> Callable[..., None]:
    """A function whose signature is the builder's own plus `configs` and `--output`, for typer to read."""

    def run(configs: list[str], output: Path, quiet: bool, as_json: bool, **options: Any) -> None:
        hush(quiet)
        from video_contrast import builders
        from video_contrast.builders.assembly.sharding import is_writer

        given = {name: value for name, value in options.items() if value is not None}
        root = builders.build(builder.name, configs or None, output=output, **given)
        if is_writer():
            wanted = chosen_configs(builder, configs or None)
            if as_json:
                print_json(_counted(root, wanted))
                return
            _report(root, wanted, quiet)
            if not quiet:
                print(f"{builder.name}: written to {root}")

    parameters = [
        inspect.Parameter(
            "configs",
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=Annotated[list[str] | None, typer.Argument(help="Which configs; all by default.")],
            default=None,
        ),
        inspect.Parameter(
            "output",
            inspect.Parameter.KEYWORD_ONLY,
            annotation=Annotated[Path, typer.Option(help="Folder to write the set into.")],
        ),
    ]
    given = options_of(builder)
    for parameter, hint, text in given:
        shown = text if len(given) <= MANY else _first_clause(text)
        name = parameter.name
        # `from` is a word of Python, so a builder calls its parameter `from_`; the option is --from
        option = typer.Option(f"--{name[:-1]}", help=shown) if name.endswith("_") else typer.Option(help=shown)
        parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[hint, option]))
    for word, hint in (("quiet", Quiet), ("as_json", AsJson)):
        parameters.append(inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY, annotation=hint, default=False))
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def options_of(builder: Builder) -> list[tuple[inspect.Parameter, Any, str]]:
    """A builder's options: its keyword parameters, each with its type and its text."""
    hints = get_type_hints(builder.function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(builder.function).parameters.items():
        if name != "configs":
            hint, text = hints[name], ""
            if get_origin(hint) is Annotated:
                hint, text = get_args(hint)[0], str(get_args(hint)[1])
            found.append((parameter, hint, text))
    return found


def _first_clause(text: str) -> str:
    """A text that fits a line of the help: cut after the first clause, if it is long.

    >>> _first_clause("caption that a contrast is built on: eligible (the first that allows it) or base")
    'caption that a contrast is built on'
    """
    cuts = [at for mark in (": ", "; ", " (", ", ") if 8 < (at := text.find(mark)) <= LINE]
    return text if len(text) <= LINE or not cuts else text[: min(cuts)]


def _counted(root: Path, configs: list[str]) -> dict[str, Any]:
    """What `--json` prints: the record of every config that was built, and the warnings."""
    from video_contrast.files import read_json

    record = read_json(root / "set.json")
    built = {config: record["configs"][config] for config in configs if config in record["configs"]}
    return {"output": str(root), "configs": built, "warnings": record.get("facts", {}).get("warnings", [])}


def _report(root: Path, configs: list[str], quiet: bool) -> None:
    """Rows of every config that was built, its counts by reason, and warnings, from the set's record."""
    from video_contrast.files import read_json

    record = read_json(root / "set.json")
    for warning in record.get("facts", {}).get("warnings", ()):
        print(f"warning: {warning}", file=sys.stderr)
    read = {name: n for name, n in record.get("facts", {}).get("counts", {}).items() if isinstance(n, int) and n}
    if read and not quiet:
        print(f"read: {'; '.join(f'{name} {n:,}'.replace('_', ' ') for name, n in read.items())}")
    for config in configs if not quiet else ():
        entry = record["configs"].get(config)
        if entry is None:
            continue  # left out, which the builder said
        for split, size in entry["splits"].items():
            facts = entry["facts"].get("splits", {}).get(split, {})
            print(f"{config} {split}: {size['num_examples']:,} rows{_details(facts)}")


def _details(facts: dict[str, Any]) -> str:
    """Counts by reason and coverage, in brackets; nothing where the builder gave none."""
    counts = facts.get("counts", {})
    parts = [f"{name} {share} % of videos" for name, share in facts.get("coverage", {}).items()]
    parts += [f"{reason} {n:,}" for reason, n in counts.get("captions_tried", {}).items()]
    if not parts:
        parts = [f"{reason} {n:,}" for reason, n in counts.items() if isinstance(n, int) and reason != "built"]
    return f" ({'; '.join(parts)})" if parts else ""
