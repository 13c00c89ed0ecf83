"""The truth checker of the shapes world: is a caption true of a scene, false of it, or open to argument?

It decides from the scene's fields alone, knows nothing of how a caption was made, and is strict both ways: a caption
is "true" only if everything it says is so, and "false" only if something it says is plainly not so. Captions in
between ("moves towards a box" of someone who pushes it) are "unclear", and no set uses them.
"""

from typing import Literal

from video_contrast.builders.shapes.captions import Claim, read
from video_contrast.builders.shapes.world import ACTIONS, TRANSITIVE, Figure, Scene

Verdict = Literal["true", "false", "unclear"]

# An intransitive verb for what the subject of a transitive one does: it runs towards or away from the other's side.
_TOWARDS = ("approaches", "pushes")
_SLIDE = {"left": "slides_left", "right": "slides_right"}
_OPPOSITE = {"left": "right", "right": "left"}


def verdict(scene: Scene, caption: str) -> Verdict:
    """Whether the caption is true of the scene.

    Raises ValueError: the caption is not in the language of the shapes world.

    >>> lifting = Scene(Figure("man", "red"), "lifts", "sand", Figure("box"), "above")
    >>> verdict(lifting, "Adam raises a box"), verdict(lifting, "a man in red lowers a box on the sand")
    ('true', 'false')
    >>> verdict(lifting, "a man in red stays still")
    'unclear'
    """
    claimed = read(caption)
    parts: list[Verdict] = [_same(claimed.subject, scene.subject), _of_place(scene, claimed)]
    parts.append("true" if claimed.setting in (None, scene.setting) else "false")
    if claimed.other is not None:
        parts.append("false" if scene.other is None else _same(claimed.other, scene.other))
    # The box that a man lifts rises, and rises above him: what holds of the other figure is no plain falsehood.
    if scene.other is not None and _same(claimed.subject, scene.other) == "true" and _arguable_of_other(scene, claimed):
        return "unclear"
    parts.append(_of_action(scene, claimed))
    if "false" in parts:
        return "false"
    return "unclear" if "unclear" in parts else "true"


def _arguable_of_other(scene: Scene, claimed: Claim) -> bool:
    """Whether what is claimed of the scene's other figure could be so: who is pushed from behind might also pull."""
    if claimed.other is None:
        return True
    actions = {claimed.action, scene.action}
    return (
        _same(claimed.other, scene.subject) == "true" and len(actions) == 2 and actions <= {"pushes", "pulls", "leaves"}
    )


def _same(claimed: Figure, shown: Figure) -> Verdict:
    kind_fits = shown.kind in ("man", "boy") if claimed.kind == "guy" else claimed.kind == shown.kind
    return "true" if kind_fits and claimed.colour == shown.colour else "false"


def _of_place(scene: Scene, claimed: Claim) -> Verdict:
    if claimed.side is None or scene.other is None:
        return "true"
    if scene.action in TRANSITIVE:
        return "unclear"
    if claimed.side == scene.side:
        return "true"
    # Whoever is above a tree may also stand a little to its left.
    opposite = {frozenset(("left", "right")), frozenset(("above", "below"))}
    return "false" if frozenset((claimed.side, scene.side)) in opposite else "unclear"


def _of_action(scene: Scene, claimed: Claim) -> Verdict:
    if claimed.action == scene.action:
        return "true"
    if claimed.action in ACTIONS[scene.action]["also said of it"].split():  # what a viewer could also call it
        return "unclear"
    if scene.side in _OPPOSITE and scene.action in TRANSITIVE:
        way = scene.side if scene.action in _TOWARDS else _OPPOSITE[scene.side]
        if claimed.action == _SLIDE[way]:
            return "unclear"
    # Of someone who moves beside a landmark: does he move towards or away from it?
    moves = ("slides_left", "slides_right", "rises", "falls", "bounces", "shakes")
    beside = scene.other is not None and scene.action in moves
    return "unclear" if beside and claimed.action in ("approaches", "leaves") else "false"
