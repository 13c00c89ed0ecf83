"""What edits are made of: a captioned clip with its times, and how groups of edited clips are described."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from numpy.random import Generator

from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.clip_edits.motion import Motion, motion_of
from video_contrast.errors import UsageError
from video_contrast.perturbations.english import parse_one
from video_contrast.seeds import Streams
from video_contrast.video import Clip, Segment, pause

Transition = Literal["varied", "gap", "cut", "fade"]
_SPACED_MARK = re.compile(r"\s+([,.;:!?])")
_PAUSE = 0.5  # seconds at most
_FADE = 0.5  # seconds at most


@dataclass(frozen=True, kw_only=True)
class ClipEditOptions:
    """How clips are edited."""

    PANEL: ClassVar[str] = "How clips are edited"
    seconds: Annotated[float, "seconds of a part at most, around the clip's middle"] = 10.0
    shortest: Annotated[float, "seconds of a part at least; shorter clips are left out"] = 1.0
    transition: Annotated[Transition, "how parts are joined: varied, gap (grey), cut or fade"] = "varied"
    partners: Annotated[int, "how many other clips each clip is joined with"] = 1
    needle: Annotated[float, "share of an edited clip that an inserted span has (needle)"] = 0.3
    asymmetry: Annotated[float, "how directed motion must be, 0 to 1 (reversal)"] = 0.4
    items: Annotated[int | None, "groups a kind, at most"] = None

    def __post_init__(self) -> None:
        """Raises a UsageError for an option out of its range."""
        for name, low, high in (("seconds", 0.1, 3600), ("shortest", 0.1, 3600), ("needle", 0.01, 0.5),
                                ("asymmetry", 0, 1), ("partners", 1, 1000)):  # fmt: skip
            if not low <= getattr(self, name) <= high:
                raise UsageError(f"--{name} must be from {low:g} to {high:g}, not {getattr(self, name):g}")
        if self.shortest > self.seconds:
            raise UsageError(f"--shortest {self.shortest:g} is longer than --seconds {self.seconds:g}")
        if self.items is not None and self.items < 1:
            raise UsageError(f"--items must be at least 1, not {self.items}")


class LeftOut(Exception):
    """Why no group is made of some clips: a name that the build counts."""


class Rewritten(NamedTuple):
    """A rewritten caption, and the words that were exchanged, before and after."""

    caption: str
    old: str
    new: str


@dataclass(frozen=True)
class SourceClip:
    """A clip that can be edited."""

    source: CaptionedClip  # the clip and its captions
    root: Path  # the video root
    start: float  # of its span, in seconds of the file
    end: float
    seed: int = 0  # of the build
    size: tuple[int, int] = (0, 0)  # height and width of its pictures

    @property
    def id(self) -> str:
        """Of the clip."""
        return self.source.id

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start

    @cached_property
    def captions(self) -> tuple[str, ...]:
        """Its captions in their seeded order, as they stand inside a sentence; those without a word left out."""
        order = self.source.caption_order(self.seed, Streams())
        clauses = dict.fromkeys(clause(self.source.captions[n]) for n in order)
        return tuple(text for text in clauses if any(letter.isalnum() for letter in text))

    @cached_property
    def motion(self) -> Motion:
        """How it moves."""
        return motion_of(self.root, Clip(self.id, self.source.video_path, self.start, self.end))

    def part(self, seconds: float, at: float | None = None, **how: Any) -> Segment:  # fields of `Segment`
        """A span of the clip as a segment, from `at` seconds after its beginning or around its middle.

        `how` holds `speed`, `reversed` or `mirrored` of the segment.
        """
        begin = self.start + ((self.seconds - seconds) / 2 if at is None else at)
        return Segment(self.source.video_path, round(begin, 3), round(begin + seconds, 3), **how)


@dataclass(frozen=True)
class Member:
    """An edited clip of a group."""

    segments: tuple[Segment, ...]  # its recipe
    caption: str  # what is true of it alone
    shown: str  # what was edited, for the truth record
    claim: str  # the words of the caption that are false of the group's other clips


@dataclass(frozen=True)
class EditedGroup:
    """Edited clips of each of which one of the group's captions is true, and no other."""

    members: tuple[Member, ...]  # the clips
    facts: Mapping[str, object] = field(default_factory=dict)  # for the truth record (form, measured motion ...)


def table(name: str) -> list[list[str]]:
    """The rows of a tab-separated table of this folder, comments left out."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if not line.startswith("#")]


def clause(caption: str) -> str:
    """A caption as it stands inside a sentence: without its full stop, begun small but for names, and not in capitals.

    >>> clause("Young men ride .  "), clause("Anna rides"), clause("A MAN RIDES!")
    ('young men ride', 'Anna rides', 'a man rides')
    """
    text = _SPACED_MARK.sub(r"\1", " ".join(caption.split())).strip(" .!?;,:")
    if text.isupper():
        return text.lower()
    first, *others = text.split(" ")
    if not first.istitle() or (others and others[0].istitle()) or parse_one(text).words[0].tag == "NNP":
        return text
    return first.lower() + text[len(first) :]


@dataclass(frozen=True)
class Joint:
    """How parts are joined."""

    name: str  # "gap", "cut" or "fade"
    seconds: float = 0.0  # of the grey gap, or of the cross-fade

    @property
    def words(self) -> str:
        """For the truth record."""
        return self.name if self.name == "cut" else f"{self.name} of {self.seconds:g} s"

    def join(self, *parts: Segment) -> tuple[Segment, ...]:
        """The parts put together in their order."""
        out = [parts[0]]
        for part in parts[1:]:
            if self.name == "gap":
                out.append(pause(self.seconds))
            out.append(replace(part, fade=self.seconds) if self.name == "fade" else part)
        return tuple(out)


def choose_joint(options: ClipEditOptions, rng: Generator, parts: Sequence[Segment], *, fades: bool = True) -> Joint:
    """How parts are joined, in whatever order; drawn where the transition varies.

    `fades`: whether a cross-fade will do; a gap stands in for it where it was asked for.
    """
    names = ["gap", "cut", "fade"] if fades else ["gap", "cut"]
    drawn = names[int(rng.integers(len(names)))]
    name = drawn if options.transition == "varied" else options.transition if options.transition in names else "gap"
    shortest = min(part.seconds for part in parts)
    if name == "cut":
        return Joint(name)
    # A fade is short: frames are sampled outside of it.
    return Joint(name, round(min(_PAUSE, shortest / 4) if name == "gap" else min(_FADE, shortest / 20), 3))
