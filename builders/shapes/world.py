"""The shapes world: what a scene is, and how scenes are drawn at random.

A scene says who (a coloured shape or a person), does what (one of 20 actions), with or beside whom, and where. All
that a caption can claim follows from these fields; `jitter` moves, sizes and times the picture without changing them.
`actions.tsv` says of each action what it is played backwards and in a mirror, and how captions say it.

Sixteen of the actions are eight pairs of antonyms. The second of a pair is rendered as the first played backwards, so
the set of frames tells nothing about which of the two a clip shows: only their order does.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar, get_args

from numpy.random import Generator

from video_contrast.seeds import Streams, digest

VERSION = "1"
Word = TypeVar("Word", bound=str)
SHAPES = ("circle", "square", "triangle", "star", "cross", "diamond")
PEOPLE = ("man", "woman", "boy", "girl")
THINGS = ("ball", "box", "car", "house", "lamp", "tree")
COLOURS = ("red", "green", "blue", "yellow", "purple", "white")
SETTINGS = ("grass", "sand", "snow", "night")

# Grown-ups of one colour are one person: the same name in every clip.
NAMES = {
    ("man", "red"): "Adam", ("man", "green"): "Boris", ("man", "blue"): "Carlos",
    ("man", "yellow"): "David", ("man", "purple"): "Emil", ("man", "white"): "Felix",
    ("woman", "red"): "Alice", ("woman", "green"): "Bella", ("woman", "blue"): "Clara",
    ("woman", "yellow"): "Diana", ("woman", "purple"): "Emma", ("woman", "white"): "Fatima",
}  # fmt: skip
CAST = {name: "male" if kind == "man" else "female" for (kind, _), name in NAMES.items()}

with Path(__file__).with_name("actions.tsv").open(encoding="utf-8", newline="") as _table:
    ACTIONS = {row["action"]: row for row in csv.DictReader(_table, delimiter="\t")}
# (played forwards, played backwards)
ANTONYMS = tuple((action, row["backwards"]) for action, row in ACTIONS.items() if row["backwards"])
FORWARD = tuple(first for first, _ in ANTONYMS)
REVERSE = dict(ANTONYMS) | {second: first for first, second in ANTONYMS}
TRANSITIVE = tuple(action for action, row in ACTIONS.items() if row["transitive"])
INTRANSITIVE = tuple(action for action in ACTIONS if action not in TRANSITIVE)
Side = Literal["left", "right", "above", "below"]
MIRROR_SIDE: dict[str, Side] = {"left": "right", "right": "left", "above": "above", "below": "below"}
MIRROR_ACTION = {action: row["mirrored"] for action, row in ACTIONS.items() if row["mirrored"]}


@dataclass(frozen=True, slots=True)
class Figure:
    """A shape or person of a colour, or a thing (whose colour is its own: None)."""

    kind: str
    colour: str | None = None

    @property
    def name(self) -> str | None:
        """The person's name, if the figure is one of the cast."""
        return NAMES.get((self.kind, self.colour)) if self.colour else None


@dataclass(frozen=True, slots=True)
class Scene:
    """The scene that a clip shows."""

    subject: Figure  # who acts
    action: str  # one of `ACTIONS`
    setting: str  # one of `SETTINGS`
    other: Figure | None = None  # the object of a transitive action, or a landmark beside an intransitive one
    side: Side | None = None  # where the other stands, seen from the subject, all through the clip
    jitter: tuple[float, ...] = (0.5,) * 6  # six numbers of 0..1 for place, size, extent and phase

    def reversed(self) -> "Scene":
        """The scene played backwards: frame t of the one is frame T - 1 - t of the other."""
        return replace(self, action=REVERSE[self.action])

    def mirrored(self) -> "Scene":
        """The scene seen in a mirror (left and right swapped)."""
        side = MIRROR_SIDE[self.side] if self.side else None
        return replace(self, action=MIRROR_ACTION.get(self.action, self.action), side=side)

    def key(self) -> tuple[str, ...]:
        """The scene without its jitter, as words."""
        subject, other = ((f.kind, f.colour or "") if f else ("", "") for f in (self.subject, self.other))
        return (*subject, self.action, self.setting, *other, self.side or "")


def held_out(scene: Scene) -> bool:
    """Whether the scene belongs to the tenth of all scenes that training never shows.

    A scene, its mirror image and both of them played backwards are held out together, so that mirroring or reversing
    a training clip never makes a test scene.
    """
    kind, colour, action, *rest, side = scene.key()
    family = [
        (kind, colour, seen_motion, *rest, where)
        for motion in (action, REVERSE.get(action, action))
        for seen_motion, where in ((motion, side), (MIRROR_ACTION.get(motion, motion), MIRROR_SIDE.get(side, "")))
    ]
    return digest("shapes", "held out", *min(family))[0] < 26


def scenes(seed: int, split: str, count: int, *, first: int = 0) -> Iterator[Scene]:
    """`count` scenes of a split from number `first` on; scene i depends on seed, split and i only.

    Scenes of the split "train" come from the nine tenths that `held_out` does not keep for the others. Templates take
    turns, so that every kind of contrast finds its items in any long enough run of scenes. `split`: "train",
    "validation" or "test".
    """
    streams = Streams()
    train = split == "train"
    for number in range(first, first + count):
        rng = streams.at("shapes", VERSION, seed, split, number)
        scene = draw(rng, number)
        while held_out(scene) == train:
            scene = draw(rng, number)
        yield scene


# template -> (who acts, whether transitive, who else is there)
TEMPLATES = (
    ("person", False, None), ("person", False, "thing"), ("person", True, "thing"), ("person", True, "shape"),
    ("shape", True, "shape"), ("shape", False, None), ("shape", True, "thing"), ("shape", False, "thing"),
)  # fmt: skip


def draw(rng: Generator, template: int) -> Scene:
    """A random scene of a template (0..7, counted round)."""
    who, transitive, with_whom = TEMPLATES[template % len(TEMPLATES)]
    kind = PEOPLE[int(rng.choice(4, p=(0.35, 0.35, 0.15, 0.15)))] if who == "person" else _pick(rng, SHAPES)
    subject = Figure(kind, _pick(rng, COLOURS))
    action = _pick(rng, TRANSITIVE if transitive else INTRANSITIVE)
    other, side = None, None
    sides: tuple[Side, ...] = get_args(Side)
    if with_whom == "thing":
        other = Figure(_pick(rng, THINGS))
    elif with_whom == "shape":
        kinds = tuple(kind for kind in SHAPES if kind != subject.kind)
        other = Figure(_pick(rng, kinds), _pick(rng, tuple(colour for colour in COLOURS if colour != subject.colour)))
    if with_whom:
        side = "above" if action in ("lifts", "lowers") else _pick(rng, sides[:2] if transitive else sides)
    jitter = tuple(float(u) for u in rng.random(6))
    return Scene(subject, action, setting=_pick(rng, SETTINGS), other=other, side=side, jitter=jitter)


def _pick(rng: Generator, options: tuple[Word, ...]) -> Word:
    return options[int(rng.integers(len(options)))]
