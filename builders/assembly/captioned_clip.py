"""A captioned clip, into which builders of real sets read their source; which of its captions is contrasted.

A generator looks at single captions. `contrast_clips` tries a clip's captions in their seeded order, one round over all
clips at a time, so that a generator that uses a model always gets large batches.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal, TypedDict
from unicodedata import normalize

import numpy as np

from video_contrast.console import note
from video_contrast.launcher import is_writer, spread
from video_contrast.options import Range
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.generate import DOUBTFUL
from video_contrast.rows import RetrievalRow, retrieval_row
from video_contrast.seeds import stream
from video_contrast.storage.set_folder import Facts

CaptionChoice = Literal["eligible", "base"]
Generator = Literal["lexicon", "t5", "mlm", "llm"]
CANDIDATES = "candidates:"  # before reasons of verbs and things, in counts of captions by reason
TrainingVideos = Callable[[], Mapping[str, Sequence[str]]]  # video -> its captions
MAY_BE_TRUE = "may_be_true"  # the reason of negatives of others that the judge doubts


class ClipSpan(TypedDict):
    """The columns of a row that name its clip."""

    video_id: str
    video_path: str
    start: float | None
    end: float | None


@dataclass(frozen=True)
class VideoSpan:
    """A video file, or a span of it."""

    path: str  # relative to the video root
    start: float | None = None  # seconds
    end: float | None = None

    @property
    def video_id(self) -> str:
        """The path without its suffix."""
        head, dot, tail = self.path.rpartition(".")
        return head if dot and "/" not in tail else self.path

    def columns(self) -> ClipSpan:
        """Returns the columns of a row that name its clip."""
        return {"video_id": self.video_id, "video_path": self.path, "start": self.start, "end": self.end}


@dataclass(frozen=True, slots=True)
class CaptionedClip:
    """A clip with the captions that people wrote for it."""

    id: str  # unique in its split
    video_id: str  # the name of the video
    video_path: str  # relative to the video root
    captions: tuple[str, ...]  # at least one, none empty; the same text may stand twice
    cluster: str  # the source video; items of one cluster are not independent, and never distract each other
    pool: str = ""  # distractors come from clips of the same pool (a movie); all clips are one pool by default
    start: float | None = None
    end: float | None = None
    other_captions: tuple[str, ...] = ()  # true captions that must not stand in the set; they only reject contrasts
    meta: Mapping[str, object] = field(default_factory=dict)  # further columns, JSON-able

    @property
    def names(self) -> tuple[str, str, str]:
        """The names by which a table may call it: its id, its video's id, or its video's file."""
        return self.id, self.video_id, self.video_path

    def truths(self) -> set[str]:
        """Everything that is known to be true of the clip, normalised for comparison."""
        return {normal(text) for text in (*self.captions, *self.other_captions)}

    def caption_order(self, seed: int) -> list[int]:
        """The seeded order in which the captions are tried; the first is the base caption of every config."""
        if len(self.captions) == 1:
            return [0]
        return [int(n) for n in stream(seed, "captions", self.id).permutation(len(self.captions))]

    def columns(self) -> ClipSpan:
        """Returns the columns of a row that name its clip."""
        return {"video_id": self.video_id, "video_path": self.video_path, "start": self.start, "end": self.end}


def normal(caption: str) -> str:
    """A caption with case, spacing, closing marks and the way accents are coded taken out: equal results say the same.

    >>> normal("A man  runs.") == normal("a man runs"), normal("caf\u00e9") == normal("cafe\u0301")
    (True, True)
    """
    return " ".join(normalize("NFC", caption).lower().split()).rstrip(" .!?")


def retrieval_rows(clips: Iterable[CaptionedClip]) -> list[RetrievalRow]:
    """The retrieval table: each clip with all of its captions."""
    return [
        retrieval_row(
            id=clip.id, captions=list(clip.captions), meta={"cluster": clip.cluster, **clip.meta}, **clip.columns()
        )
        for clip in clips
    ]


def percent(count: int, total: int) -> float:
    """The share `count` of `total` in percent with one decimal; 0 of 0 is 0.

    >>> percent(2477, 2990)
    82.8
    """
    return float(np.round(100.0 * count / total, 1)) if total else 0.0


@dataclass(frozen=True, kw_only=True)
class EditOptions:
    """The model behind a generator of edits, and how sure an edit must be."""

    generator_model: Annotated[str | None, "checkpoint of the generator, or its server's model"] = None
    generator_options: Annotated[str | None, "its further options: name=value,... (endpoint=, store=, k= ...)"] = None
    quality: Annotated[str, "how likely natural and false a contrast must be: high, balanced, all, 0..1"] = "balanced"


@dataclass(frozen=True, kw_only=True)
class ContrastSetOptions(EditOptions):
    """The options of contrasts of verbs and things."""

    RECORDED: ClassVar[tuple[str, ...]] = ("caption", "generator", "generator_model", "quality")

    caption: Annotated[CaptionChoice, "edited: eligible, the first that can be; base, that of random_mc"] = "eligible"
    generator: Annotated[Generator, "what proposes verbs and objects; lexicon: hand-written uses, no model"] = "lexicon"
    explain: Annotated[bool, "say for each clip without a verb or object contrast why it has none"] = False
    review: Annotated[bool, "write review.html beside the set: a page to tick, mend or write contrasts"] = False
    ticks: Annotated[Path | None, "ticked contrasts, as review.html saves them; default: OUTPUT/review.tsv"] = None
    judge: Annotated[Path | None, "votes that train the judge further: ticks, or a table of read contrasts"] = None
    seed: Annotated[int, "seed of every draw"] = 0
    num_proc: Annotated[int, "processes that share the work", Range(1)] = 1

    def record(self) -> dict[str, object]:
        """The options that a set's record shows."""
        return {name.replace("generator_model", "model"): getattr(self, name) for name in self.RECORDED}


@dataclass(frozen=True, slots=True)
class Attempt:
    """One caption of one clip that a generator is asked to contrast."""

    clip: CaptionedClip
    index: int

    @property
    def caption(self) -> str:
        """The caption."""
        return self.clip.captions[self.index]

    @property
    def id(self) -> str:
        """Names the random stream of the attempt."""
        return f"{self.clip.id}#{self.index}"

    @property
    def other_captions(self) -> list[str]:
        """The other captions of the clip, which are true as well."""
        others = [text for number, text in enumerate(self.clip.captions) if number != self.index]
        return [*others, *self.clip.other_captions]


# One list of contrasts an attempt (empty where none can be built), and the reasons counted a caption.
Contrasts = tuple[list[list[Edit]], Counter[str]]
ContrastGenerator = Callable[[Sequence[Attempt]], Contrasts]


@dataclass
class ClipContrasts:
    """The contrasts of a set of clips, and the counts that a card shows."""

    edits: dict[str, tuple[int, list[Edit]]] = field(default_factory=dict)  # clip id -> caption number, contrasts
    reasons: Counter[str] = field(default_factory=Counter)  # captions by the generator's reasons
    base: int = 0  # clips with a contrast whose base caption could be contrasted
    clips: int = 0  # all clips
    # Clip id -> caption number and contrast of everything that a person may choose from, best first.
    candidates: dict[str, list[tuple[int, Edit]]] = field(default_factory=dict)

    def counts(self) -> Facts:
        """Counts by reason for a card: of clips, of captions, and of the generator's candidates."""
        reasons = dict(sorted(self.reasons.items()))
        candidates = {name.removeprefix(CANDIDATES): n for name, n in reasons.items() if name.startswith(CANDIDATES)}
        captions = {reason: n for reason, n in reasons.items() if not reason.startswith(CANDIDATES)}
        counts: Facts = {"clips": self.clips, "covered": len(self.edits), "not_covered": self.clips - len(self.edits)}
        return counts | {"captions_tried": captions} | ({"candidates": candidates} if candidates else {})

    def coverage(self, caption: CaptionChoice) -> dict[str, float]:
        """Share of clips covered in percent: on the base caption, and (if tried) on the first eligible one."""
        shares = {"base": percent(self.base, self.clips)}
        return shares | ({"eligible": percent(len(self.edits), self.clips)} if caption == "eligible" else {})


def contrast_clips(
    generator: ContrastGenerator, options: ContrastSetOptions, clips: Sequence[CaptionedClip], *, per_caption: int = 1
) -> ClipContrasts:
    """Makes contrasts for as many of the clips as possible, by a generator that is picklable if `num_proc` is above 1.

    With the `caption` "eligible" a clip's first caption, in seeded order, on which the contrast can be built is taken;
    "base" tries the first one only (the caption of random_mc). A caption must give `per_caption` different contrasts.
    Models on a GPU are run by this process, since CUDA does not outlive a fork.
    """
    num_proc = 1 if getattr(generator, "on_gpu", False) else options.num_proc
    contrasts = ClipContrasts(clips=len(clips))
    task = partial(_rounds, generator, options, per_caption)
    for edits, reasons, base in spread(task, clips, num_proc=num_proc):
        contrasts.edits.update(edits)
        contrasts.reasons.update(reasons)
        contrasts.base += base
    contrasts.candidates = {name: [(index, edit) for edit in own] for name, (index, own) in contrasts.edits.items()}
    return contrasts


def _rounds(
    generator: ContrastGenerator, options: ContrastSetOptions, per_caption: int, clips: Sequence[CaptionedClip]
) -> tuple[dict[str, tuple[int, list[Edit]]], Counter[str], int]:
    edits_of: dict[str, tuple[int, list[Edit]]] = {}
    reason_counts: Counter[str] = Counter()
    base = 0
    for rank, attempts in enumerate(rounds(clips, options, edits_of)):
        edits, reasons = generator(attempts)
        reason_counts.update(reasons)
        for attempt, proposals in zip(attempts, edits, strict=True):
            different = distinct(attempt, proposals)
            if len(different) >= per_caption:
                edits_of[attempt.clip.id] = (attempt.index, different[:per_caption])
                base += rank == 0
            elif proposals:
                # Proposed, but too few are left that differ from each other and from every caption of the clip.
                reason_counts["says_what_a_caption_says" if per_caption == 1 else "too_few_different_contrasts"] += 1
    return edits_of, reason_counts, base


def rounds(
    clips: Sequence[CaptionedClip], options: ContrastSetOptions, finished_ids: Container[str]
) -> Iterator[list[Attempt]]:
    """Yields a caption of each clip, in their seeded order, a round; clips of `finished_ids` are in no further one."""
    orders = {clip.id: clip.caption_order(options.seed) for clip in clips}
    for rank in range(1 if options.caption == "base" else max(map(len, orders.values()), default=0)):
        open_clips = (clip for clip in clips if clip.id not in finished_ids and rank < len(clip.captions))
        if attempts := [Attempt(clip, orders[clip.id][rank]) for clip in open_clips]:
            yield attempts


def distinct(attempt: Attempt, proposals: Sequence[Edit]) -> list[Edit]:
    """The edits that say nothing that a caption of the clip says, of those that say the same the first."""
    truths = attempt.clip.truths()
    first: dict[str, Edit] = {}
    for proposal in proposals:
        first.setdefault(normal(proposal.text), proposal)
    return [edit for text, edit in first.items() if text not in truths]


def warn_of_doubtful(config: str, count: int, total: int) -> None:
    """Says how many negatives that others made may be true; they are kept with the judge's numbers."""
    if count and is_writer():
        note(
            f"warning: {config}: {count:,} of {total:,} negatives may be true of the clip as well, by the judge of "
            f"contrasts (falsity below {DOUBTFUL} in their scores)"
        )
