"""`video-contrast perturb text|video|sheet`: perturbs captions and clips."""

import typer

from video_contrast.commands import perturb_text, perturb_video


def add(app: typer.Typer) -> None:
    """Adds the group `perturb`."""
    group = typer.Typer(help="Perturb captions or clips.", no_args_is_help=True, epilog=perturb_text.EXAMPLE)
    group.command("text", epilog=perturb_text.EXAMPLE)(perturb_text.text)
    group.command("video", epilog=perturb_video.EXAMPLE)(perturb_video.video)
    group.command("sheet", epilog=perturb_video.SHEET_EXAMPLE)(perturb_video.sheet)
    app.add_typer(group, name="perturb")
