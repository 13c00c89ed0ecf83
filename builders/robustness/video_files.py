"""Perturbed clips as files: dealt out to processes and ranks, resumed where they stopped."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from video_contrast.builders.assembly.sharding import is_writer, spread
from video_contrast.builders.robustness.perturbation_options import PerturbationOptions
from video_contrast.errors import VideoContrastError
from video_contrast.files import remove_abandoned, resolve_under
from video_contrast.perturbations.video import VideoCondition
from video_contrast.perturbations.video.files import write_perturbed
from video_contrast.perturbations.video.validity import Reference
from video_contrast.video import Clip, read_video

Paths = dict[Clip, dict[VideoCondition | None, str]]
_CLIPS_A_CHUNK = 4
_MEASURED_CLIPS, _MEASURED_FRAMES = 4, 4


def write_all(
    clips: Sequence[Clip], conditions: Sequence[VideoCondition | None], options: PerturbationOptions
) -> tuple[Paths, list[str]]:
    """Writes every clip under every condition; under `torchrun` each rank writes its share and gets all paths.

    Returns the relative paths, clip -> condition -> path, and a sentence for each clip whose video could not be read.
    `conditions`: None is the clean clip, re-encoded. `options`: `files` and `video_root` are given. Raises
    VideoContrastError: a clip's path leads out of the video root.
    """
    assert options.files is not None
    if is_writer():
        remove_abandoned(options.files)
    results = spread(partial(_write_chunk, conditions, options), clips, num_proc=options.num_proc, chunk=_CLIPS_A_CHUNK)
    paths: Paths = {}
    failed = []
    for clip, result in zip(clips, [result for chunk in results for result in chunk], strict=True):
        if isinstance(result, str):
            failed.append(result)
        else:
            paths[clip] = dict(zip(conditions, result, strict=True))
    return paths, failed


def references(clips: Sequence[Clip], video_root: Path) -> list[Reference]:
    """Returns a few of the clips with some of their frames, to measure damage on; unreadable ones are left out."""
    measured: list[Reference] = []
    step = max(1, len(clips) // _MEASURED_CLIPS)
    for clip in clips[::step]:
        if len(measured) == _MEASURED_CLIPS:
            break
        if clip.segments:
            continue
        try:
            decoded = read_video(resolve_under(video_root, clip.video_path), clip.start, clip.end)
        except VideoContrastError:
            continue
        length = len(decoded.frames)
        indices = np.unique(np.linspace(0, length - 1, _MEASURED_FRAMES).round().astype(np.int64))
        measured.append(
            Reference(
                clip.video_id, length, start=clip.start, end=clip.end, frames=decoded.frames[indices], indices=indices
            )
        )
    return measured


def _write_chunk(
    conditions: Sequence[VideoCondition | None], options: PerturbationOptions, clips: Sequence[Clip]
) -> list[list[str] | str]:
    """The paths of each clip, or a sentence where its video could not be read."""
    assert options.video_root is not None and options.files is not None  # looked at before anything is written
    results: list[list[str] | str] = []
    for clip in clips:
        video = resolve_under(options.video_root, clip.video_path)
        try:
            results.append(write_perturbed(video, clip, conditions, options.files, quality=options.quality))
        except VideoContrastError as error:
            results.append(str(error))
    return results
