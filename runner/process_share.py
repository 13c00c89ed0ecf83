"""One process's share of a run: what it encodes or scores, and what it counts."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from video_contrast import seeds
from video_contrast.addresses import address_of
from video_contrast.console import bar
from video_contrast.runner.clip_reader import ClipReader
from video_contrast.runner.doctor.result import SelfTest
from video_contrast.runner.embedding_store import Keys, Store
from video_contrast.runner.encode import Encoding, encode_frames, frames_by_themselves, pool_views, shared_frames
from video_contrast.runner.job import Job, numeric_options
from video_contrast.runner.kinds.base import Encoder, PairScorer, TextScorer
from video_contrast.runner.memory import RunCounts
from video_contrast.runner.plan import Plan
from video_contrast.runner.processes import Processes, WorkQueue
from video_contrast.runner.run_directory import NUMERIC, versions
from video_contrast.runner.score_pairs import Pairing, PairResults, score_pairs
from video_contrast.runner.table_scores import TableScorer, encoder_tables, pair_tables, text_tables
from video_contrast.runner.video_files import NOT_FOUND, VideoFiles, absent
from video_contrast.storage import RunFolder

if TYPE_CHECKING:
    from tqdm import tqdm

TEXTS_A_CHUNK = 1024  # which are dealt out and stored together
CHUNKS = 10_000  # of clips for a pair scorer, at most: each is told to all processes


@dataclass
class Run:
    """One process's share of a run."""

    job: Job
    processes: Processes
    model: Encoder | PairScorer | TextScorer
    plan: Plan
    device: str
    dtype: str
    video_root: Path  # the folder of the videos
    perturb_on: str | None = None  # the torch device of perturbations that have a kernel there; None: numpy
    counts: RunCounts = field(default_factory=RunCounts)  # of this process, since its last chunk
    total: RunCounts = field(default_factory=RunCounts)  # of all processes; in the first one, once all is done
    model_counts: Counter[str] = field(default_factory=Counter)  # summed over all results, whoever computed them
    began: float = field(default_factory=time.monotonic)
    self_test: SelfTest | None = None  # of the model, before anything was scored; None where it was left out

    @property
    def space(self) -> str:
        """Names the model and all that its rows depend on besides their input."""
        job = self.job
        return seeds.digest(
            job.source.revision or job.source.name, job.kind.name, job.kind.version, self.dtype,
            *(f"{key}={value}" for key, value in sorted(numeric_options(job).items())),
            *(("preprocessed on device",) if job.options.preprocess_on == "device" else ()),
            # rows of other versions, to the minor one, are never mixed in
            *(f"{name} {'.'.join(full.split('.')[:2])}" for name, full in versions().items() if name in NUMERIC),
        ).hex()[:32]  # fmt: skip

    @cached_property
    def files(self) -> VideoFiles:
        """The video files, which are read as they are needed."""
        videos = self.job.frames.videos if self.job.frames else {}
        return VideoFiles(self.video_root, {**videos, **RunFolder(self.job.output).known_videos}, self.counts.look_at)

    def encode_or_score(self) -> TableScorer | None:
        """Encodes or scores what is missing; returns what makes the tables' scores, None but in the first process."""
        if (scorer := self._scorer()) is not None:
            self.total.add(self.counts.taken())
            if self.job.frames:
                self.job.frames.videos.update(self.total.videos)
            if self.total.videos:
                RunFolder(self.job.output).write_videos(self.total.videos)
        return scorer

    def _scorer(self) -> TableScorer | None:
        if isinstance(self.model, TextScorer):
            root = self.job.video_root
            here = None if root is None or address_of(root) else root
            reasons = self.processes.from_first(lambda: absent(self.plan.views, here))
            if self.model.needs_clips:
                paths = ((clip, path) for clip in self.plan.views for path in clip.paths)
                self.counts.broken |= {clip: reasons[path] for clip, path in paths if path in reasons}
            else:
                for path in reasons:
                    self.counts.decode.remark(self.video_root / path, [NOT_FOUND])
            return text_tables(self.model, self.plan, frozenset(self.counts.broken))
        keys = Keys(self.files, self.job.sampling, on_device=self.perturb_on is not None)
        workers = self.job.options.workers
        if workers is None:
            cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 4
            workers = max(1, min(16, cores) // int(os.environ.get("LOCAL_WORLD_SIZE", 1)))
        reader = ClipReader(
            self.video_root, self.job.sampling, workers, self.counts, frames=self.job.frames, perturb_on=self.perturb_on
        )
        if isinstance(self.model, Encoder):
            return self._encode(self.model, keys, reader)
        return self._pairs(self.model, keys, reader)

    def _encode(self, model: Encoder, keys: Keys, reader: ClipReader) -> TableScorer | None:
        store = Store(self.job.store, self.space, multi_vector=model.vector_length is not None)
        encoding = Encoding(model, self.plan, keys, store, batch_size=self.job.options.batch_size, counts=self.counts)
        self._share_frames(model, encoding, reader)
        texts, chunks = self.plan.texts, self.plan.chunks(encoding.batch_size)
        runs = [texts[begin : begin + TEXTS_A_CHUNK] for begin in range(0, len(texts), TEXTS_A_CHUNK)]
        with self._dealt("texts", len(runs), sum(map(len, runs)), "text") as (shares, done):
            for numbers in shares:
                encoding.encode_texts(((number, runs[number]) for number in numbers), done)
        with self._dealt("blind", int(self.plan.blind), 0, "view") as (shares, done):
            for number in chain.from_iterable(shares):
                encoding.encode_blank()
                done(number)
        with self._dealt("videos", len(chunks), self.plan.n_views - self.plan.blind, "view") as (shares, done):
            for numbers in shares:
                encoding.encode_videos(((number, list(chunks[number])) for number in numbers), reader, done)
        if not self.processes.first:
            return None
        encoding.note_repeats(self.total)
        store.refresh()
        views = (keys.video(clip, visual) for clip, visuals in self.plan.views.items() for visual in visuals)
        store.merge([*views, *map(Keys.text, self.plan.texts)])
        return encoder_tables(encoding)

    def _share_frames(self, model: Encoder, encoding: Encoding, reader: ClipReader) -> None:
        """Encodes frames of edited clips once for all that show them, for models that look at frames one by one."""
        if not any(clip.segments for clip in self.plan.views) or not frames_by_themselves(model):
            return
        frames = self.processes.from_first(lambda: shared_frames(encoding, reader))
        shards = frames.shards()
        with self._dealt("frames", len(shards), sum(map(len, shards)), "frame") as (shares, done):
            for numbers in shares:
                encode_frames(frames, ((number, shards[number]) for number in numbers), encoding, reader, done)
        encoding.store.refresh()
        with self._dealt("pooling", 1, 0, "view") as (shares, done):
            for number in chain.from_iterable(shares):
                pool_views(frames.views, encoding)
                done(number)
        encoding.store.refresh()

    def _pairs(self, model: PairScorer, keys: Keys, reader: ClipReader) -> TableScorer | None:
        pairing = Pairing(self.plan, keys, model.together)
        results = PairResults(RunFolder(self.job.output).answers(self.space), self.processes.rank)

        clips = self.plan.views.clips
        step = len(clips) // CHUNKS + 1
        with self._dealt("videos", -(-len(clips) // step), len(clips), "clip") as (shares, done):
            for share, numbers in enumerate(shares):
                if share:  # of a process that ended: what it was answered is not asked again
                    results.refresh()
                chunks = ((n, list(clips.taken(slice(n * step, (n + 1) * step)))) for n in numbers)
                ends = ((n if clip is chunk[-1] else None, clip) for n, chunk in chunks for clip in chunk)
                score_pairs(model, ends, pairing, results, reader, done=done)
        results.close()
        if not self.processes.first:
            return None
        results.refresh()
        requests = (request for clip in clips for request in pairing.of_clip(clip) if request.key in results)
        counts_of = {request.key: counts for request in requests if (counts := results.get(request.key).counts)}
        for counts in counts_of.values():
            self.model_counts.update(counts)
        return pair_tables(pairing, results)

    @contextmanager
    def _dealt(
        self, stage: str, size: int, total: int, unit: str
    ) -> Iterator[tuple[Iterable[Iterator[int]], Callable[[int | None], None]]]:
        """Yields the numbers of this process's chunks, share by share, and what is told of each that is done."""
        queue = WorkQueue(self.processes, stage, size)
        with self.bar(stage, total, unit) as progress:
            n_shown = 0

            def done(number: int | None) -> None:  # None within a chunk
                nonlocal n_shown
                if number is None:
                    return
                counts = self.counts.taken()
                RunFolder(self.job.output).note_videos(self.processes.rank, counts.videos)
                queue.mark_done(number, counts)
                if self.processes.first and total:
                    now = total * queue.n_done // size
                    progress.update(now - n_shown)
                    n_shown = now

            yield queue, done
        if self.processes.first:
            for counts in queue.counts():
                self.total.add(counts)
            self.files.entries.update(self.total.videos)

    def bar(self, what: str, total: int, unit: str) -> "tqdm[object]":
        """A progress bar with rate and time left, in the first process; a line every ten seconds in a log file."""
        hidden = not self.job.options.progress or not self.processes.first or total == 0
        pace = 0.1 if sys.stderr.isatty() else 10
        return bar((), total=total, desc=what, unit=unit, disable=hidden, mininterval=pace, maxinterval=pace)
