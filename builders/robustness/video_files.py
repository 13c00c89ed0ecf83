"""Perturbed clips as files: dealt out to processes and ranks, resumed where they stopped."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from video_contrast.builders.assembly.sharding import spread
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import resolve_under
from video_contrast.perturbations.video import VideoCondition
from video_contrast.perturbations.video.files import Span, write_perturbed
from video_contrast.perturbations.video.validity import Reference
from video_contrast.video.files import read_video

ClipKey = tuple[str, str, float | None, float | None]  # video_path, video_id, start, end
Paths = dict[ClipKey, dict[VideoCondition | None, str]]
_CLIPS_A_CHUNK = 4
_MEASURED_CLIPS, _MEASURED_FRAMES = 4, 4


def write_all(
    clips: Sequence[ClipKey],
    conditions: Sequence[VideoCondition | None],
    video_root: Path,
    output_dir: Path,
    quality: str,
    num_proc: int = 1,
) -> tuple[Paths, list[str]]:
    """Writes every clip under every condition; under `torchrun` each rank writes its share and gets all paths.

    Returns:
        The relative paths, clip -> condition -> path, and a sentence for each clip whose video could not be read.

    Raises:
        UsageError: an unknown quality, or a clip's path leads out of the video root.
    """
    if quality not in ("high", "lossless"):
        raise UsageError(f"--quality must be high or lossless, not {quality!r}")
    work = partial(_write_chunk, conditions=conditions, root=video_root, output_dir=output_dir, quality=quality)
    results = spread(work, clips, num_proc=num_proc, chunk=_CLIPS_A_CHUNK)
    paths: Paths = {}
    failed = []
    for clip, (names, why) in zip(clips, [result for chunk in results for result in chunk], strict=True):
        if why is None:
            paths[clip] = dict(zip(conditions, names, strict=True))
        else:
            failed.append(why)
    return paths, failed


def references(clips: Sequence[ClipKey], video_root: Path) -> list[Reference]:
    """A few of the clips with some of their frames, to measure damage on; those that cannot be read are left out."""
    found: list[Reference] = []
    step = max(1, len(clips) // _MEASURED_CLIPS)
    for path, video_id, start, end in clips[::step]:
        if len(found) == _MEASURED_CLIPS:
            break
        try:
            clip = read_video(resolve_under(video_root, path), start, end)
        except VideoContrastError:
            continue
        length = len(clip.frames)
        indices = np.unique(np.linspace(0, length - 1, _MEASURED_FRAMES).round().astype(np.int64))
        found.append(Reference(video_id, length, start, end, clip.frames[indices], indices))
    return found


def _write_chunk(
    clips: Sequence[ClipKey],
    *,
    conditions: Sequence[VideoCondition | None],
    root: Path,
    output_dir: Path,
    quality: Any,
) -> list[tuple[list[str], str | None]]:
    done: list[tuple[list[str], str | None]] = []
    for path, video_id, start, end in clips:
        span = Span(str(resolve_under(root, path)), video_id, start, end)
        try:
            done.append((write_perturbed(span, conditions, output_dir, quality), None))
        except VideoContrastError as error:
            done.append(([], str(error)))
    return done
