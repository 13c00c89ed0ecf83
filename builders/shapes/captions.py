"""The language of the shapes world: scenes to captions, and captions back to what they claim.

A caption is `SUBJECT [PLACE] ACTION [OBJECT] [SETTING]`, say "a red circle above a tree slides to the left on the
sand". `read` understands every caption that `write` can make, and the product's own edits of them ("a guy in red").

`verdict` reads the scene's fields alone, knows nothing of how a caption was made, and is strict both ways: a caption is
"true" only if everything it says is so, and "false" only if something it says is plainly not so. Captions in between
("moves towards a box" of someone who pushes it) are "unclear", and no set uses them.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from video_contrast.builders.shapes import world

# action -> its phrases; the first is the usual one, the second the paraphrase
PHRASES = {action: (row["phrase"], row["paraphrase"]) for action, row in world.ACTIONS.items()}
# where the other stands, seen from the subject -> where the subject stands
PLACES = {"left": "to the right of", "right": "to the left of", "above": "below", "below": "above"}
SETTING_PHRASES = {"grass": "on the grass", "sand": "on the sand", "snow": "in the snow", "night": "at night"}


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim of a caption, None for whatever it leaves out."""

    subject: world.Figure  # kind and colour; the kind "guy" stands for any male
    action: str  # one of `ACTIONS`
    other: world.Figure | None = None
    side: world.Side | None = None  # where the other stands, seen from the subject (only with intransitive actions)
    setting: str | None = None  # one of `SETTINGS`


def claim(scene: world.Scene, *, place: bool = True, setting: bool = True) -> Claim:
    """Everything a caption can say of the scene. `place`: with the landmark; a transitive action keeps its object."""
    transitive = scene.action in world.TRANSITIVE
    other = scene.other if transitive or place else None
    side = None if transitive or not place else scene.side
    return Claim(scene.subject, scene.action, other=other, side=side, setting=scene.setting if setting else None)


def write(statement: Claim, *, names: bool = False, phrase: int = 0) -> str:
    """The claim in English.

    `names`: call people of the cast by their name. `phrase`: 0 for the usual phrase of the action, 1 for another.

    >>> write(Claim(world.Figure("man", "red"), "pushes", world.Figure("box"), setting="sand"))
    'a man in red pushes a box on the sand'
    >>> write(Claim(world.Figure("circle", "blue"), "rises", world.Figure("tree"), "below"), phrase=1)
    'a blue circle above a tree goes up'
    """
    words = [noun_phrase(statement.subject, names)]
    if statement.other and statement.side:
        words += [PLACES[statement.side], noun_phrase(statement.other, names)]
    words.append(PHRASES[statement.action][phrase])
    if statement.other and not statement.side:
        words.append(noun_phrase(statement.other, names))
    if statement.setting:
        words.append(SETTING_PHRASES[statement.setting])
    return " ".join(words)


def noun_phrase(figure: world.Figure, names: bool = False) -> str:
    """A figure in English: its name, "a woman in blue", "a red circle" or "a tree"."""
    if names and figure.name:
        return figure.name
    if figure.kind in (*world.PEOPLE, "guy"):
        return f"a {figure.kind} in {figure.colour}"
    return f"a {figure.colour} {figure.kind}" if figure.colour else f"a {figure.kind}"


def read(caption: str) -> Claim:
    """The claim of a caption. Raises ValueError: it is not in the language of the shapes world.

    >>> read("Adam shoves a box")
    Claim(subject=Figure(kind='man', colour='red'), action='pushes', other=Figure(kind='box', colour=None), \
side=None, setting=None)
    """
    match = _CAPTION.fullmatch(caption.strip())
    if match is None:
        raise ValueError(f"not a caption of the shapes world: {caption!r}")
    action = _ACTION_OF[match["action"]]
    if (match["object"] is not None) != (action in world.TRANSITIVE) or (match["object"] and match["landmark"]):
        raise ValueError(f"not a caption of the shapes world (its object does not fit its verb): {caption!r}")
    other = match["object"] or match["landmark"]
    return Claim(
        read_figure(match["subject"]),
        action,
        other=read_figure(other) if other else None,
        side=_SIDE_OF[match["place"]] if match["place"] else None,
        setting=_SETTING_OF[match["setting"]] if match["setting"] else None,
    )


def read_figure(words: str) -> world.Figure:
    """The figure that a noun phrase of this world names."""
    figure = _FIGURE_OF_NAME.get(words)
    if figure:
        return figure
    _, first, *rest = words.split()
    if not rest:
        return world.Figure(first)
    return world.Figure(first, rest[1]) if rest[0] == "in" else world.Figure(rest[0], first)


def _either(words: "tuple[str, ...] | list[str]") -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_FIGURE_OF_NAME = {name: world.Figure(kind, colour) for (kind, colour), name in world.NAMES.items()}
_ACTION_OF = {phrase: action for action in world.ACTIONS for phrase in PHRASES[action]}
_SIDE_OF: dict[str, world.Side] = {PLACES[side]: side for side in get_args(world.Side)}
_SETTING_OF = {SETTING_PHRASES[setting]: setting for setting in world.SETTINGS}
_NOUN = (
    rf"(?:a (?:{_either(world.COLOURS)}) (?:{_either(world.SHAPES)})"
    rf"|a (?:{_either((*world.PEOPLE, 'guy'))}) in (?:{_either(world.COLOURS)})"
    rf"|a (?:{_either(world.THINGS)})|{_either(list(_FIGURE_OF_NAME))})"
)
_CAPTION = re.compile(
    rf"(?P<subject>{_NOUN})(?: (?P<place>{_either(list(_SIDE_OF))}) (?P<landmark>{_NOUN}))?"
    rf" (?P<action>{_either(list(_ACTION_OF))})(?: (?P<object>{_NOUN}))?"
    rf"(?: (?P<setting>{_either(list(_SETTING_OF))}))?"
)
Verdict = Literal["true", "false", "unclear"]

# An intransitive verb for what the subject of a transitive one does: it runs towards or away from the other's side.
_TOWARDS = ("approaches", "pushes")
_SLIDE = {"left": "slides_left", "right": "slides_right"}
_OPPOSITE = {"left": "right", "right": "left"}


def verdict(scene: world.Scene, caption: str) -> Verdict:
    """Whether the caption is true of the scene.

    Raises ValueError: the caption is not in the language of the shapes world.

    >>> lifting = world.Scene(world.Figure("man", "red"), "lifts", "sand", world.Figure("box"), "above")
    >>> verdict(lifting, "Adam raises a box"), verdict(lifting, "a man in red lowers a box on the sand")
    ('true', 'false')
    >>> verdict(lifting, "a man in red stays still")
    'unclear'
    """
    statement = read(caption)
    parts: list[Verdict] = [_same(statement.subject, scene.subject), _of_place(scene, statement)]
    parts.append("true" if statement.setting in (None, scene.setting) else "false")
    if statement.other is not None:
        parts.append("false" if scene.other is None else _same(statement.other, scene.other))
    # The box that a man lifts rises, and rises above him: what holds of the other figure is no plain falsehood.
    # So does who is pushed from behind, who might also pull.
    if scene.other is not None and _same(statement.subject, scene.other) == "true":
        actions = {statement.action, scene.action}
        forces = len(actions) == 2 and actions <= {"pushes", "pulls", "leaves"}
        if statement.other is None or (forces and _same(statement.other, scene.subject) == "true"):
            return "unclear"
    parts.append(_of_action(scene, statement))
    if "false" in parts:
        return "false"
    return "unclear" if "unclear" in parts else "true"


def _same(of_caption: world.Figure, of_scene: world.Figure) -> Verdict:
    kind_fits = of_scene.kind in ("man", "boy") if of_caption.kind == "guy" else of_caption.kind == of_scene.kind
    return "true" if kind_fits and of_caption.colour == of_scene.colour else "false"


def _of_place(scene: world.Scene, statement: Claim) -> Verdict:
    if statement.side is None or scene.other is None:
        return "true"
    if scene.action in world.TRANSITIVE:
        return "unclear"
    if statement.side == scene.side:
        return "true"
    # Whoever is above a tree may also stand a little to its left.
    opposite = {frozenset(("left", "right")), frozenset(("above", "below"))}
    return "false" if frozenset((statement.side, scene.side)) in opposite else "unclear"


def _of_action(scene: world.Scene, statement: Claim) -> Verdict:
    if statement.action == scene.action:
        return "true"
    if statement.action in world.ACTIONS[scene.action]["also said of it"].split():  # what a viewer could also call it
        return "unclear"
    if scene.side in _OPPOSITE and scene.action in world.TRANSITIVE:
        way = scene.side if scene.action in _TOWARDS else _OPPOSITE[scene.side]
        if statement.action == _SLIDE[way]:
            return "unclear"
    # Of someone who moves beside a landmark: does he move towards or away from it?
    moves = ("slides_left", "slides_right", "rises", "falls", "bounces", "shakes")
    beside = scene.other is not None and scene.action in moves
    return "unclear" if beside and statement.action in ("approaches", "leaves") else "false"
