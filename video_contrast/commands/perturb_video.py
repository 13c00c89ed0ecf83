"""`video-contrast perturb video` and `perturb sheet`: a perturbed file, and all 90 conditions at a glance."""

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "Example: video-contrast perturb video clip.mp4 noisy.mp4 --name gaussian_noise --severity 3"
SHEET_EXAMPLE = "Example: video-contrast perturb sheet clip.mp4 sheet.png"
_PROFILE = "paper, released (the authors' code) or monotone (damage rises with severity)."


def video(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A video file.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write, .mp4 (h264).")],
    name: Annotated[str, typer.Option(help="One of `video-contrast list perturbations`, without 'visual:'.")],
    severity: Annotated[int, typer.Option(help="1 to 5.")],
    seed: Annotated[int, typer.Option(help="Any integer.")] = 0,
    profile: Annotated[str, typer.Option(help=_PROFILE)] = "paper",
    quality: Annotated[str, typer.Option(help="high, or lossless.")] = "high",
    start: Annotated[float | None, typer.Option(help="Seconds; from there on only.")] = None,
    end: Annotated[float | None, typer.Option(help="Seconds; up to there only.")] = None,
    video_id: Annotated[
        str | None, typer.Option(help="Names the random stream; IN without its suffix if absent.")
    ] = None,
    clean: Annotated[Path | None, typer.Option(help="Also write the clip unperturbed, encoded the same way.")] = None,
) -> None:
    """Write a perturbed copy of a video (picture only, no sound)."""
    from video_contrast.errors import UsageError
    from video_contrast.perturbations.video import perturb_clip
    from video_contrast.perturbations.video.clip import resolve
    from video_contrast.video.files import read_video, write_video

    spec, _, _ = resolve(name, severity, profile)
    for path in (target, clean):
        if path is not None and path.exists() and path.samefile(source):
            raise UsageError(f"OUT {path} is IN itself: give another file")
    clip = read_video(source, start, end)
    frames = perturb_clip(
        clip.frames,
        name,
        severity,
        seed=seed,
        video_id=source.stem if video_id is None else video_id,
        start=start,
        end=end,
        profile=profile,
    )
    write_video(target, frames, clip.fps, quality=quality)  # type: ignore[arg-type]
    if clean is not None:
        write_video(clean, clip.frames, clip.fps, quality=quality)  # type: ignore[arg-type]
    height, width = frames.shape[1:3]
    print(f"{target}: {len(frames)} frames {width}x{height}, {name} at severity {severity}\n{spec.summary}")


def sheet(
    source: Annotated[Path, typer.Argument(metavar="VIDEO", help="A video file.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The picture to write, .png.")],
    seed: Annotated[int, typer.Option(help="Any integer.")] = 0,
    profile: Annotated[str, typer.Option(help=_PROFILE)] = "paper",
    at: Annotated[float | None, typer.Option(help="Seconds; the frame to show, the middle one if absent.")] = None,
    width: Annotated[int, typer.Option(help="Of one tile, in pixels.", min=48, max=640)] = 192,
) -> None:
    """Draw all 18 perturbations at all 5 severities on one frame of a video."""
    from video_contrast.perturbations.video.sheet import contact_sheet

    contact_sheet(source, target, seed=seed, profile=profile, at=at, width=width)
    print(f"{target}: 18 perturbations x 5 severities")
