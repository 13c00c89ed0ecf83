"""Frame strips: a few frames of a clip side by side as one small JPEG, for pages that open from disk."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.files import resolve_under

if TYPE_CHECKING:
    from PIL import Image

    from video_contrast.video import Clip

Pictures = list["Image.Image"]  # of one clip
FRAMES = 6  # enough to see a direction of movement
MOST_FRAMES = 12  # of an edited clip
_GAP = 3  # pixels between frames
_WIDEST = 2.0  # a frame's width over its height; wider pictures are cut at the sides


def clip_frames(root: Path, clip: "Clip") -> Pictures:
    """Evenly spaced frames of a clip, from its first to its last, no higher than a strip needs.

    `clip`: a span of a file below `root`, or an edit, which has as many frames as show each of its parts twice; a clip
    with fewer frames gives all of its own. Raises VideoContrastError: the file is missing, unreadable or outside of
    `root`.
    """
    from PIL import Image

    from video_contrast.video import EditedFootage, footage_of

    clip_files(root, clip)
    footage = footage_of(root, clip)
    if isinstance(footage, EditedFootage):
        counts = (count for count in range(FRAMES, MOST_FRAMES + 1, 2))
        shown = next((n for n in counts if footage.shows_all(n)), MOST_FRAMES)
        numbers = footage.timeline.sample(shown)
    else:
        numbers = np.unique(footage.sample(FRAMES, "linspace"))
    return [_scaled(Image.fromarray(frame), 96) for frame in footage.decode(numbers.tolist())]


def clip_files(root: Path, clip: "Clip") -> list[Path]:
    """The files that a clip is made from. Raises VideoContrastError: one is not there, or outside of `root`."""
    paths = [resolve_under(root, name) for name in clip.paths]
    for path in paths:
        if not path.is_file():
            raise VideoContrastError(f"{path}: no such video file")
    return paths


def strip_jpeg(pictures: Sequence["Image.Image"], height: int, quality: int) -> bytes:
    """The pictures side by side as one JPEG of the given height."""
    from PIL import Image

    small = [_scaled(picture, height) for picture in pictures]
    width = sum(picture.width for picture in small) + _GAP * (len(small) - 1)
    strip = Image.new("RGB", (width, height), (128, 128, 128))
    left = 0
    for picture in small:
        strip.paste(picture, (left, 0))
        left += picture.width + _GAP
    sink = io.BytesIO()
    strip.save(sink, "JPEG", quality=quality, optimize=True)
    return sink.getvalue()


def _scaled(picture: "Image.Image", height: int) -> "Image.Image":
    from PIL import Image

    if picture.height == height and picture.width <= _WIDEST * height:
        return picture
    keep = min(picture.width, round(_WIDEST * picture.height))
    left = (picture.width - keep) // 2
    resample = Image.Resampling.LANCZOS if picture.height > height else Image.Resampling.BICUBIC
    width = max(1, round(keep * height / picture.height))
    return picture.crop((left, 0, left + keep, picture.height)).resize((width, height), resample)
