"""`video-contrast perturb text|video|sheet`: perturbs captions and clips."""

import typer

from video_contrast.commands import perturb_text


def add(app: typer.Typer) -> None:
    """Adds the group `perturb`."""
    group = typer.Typer(help="Perturb captions or clips.", no_args_is_help=True, epilog=perturb_text.EXAMPLE)
    group.command("text", epilog=perturb_text.EXAMPLE)(perturb_text.text)
    app.add_typer(group, name="perturb")
