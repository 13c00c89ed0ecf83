"""`video-contrast perturb text|video|sheet`: perturbs captions and clips."""

from video_contrast.commands import perturb_text, perturb_video
from video_contrast.commands.command import Command, CommandGroup


def commands() -> list[Command | CommandGroup]:
    """The group `perturb`."""
    return [
        CommandGroup("perturb", "Perturb captions or clips.", perturb_text.EXAMPLE),
        Command("perturb text", perturb_text.text, perturb_text.EXAMPLE),
        Command("perturb video", perturb_video.video, perturb_video.EXAMPLE),
        Command("perturb sheet", perturb_video.sheet, perturb_video.SHEET_EXAMPLE),
    ]
