"""Perturbed clips as files: one file a distinct clip and condition, written whole or not at all, never twice.

A file's name says what is in it (condition, profile, seed, scope, quality, the clip and its span), so a killed run
goes on where it stopped and any number of processes may share the work.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.registry import video_spec
from video_contrast.perturbations.video.clip import perturb_clip
from video_contrast.perturbations.video.condition import VideoCondition
from video_contrast.seeds import digest
from video_contrast.video.files import Clip, Quality, frame_times, read_video, write_video

# Changes when the bytes written for an unchanged perturbation do (encoder settings).
_WRITER = "1"
CLEAN = "clean"


@dataclass(frozen=True)
class Span:
    """A clip of a video file: `start` and `end` in seconds, None for the whole."""

    path: str
    video_id: str
    start: float | None = None
    end: float | None = None


def file_name(span: Span, condition: VideoCondition | None, quality: Quality = "high") -> str:
    """The relative path of the file of a clip under a condition (None: the re-encoded clean reference).

    >>> file_name(Span("v.mp4", "video7"), None)
    'clean-282d0e/video7.mp4'
    """
    if condition is None:
        folder, key = CLEAN, digest(_WRITER, quality)
    else:
        recipe = (condition.profile, condition.seed, condition.scope, video_spec(condition.name).version)
        folder, key = f"{condition.name}_{condition.severity}", digest(_WRITER, quality, *recipe)
    name = re.sub(r"[^\w.-]", "_", span.video_id).lstrip(".") or "_"
    if name != span.video_id:  # two ids may look alike once their odd characters are gone
        name += "-" + digest(span.video_id).hex()[:6]
    if span.start is not None or span.end is not None:
        name += f"_{span.start or 0:g}_{'end' if span.end is None else format(span.end, 'g')}"
    return f"{folder}-{key.hex()[:6]}/{name}.mp4"


def perturbed_clip(span: Span, condition: VideoCondition | None) -> Clip:
    """A clip of a file under a condition, all of its frames.

    With the scope "video" the whole file is perturbed and then cut; only the frames that this needs are decoded.

    Raises:
        VideoContrastError: the file cannot be read; the message names it.
    """
    if condition is None:
        return read_video(span.path, span.start, span.end)
    if condition.scope == "video" and (span.start is not None or span.end is not None):
        return _cut_after(span, condition)
    return _perturbed(read_video(span.path, span.start, span.end), span, condition)


def write_perturbed(
    span: Span, conditions: Sequence[VideoCondition | None], output_dir: str | Path, quality: Quality = "high"
) -> list[str]:
    """Writes a clip under each condition below `output_dir`, and gives the relative paths, in order.

    Files that are there already stay as they are. The clip is decoded once for all conditions.

    Raises:
        VideoContrastError: the file cannot be read, or the disk is full; files already written stay.
    """
    names = [file_name(span, condition, quality) for condition in conditions]
    clip: Clip | None = None
    for name, condition in zip(names, conditions, strict=True):
        target = Path(output_dir) / name
        if target.exists():
            continue
        if condition is not None and condition.scope == "video":
            done = perturbed_clip(span, condition)
        else:
            clip = clip or perturbed_clip(span, None)
            done = clip if condition is None else _perturbed(clip, span, condition)
        write_video(target, done.frames, done.fps, quality=quality)
    return names


def _perturbed(clip: Clip, span: Span, condition: VideoCondition) -> Clip:
    whole = condition.scope == "video"
    frames = perturb_clip(
        clip.frames,
        condition.name,
        condition.severity,
        seed=condition.seed,
        video_id=span.video_id,
        start=None if whole else span.start,
        end=None if whole else span.end,
        profile=condition.profile,
    )
    return Clip(frames, clip.fps, clip.times, clip.first)


def _cut_after(span: Span, condition: VideoCondition) -> Clip:
    times = frame_times(span.path)
    shown = np.ones(len(times), dtype=bool)
    if span.start is not None:
        shown &= times >= span.start - 5e-4
    if span.end is not None:
        shown &= times < span.end - 5e-4
    wanted = np.flatnonzero(shown)
    if not len(wanted) and span.start is not None and span.start <= times[-1]:  # between two frames: the one shown then
        wanted = np.array([np.searchsorted(times, span.start, side="right") - 1])
    if not len(wanted):
        raise VideoContrastError(f"{span.path}: no frame between {span.start or 0:g} s and {span.end} s")
    key: dict[str, Any] = {"video_id": span.video_id, "start": span.start, "end": span.end}
    sources = condition.sources(wanted, len(times), **key)
    keep = set(sources.tolist())
    last = int(sources[-1]) + 1
    decoded = read_video(span.path, end=float(times[last]) if last < len(times) else None, keep=keep.__contains__)
    frames = condition.frames(decoded.frames, sources, wanted, len(times), **key)
    return Clip(frames, decoded.fps, times[wanted], int(wanted[0]))
