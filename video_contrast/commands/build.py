"""`video-contrast build NAME [CONFIG ...] --output DIR`: one subcommand a builder, its options are the builder's."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer

from video_contrast.builders.registry import Builder, all_builders


def add(app: typer.Typer) -> None:
    """Adds the group `build`."""
    group = typer.Typer(
        help="Build a set from your videos and captions into a folder that `load_dataset` loads.",
        no_args_is_help=True,
        epilog="Example: video-contrast build shapes verb_mc --output sets/shapes",
    )
    for builder in all_builders().values():
        group.command(builder.name, help=_help(builder))(_command(builder))
    app.add_typer(group, name="build")


def _help(builder: Builder) -> str:
    return f"{builder.summary}\n\nConfigs: {', '.join(builder.configs)}.\n\nNeeds: {builder.needs}."


def _command(builder: Builder) -> Callable[..., None]:
    """A function whose signature is the builder's own plus `configs` and `--output`, for typer to read."""

    def run(configs: list[str], output: Path, **options: Any) -> None:
        from video_contrast import builders

        given = {name: value for name, value in options.items() if value is not None}
        root = builders.build(builder.name, configs or None, output=output, **given)
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
    hints = get_type_hints(builder.function, include_extras=True)
    for name, parameter in inspect.signature(builder.function).parameters.items():
        if name == "configs":
            continue
        hint = hints[name]
        text = ""
        if get_origin(hint) is Annotated:
            hint, text = get_args(hint)[0], str(get_args(hint)[1])
        parameters.append(
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[hint, typer.Option(help=text)])
        )
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
