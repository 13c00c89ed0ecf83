"""`video-contrast perturb text|video`: captions, one a line; a perturbed file."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.commands.command import command, group
from video_contrast.console import note, say
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.options import Flag, Seed

EXAMPLE = "echo 'a little girl does gymnastics' | video-contrast perturb text --name keyboard"
_LINES = 10_000  # captions that are in memory at a time

group("perturb", "Perturb captions or clips.", EXAMPLE)


@command("perturb text", EXAMPLE)
def text(
    *,
    name: Annotated[str, "one of `video-contrast list perturbations`, without 'text:'"],
    profile: Annotated[Literal["paper", "released"], "correct English, or with the released slips"] = "paper",
    seed: Seed = 0,
    ids: Annotated[Path | None, "item ids, one a line; else line numbers from 0. Equal ids: what `map` gives"] = None,
    model: Annotated[list[str] | None, "checkpoint (Hub id, folder) in place of the usual; repeat for two"] = None,
) -> None:
    """Perturb captions: one a line from standard input, one a line to standard output."""
    from video_contrast.perturbations.text import perturb_captions

    if sys.stdin.isatty():
        note("captions are read from standard input, one a line, until Ctrl-D")
    captions = _lines(sys.stdin.buffer.read(), "standard input")
    names: list[str] = [str(line) for line in range(len(captions))]
    if ids is not None:
        try:
            names = _lines(ids.read_bytes(), str(ids))
        except OSError as error:
            raise VideoContrastError(f"cannot read --ids {ids}: {error.strerror or error}") from error
        if len(names) != len(captions):
            raise UsageError(f"--ids {ids} has {len(names)} lines, but {len(captions)} captions came in")
    models = {name: tuple(model)} if model else None
    # An unknown name or profile is an error even where no caption comes in.
    perturb_captions([], name, ids=[], seed=seed, profile=profile, models=models)
    for first in range(0, len(captions), _LINES):
        part = slice(first, first + _LINES)
        texts = perturb_captions(captions[part], name, ids=names[part], seed=seed, profile=profile, models=models)
        sys.stdout.buffer.write("".join(caption + "\n" for caption in texts).encode())
        sys.stdout.buffer.flush()


def _lines(content: bytes, where: str) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise VideoContrastError(f"{where} is not UTF-8 text in line {line}: convert it first") from error
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


@command("perturb video", "video-contrast perturb video clip.mp4 noisy.mp4 --name gaussian_noise --severity 3")
def video(
    source: Annotated[Path, "a video file", Flag("IN")],
    target: Annotated[Path, "the file to write, .mp4 (h264)", Flag("OUT")],
    *,
    name: Annotated[str, "one of `video-contrast list perturbations`, without 'visual:'"],
    severity: Annotated[int, "1 to 5"],
    seed: Seed = 0,
    profile: Annotated[
        Literal["paper", "released", "monotone"], "released: the authors' code; monotone: damage rises with severity"
    ] = "paper",
    quality: Annotated[Literal["high", "lossless"], "quality of the file"] = "high",
    start: Annotated[float | None, "where the span starts, in seconds"] = None,
    end: Annotated[float | None, "where the span ends, in seconds"] = None,
    video_id: Annotated[str | None, "names the random stream; IN without its suffix if absent"] = None,
    clean: Annotated[Path | None, "also write the clip unperturbed, encoded the same way"] = None,
) -> None:
    """Write a perturbed copy of a video (picture only, no sound)."""
    from video_contrast.perturbations.video import perturb_clip
    from video_contrast.perturbations.video.condition import resolve
    from video_contrast.video import read_video, write_video
    from video_contrast.video.write import check_target

    spec, _, _ = resolve(name, severity, profile)
    check_target(target)
    if clean is not None:
        check_target(clean)
        if clean.resolve() == target.resolve():
            raise UsageError(f"--clean {clean} is OUT itself: give another file")
    for path in (target, clean):
        if path is not None and path.exists() and path.samefile(source):
            raise UsageError(f"OUT {path} is IN itself: give another file")
    clip = read_video(source, start, end)
    own = source.stem if video_id is None else video_id
    frames = perturb_clip(clip.frames, name, severity, seed=seed, video_id=own, start=start, end=end, profile=profile)
    write_video(target, frames, clip.fps, times=clip.times, quality=quality)
    if clean is not None:
        write_video(clean, clip.frames, clip.fps, times=clip.times, quality=quality)
    height, width = frames.shape[1:3]
    say(f"{target}: {len(frames)} frames {width}x{height}, {name} at severity {severity}\n{spec.summary}")
