"""`video-contrast perturb video` and `perturb sheet`: a perturbed file, and all 90 conditions at a glance."""

from pathlib import Path
from typing import Annotated, Literal

from video_contrast.options import Flag, Seed

EXAMPLE = "video-contrast perturb video clip.mp4 noisy.mp4 --name gaussian_noise --severity 3"
SHEET_EXAMPLE = "video-contrast perturb sheet clip.mp4 sheet.png"
Profile = Annotated[
    Literal["paper", "released", "monotone"],
    "released: the authors' code; monotone: damage rises with severity",
]


def video(
    source: Annotated[Path, "a video file", Flag("IN")],
    target: Annotated[Path, "the file to write, .mp4 (h264)", Flag("OUT")],
    *,
    name: Annotated[str, "one of `video-contrast list perturbations`, without 'visual:'"],
    severity: Annotated[int, "1 to 5"],
    seed: Seed = 0,
    profile: Profile = "paper",
    quality: Annotated[Literal["high", "lossless"], "of the file"] = "high",
    start: Annotated[float | None, "seconds; from there on only"] = None,
    end: Annotated[float | None, "seconds; up to there only"] = None,
    video_id: Annotated[str | None, "names the random stream; IN without its suffix if absent"] = None,
    clean: Annotated[Path | None, "also write the clip unperturbed, encoded the same way"] = None,
) -> None:
    """Write a perturbed copy of a video (picture only, no sound)."""
    from video_contrast.errors import UsageError
    from video_contrast.perturbations.video import perturb_clip
    from video_contrast.perturbations.video.clip import resolve
    from video_contrast.video import read_video, write_video

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
    write_video(target, frames, clip.fps, times=clip.times, quality=quality)
    if clean is not None:
        write_video(clean, clip.frames, clip.fps, times=clip.times, quality=quality)
    height, width = frames.shape[1:3]
    print(f"{target}: {len(frames)} frames {width}x{height}, {name} at severity {severity}\n{spec.summary}")


def sheet(
    source: Annotated[Path, "a video file", Flag("VIDEO")],
    target: Annotated[Path, "the picture to write, .png", Flag("OUT")],
    *,
    seed: Seed = 0,
    profile: Profile = "paper",
    at: Annotated[float | None, "seconds; the frame to show, the middle one if absent"] = None,
    width: Annotated[int, "of one tile, in pixels: 48 to 640"] = 192,
) -> None:
    """Draw all 18 perturbations at all 5 severities on one frame of a video."""
    from video_contrast.errors import UsageError
    from video_contrast.perturbations.video.sheet import contact_sheet

    if not 48 <= width <= 640:
        raise UsageError(f"--width must be 48 to 640, not {width}")
    contact_sheet(source, target, seed=seed, profile=profile, at=at, width=width)
    print(f"{target}: 18 perturbations x 5 severities")
