"""One process's share of a run: what it encodes or scores, and what it counts."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from video_contrast import seeds
from video_contrast.console import is_quiet
from video_contrast.runner import run_directory
from video_contrast.runner.clip_reader import ClipReader
from video_contrast.runner.doctor.result import SelfTest
from video_contrast.runner.embedding_store import Store
from video_contrast.runner.encode import Encoding
from video_contrast.runner.job import Job, numeric_options
from video_contrast.runner.keys import Keys
from video_contrast.runner.kinds.base import Encoder, PairScorer, TextScorer
from video_contrast.runner.plan import Plan
from video_contrast.runner.processes import Processes
from video_contrast.runner.run_counts import RunCounts
from video_contrast.runner.score_pairs import Pairing, PairResults, ScoreRequest, score_pairs
from video_contrast.runner.shared_frames import encode_frames, frames_by_themselves, pool_views, shared_frames
from video_contrast.runner.table_scores import TableScorer, encoder_tables, pair_tables, text_tables
from video_contrast.runner.video_files import NOT_FOUND, absent, hashed
from video_contrast.storage import RunFolder
from video_contrast.storage.run_records import VideoFile
from video_contrast.video import Clip


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
    counts: RunCounts = field(default_factory=RunCounts)
    videos: dict[str, VideoFile] = field(default_factory=dict)  # as in `videos.json`; {} where none is decoded
    model_counts: dict[str, int] = field(default_factory=dict)  # summed over all results, whoever computed them
    planned: Counter[str] = field(default_factory=Counter)  # how many views and texts were missing when the run began
    began: float = field(default_factory=time.time)
    self_test: SelfTest | None = None  # of the model, before anything was scored; None where it was left out

    @property
    def space(self) -> str:
        """Names the model and all that its rows depend on besides their input."""
        job = self.job
        return seeds.digest(
            job.source.revision or job.source.name, job.kind.name, job.kind.version, self.dtype,
            *(f"{key}={value}" for key, value in sorted(numeric_options(job).items())),
            *(("preprocessed on device",) if job.options.preprocess_on == "device" else ()),
            *(f"{name} {version}" for name, version in run_directory.numeric_versions().items()),
        ).hex()[:32]  # fmt: skip

    def encode_or_score(self) -> TableScorer:
        """Encodes or scores what is missing; returns what makes the tables' scores."""
        if isinstance(self.model, TextScorer):
            self._leave_out_or_remark_absent(self.model)
            return text_tables(self.model, self.plan, frozenset(self.counts.broken))
        names = dict.fromkeys(path for clip in self.plan.views for path in clip.paths)
        root, shared = self.video_root, self.job.frames.videos if self.job.frames else {}
        self.videos = self.processes.from_first(lambda: hashed(names, root, RunFolder(self.job.output), shared))
        contents = {path: entry.get("sha256", "") for path, entry in self.videos.items()}
        keys = Keys(contents, self.job.sampling, on_device=self.perturb_on is not None)
        reader = ClipReader(
            root, self.job.sampling, self._workers(), self.counts, frames=self.job.frames, perturb_on=self.perturb_on
        )
        if isinstance(self.model, Encoder):
            return self._encode(self.model, keys, reader)
        return self._pairs(self.model, keys, reader)

    def _leave_out_or_remark_absent(self, model: TextScorer) -> None:
        """Clips without their files are left out, or recorded among the remarks where the model opens none."""
        gone = self.processes.from_first(lambda: absent(self.plan.views, self.job.video_root))
        if model.needs_clips:
            self.counts.broken |= {clip: gone[path] for clip in self.plan.views for path in clip.paths if path in gone}
            return
        for path in gone:
            self.counts.decode.remark(self.video_root / path, [NOT_FOUND])

    def _encode(self, model: Encoder, keys: Keys, reader: ClipReader) -> TableScorer:
        store = Store(self.job.store, self.space, multi_vector=model.vector_length is not None)
        encoding = Encoding(model, self.plan, keys, store, batch_size=self.job.options.batch_size, counts=self.counts)
        self._share_frames(model, encoding, reader)
        # The first process says what is missing: another may already see what a third one has just written.
        texts, chunks, blind = self.processes.from_first(
            lambda: (encoding.missing_texts(), encoding.missing_chunks(), encoding.blind_missing)
        )
        self.planned["text_encodings"] = len({text for run in texts for text in run if Keys.text(text) not in store})
        views = [len(encoding.missing_views(clip)) for chunk in chunks for clip in chunk]
        self.planned["visual_encodings"] = sum(views) + blind
        mine = self.processes.share(texts)
        with self.bar("texts", sum(map(len, mine)), "text") as progress:
            encoding.encode_texts(mine, progress)
        if self.processes.first and blind:
            encoding.encode_blank()
        my_chunks = self.processes.share(chunks)
        total = sum(len(self.plan.seen(clip)) for chunk in my_chunks for clip in chunk)
        with self.bar("videos", total, "view") as progress:
            encoding.encode_videos(my_chunks, reader, progress)
        self._meet()
        store.refresh()
        return encoder_tables(encoding)

    def _share_frames(self, model: Encoder, encoding: Encoding, reader: ClipReader) -> None:
        """Of models that look at frames one by one: frames of edited clips are encoded once for all that show them."""
        if not any(clip.segments for clip in self.plan.views) or not frames_by_themselves(model):
            return
        shared = self.processes.from_first(lambda: shared_frames(encoding, reader))
        shards = self.processes.from_first(lambda: shared.shards(encoding))
        mine = self.processes.share(shards)
        with self.bar("frames", sum(map(len, mine)), "frame") as progress:
            encode_frames(shared, mine, encoding, reader, progress=progress)
        self.processes.wait()
        encoding.store.refresh()
        if self.processes.first:
            pool_views(shared.views, encoding)
        self.processes.wait()
        encoding.store.refresh()

    def _pairs(self, model: PairScorer, keys: Keys, reader: ClipReader) -> TableScorer:
        pairing = Pairing(self.plan, keys, model.together)
        requests = pairing.requests()
        scored = PairResults(RunFolder(self.job.output).answers(self.space), self.processes.rank)

        def unscored() -> dict[Clip, list[ScoreRequest]]:
            todo = {clip: [request for request in requests[clip] if request.key not in scored] for clip in requests}
            return {clip: missing for clip, missing in todo.items() if missing}

        todo = self.processes.from_first(unscored)
        self.planned["visual_encodings"] = sum(
            len({request.visual for request in missing}) for missing in todo.values()
        )
        mine = self.processes.share(list(todo))
        with self.bar("videos", len(mine), "clip") as progress:
            score_pairs(model, {clip: todo[clip] for clip in mine}, scored, reader, progress=progress)
        scored.close()
        self._meet()
        scored.refresh()
        total: Counter[str] = Counter()
        for key in {request.key for of_clip in requests.values() for request in of_clip if request.key in scored}:
            total.update(scored.get(key).counts)
        self.model_counts = dict(total)
        return pair_tables(pairing, scored)

    def _workers(self) -> int:
        if self.job.options.workers is not None:
            return self.job.options.workers
        local = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
        return max(1, min(16, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 4) // local)

    def _meet(self) -> None:
        """Waits for the other processes and adds up the counts."""
        counts = RunCounts()
        for other in self.processes.gather(self.counts):
            counts.add(other)
        self.counts = counts

    @contextmanager
    def bar(self, what: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
        """A progress bar with rate and time left, in the first process; a line every ten seconds in a log file."""
        import sys

        from tqdm import tqdm

        hidden = is_quiet() or not self.job.options.progress or not self.processes.first or total == 0
        pace = 0.1 if sys.stderr.isatty() else 10
        with tqdm(
            total=total, desc=what, unit=unit, disable=hidden, leave=False, delay=1, mininterval=pace, maxinterval=pace
        ) as bar:

            def advance(n: int) -> None:
                if not hidden:
                    bar.update(n)

            yield advance
