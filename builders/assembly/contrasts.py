"""Contrasts for clips: which of a clip's captions a contrast can be built on, and why others fell out.

A generator looks at single captions. Here a clip's captions are tried in their seeded order, one round over all clips
at a time, so that a generator that uses a model always gets large batches.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from video_contrast.builders.assembly.clips import Clip, caption_order, normal, shares
from video_contrast.builders.assembly.sharding import spread
from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast import Edit
from video_contrast.seeds import Streams

Choice = Literal["eligible", "base"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One caption of one clip that a generator is asked to contrast. `rank` is its place in the seeded order."""

    clip: Clip
    index: int
    rank: int

    @property
    def caption(self) -> str:
        """The caption."""
        return self.clip.captions[self.index]

    @property
    def id(self) -> str:
        """Names the random stream of the attempt."""
        return f"{self.clip.id}#{self.index}"

    @property
    def siblings(self) -> list[str]:
        """The other captions of the clip, which are true as well."""
        others = [text for number, text in enumerate(self.clip.captions) if number != self.index]
        return [*others, *self.clip.siblings]


# One list of contrasts an attempt (empty where none can be built), and the reasons counted a caption.
Generator = Callable[[Sequence[Attempt]], tuple[list[list[Edit]], Counter[str]]]


@dataclass
class Made:
    """What came out: by clip id, the caption's number and its contrasts; and the counts that a card shows."""

    found: dict[str, tuple[int, list[Edit]]] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)  # captions, by the generator's reasons
    base: int = 0  # clips whose base caption could be contrasted
    clips: int = 0

    def facts(self) -> dict[str, Any]:
        """Counts by reason and the share of clips covered, for a card."""
        captions, candidates = {}, {}
        for reason, count in sorted(self.tried.items()):
            if reason.startswith("candidates:"):
                candidates[reason.removeprefix("candidates:")] = count
            else:
                captions[reason] = count
        facts: dict[str, Any] = {
            "clips": self.clips,
            "covered": len(self.found),
            "not_covered": self.clips - len(self.found),
            "captions_tried": captions,
        }
        return facts | ({"candidates": candidates} if candidates else {})


def make(
    generator: Generator,
    clips: Sequence[Clip],
    *,
    seed: int = 0,
    caption: Choice = "eligible",
    wanted: int = 1,
    num_proc: int = 1,
) -> Made:
    """Contrasts for as many of the clips as possible.

    Args:
        generator: proposes contrasts for captions; picklable if `num_proc` is above 1.
        clips: ids are unique.
        seed: decides the order of a clip's captions.
        caption: "eligible" takes the first caption, in seeded order, on which the contrast can be built; "base" tries
            the first one only (the caption of random_mc).
        wanted: how many different contrasts a caption must give.
        num_proc: processes to share the work.

    Raises:
        UsageError: an unknown `caption`.
    """
    if caption not in ("eligible", "base"):
        raise UsageError(f"caption must be 'eligible' or 'base', not {caption!r}")
    made = Made(clips=len(clips))
    task = partial(_rounds, generator, seed, caption, wanted)
    for found, tried, base in spread(task, clips, num_proc=num_proc):
        made.found.update(found)
        made.tried.update(tried)
        made.base += base
    return made


def coverage(made: Made, caption: Choice) -> dict[str, float]:
    """Share of clips covered in percent: on the base caption, and (if tried) on the first eligible one."""
    found = {"base": shares(made.base, made.clips)}
    return found | ({"eligible": shares(len(made.found), made.clips)} if caption == "eligible" else {})


def _rounds(
    generator: Generator, seed: int, caption: Choice, wanted: int, clips: Sequence[Clip]
) -> tuple[dict[str, tuple[int, list[Edit]]], Counter[str], int]:
    streams = Streams()
    orders = {clip.id: caption_order(clip, seed, streams) for clip in clips}
    found: dict[str, tuple[int, list[Edit]]] = {}
    tried: Counter[str] = Counter()
    open_clips = list(clips)
    base = rank = 0
    while open_clips:
        attempts = [Attempt(clip, orders[clip.id][rank], rank) for clip in open_clips]
        edits, reasons = generator(attempts)
        tried.update(reasons)
        for attempt, proposals in zip(attempts, edits, strict=True):
            good = _different(attempt, proposals)
            if len(good) >= wanted:
                found[attempt.clip.id] = (attempt.index, good[:wanted])
                base += rank == 0
            elif proposals:
                # Proposed, but too few are left that differ from each other and from every caption of the clip.
                tried["says_what_a_caption_says" if wanted == 1 else "too_few_different_contrasts"] += 1
        rank += 1
        if caption == "base":
            break
        open_clips = [clip for clip in open_clips if clip.id not in found and rank < len(clip.captions)]
    return found, tried, base


def _different(attempt: Attempt, proposals: Sequence[Edit]) -> list[Edit]:
    """The contrasts that say nothing that a caption of the clip says, each once."""
    said = attempt.clip.truths()
    good = []
    for proposal in proposals:
        if normal(proposal.text) not in said:
            said.add(normal(proposal.text))
            good.append(proposal)
    return good


@dataclass(frozen=True)
class Gender:
    """Gender contrasts (`perturbations.contrast.gender`)."""

    seed: int = 0
    extended: bool = False
    tagger: str = "auto"

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """One contrast a caption with a gendered noun."""
        from video_contrast.perturbations.contrast import gender

        captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
        edits, counts = gender.contrasts(captions, ids, seed=self.seed, extended=self.extended, tagger=self.tagger)
        return _lists(edits), counts


@dataclass(frozen=True)
class PersonId:
    """Character-id contrasts (`perturbations.contrast.person_id`); `casts` is movie -> name -> gender."""

    casts: Mapping[str, Mapping[str, str]]
    seed: int = 0

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """One contrast a caption that names a character with a peer."""
        from video_contrast.perturbations.contrast import person_id

        captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
        casts = [self.casts.get(a.clip.pool, {}) for a in attempts]
        edits, counts = person_id.contrasts(captions, ids, casts, seed=self.seed)
        return _lists(edits), counts


def _lists(edits: Sequence[Edit | None]) -> list[list[Edit]]:
    return [[] if edit is None else [edit] for edit in edits]
