"""Scoring with pair scorers: every view of a clip is decoded once and shown with all texts that need it.

Results are appended to a file of this process and this attempt, one line a request, flushed as they come. A run that
was killed goes on with what all files of the directory hold; a torn last line is left out.
"""

import json
import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from video_contrast.runner.sets import Group
from video_contrast.sealed_files import sealed_line, sealed_records
from video_contrast.video import Clip

SORTED_IN = 1 << 16  # keys of results at a time


@dataclass(frozen=True)
class ScoreRequest:
    """One call of the scorer: a view of a clip and the texts shown with it."""

    keys: Keys = field(repr=False, compare=False)  # name results; that of a clip is known once its files are read
    clip: Clip  # whose view it is
    visual: Visual  # of the view
    texts: tuple[str, ...]  # an item's candidates, a displaced distractor, or all captions of a retrieval set
    position: int  # the number of the item in its set
    question: Question | None = None  # that the texts answer, for a model that is asked it

    @cached_property
    def key(self) -> str:
        """Names the result."""
        return self.keys.request(self.clip, self.visual, self.texts, self.position, question=self.question)


@dataclass(frozen=True)
class Pairing:
    """The requests that a plan makes of a pair scorer."""

    plan: Plan
    keys: Keys
    together: bool  # see `PairScorer`

    @cached_property
    def _items(self) -> dict[Group, tuple[np.ndarray, np.ndarray]]:
        """The items of each group by their clips, and where those of each clip begin among them."""
        views = self.plan.views
        return {
            group: (np.argsort(at, kind="stable").astype(np.int32), np.searchsorted(np.sort(at), range(len(views) + 1)))
            for group, at in views.places.items()
        }

    @cached_property
    def _galleries(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """All captions of each retrieval table."""
        tables = [table for table in self.plan.tables if table.is_retrieval]
        return {table.name: tuple(text for texts in table.texts for text in texts) for table in tables}

    def of_clip(self, clip: Clip) -> list[ScoreRequest]:
        """The requests of a clip, equal ones once. They are made when asked for: of all clips they may be millions."""
        number = self.plan.views.place(clip)
        requests: dict[ScoreRequest, None] = {}
        for table in self.plan.tables:
            items, begins = self._items[table.group]
            for position in items[begins[number] : begins[number + 1]].tolist():
                own, distractor = self.of_item(table, position)
                requests |= dict.fromkeys(request for request in (distractor, own) if request)
        return list(requests)

    def of_item(self, table: PlannedTable, position: int) -> tuple[ScoreRequest, ScoreRequest | None]:
        """The request of an item, and that of the distractor that its contrast displaced, alone (None without)."""
        items = table.group.items
        texts = self._galleries.get(table.name) or table.texts[position]
        question = items.column("question")[position] if table.group.questions == "asked" else None
        request = ScoreRequest(self.keys, items.clips[position], table.condition.visual, texts, position, question)
        distractor = None if self.together else table.distractor(position)
        return request, None if distractor is None else replace(request, texts=(distractor,), position=0)


class PairResults:
    """The results in a run's directory. Memory holds where each of them stands, since they may be millions."""

    def __init__(self, folder: Path, rank: int) -> None:
        self.folder = folder
        self.rank = rank
        self._files: list[Path] = []
        # keys, sorted, and for each the number of the file and the byte where its result begins
        self._sorted = np.empty(0, "S16"), np.empty((0, 2), np.int64)
        self._fresh: dict[str, tuple[int, int]] = {}  # the same, of keys that are yet to be sorted in
        self._maps: dict[int, mmap] = {}
        self._handle: IO[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        self.refresh()

    def refresh(self) -> None:
        """Looks through all files."""
        for path in sorted(self.folder.glob("answers-*.jsonl")):
            if path not in self._files:
                self._files.append(path)
            for begin, row in sealed_records(path):
                self._note(row["key"], self._files.index(path), begin)

    def _note(self, key: str, file: int, begin: int) -> None:
        self._fresh[key] = file, begin
        if len(self._fresh) < SORTED_IN:
            return
        keys = np.concatenate([self._sorted[0], np.array(list(map(bytes.fromhex, self._fresh)), "S16")])
        places = np.concatenate([self._sorted[1], list(self._fresh.values())])
        order = np.argsort(keys, kind="stable")
        latest = order[np.append(keys[order[1:]] != keys[order[:-1]], True)]
        self._sorted = keys[latest], places[latest]  # before the others go: decoding threads ask
        self._fresh = {}

    def _place(self, key: str) -> tuple[int, int] | None:
        if key in (fresh := self._fresh):
            return fresh[key]
        (keys, places), digest = self._sorted, np.array(bytes.fromhex(key), "S16")
        at = int(np.searchsorted(keys, digest))
        return (int(places[at, 0]), int(places[at, 1])) if at < len(keys) and keys[at] == digest else None

    def __contains__(self, key: str) -> bool:
        return self._place(key) is not None

    def get(self, key: str) -> ScoreResult:
        """The result under `key`, which must be there."""
        number, begin = cast(tuple[int, int], self._place(key))
        if number not in self._maps or begin >= len(self._maps[number]):
            with open(self._files[number], "rb") as handle:
                self._maps[number] = mmap(handle.fileno(), 0, access=ACCESS_READ)
        file = self._maps[number]
        row = json.loads(file[begin : file.find(b"\n", begin)])
        return ScoreResult(
            np.array(row["scores"], np.float64), row["parts"], row.get("counts", {}), tuple(row["frames"])
        )

    def put(self, key: str, result: ScoreResult) -> None:
        """Appends a result and makes sure that it survives this process."""
        if self._handle is None:
            name = f"answers-{self.rank}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
            self._handle = open(self.folder / name, "wb")  # noqa: SIM115  open while the run lasts
            self._files.append(self.folder / name)
        row = {
            "key": key, "scores": result.scores.tolist(), "parts": result.parts, "frames": result.frame_numbers,
            "counts": dict(result.counts),
        }  # fmt: skip
        begin = self._handle.tell()
        self._handle.write(sealed_line(row).encode())
        self._handle.flush()
        self._note(key, self._files.index(Path(self._handle.name)), begin)

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
        for clip, views in reader.read(dealt(), visuals_of, lambda frames: frames, ahead=1, depth=2):
            for view, frames in views:
                counts.counters["visual_encodings"] += 1
                for request in missing(clip):
                    if request.visual == view.visual:
                        pixels = None if view.visual.name == "blind" else frames
                        submit(request, view.numbers, partial(_score, model, prefilter, pixels, request, counts=counts))
            while begun and (begun[0][1] in counts.broken or not missing(begun[0][1])):
                done(begun.popleft()[0])
    for number, _ in begun:
        done(number)


Submit = Callable[[ScoreRequest, np.ndarray, Callable[[], ScoreResult]], None]


@contextmanager
def _at_once(parallel: int, keep: Submit) -> Iterator[Submit]:
    """Yields what carries out calls, in threads if several at once; their results are kept in order."""
    waiting: deque[tuple[ScoreRequest, np.ndarray, Callable[[], ScoreResult]]] = deque()
    pool = ThreadPoolExecutor(max(1, parallel))  # without a thread until something is submitted

    def submit(request: ScoreRequest, numbers: np.ndarray, call: Callable[[], ScoreResult]) -> None:
        waiting.append((request, numbers, pool.submit(call).result if parallel > 1 else call))
        if len(waiting) >= parallel:
            keep(*waiting.popleft())

    try:
        yield submit
        while waiting:
            keep(*waiting.popleft())
    finally:
        pool.shutdown(cancel_futures=True)


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
