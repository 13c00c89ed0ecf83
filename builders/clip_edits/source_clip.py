"""The clips that edits start from: captions, times, motion; and how groups of edited clips are described.

How much a clip moves, and whether it looks different played backwards, is measured by optical flow (OpenCV): motion to
and fro (shaking, stirring) adds up to nothing over a clip; what goes one way does not. The share of all motion that is
left over is the asymmetry. Things that appear or fade do not flow: there the change from the first to the last frame,
as a share of all changes on the way, tells the same.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations, pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.random import Generator

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, normal
from video_contrast.errors import UsageError
from video_contrast.options import Range
from video_contrast.perturbations.english import parse_one
from video_contrast.video import Clip, Segment, footage_of, pause

FRAMES = 16
SIDE = 64  # pixels of the longer side
STILL = 0.1  # grey levels that a pixel changes by on average from frame to frame: below, the clip stands still


@dataclass(frozen=True)
class Motion:
    """The motion that was measured in a clip."""

    amount: float  # grey levels that a pixel changes by from one of the sampled frames to the next, on average
    asymmetry: float  # 0 (looks the same backwards, as far as this tells) to 1
    colours: tuple[float, ...] = ()  # share of the pixels in each of 64 colours, over the sampled frames

    @property
    def still(self) -> bool:
        """Whether nothing moves."""
        return self.amount < STILL


def motion_of(root: Path, clip: Clip) -> Motion:
    """Measures a clip on 16 of its frames; a file that cannot be read is a `BrokenVideo`."""
    import cv2

    footage = footage_of(root, clip)
    numbers = np.unique(footage.sample(FRAMES, "linspace"))
    pictures = footage.decode(numbers.tolist())
    scale = SIDE / max(pictures.shape[1:3])
    size = (max(8, round(pictures.shape[2] * scale)), max(8, round(pictures.shape[1] * scale)))
    small = [cv2.resize(picture, size, interpolation=cv2.INTER_AREA) for picture in pictures]
    grey = [cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY) for picture in small]
    codes = (np.stack(small) // 64).astype(np.int64) @ np.array([16, 4, 1])  # 4 x 4 x 4 colours
    colours = tuple((np.bincount(codes.ravel(), minlength=64) / codes.size).tolist())
    if len(grey) < 2:
        return Motion(0.0, 0.0, colours)
    start = np.zeros((*grey[0].shape, 2), np.float32)
    flows = np.stack(
        [cv2.calcOpticalFlowFarneback(a, b, start.copy(), 0.5, 3, 9, 3, 5, 1.1, 0) for a, b in pairwise(grey)]
    )
    levels = np.stack(grey).astype(np.float64)
    steps = np.abs(np.diff(levels, axis=0))
    # The share of motion that adds up: the sum over places of the net flow, and over the picture.
    path = float(np.linalg.norm(flows, axis=-1).sum())
    together = float(np.linalg.norm(flows.sum(axis=(1, 2)).sum(axis=0)))
    each = float(np.linalg.norm(flows.sum(axis=(1, 2)), axis=-1).sum())
    net_flow = together / each if each and each > 0.1 * path else 0.0
    net_change = float(np.abs(levels[-1] - levels[0]).sum() / steps.sum()) if steps.sum() else 0.0
    amount = float(steps.mean())
    return Motion(round(amount, 3), round(min(1.0, max(net_flow, net_change)), 3) if amount >= STILL else 0.0, colours)


Transition = Literal["varied", "gap", "cut", "fade"]
_SPACED_MARK = re.compile(r"\s+([,.;:!?])")
_PAUSE = 0.5  # seconds at most
_FADE = 0.5  # seconds at most


@dataclass(frozen=True, kw_only=True)
class ClipEditOptions:
    """The options of edits of clips."""

    PANEL: ClassVar[str] = "How clips are edited"
    seconds: Annotated[float, "seconds of a part at most, around the clip's middle", Range(0.1, 3600)] = 10.0
    shortest: Annotated[float, "seconds of a part at least; shorter clips are left out", Range(0.1, 3600)] = 1.0
    transition: Annotated[Transition, "how parts are joined: varied, gap (grey), cut or fade"] = "varied"
    partners: Annotated[int, "how many other clips each clip is joined with", Range(1, 1000)] = 1
    needle: Annotated[float, "share of an edited clip that an inserted span has (needle)", Range(0.01, 0.5)] = 0.3
    asymmetry: Annotated[float, "how directed motion must be, 0 to 1 (reversal)", Range(0, 1)] = 0.4
    items: Annotated[int | None, "groups a kind, at most", Range(1)] = None

    def __post_init__(self) -> None:
        if self.shortest > self.seconds:
            raise UsageError(f"--shortest {self.shortest:g} is longer than --seconds {self.seconds:g}")


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
        """The clip's id."""
        return self.source.id

    @property
    def seconds(self) -> float:
        """The clip's length."""
        return self.end - self.start

    @cached_property
    def captions(self) -> tuple[str, ...]:
        """The captions in their seeded order, as they stand inside a sentence; those without a word left out."""
        order = self.source.caption_order(self.seed)
        clauses = dict.fromkeys(clause(self.source.captions[n]) for n in order)
        return tuple(text for text in clauses if any(letter.isalnum() for letter in text))

    @cached_property
    def motion(self) -> Motion:
        """The clip's motion."""
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
    caption: str  # true of it alone
    edit: str  # the edit in words, for the truth record
    claim: str  # the words of the caption that are false of the group's other clips


@dataclass(frozen=True)
class EditedGroup:
    """Edited clips of each of which one of the group's captions is true, and no other."""

    members: Sequence[Member]  # the clips
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
    """The joint between parts of a clip."""

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
    choice = names[int(rng.integers(len(names)))]
    name = choice if options.transition == "varied" else options.transition if options.transition in names else "gap"
    shortest = min(part.seconds for part in parts)
    if name == "cut":
        return Joint(name)
    # A fade is short: frames are sampled outside of it.
    return Joint(name, round(min(_PAUSE, shortest / 4) if name == "gap" else min(_FADE, shortest / 20), 3))


_LONGER = 2.0  # times the shortest of the parts that are joined
_SHORT = 15  # words of a caption that is put into a form, where there is one
_SENTENCES = re.compile(r"[.!?;:]\s")
# Words of time: such a caption tells an order by itself, which an edit would deny or say twice.
WHEN = re.compile(
    r"\b(?:then|before|after|afterwards?|later|finally|eventually|at last|meanwhile|soon|behind|beginning|at the start|"
    r"at the very start|in the end|at the end|first(?! person)|next(?! to)|last|(?:start|begin|end)s? (?:with|by|off)|"
    r"until|once)\b",
    re.IGNORECASE,
)
HOW_OFTEN = re.compile(r"\b(?:once|twice|thrice|times|again|repeat\w*|over and over|multiple|another time)\b", re.I)
HOW_FAST = re.compile(
    r"\b(?:slow\w*|fast\w*|quick\w*|rapid\w*|speed\w*|hurr\w+|time-?\s?lapse|slo-?mo|high-speed)\b", re.IGNORECASE
)
_LIGHT = frozenset(("be", "have", "do"))


def length(clip: SourceClip, options: ClipEditOptions) -> float:
    """Seconds of a clip that are used. Raises LeftOut: the clip is too short."""
    if clip.seconds < options.shortest:
        raise LeftOut("too_short")
    return min(clip.seconds, options.seconds)


def balanced_lengths(clips: Sequence[SourceClip], options: ClipEditOptions) -> list[float]:
    """Seconds of each clip that are used; none lasts more than twice as long as another, so that all are seen."""
    lengths = [length(clip, options) for clip in clips]
    return [min(own, _LONGER * min(lengths)) for own in lengths]


def pattern(caption: str) -> str | None:
    """The form in which a caption tells an action; None for a title or list of tags, which reads badly in a sentence.

    >>> [pattern(text) for text in ("a man rides", "a man riding a horse", "riding a horse", "mix the eggs", "red car")]
    ['sentence', 'somebody doing', 'doing', 'order', None]
    """
    sentence = parse_one(caption)
    root = sentence.root
    if root is None:
        return None
    word = sentence.words[root]
    if word.is_noun:
        doing = sentence.child(root, "acl")
        return "somebody doing" if doing is not None and sentence.words[doing].tag == "VBG" else None
    if sentence.finite(root) is not None and sentence.child(root, "nsubj", "nsubjpass", "expl") is not None:
        return "sentence"
    if word.tag == "VBG" and not sentence.auxiliaries(root):
        return "doing" if sentence.subject(root) is None else "somebody doing"
    return "order" if sentence.is_imperative(root) and word.tag == "VB" else None


def plain_captions(clip: SourceClip, form_words: re.Pattern[str], reason: str) -> list[str]:
    """The captions of a clip that can be put into a form: of one sentence, short ones first.

    `form_words`: words that a form says ("twice"): a caption with one of them would say it again, or deny it. `reason`:
    why the clip is left out where all of its captions have one. Raises LeftOut: no caption will do.
    """
    captions: Sequence[str] = clip.captions
    words = ((form_words, reason), (WHEN, "says_when_it_happens"), (_SENTENCES, "captions_of_several_sentences"))
    for expression, why in words:
        captions = [caption for caption in captions if not expression.search(caption)]
        if not captions:
            raise LeftOut(why)
    captions = [caption for caption in captions if pattern(caption)]
    if not captions:
        raise LeftOut("captions_that_are_no_sentence")
    return sorted(captions, key=lambda caption: "," in caption or len(caption.split()) > _SHORT)


def distinct_captions(clips: Sequence[SourceClip]) -> list[str]:
    """A caption of each clip, all of one pattern ("a man rides", "riding a horse"), none of them true of another.

    Raises LeftOut: two captions say the same, or all that one says is said by the other too; or each caption of a clip
    says by itself when something happens; or the clips have no pattern in common.
    """
    choices = [plain_captions(clip, WHEN, "says_when_it_happens") for clip in clips]
    patterns = [list(dict.fromkeys(pattern(caption) for caption in captions)) for captions in choices]
    common = next((form for form in patterns[0] if all(form in forms for forms in patterns)), None)
    if common is None:
        raise LeftOut("captions_of_other_patterns")
    captions = [next(caption for caption in captions if pattern(caption) == common) for captions in choices]
    for (clip, caption), (other, other_caption) in combinations(zip(clips, captions, strict=True), 2):
        if clip.source.truths() & other.source.truths():
            raise LeftOut("captions_say_the_same")
        words, others = content(normal(caption)), content(normal(other_caption))
        if words <= others or others <= words:
            raise LeftOut("captions_may_both_be_true")
    return captions


@lru_cache(1 << 14)
def content(caption: str) -> frozenset[str]:
    """The nouns, verbs, adjectives and numbers of a caption, in dictionary form.

    >>> sorted(content("a man is opening two red doors"))
    ['door', 'man', 'open', 'red', 'two']
    """
    telling = (word for word in parse_one(caption).words if word.tag[:2] in ("NN", "VB", "JJ", "CD"))
    return frozenset(word.lemma for word in telling) - _LIGHT


def first_that(rewrite: Callable[[str], Rewritten], clip: SourceClip) -> tuple[str, Rewritten]:
    """The first of a clip's captions that can be rewritten, and into what. Raises LeftOut: none; why not the first."""
    reasons: list[LeftOut] = []
    for caption in clip.captions:
        try:
            if WHEN.search(caption):
                raise LeftOut("says_when_it_happens")
            rewriting = rewrite(caption)
            if normal(rewriting.caption) in clip.source.truths():
                raise LeftOut("another_caption_says_the_opposite")
            return caption, rewriting
        except LeftOut as why:
            reasons.append(why)
    raise reasons[0]
