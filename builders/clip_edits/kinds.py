"""The registry of edits: one file a kind, one line in `MODULES`.

A kind is a function that makes one group of edited clips of one, two or three clips, or says why not (`LeftOut`):

    @edit_kind("order", clips=2, negatives="...")
    def order(clips: tuple[SourceClip, ...], options: ClipEditOptions, rng: Generator) -> EditedGroup: ...
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from numpy.random import Generator

from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, SourceClip

# One file a line; in this order they are built.
MODULES = (
    "order",
    "count",
    "reversal",
    "mirror",
    "speed",
    "place",
    "identity",
    "needle",
)
Make = Callable[[tuple[SourceClip, ...], ClipEditOptions, Generator], EditedGroup]


@dataclass(frozen=True)
class EditKind:
    """A registered edit."""

    name: str  # of the kind, and of its config
    clips: int  # how many clips a group is made of
    negatives: str  # what its false captions say, for the card
    make: Make  # makes a group, or raises `LeftOut`
    same_video: bool = False  # whether two spans of one video are joined before clips of different videos


_KINDS: dict[str, EditKind] = {}


def edit_kind(name: str, *, clips: int, negatives: str, same_video: bool = False) -> Callable[[Make], Make]:
    """Registers a kind of edit.

    Args:
        name: of the kind, of its file and of its config.
        clips: how many clips a group is made of.
        negatives: what its false captions say, for the card.
        same_video: whether two spans of one video are joined before clips of different videos.

    Returns:
        A decorator. The decorated function takes the clips, the options of the build and a random stream of its own,
        and returns a group, or raises `LeftOut` with the reason why these clips do not suit.
    """

    def register(make: Make) -> Make:
        _KINDS[name] = EditKind(name, clips, negatives, make=make, same_video=same_video)
        return make

    return register


def edit_kinds() -> dict[str, EditKind]:
    """Every kind by name, in the order of `MODULES`."""
    for module in MODULES:
        import_module(f"video_contrast.builders.clip_edits.{module}")
    return {name: _KINDS[name] for name in MODULES}
