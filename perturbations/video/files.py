"""Perturbed clips as files: one file a distinct clip and condition, written whole or not at all, never twice.

A file's name says what is in it: the condition, and under a digest the profile, seed, scope and quality; the video,
and under a digest the content of its file and the exact span. So a killed run goes on where it stopped, any number of
processes may share the work, and a file that is there already is the one that would be written.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from video_contrast.files import AnyPath, sha256, state
from video_contrast.perturbations.registry import video_spec
from video_contrast.perturbations.video.condition import ClipKey, VideoCondition
from video_contrast.seeds import digest
from video_contrast.video import Clip, DecodedClip, Quality, decode, index_of, read_video, write_video
from video_contrast.video.container import regular

# Changes when the bytes written for an unchanged perturbation do (encoder settings, decoding).
_WRITER = "2"
_LONGEST = 120  # bytes of a video id in a name; file systems take 255 in all, and the digest tells clips apart
CLEAN = "clean"


def file_name(source: AnyPath, clip: Clip, condition: VideoCondition | None, quality: Quality = "high") -> str:
    """Returns the relative path of the file of a clip of `source` under a condition (None: the clean reference).

    It is `<condition>-<digest>/<video id>_<start>_<end>-<digest>.mp4`; the span only where there is one. Raises
    VideoContrastError: there is no such file.
    """
    if condition is None:
        folder, key = CLEAN, digest(_WRITER, quality)
    else:
        recipe = (condition.profile, condition.seed, condition.scope, video_spec(condition.name).version)
        folder, key = f"{condition.name}_{condition.severity}", digest(_WRITER, quality, *recipe)
    name = re.sub(r"[^\w.-]", "_", clip.video_id).lstrip(".").encode()[:_LONGEST].decode(errors="ignore") or "_"
    start, end = (None if edge is None else float(edge) for edge in (clip.start, clip.end))
    if start is not None or end is not None:
        name += f"_{start or 0:g}_{'end' if end is None else format(end, 'g')}"
    content = _content(str(source), state(regular(source)))
    key_of_clip = digest(clip.video_id, start, end, content)
    return f"{folder}-{key.hex()[:6]}/{name}-{key_of_clip.hex()[:12]}.mp4"


@lru_cache(maxsize=256)
def _content(path: str, state: tuple[int, int, int]) -> str:
    return sha256(path)


def perturbed_clip(source: AnyPath, clip: Clip, condition: VideoCondition | None) -> DecodedClip:
    """Returns a clip of a file under a condition, all of its frames.

    With the scope "video" the whole file is perturbed and then cut; only the frames that this needs are decoded. The
    frames are shown at the times of the clip's own. Raises BrokenVideo: the file cannot be read or is damaged.
    """
    if condition is None:
        return read_video(source, clip.start, clip.end)
    if condition.scope == "video" and (clip.start is not None or clip.end is not None):
        index, key = index_of(source), _key(clip)
        numbers = np.arange(*index.span(clip.start, clip.end))
        sources = condition.sources(numbers, index.n_frames, **key)
        frames = condition.frames(decode(source, sources.tolist()), sources, numbers, index.n_frames, **key)
        return DecodedClip(frames, index.fps, index.times[numbers], int(numbers[0]))
    clean = read_video(source, clip.start, clip.end)
    return replace(clean, frames=condition.whole(clean.frames, **_key(clip)))


def write_perturbed(
    source: AnyPath,
    clip: Clip,
    conditions: Sequence[VideoCondition | None],
    output_dir: AnyPath,
    *,
    quality: Quality = "high",
) -> list[str]:
    """Writes a clip under each condition below `output_dir`. The clip is decoded once for all conditions.

    Returns the relative paths, one a condition (None: the clean reference). Files that are there already stay as they
    are. Raises VideoContrastError: the file cannot be read, or the disk is full.
    """
    names = [file_name(source, clip, condition, quality) for condition in conditions]
    clean: DecodedClip | None = None
    for name, condition in zip(names, conditions, strict=True):
        target = Path(output_dir) / name
        if target.exists():
            continue
        if condition is not None and condition.scope == "video":
            result = perturbed_clip(source, clip, condition)
        else:
            result = clean = clean or perturbed_clip(source, clip, None)
            if condition is not None:
                result = replace(clean, frames=condition.whole(clean.frames, **_key(clip)))
        write_video(target, result.frames, result.fps, quality=quality, times=result.times)
    return names


def _key(clip: Clip) -> ClipKey:
    return {"video_id": clip.video_id, "start": clip.start, "end": clip.end}
