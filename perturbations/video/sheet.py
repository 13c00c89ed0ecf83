"""A contact sheet: one frame under all 90 conditions, a row a perturbation (robustness paper, figure 10).

Under a tile of a temporal perturbation runs its index map: time to the right, the frame shown upwards, the line of
the clean clip in grey. The frame in the tile is what stands at the chosen moment. A shaking camera (rotate, translate)
shows in four successive frames only, so their tiles hold four.
"""

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from video_contrast.errors import UsageError
from video_contrast.files import write_bytes
from video_contrast.perturbations.registry import VIDEO
from video_contrast.perturbations.video.clip import SEVERITIES, index_map
from video_contrast.perturbations.video.condition import VideoCondition
from video_contrast.video import decode, index_of
from video_contrast.video.footage import fitted

Frame = npt.NDArray[np.uint8]
_SHAKING = ("rotate", "translate")
_LABEL = 120
_GAP = 4
_TILE = 235  # grey level around a picture
_INK, _PAPER, _GREY, _BLUE = (20, 20, 20), 255, (190, 190, 190), (30, 80, 200)


def contact_sheet(
    source: str | Path,
    target: str | Path,
    *,
    seed: int = 0,
    profile: str = "paper",
    at: float | None = None,
    width: int = 192,
) -> Path:
    """Writes the sheet of a video as PNG.

    Raises UsageError: `at` lies behind the end, or the target is not a .png file.

    Args:
        source: the video; its name without suffix is the video id.
        profile: "paper", "released" or "monotone".
        at: seconds, the frame to show; the middle one if None.
        width: of a tile in pixels; its height follows the picture.
    """
    if Path(target).suffix.lower() != ".png":
        raise UsageError(f"OUT {target}: give a name that ends in .png")
    times = index_of(source).times
    length = len(times)
    if at is not None and not 0 <= at <= times[-1]:
        raise UsageError(f"--at {at:g} s is not within the video (0 to {times[-1]:.2f} s)")
    first = length // 2 if at is None else int(np.searchsorted(times, at, side="right")) - 1
    indices = {name: np.minimum(first + np.arange(4 if name in _SHAKING else 1), length - 1) for name in VIDEO}
    video_id = Path(source).stem
    conditions = {
        (name, severity): VideoCondition(name, severity, profile, seed) for name in VIDEO for severity in SEVERITIES
    }
    sources = [c.sources(indices[c.name], length, video_id=video_id) for c in conditions.values()]
    needed = np.unique(np.concatenate([[first], *sources]))
    pictures = decode(source, needed.tolist())
    clean = pictures[int(np.searchsorted(needed, first))]
    height = max(1, round(width * clean.shape[0] / clean.shape[1]))
    across = _LABEL + 6 * (width + _GAP)
    heading = np.full((26, across, 3), _PAPER, np.uint8)
    for column, text in enumerate(("clean", *(f"severity {severity}" for severity in SEVERITIES))):
        _write(heading, text, _LABEL + column * (width + _GAP), 18)
    rows = [heading]
    for name, spec in VIDEO.items():
        tiles = [_fitted(clean, width, height)]
        for severity in SEVERITIES:
            shown = conditions[name, severity].frames(pictures, needed, indices[name], length, video_id=video_id)
            tiles.append(_fitted(shown[0], width, height) if len(shown) == 1 else _four(shown, width, height))
        maps = None
        if spec.acts == "temporal":
            maps = [np.arange(length)]
            maps += [index_map(name, length, s, seed=seed, profile=profile, video_id=video_id) for s in SEVERITIES]
        rows.append(_row(name, tiles, maps, across))
    sheet = np.concatenate(rows)
    _, png = cv2.imencode(".png", cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR))
    return write_bytes(target, png.tobytes())


def _row(name: str, tiles: list[Frame], maps: list[npt.NDArray[np.int64]] | None, across: int) -> Frame:
    height, width = tiles[0].shape[:2]
    plot = 40 if maps is not None else 0
    strip = np.full((height + plot + _GAP, across, 3), _PAPER, np.uint8)
    _write(strip, name, 4, height // 2)
    for column, tile in enumerate(tiles):
        left = _LABEL + column * (width + _GAP)
        strip[:height, left : left + width] = tile
        if maps is not None:
            _draw_map(strip[height : height + plot, left : left + width], maps[column])
    return strip


def _draw_map(area: Frame, shown: npt.NDArray[np.int64]) -> None:
    height, width = area.shape[:2]
    last = max(len(shown) - 1, 1)
    across = np.arange(len(shown)) * (width - 1) / last
    canvas = np.full(area.shape, _PAPER, np.uint8)
    for index, colour in ((np.arange(len(shown)), _GREY), (shown, _BLUE)):
        points = np.stack([across, (height - 3) * (1 - index / last) + 1], axis=1).round().astype(np.int32)
        cv2.polylines(canvas, [points], False, colour, 1)
    area[:] = canvas


def _fitted(picture: Frame, width: int, height: int) -> Frame:
    """The picture within a tile, its shape kept (`translate` gives squares)."""
    return fitted(picture, (height, width), around=_TILE)


def _four(pictures: Frame, width: int, height: int) -> Frame:
    """Four successive frames in one tile."""
    tile = np.full((height, width, 3), _TILE, np.uint8)
    half_width, half_height = width // 2, height // 2
    for place, picture in enumerate(pictures):
        top, left = place // 2 * half_height, place % 2 * half_width
        tile[top : top + half_height, left : left + half_width] = _fitted(picture, half_width, half_height)
    return tile


def _write(strip: Frame, text: str, left: int, base: int) -> None:
    cv2.putText(strip, text, (left, base), cv2.FONT_HERSHEY_SIMPLEX, 0.38, _INK, 1, cv2.LINE_AA)
