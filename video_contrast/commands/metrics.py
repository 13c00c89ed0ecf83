"""`video-contrast metrics ...`: the `evaluate` modules of the package."""

from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the group `metrics`."""
    group = typer.Typer(
        no_args_is_help=True, help="The metrics for `evaluate`: by bare name on this machine, and as Spaces."
    )
    for command in (add_install, add_push):
        command(group)
    app.add_typer(group, name="metrics")


def add_install(group: typer.Typer) -> None:
    """Adds `metrics install`."""

    @group.command("install", epilog="Example: video-contrast metrics install video_contrast_mc")
    def install(
        names: Annotated[list[str] | None, typer.Argument(help="Which modules; all by default.")] = None,
        cache: Annotated[
            Path | None, typer.Option(help="The modules folder; by default the one that `evaluate` reads.")
        ] = None,
    ) -> None:
        """Make `evaluate.load("video_contrast_mc")` work in every script, offline, without importing video_contrast.

        Run it once, and again after an upgrade: what is up to date is left as it is.
        """
        from video_contrast.metrics import modules

        for done in modules.install(names or None, cache):
            typer.echo(f"{done.name}: {done.status} ({done.path})")


def add_push(group: typer.Typer) -> None:
    """Adds `metrics push`."""

    @group.command("push", epilog="Example: video-contrast metrics push me video_contrast_mc")
    def push(
        user: Annotated[str, typer.Argument(metavar="USER", help="Your name, or an organisation's, on the Hub.")],
        names: Annotated[list[str] | None, typer.Argument(help="Which modules; all by default.")] = None,
        private: Annotated[bool, typer.Option("--private", help="Make new Spaces private.")] = False,
    ) -> None:
        """Publish the metrics as Spaces: `evaluate.load("USER/video_contrast_mc")` then works for everybody."""
        from video_contrast.hub_cards.spaces import push_metric
        from video_contrast.metrics.modules import MODULES, module

        for name in [module(name).name for name in names] if names else list(MODULES):
            typer.echo(f"{name}: {push_metric(name, user, private=private)}")
