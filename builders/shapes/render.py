"""Drawing the shapes world: a scene in, 12 frames of 64x64 pixels out."""

import math
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from video_contrast.builders.shapes.world import FORWARD, REVERSE, Figure, Scene

SIZE = 64
FRAMES = 12
FPS = 8.0

Array = npt.NDArray[np.float64]
Frames = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]
Part = tuple[Array, Colour | None]  # a polygon in a box of -1..1 (y down), and its colour; None: the figure's own

COLOURS: dict[str, Colour] = {
    "red": (225, 30, 35), "green": (25, 215, 60), "blue": (35, 70, 245),
    "yellow": (250, 225, 20), "purple": (165, 35, 200), "white": (255, 255, 255),
}  # fmt: skip
BACKGROUNDS: dict[str, tuple[Colour, Colour]] = {  # above and below the horizon
    "grass": (((150, 200, 235)), (75, 130, 70)),
    "sand": ((240, 190, 140), (205, 165, 100)),
    "snow": ((185, 200, 210), (215, 225, 232)),
    "night": ((18, 18, 45), (45, 45, 60)),
}
_HORIZON = 44
_DARK: Colour = (35, 25, 20)
_SKIN: Colour = (240, 190, 150)
# Every kind wears a colour of its own at its top, so that models of a few hundred thousand weights can tell the kinds
# apart, and that turning shows: a badge on shapes; hats of men and boys, hair of women and girls.
_BADGES: dict[str, Colour] = {
    "circle": (20, 20, 20), "square": (255, 140, 190), "triangle": (0, 190, 200), "star": (255, 130, 0),
    "cross": (130, 130, 130), "diamond": (115, 70, 25),
    "man": (15, 15, 20), "woman": (140, 50, 20), "boy": (120, 135, 145), "girl": (245, 165, 45),
}  # fmt: skip
_SHIFT = 4  # cv2 takes coordinates in sixteenths of a pixel


def render(scene: Scene) -> Frames:
    """uint8[12, 64, 64, 3], RGB. The second action of an antonym pair is the first, played backwards."""
    if scene.action in REVERSE and scene.action not in FORWARD:
        return np.ascontiguousarray(render(scene.reversed())[::-1])
    return np.stack([draw(scene, t / (FRAMES - 1)) for t in range(FRAMES)])


def draw(scene: Scene, t: float) -> Frames:
    """uint8[64, 64, 3]: the scene at time t of 0..1 (of an action that is played forwards)."""
    picture = _background(scene.setting).copy()
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
    """Where the subject is at time t (x, y, radius, angle, alpha) and the other (x, y, radius)."""
    u = scene.jitter
    if scene.other is None or scene.side is None:
        return _alone(scene.action, u, t, (0, 0, SIZE, SIZE)), None
    if scene.side == "left":  # laid out as "right" and mirrored
        mirror = replace(scene.mirrored(), action=_mirrored_for_layout(scene.action))
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


def _mirrored_for_layout(action: str) -> str:
    # Rendering only ever meets actions played forwards; in the mirror "slides right" runs to the left.
    return {"slides_right": "slides_left_mirrored", "turns_clockwise": "turns_counter_mirrored"}.get(action, action)


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
        paint = colour if colour is not None else own
        assert paint is not None
        cv2.fillPoly(picture, [points], paint, lineType=cv2.LINE_AA, shift=_SHIFT)


@cache
def _background(setting: str) -> Frames:
    sky, ground = BACKGROUNDS[setting]
    picture = np.empty((SIZE, SIZE, 3), np.uint8)
    picture[:_HORIZON], picture[_HORIZON:] = sky, ground
    return picture


def _regular(corners: int, radius: float = 1.0, inner: float | None = None, x: float = 0.0, y: float = 0.0) -> Array:
    """A regular polygon with a corner at the top, or a star where `inner` is given."""
    count = corners * (2 if inner else 1)
    turn = 2 * np.pi * np.arange(count) / count - np.pi / 2
    length = np.where(np.arange(count) % 2 == 1, inner, radius) if inner else np.full(count, radius)
    return np.stack([x + length * np.cos(turn), y + length * np.sin(turn)], 1)


def _box(x0: float, y0: float, x1: float, y1: float) -> Array:
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], float)


def _shape(kind: str, outline: Array) -> tuple[Part, ...]:
    return ((outline, None), (_box(-0.4, -0.85, 0.4, -0.1), _BADGES[kind]))


def _person(kind: str, scale: float, *, long_hair: bool) -> tuple[Part, ...]:
    """Men and boys: a hat, trousers. Women and girls: hair down to the shoulders, a wide skirt."""
    wide = 1.0 if scale > 0.8 else 1.1
    body: tuple[Part, ...]
    if long_hair:
        body = (
            (_box(-0.66, -1.2, 0.66, 0.0), _BADGES[kind]),
            (_regular(12, 0.34, y=-0.62), _SKIN),
            (np.array([(-0.25, -0.2), (0.25, -0.2), (0.95, 0.85), (-0.95, 0.85)], float), None),
            (_box(-0.35, 0.85, -0.12, 1.2), _SKIN),
            (_box(0.12, 0.85, 0.35, 1.2), _SKIN),
        )
    else:
        body = (
            (_regular(12, 0.36, y=-0.62), _SKIN),
            (_box(-0.42, -1.2, 0.42, -0.8), _BADGES[kind]),
            (_box(-0.72, -0.88, 0.72, -0.7), _BADGES[kind]),
            (_box(-0.6, -0.3, 0.6, 0.4), None),
            (_box(-0.5, 0.4, -0.08, 1.2), None),
            (_box(0.08, 0.4, 0.5, 1.2), None),
        )
    return tuple((points * (scale * wide, scale), colour) for points, colour in body)


_A = 0.36  # half the width of the cross's bars
_CROSS = (
    (-_A, -1), (_A, -1), (_A, -_A), (1, -_A), (1, _A), (_A, _A),
    (_A, 1), (-_A, 1), (-_A, _A), (-1, _A), (-1, -_A), (-_A, -_A),
)  # fmt: skip
# The polygons of each figure, back to front.
_PARTS: dict[str, tuple[Part, ...]] = {
    "circle": _shape("circle", _regular(24)),
    "square": _shape("square", _box(-0.85, -0.85, 0.85, 0.85)),
    "triangle": _shape("triangle", np.array([(0, -1), (1, 0.85), (-1, 0.85)], float)),
    "star": _shape("star", _regular(5, 1.05, 0.45)),
    "cross": _shape("cross", np.array(_CROSS, float)),
    "diamond": _shape("diamond", np.array([(0, -1.05), (0.7, 0), (0, 1.05), (-0.7, 0)], float)),
    "man": _person("man", 0.95, long_hair=False),
    "woman": _person("woman", 0.95, long_hair=True),
    "boy": _person("boy", 0.68, long_hair=False),
    "girl": _person("girl", 0.68, long_hair=True),
    "ball": ((_regular(16), (255, 140, 0)), (_box(-1, -0.2, 1, 0.2), (90, 45, 0))),
    "box": ((_box(-0.95, -0.9, 0.95, 0.9), (150, 95, 40)), (_box(-0.2, -0.9, 0.2, 0.9), (225, 190, 130))),
    "car": (
        (_box(-0.6, -0.6, 0.6, 0.1), (150, 220, 235)),
        (_box(-1.1, 0, 1.1, 0.6), (0, 150, 160)),
        (_regular(10, 0.32, x=-0.6, y=0.65), _DARK),
        (_regular(10, 0.32, x=0.6, y=0.65), _DARK),
    ),
    "house": (
        (_box(-0.8, -0.1, 0.8, 1), (250, 225, 190)),
        (np.array([(0, -1.1), (1.1, -0.05), (-1.1, -0.05)], float), (170, 50, 30)),
        (_box(-0.22, 0.35, 0.22, 1), _DARK),
    ),
    "lamp": ((_box(-0.15, -0.3, 0.15, 1), _DARK), (_regular(12, 0.6, y=-0.45), (255, 250, 150))),
    "tree": (
        (_box(-0.2, 0.2, 0.2, 1), (95, 55, 20)),
        (np.array([(0, -1.1), (0.85, 0.45), (-0.85, 0.45)], float), (0, 85, 30)),
    ),
}
