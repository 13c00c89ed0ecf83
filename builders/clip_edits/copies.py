"""Files that stand under several names: their clips are one clip, so that it is never joined with itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.errors import VideoContrastError
from video_contrast.files import resolve_under, sha256


def merged_copies(clips: Sequence[CaptionedClip], root: Path) -> tuple[list[CaptionedClip], int]:
    """Merges clips that are the same span of files with the same bytes; the first name stays, with all captions.

    Returns the clips, and how many of them became part of another one. Files that are not there are left for others
    to report.
    """
    first_names = _first_names([clip.video_path for clip in clips], root)
    sources = {clip.video_path: clip for clip in reversed(clips)}
    merged: dict[tuple[str, float | None, float | None], CaptionedClip] = {}
    for clip in clips:
        source = sources[first_names[clip.video_path]]
        key = (source.video_path, clip.start, clip.end)
        if key in merged and clip.video_path != source.video_path:
            first = merged[key]
            siblings = dict.fromkeys((*first.siblings, *clip.siblings))
            merged[key] = replace(first, captions=(*first.captions, *clip.captions), siblings=tuple(siblings))
        elif key in merged:  # two rows of one file: the table's own matter
            merged[(clip.id, clip.start, clip.end)] = clip
        else:
            merged[key] = replace(clip, video_path=source.video_path, cluster=source.cluster)
    return list(merged.values()), len(clips) - len(merged)


def _first_names(paths: Sequence[str], root: Path) -> dict[str, str]:
    """Path -> the first path of a file with the same bytes. Only files of one size are read."""
    sizes: dict[str, int] = {}
    files: dict[str, Path] = {}
    for path in dict.fromkeys(paths):
        try:
            files[path] = resolve_under(root, path)
            sizes[path] = files[path].stat().st_size
        except (OSError, VideoContrastError):
            continue
    often = Counter(sizes.values())
    names: dict[str, str] = {path: path for path in paths}
    first: dict[str, str] = {}
    for path, size in sizes.items():
        if often[size] > 1:
            names[path] = first.setdefault(sha256(files[path]), path)
    return names
