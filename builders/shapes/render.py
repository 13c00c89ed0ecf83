"""Drawing the shapes world: a scene in, 12 frames of 64x64 pixels out."""

import math
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt

from video_contrast.builders.shapes.world import FORWARD, REVERSE, Figure, Scene
from video_contrast.files import Json, read_json

SIZE = 64
FRAMES = 12
FPS = 8.0
Array = npt.NDArray[np.float64]
Frames = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]
Part = tuple[Array, Colour | None]  # a polygon in a box of -1..1 (y down), and its colour; None: the figure's own

# Every kind wears a colour of its own at its top, so that models of a few hundred thousand weights can tell the kinds
# apart, and that turning shows: a badge on shapes; hats of men and boys, hair of women and girls.
_DRAWN = read_json(Path(__file__).with_name("figures.json"))
COLOURS: dict[str, Colour] = {name: tuple(colour) for name, colour in _DRAWN["colours"].items()}
_HORIZON = 44
_SHIFT = 4  # cv2 takes coordinates in sixteenths of a pixel


def render(scene: Scene) -> Frames:
    """uint8[12, 64, 64, 3], RGB. The second action of an antonym pair is the first, played backwards."""
    if scene.action in REVERSE and scene.action not in FORWARD:
        return np.ascontiguousarray(render(scene.reversed())[::-1])
    return np.stack([draw(scene, t / (FRAMES - 1)) for t in range(FRAMES)])


def draw(scene: Scene, t: float) -> Frames:
    """uint8[64, 64, 3]: the scene at time t of 0..1 (of an action that is played forwards)."""
    picture = np.empty((SIZE, SIZE, 3), np.uint8)
    picture[:_HORIZON], picture[_HORIZON:] = _DRAWN["backgrounds"][scene.setting]
    (x, y, radius, angle, alpha), other = layout(scene, t)
    if scene.other and other:
        _paint(picture, scene.other, *other, 0.0)
    if alpha >= 1:
        _paint(picture, scene.subject, x=x, y=y, radius=radius, angle=angle)
    elif alpha > 0:
        with_subject = picture.copy()
        _paint(with_subject, scene.subject, x=x, y=y, radius=radius, angle=angle)
        picture = cv2.addWeighted(with_subject, alpha, picture, 1 - alpha, 0)
    return picture


def layout(scene: Scene, t: float) -> tuple[tuple[float, ...], tuple[float, float, float] | None]:
    """The places at time t of the subject (x, y, radius, angle, alpha) and of the other (x, y, radius)."""
    u = scene.jitter
    if scene.other is None or scene.side is None:
        return _alone(scene.action, u, t, (0, 0, SIZE, SIZE)), None
    if scene.side == "left":  # laid out as "right" and mirrored
        # Rendering only ever meets actions played forwards; in the mirror "slides right" runs to the left.
        in_mirror = {"slides_right": "slides_left_mirrored", "turns_clockwise": "turns_counter_mirrored"}
        mirror = replace(scene.mirrored(), action=in_mirror.get(scene.action, scene.action))
        subject, other = layout(mirror, t)
        assert other is not None
        x, y, radius, angle, alpha = subject
        return (SIZE - x, y, radius, -angle, alpha), (SIZE - other[0], *other[1:])
    if scene.action in ("approaches", "pushes", "lifts"):
        return _together(scene.action, u, t)
    radius, along = 8.5, 8 * (u[5] - 0.5)
    if scene.side == "right":
        return _alone(scene.action, u, t, (0, 0, 46, SIZE)), (SIZE - 9.5, 32 + along, radius)
    if scene.side == "above":
        return _alone(scene.action, u, t, (0, 18, SIZE, SIZE)), (32 + along, 9.5, radius)
    return _alone(scene.action, u, t, (0, 0, SIZE, 46)), (32 + along, SIZE - 9.5, radius)


def _alone(action: str, u: tuple[float, ...], t: float, room: tuple[int, int, int, int]) -> tuple[float, ...]:
    x0, y0, x1, y1 = room
    radius = 10.5 + 1.5 * u[2]
    left, right, top, bottom = x0 + radius + 1, x1 - radius - 1, y0 + radius + 1, y1 - radius - 1
    x, y = left + u[0] * (right - left), top + u[1] * (bottom - top)
    angle, alpha = 0.0, 1.0
    if action in ("slides_right", "slides_left_mirrored"):
        a, b = left + 0.12 * u[3] * (right - left), right - 0.12 * u[4] * (right - left)
        x = a + (b - a) * (t if action == "slides_right" else 1 - t)
    elif action == "rises":
        a, b = bottom - 0.12 * u[3] * (bottom - top), top + 0.12 * u[4] * (bottom - top)
        y = a + (b - a) * t
    elif action == "grows":
        radius *= (0.4 + 0.1 * u[3]) * (1 - t) + (1.0 + 0.15 * u[4]) * t
    elif action == "appears":
        alpha = min(1.0, max(0.0, (t - 0.1 - 0.15 * u[3]) / 0.6))
    elif action in ("turns_clockwise", "turns_counter_mirrored"):
        angle = (75 + 15 * u[3]) * (2 * t - 1) * (1 if action == "turns_clockwise" else -1)
    elif action == "blinks":
        alpha = 0.0 if int(t * 11 + 3 * u[3]) % 3 == 1 else 1.0
    elif action == "bounces":
        height = min(16.0, 0.8 * (bottom - top))
        y = bottom - (0.3 * u[1]) * (bottom - top - height) - height * abs(math.sin(math.pi * (2 * t + 0.3 * u[3])))
    elif action == "shakes":
        x = min(max(x, left + 4), right - 4) + (4 if int(t * 11 + u[3] * 2) % 2 else -4)
    return x, y, radius, angle, alpha


def _together(action: str, u: tuple[float, ...], t: float) -> tuple[tuple[float, ...], tuple[float, float, float]]:
    radius, small = 9.5 + u[2], 7.5
    y = 20 + 28 * u[1]
    if action == "approaches":
        start, end = radius + 1 + 2 * u[3], SIZE - 2 * small - radius - 4 - 2 * u[4]
        return (start + (end - start) * t, y, radius, 0.0, 1.0), (SIZE - small - 1.5, y + 4 * (u[5] - 0.5), small)
    if action == "pushes":
        gap = radius + small
        start, end = radius + 1 + 3 * u[3], SIZE - small - 1 - gap - 2 * u[4]
        x = start + (end - start) * t
        return (x, y, radius, 0.0, 1.0), (x + gap, y + 2.0, small)
    x = 16 + 32 * u[0]
    floor = SIZE - radius - 2 - 3 * u[3]
    start, end = floor - radius - small + 1, small + 1 + 2 * u[4]
    return (x, floor, radius, 0.0, 1.0), (x + 4 * (u[5] - 0.5), start + (end - start) * t, small)


def _paint(picture: Frames, figure: Figure, x: float, y: float, radius: float, angle: float) -> None:
    own = COLOURS[figure.colour] if figure.colour else None
    cosine, sine = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    turn = np.array([[cosine, sine], [-sine, cosine]]) * radius
    for polygon, colour in _PARTS[figure.kind]:
        points = np.rint((polygon @ turn + (x, y)) * (1 << _SHIFT)).astype(np.int32)
        paint = colour or own
        assert paint is not None
        cv2.fillPoly(picture, [points], paint, lineType=cv2.LINE_AA, shift=_SHIFT)


def _regular(corners: int, radius: float = 1.0, inner: float | None = None, x: float = 0.0, y: float = 0.0) -> Array:
    """A regular polygon with a corner at the top, or a star where `inner` is given."""
    count = corners * (2 if inner else 1)
    turn = 2 * np.pi * np.arange(count) / count - np.pi / 2
    length = np.where(np.arange(count) % 2 == 1, inner, radius) if inner else np.full(count, radius)
    return np.stack([x + length * np.cos(turn), y + length * np.sin(turn)], 1)


def _parts(figure: Json) -> tuple[Part, ...]:
    """The polygons of a figure of `figures.json`, back to front."""
    parts = []
    for part in figure["parts"]:
        if "box" in part:
            x0, y0, x1, y1 = part["box"]
            polygon = np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], float)
        else:
            polygon = np.array(part["points"], float) if "points" in part else _regular(**part["regular"])
        parts.append((polygon * figure.get("size", 1), tuple(part["colour"]) if "colour" in part else None))
    return tuple(parts)


_PARTS = {kind: _parts(figure) for kind, figure in _DRAWN["figures"].items()}
