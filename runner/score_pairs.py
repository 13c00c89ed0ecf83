"""Scoring with pair scorers: every view of a clip is decoded once and shown with all texts that need it.

Results are appended to a file of this process and this attempt, one line a request, flushed as they come. A run that
was killed goes on with what all files of the directory hold; a torn last line is left out.
"""

import json
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, cast

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.question_text import Question
from video_contrast.runner.clip_reader import ClipReader
from video_contrast.runner.conditions import Visual
from video_contrast.runner.embedding_store import Keys
from video_contrast.runner.kinds.base import AskedScorer, ClipFrames, Encoder, PairScorer, ScoreResult
from video_contrast.runner.memory import RunCounts, halved, unless_out_of_memory
from video_contrast.runner.plan import Plan, PlannedTable
from video_contrast.sealed_files import sealed_line, sealed_records
from video_contrast.video import Clip


@dataclass(frozen=True)
class ScoreRequest:
    """One call of the scorer: a view of a clip and the texts shown with it."""

    keys: Keys = field(repr=False, compare=False)  # name results; that of a clip is known once its files are read
    clip: Clip  # whose view it is
    visual: Visual  # which view
    texts: tuple[str, ...]  # an item's candidates, a displaced distractor, or all captions of a retrieval set
    position: int  # the number of the item in its set
    question: Question | None = None  # what the texts answer, for a model that is asked it

    @cached_property
    def key(self) -> str:
        """Names the result."""
        return self.keys.request(self.clip, self.visual, self.texts, self.position, question=self.question)


@dataclass(frozen=True)
class Pairing:
    """Which requests a plan makes of a pair scorer."""

    plan: Plan
    keys: Keys
    together: bool  # see `PairScorer`

    @cached_property
    def _places(self) -> dict[Clip, list[tuple[PlannedTable, int]]]:
        """Where each clip stands in the tables."""
        places: dict[Clip, list[tuple[PlannedTable, int]]] = {clip: [] for clip in self.plan.views}
        for table in self.plan.tables:
            for position, clip in enumerate(table.group.items.clips):
                places[clip].append((table, position))
        return places

    @cached_property
    def _galleries(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """All captions of each retrieval table."""
        tables = [table for table in self.plan.tables if table.is_retrieval]
        return {table.name: tuple(text for texts in table.texts for text in texts) for table in tables}

    def of_clip(self, clip: Clip) -> list[ScoreRequest]:
        """The requests of a clip, equal ones once. They are made when asked for: of all clips they may be millions."""
        pairs = (self.of_item(table, position) for table, position in self._places[clip])
        return list(dict.fromkeys(needed for own, displaced in pairs for needed in (displaced, own) if needed))

    def of_item(self, table: PlannedTable, position: int) -> tuple[ScoreRequest, ScoreRequest | None]:
        """The request of an item, and that of the distractor that its contrast displaced, alone (None without)."""
        item = table.group.items[position]
        texts = self._galleries.get(table.name, table.texts[position])
        question = item.question if table.group.questions == "asked" else None
        request = ScoreRequest(self.keys, item.clip, table.condition.visual, texts, position, question)
        displaced = None if self.together else table.displaced(item)
        return request, None if displaced is None else replace(request, texts=(displaced,), position=0)


class PairResults:
    """The results in a run's directory. Memory holds where each of them stands, since they may be millions."""

    def __init__(self, folder: Path, rank: int) -> None:
        self.folder = folder
        self.rank = rank
        self._places: dict[str, tuple[Path, int]] = {}  # the file and the byte where a result begins
        self._maps: dict[Path, mmap] = {}
        self._handle: IO[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self.refresh()

    def refresh(self) -> None:
        """Looks through all files."""
        for path in sorted(self.folder.glob("answers-*.jsonl")):
            self._places.update((row["key"], (path, begin)) for begin, row in sealed_records(path))

    def __contains__(self, key: str) -> bool:
        return key in self._places

    def get(self, key: str) -> ScoreResult:
        """The result under `key`."""
        path, begin = self._places[key]
        if path not in self._maps or begin >= len(self._maps[path]):
            with open(path, "rb") as handle:
                self._maps[path] = mmap(handle.fileno(), 0, access=ACCESS_READ)
        file = self._maps[path]
        row = json.loads(file[begin : file.find(b"\n", begin)])
        return ScoreResult(
            np.array(row["scores"], np.float64), row["parts"], row.get("counts", {}), tuple(row["frames"])
        )

    def put(self, key: str, result: ScoreResult) -> None:
        """Appends a result and makes sure that it survives this process."""
        if self._handle is None:
            name = f"answers-{self.rank}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
            self._handle = open(self.folder / name, "wb")  # noqa: SIM115  open while the run lasts
        row = {
            "key": key, "scores": result.scores.tolist(), "parts": result.parts, "frames": result.frame_numbers,
            "counts": dict(result.counts),
        }  # fmt: skip
        place = Path(self._handle.name), self._handle.tell()
        self._handle.write(sealed_line(row).encode())
        self._handle.flush()
        self._places[key] = place

    def close(self) -> None:
        """Closes this process's file."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None


class Prefilter:
    """The coarse encoder of a pair scorer, with each text encoded once."""

    def __init__(self, model: PairScorer) -> None:
        assert model.coarse is not None
        self.model = model
        self.encoder: Encoder = model.coarse
        self._rows: dict[str, np.ndarray] = {}

    def score(self, clip: ClipFrames, texts: Sequence[str], position: int) -> ScoreResult:
        """float64[k]: the scorer's scores of the best texts; all others below them, in the order of coarse similarity.

        The parts of a text that was left out hold its `coarse` similarity only.
        """
        fresh = [text for text in dict.fromkeys(texts) if text not in self._rows]
        for begin in range(0, len(fresh), 64):
            batch = fresh[begin : begin + 64]
            self._rows.update(zip(batch, self.encoder.encode_texts(batch), strict=True))
        video = self.encoder.encode_prepared([self.encoder.prepare(clip)])
        coarse = self.encoder.join(video, np.stack([self._rows[text] for text in texts]))[0].astype(np.float64)
        best = np.argsort(-coarse, kind="stable")[: self.model.prefilter]
        fine = self.model.score(clip, [texts[i] for i in best], position=position)
        # Below the worst fine score by at least 1, and equal where the coarse similarities are.
        scores = fine.scores.min() - 1.0 - (coarse.max() - coarse)
        scores[best] = fine.scores
        parts = [{"coarse": float(value)} for value in coarse]
        for at, part in zip(best, fine.parts or [{}] * len(best), strict=True):
            parts[at] = {**part, **parts[at]}
        return ScoreResult(scores, parts, fine.counts)


def score_pairs(
    model: PairScorer,
    clips: Iterable[tuple[int | None, Clip]],
    pairing: Pairing,
    results: PairResults,
    reader: ClipReader,
    *,
    done: Callable[[int | None], None],
) -> None:
    """Scores the requests that have no result; a clip that cannot be decoded is recorded and the others go on.

    `clips`: with what `done` is told of each once its results, and of those before it, are kept; asked for as their
    turn to be decoded comes.
    """
    begun: deque[tuple[int | None, Clip]] = deque()
    requests_of = lru_cache(maxsize=64)(pairing.of_clip)  # asked for several times while a clip is read and scored

    def dealt() -> Iterator[Clip]:
        for number, clip in clips:
            begun.append((number, clip))
            yield clip

    def missing(clip: Clip) -> list[ScoreRequest]:
        return [request for request in requests_of(clip) if request.key not in results]

    def visuals_of(clip: Clip) -> tuple[Visual, ...]:
        return tuple(dict.fromkeys(request.visual for request in missing(clip)))

    prefilter = Prefilter(model) if model.coarse is not None and model.prefilter else None
    counts = reader.counts

    def keep(request: ScoreRequest, numbers: np.ndarray, call: Callable[[], ScoreResult]) -> None:
        try:
            result = call()
        except VideoContrastError:
            raise
        except ValueError as error:  # pictures that its processor does not take: this clip's affair
            counts.broken[request.clip] = str(error)
            return
        results.put(request.key, replace(result, frame_numbers=tuple(int(n) for n in numbers)))
        counts.counters["text_encodings"] += len(request.texts)

    with _at_once(model.parallel, keep) as submit:
        for clip, shown in reader.read(dealt(), visuals_of, lambda frames: frames, ahead=1, depth=2):
            for view, frames in shown:
                counts.counters["visual_encodings"] += 1
                for request in missing(clip):
                    if request.visual == view.visual:
                        seen = None if view.visual.name == "blind" else frames
                        submit(request, view.numbers, partial(_score, model, prefilter, seen, request, counts=counts))
            while begun and (begun[0][1] in counts.broken or not missing(begun[0][1])):
                done(begun.popleft()[0])
    for number, _ in begun:
        done(number)


Submit = Callable[[ScoreRequest, np.ndarray, Callable[[], ScoreResult]], None]


@contextmanager
def _at_once(parallel: int, keep: Submit) -> Iterator[Submit]:
    """Yields what carries out calls, at most `parallel` of them in threads; their results are kept in order."""
    if parallel <= 1:
        yield keep
        return
    waiting: deque[tuple[ScoreRequest, np.ndarray, Future[ScoreResult]]] = deque()

    def keep_first() -> None:
        request, numbers, future = waiting.popleft()
        keep(request, numbers, future.result)

    with ThreadPoolExecutor(parallel) as pool:

        def submit(request: ScoreRequest, numbers: np.ndarray, call: Callable[[], ScoreResult]) -> None:
            waiting.append((request, numbers, pool.submit(call)))
            if len(waiting) >= parallel:
                keep_first()

        try:
            yield submit
            while waiting:
                keep_first()
        finally:
            for _, _, future in waiting:
                future.cancel()


def _score(
    model: PairScorer, prefilter: Prefilter | None, clip: ClipFrames | None, request: ScoreRequest, counts: RunCounts
) -> ScoreResult:
    # Each text once, so that equal ones tie exactly whatever stands beside them; options of one prompt are left alone.
    alone = request.question is None and not model.together
    texts = list(dict.fromkeys(request.texts)) if alone else request.texts
    at = {text: n for n, text in enumerate(texts)}

    def call() -> ScoreResult:
        if clip is not None and prefilter is not None and len(texts) > model.prefilter:
            return prefilter.score(clip, texts, request.position)
        if request.question is None:
            return model.score(clip, texts, position=request.position)
        # Only kinds that ask are given questions.
        return cast(AskedScorer, model).score(clip, texts, position=request.position, question=request.question)

    while (result := unless_out_of_memory(call)) is None:
        model.batch_size = halved(model.batch_size, counts)
    scores = np.asarray(result.scores, np.float64)
    unparseable = any(part.get("unparseable") for part in result.parts or ())
    if len(scores) != len(texts) or not (unparseable or all(map(math.isfinite, scores))):
        raise VideoContrastError(
            f"the model gave {scores.tolist()} for {len(texts)} captions of {request.clip.video_id}; scores "
            "must be one finite number a caption"
        )
    places = [at[text] for text in request.texts] if alone else list(range(len(texts)))
    return replace(
        result, scores=scores[places], parts=result.parts and [dict(result.parts[place]) for place in places]
    )
