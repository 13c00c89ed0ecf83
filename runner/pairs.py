"""Scoring with pair scorers: every view of a clip is decoded once and shown with all texts that need it.

Scores are appended to a file of this process and this attempt, one line a scored row, flushed as they come. A run
that was killed goes on with what all files of the directory hold; a torn last line is left out.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.runner.conditions import Visual
from video_contrast.runner.encode import NO_ROOM, Keys, Progress, RunCounts, free_memory, out_of_memory, until_broken
from video_contrast.runner.feed import feed
from video_contrast.runner.kinds.base import ClipFrames, PairScorer, ScoreResult
from video_contrast.runner.plan import Plan, PlannedTable
from video_contrast.runner.prefilter import Prefilter
from video_contrast.runner.sets import Item
from video_contrast.runner.views import views_of
from video_contrast.video.clip import Clip
from video_contrast.video.decode import Counter


@dataclass(frozen=True)
class ScoreRequest:
    """One call of the scorer: a view and the texts shown with it."""

    key: str
    visual: Visual
    texts: tuple[str, ...]
    position: int


@dataclass(frozen=True)
class Answer:
    """What came back: scores, raw parts, and the frames that were looked at."""

    scores: tuple[float, ...]
    parts: list[dict[str, float]] | None
    numbers: tuple[int, ...]


def score_requests(plan: Plan, keys: Keys, together: bool = False) -> dict[Clip, list[ScoreRequest]]:
    """What must be asked of each clip; equal questions once. `together`: see `PairScorer`."""
    found: dict[Clip, dict[str, ScoreRequest]] = {clip: {} for clip in plan.views}
    for table in plan.tables:
        for clip, request in requests_of_table(table, keys, together):
            found[clip].setdefault(request.key, request)
    return {clip: list(requests.values()) for clip, requests in found.items()}


def requests_of_table(table: PlannedTable, keys: Keys, together: bool = False) -> Iterator[tuple[Clip, ScoreRequest]]:
    """One question a row: an item's candidates, or all captions of the set."""
    everything = columns_of(table)[1] if table.group.layout == "retrieval" else ()
    for position, (item, own) in enumerate(zip(table.group.items, table.texts, strict=True)):
        texts = tuple(everything) if table.group.layout == "retrieval" else own
        if not together and scores_replaced(table, item):
            yield item.clip, _ask(table, keys, item.clip, (str(item.replaced),), 0)
        yield item.clip, _ask(table, keys, item.clip, texts, position)


def scores_replaced(table: PlannedTable, item: Item) -> bool:
    """Whether the distractor that the contrast displaced is asked about too, alone."""
    return bool(item.replaced) and table.condition.text.name is None and table.group.layout != "retrieval"


def _ask(table: PlannedTable, keys: Keys, clip: Clip, texts: tuple[str, ...], position: int) -> ScoreRequest:
    visual = table.condition.visual
    key = seeds.digest("pair", keys.video(clip, visual), position, *texts).hex()[:32]
    return ScoreRequest(key, visual, texts, position)


def columns_of(table: PlannedTable) -> tuple[list[str], list[str]]:
    """Ids (`item#0`, `item#1` ...) and texts of a retrieval group's captions, in the order of its items."""
    ids = [f"{item.id}#{n}" for item, own in zip(table.group.items, table.texts, strict=True) for n in range(len(own))]
    return ids, [text for own in table.texts for text in own]


class PairResults:
    """The answers in a run's directory.

    Args:
        folder: where the files are; every process and attempt writes its own.
    """

    def __init__(self, folder: Path, rank: int) -> None:
        self.folder = folder
        self.rank = rank
        self._found: dict[str, Answer] = {}
        self._handle: Any = None
        folder.mkdir(parents=True, exist_ok=True)
        self.refresh()

    def refresh(self) -> None:
        """Reads all files; the last line of a killed process may be torn and is left out."""
        for path in sorted(self.folder.glob("answers-*.jsonl")):
            with open(path, encoding="utf-8") as handle:
                for line in handle:
                    if not line.endswith("\n"):
                        break
                    row = json.loads(line)
                    self._found[row["key"]] = Answer(tuple(row["scores"]), row["parts"], tuple(row["frames"]))

    def __contains__(self, key: str) -> bool:
        return key in self._found

    def get(self, key: str) -> Answer:
        """The answer under `key`."""
        return self._found[key]

    def put(self, key: str, answer: Answer) -> None:
        """Appends an answer and makes sure that it survives this process."""
        if self._handle is None:
            name = f"answers-{self.rank}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
            self._handle = open(self.folder / name, "w", encoding="utf-8")  # noqa: SIM115  open while the run lasts
        row = {"key": key, "scores": answer.scores, "parts": answer.parts, "frames": answer.numbers}
        self._handle.write(json.dumps(row) + "\n")
        self._handle.flush()
        self._found[key] = answer

    def close(self) -> None:
        """Closes this process's file."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None


def score_pairs(
    model: PairScorer,
    clips: Sequence[Clip],
    requests: dict[Clip, list[ScoreRequest]],
    answers: PairResults,
    counts: RunCounts,
    keys: Keys,
    *,
    paths: dict[str, Path],
    workers: int,
    progress: Progress,
) -> None:
    """Asks what is not answered yet; a clip that cannot be decoded is recorded and the others go on."""
    todo = {clip: [request for request in requests[clip] if request.key not in answers] for clip in clips}

    def work(clip: Clip) -> Iterator[tuple[Visual, ClipFrames, np.ndarray]]:
        visuals = tuple(dict.fromkeys(request.visual for request in todo[clip]))
        counter = Counter()
        try:
            for view in views_of(paths[clip.video_path], clip, visuals, keys.sampling, counter):
                yield view.visual, ClipFrames(view.frames, view.times, clip.video_id), view.numbers
        finally:
            counts.decode.add(counter)

    prefilter = Prefilter(model) if model.coarse is not None and model.prefilter else None
    jobs = [clip for clip in clips if todo[clip]]
    for clip, views in feed(jobs, work, workers=workers, ahead=workers + 1, depth=2):
        for visual, shown, numbers in until_broken(views, clip, counts):
            counts.visual_encodings += 1
            for request in todo[clip]:
                if request.visual == visual:
                    try:
                        answer = _answer(model, prefilter, shown, request, numbers, counts)
                    except VideoContrastError:
                        raise
                    except ValueError as error:  # pictures that its processor does not take: this clip's affair
                        counts.broken[clip] = str(error)
                        continue
                    answers.put(request.key, answer)
                    counts.text_encodings += len(request.texts)
        progress(1)


def _answer(
    model: PairScorer,
    prefilter: Prefilter | None,
    shown: ClipFrames,
    request: ScoreRequest,
    numbers: np.ndarray,
    counts: RunCounts,
) -> Answer:
    clip = None if request.visual.name == "blind" else shown
    scored = _scored(model, prefilter, clip, request)
    while scored is None:
        if model.batch_size <= 1:
            raise VideoContrastError(NO_ROOM)
        model.batch_size //= 2
        counts.notes.append(f"out of memory: the batch was halved to {model.batch_size}")
        free_memory()
        scored = _scored(model, prefilter, clip, request)
    scores = [float(value) for value in np.asarray(scored.scores, np.float64)]
    no_option = scored.parts is not None and any(part.get("unparseable") for part in scored.parts)
    if len(scores) != len(request.texts) or not (no_option or all(map(math.isfinite, scores))):
        raise VideoContrastError(
            f"the model gave {scores} for {len(request.texts)} captions of {shown.video_id}; scores must be one finite "
            "number a caption"
        )
    return Answer(tuple(scores), scored.parts, tuple(int(n) for n in numbers))


def _scored(
    model: PairScorer, prefilter: Prefilter | None, clip: ClipFrames | None, request: ScoreRequest
) -> ScoreResult | None:
    """The scores, or None where the memory does not suffice."""
    try:
        if clip is not None and prefilter is not None and prefilter.applies(clip, request.texts):
            return prefilter.score(clip, request.texts, request.position)
        return model.score(clip, request.texts, position=request.position)
    except (RuntimeError, MemoryError) as error:
        if not out_of_memory(error):
            raise
        return None
