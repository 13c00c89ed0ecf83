"""A few items of a set, decoded once, and the scores of any model for them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.runner.conditions import Visual
from video_contrast.runner.doctor.result import State
from video_contrast.runner.kinds.base import ClipFrames, Encoder, PairScorer
from video_contrast.runner.memory import Batcher, RunCounts, halved, unless_out_of_memory
from video_contrast.runner.plan import Plan, PlannedTable
from video_contrast.runner.process_share import Run
from video_contrast.runner.views import views_of
from video_contrast.video import Clip

ITEMS = 8
CAPTIONS_A_CLIP = 3  # of a pair scorer: the true one and those of the next clips
GREY = 127


@dataclass
class Probe:
    """Items to test a model with."""

    model: Encoder | PairScorer
    clips: list[ClipFrames]  # the frames of at most `ITEMS` clips
    captions: list[str]  # the true caption of each, all different
    half: bool = False  # whether the model computes in half precision
    batch_size: int = 32
    counts: RunCounts = field(default_factory=RunCounts)
    # Place of a clip -> where a model is asked about all candidates at once: these, and what else decides the prompt.
    items: dict[int, tuple[Sequence[str], dict[str, Any]]] = field(default_factory=dict)
    scores_of: dict[tuple[object, ...], np.ndarray] = field(default_factory=dict)  # the model's answers

    def scores(
        self, clips: Sequence[ClipFrames], captions: Sequence[str], *, position: int = 0, again: bool = False
    ) -> np.ndarray:
        """Every clip with every caption, in one batch if there are batches: float64[n, k]. `again`: though known."""
        model, places = self.model, self._places(clips)
        if isinstance(model, Encoder):
            return np.asarray(model.join(*self._rows(clips, captions, again=again)), np.float64)

        def of_clip(clip: ClipFrames) -> np.ndarray:
            score = partial(model.score, clip, list(captions), position=position)
            while (result := unless_out_of_memory(score)) is None:
                model.batch_size = halved(model.batch_size, self.counts)
            return np.asarray(result.scores, np.float64)

        key = ("pairs", places, position, *captions)
        return self._once(key, again or places is None, lambda: np.stack(list(map(of_clip, clips))))

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows of all clips and of all captions, of an encoder."""
        return self._rows(self.clips, self.captions)

    def _rows(
        self, clips: Sequence[ClipFrames], captions: Sequence[str], *, again: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        places = self._places(clips)
        videos = self._once(("videos", places), again or places is None, lambda: self.videos(clips))
        return videos, self._once(("texts", *captions), again, lambda: self.texts(captions))

    def _places(self, clips: Sequence[ClipFrames]) -> tuple[int, ...] | None:
        """The numbers of these clips among the probe's; None where one of them is another."""
        numbers = {id(clip): n for n, clip in enumerate(self.clips)}
        return tuple(numbers[id(clip)] for clip in clips) if all(id(clip) in numbers for clip in clips) else None

    def _once(self, key: tuple[object, ...], again: bool, compute: Callable[[], np.ndarray]) -> np.ndarray:
        if again:
            return compute()
        if key not in self.scores_of:
            self.scores_of[key] = compute()
        return self.scores_of[key]

    def videos(self, clips: Sequence[ClipFrames]) -> np.ndarray:
        """Rows of clips, of an encoder."""
        assert isinstance(self.model, Encoder)
        prepared = [self.model.prepare(clip) for clip in clips]
        return self._batchers[0](self.model.encode_prepared, prepared)

    def texts(self, captions: Sequence[str]) -> np.ndarray:
        """Rows of captions, of an encoder."""
        assert isinstance(self.model, Encoder)
        return self._batchers[1](self.model.encode_texts, list(captions))

    @cached_property
    def _batchers(self) -> tuple[Batcher, Batcher]:
        """The batchers of all clips and all texts: a size for which memory did not suffice once is not tried again."""
        return Batcher(self.batch_size, self.counts), Batcher(4 * self.batch_size, self.counts)

    @property
    def together(self) -> bool:
        """Whether the scores of one call are comparable with each other only."""
        return isinstance(self.model, PairScorer) and self.model.together

    def unmoved(self, says: str, *, may_be_small: bool = False) -> tuple[State, str]:
        """The verdict on scores that did not change where they should have, but for what half precision may hide."""
        if self.model.in_steps:
            return "doubt", f"{says}; or its plain answers, without probabilities, are too coarse to show it"
        return "doubt" if may_be_small and self.half else "fail", says

    def caption_numbers(self, n: int) -> list[int]:
        """The numbers of the captions that clip `n` is scored with, the true one first."""
        others = len(self.captions) if isinstance(self.model, Encoder) else CAPTIONS_A_CLIP
        return [(n + k) % len(self.captions) for k in range(min(others, len(self.captions)))]

    def captions_of(self, n: int) -> list[str]:
        """The captions that clip `n` is scored with, the true one first."""
        return [self.captions[k] for k in self.caption_numbers(n)]

    @cached_property
    def clean(self) -> np.ndarray:
        """`own_scores` of the clips as they are; computed once, in the run's batches."""
        return self.own_scores(self.clips)

    def own_scores(self, clips: Sequence[ClipFrames]) -> np.ndarray:
        """The scores of every clip, or of what it became, with `captions_of` it: float64[n, k]."""
        if isinstance(self.model, Encoder):
            matrix = self.scores(clips, self.captions)
            return np.stack([matrix[n, self.caption_numbers(n)] for n in range(len(clips))])
        return np.concatenate([self._own_row(clip, n) for n, clip in enumerate(clips)])

    def _own_row(self, clip: ClipFrames, n: int) -> np.ndarray:
        """The scores of clip `n`, or of what it became, with `captions_of(n)`: float64[1, k].

        Where all candidates are asked about at once, the true one stands in each place in turn: a model that prefers
        the first option would else seem to know the true one.
        """
        captions = self.captions_of(n)
        turn = n % len(captions) if self.together else 0
        return np.roll(self.scores([clip], captions[turn:] + captions[:turn], position=n), turn, axis=1)

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the scores: the unit of all differences. A lone score is its own unit."""
        scores = finite(self.clean)
        return float(np.std(scores)) if len(scores) > 1 else self._size

    @cached_property
    def noise(self) -> float:
        """The difference of scores when the same is asked twice."""
        return difference(self.scores(self.clips[:1], self.captions_of(0), again=True), self.clean[:1])

    @cached_property
    def rendered(self) -> JsonObject:
        """The input of the model for the first item."""
        texts, arguments = self.items.get(0, (self.captions_of(0), {}))
        return self.model.rendered_input(self.clips[0], texts, **arguments)

    def other(self, n: int) -> ClipFrames:
        """A clip of other pictures, not these in another order (its reversal); this one's negative if there is none."""
        clip = self.clips[n]
        for other in (*self.clips[n + 1 :], *self.clips[:n]):
            if other.frames.shape[1:] != clip.frames.shape[1:]:
                return other
            if np.abs(other.frames.mean(axis=0) - clip.frames.mean(axis=0)).mean() > 1:
                return other
        return replace(clip, frames=255 - clip.frames)

    def reaction(self, new_clip: ClipFrames, n: int = 0) -> float:
        """The change in the scores of clip `n` when the model is given `new_clip` in its place."""
        return difference(self._own_row(new_clip, n), self.clean[n : n + 1])

    @property
    def _size(self) -> float:
        return float(np.abs(finite(self.clean)).max(initial=0.0))

    def numbers(self, change: float) -> dict[str, float]:
        """The number that a verdict on a change of scores stands on."""
        return {"change_sd": self.in_units(change)}

    def is_steady(self, change: float) -> bool:
        """Whether a change is no more than rounding."""
        return change <= (0.25 if self.half else 0.01) * self.spread + 1e-6 * self._size

    def reacts(self, change: float) -> bool:
        """Whether a change is more than rounding, and more than two runs of the same input differ by."""
        return change > max(1e-4 * self.spread, 1e-7 * self._size, self.noise if self.noise < self.spread else 0.0)

    def in_units(self, change: float) -> float:
        """A change in standard deviations of the scores."""
        return change / self.spread if self.spread > 0 else 0.0


def finite(scores: np.ndarray) -> np.ndarray:
    """The finite ones of the scores (an answer that is no candidate has none), flat."""
    return np.asarray(scores[np.isfinite(scores)])


def difference(first: np.ndarray, second: np.ndarray) -> float:
    """The largest difference of two arrays of scores; what is finite in one of them only counts as infinitely far."""
    if (np.isfinite(first) != np.isfinite(second)).any():
        return float("inf")
    both = np.isfinite(first)
    return float(np.abs(first[both] - second[both]).max(initial=0.0))


def grey(clip: ClipFrames) -> ClipFrames:
    """The clip with mid-grey frames."""
    return replace(clip, frames=np.full_like(clip.frames, GREY))


def make_probe(run: Run, *, scored: bool = False, items: int = ITEMS) -> Probe:
    """Items of a plan: clips evenly spread over it, each with a caption that no other has; every clip is decoded once.

    `scored`: whether each clip is scored once, and those that the model does not take are passed over. Clips that
    cannot be read are, too: the run will count them.
    """
    assert isinstance(run.model, Encoder | PairScorer)
    job = run.job
    probe = Probe(run.model, [], [], half=run.dtype != "float32", batch_size=job.options.batch_size)
    used_files: set[str] = set()  # files of edited clips: two edits of one file may show the same frames
    for clip, table, place in _candidates(run.plan, items):
        item = table.group.items[place]
        caption = table.group.with_question(item, item.texts[item.label])
        if caption in probe.captions or used_files.intersection(clip.paths):
            continue
        try:
            view = next(views_of(run.video_root, clip, (Visual(),), job.sampling, store=job.frames))
            frames = ClipFrames(view.frames, view.times, clip, view.seconds)
        except (VideoContrastError, OSError):
            continue
        try:
            if scored:
                probe.scores([frames], [caption])
        except ValueError:  # pictures that a processor does not take: this clip's affair
            continue
        question = item.question if table.group.questions == "asked" else None
        if job.kind.asks and (question or probe.together):
            probe.items[len(probe.clips)] = table.texts[place], {"position": place, "question": question}
        probe.clips.append(frames)
        probe.captions.append(caption)
        used_files.update(clip.paths if clip.segments else ())
        if len(probe.clips) == items:
            break
    return probe


def _candidates(plan: Plan, items: int) -> Iterator[tuple[Clip, PlannedTable, int]]:
    """Clips of a plan with the place of an item each, evenly spread over it, at most thrice `items`."""
    tables = list({table.group: table for table in reversed(plan.tables)}.values())[::-1]  # the first of each group
    of_items = np.concatenate([plan.views.places[table.group] for table in tables])
    first = np.sort(np.unique(of_items, return_index=True)[1])  # of all items, those whose clips are new
    begins = np.cumsum([0, *(len(table.group.items) for table in tables)])
    # First the places of as many items as are needed, then those between them.
    places = [int(n) for count in (items, 3 * items) for n in np.linspace(0, len(first) - 1, min(count, len(first)))]
    for n in first[list(dict.fromkeys(places))].tolist():
        number = int(np.searchsorted(begins, n, "right")) - 1
        place = n - int(begins[number])
        yield tables[number].group.items.clips[place], tables[number], place
