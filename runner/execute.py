"""Carrying out a job: the processes share the encoding, the first one joins, measures and writes."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from video_contrast import seeds
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner import record, results
from video_contrast.runner.conditions import Condition
from video_contrast.runner.counts import RunCounts
from video_contrast.runner.encode import Encoding
from video_contrast.runner.job import Job, RunResult, identity, model_facts, read_result
from video_contrast.runner.join import TableScorer, encoder_tables, pair_tables, text_tables
from video_contrast.runner.keys import VERSION, Keys
from video_contrast.runner.kinds.base import Encoder, LoadOptions, PairScorer, TextScorer
from video_contrast.runner.pairs import PairResults, ScoreRequest, all_requests, score_pairs
from video_contrast.runner.plan import Plan, make_plan
from video_contrast.runner.processes import Processes
from video_contrast.runner.reading import ClipReader
from video_contrast.runner.store import Store
from video_contrast.runner.video_files import hashed, root_of
from video_contrast.storage import RunFolder
from video_contrast.storage.run_records import ScoreRow
from video_contrast.video import Clip

MATRICES_LIMIT = 2 << 30  # bytes


def execute(job: Job, *, in_memory: bool) -> RunResult:
    """Runs a job in all processes; every one of them returns the result.

    Raises:
        UsageError: the job cannot run with these processes or on this device.
        VideoContrastError: something failed; what is done is kept.
    """
    processes = Processes(job.options.device)
    if in_memory and processes.count > 1:
        raise UsageError("several processes meet in the run's directory; give --output")
    device, dtype = _device(job, processes)
    # Before anything is written: a call that is refused leaves no files behind.
    video_root = root_of(job) if job.kind.family != "text" else Path()
    began = time.time()
    folder = RunFolder(job.output)
    with record.locked(folder, processes.rank), record.room_on(job.output, job.store):
        if processes.first:
            record.claim(folder, identity(job, dtype))
        processes.wait()
        options = job.options
        load = LoadOptions(
            device=device, dtype=dtype, device_map=options.device_map, trust_remote_code=options.trust_remote_code,
            batch_size=options.batch_size, options=job.kind_options,
        )  # fmt: skip
        model = job.kind.load(job.source, load)
        if not isinstance(model, Encoder | PairScorer | TextScorer):
            raise VideoContrastError(
                f"the kind {job.kind.name} made a {type(model).__name__}, not a model to score with"
            )
        plan = processes.from_first(lambda: make_plan(job.loaded, job.conditions, folder))
        run = _Run(job, processes, model, plan, dtype, video_root)
        scorer = run.encode_or_score()
        if processes.first:
            _write(run, scorer, device=device, seconds=time.time() - began)
        processes.wait()
        return read_result(job.output)


@dataclass
class _Run:
    """One process's share of a run.

    Attributes:
        video_root: the folder of the videos.
        videos: what `videos.json` says of the files; empty where none is decoded.
        model_counts: what scoring cost and met, summed over all results whoever computed them.
        planned: how many views and texts were missing when the run began.
    """

    job: Job
    processes: Processes
    model: Encoder | PairScorer | TextScorer
    plan: Plan
    dtype: str
    video_root: Path
    counts: RunCounts = field(default_factory=RunCounts)
    videos: dict[str, Any] = field(default_factory=dict)
    model_counts: dict[str, int] = field(default_factory=dict)
    planned: dict[str, int] = field(default_factory=lambda: {"visual_encodings": 0, "text_encodings": 0})

    @property
    def space(self) -> str:
        """Names the model and all that its rows depend on besides their input."""
        job = self.job
        return seeds.digest(
            job.source.revision or job.source.name, job.kind.name, job.kind.version, self.dtype,
            *(f"{key}={value}" for key, value in sorted(job.kind_options.items())),
            *(f"{name} {version}" for name, version in record.numeric_versions().items()),
        ).hex()[:32]  # fmt: skip

    def encode_or_score(self) -> TableScorer:
        """Encodes or scores what is missing; returns what makes the tables' scores."""
        if isinstance(self.model, TextScorer):
            return text_tables(self.model, self.plan)
        names = dict.fromkeys(clip.video_path for clip in self.plan.views)
        root = self.video_root
        self.videos = self.processes.from_first(lambda: hashed(names, root, RunFolder(self.job.output)))
        keys = Keys({path: entry.get("sha256", "") for path, entry in self.videos.items()}, self.job.sampling)
        reader = ClipReader(root, self.job.sampling, self._workers(), self.counts)
        if isinstance(self.model, Encoder):
            return self._encode(self.model, keys, reader)
        return self._pairs(self.model, keys, reader)

    def _encode(self, model: Encoder, keys: Keys, reader: ClipReader) -> TableScorer:
        store = Store(self.job.store, self.space)
        encoding = Encoding(model, self.plan, keys, store, batch_size=self.job.options.batch_size, counts=self.counts)
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
        return encoder_tables(model, self.plan, keys, store)

    def _pairs(self, model: PairScorer, keys: Keys, reader: ClipReader) -> TableScorer:
        requests = all_requests(self.plan, keys, model.together)
        scored = PairResults(RunFolder(self.job.output).answers(self.space), self.processes.rank)

        def unscored() -> dict[Clip, list[ScoreRequest]]:
            todo = {clip: [one for one in requests[clip] if one.key not in scored] for clip in requests}
            return {clip: missing for clip, missing in todo.items() if missing}

        todo = self.processes.from_first(unscored)
        self.planned["visual_encodings"] = sum(len({one.visual for one in missing}) for missing in todo.values())
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
        return pair_tables(self.plan, keys, scored, model.together)

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

        hidden = not self.job.options.progress or not self.processes.first or total == 0
        pace = 0.1 if sys.stderr.isatty() else 10
        with tqdm(
            total=total, desc=what, unit=unit, disable=hidden, leave=False, delay=1, mininterval=pace, maxinterval=pace
        ) as bar:

            def advance(n: int) -> None:
                if not hidden:
                    bar.update(n)

            yield advance


def _device(job: Job, processes: Processes) -> tuple[str, str]:
    """Device and dtype of the model."""
    import torch

    options = job.options
    if job.kind.family == "text" and options.device == "auto":
        return "cpu", "float32"
    device = processes.device if options.device == "auto" else options.device
    try:
        torch.device(device)
    except RuntimeError as error:
        raise UsageError(f"--device {device!r} is not a torch device (cpu, cuda, cuda:1, mps ...)") from error
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(f"--device {device}: torch sees no GPU; give --device cpu, or install torch for your GPU")
    if options.device_map and processes.count > 1:
        raise UsageError("--device-map spreads one model over the devices; run it in one process")
    if options.dtype != "auto":
        return device, options.dtype
    return device, "float32" if device == "cpu" else job.source.dtype


def _write(run: _Run, scorer: TableScorer, *, device: str, seconds: float) -> None:
    """Measures and writes: scores and matrices, then the metrics, and the record last."""
    job, plan, folder = run.job, run.plan, RunFolder(run.job.output)
    missing = _missing(run, scorer)
    for group in dict.fromkeys(table.group for table in plan.tables):
        if all(item.clip in scorer.missing for item in group.items):
            clip = group.items[0].clip
            raise VideoContrastError(
                f"no video of the config {group.config} could be read under {run.video_root} (--video-root); the "
                f"first: {missing.get(clip.video_path, 'unknown')}"
            )
    folder.begin()
    keep = job.options.keep_matrices
    big = sum(4 * table.n_pairs for table in plan.tables if table.is_retrieval) > MATRICES_LIMIT
    rows: list[ScoreRow] = []
    metrics = {}
    with run.bar("measuring", len(plan.tables), "condition") as advance:
        for table in plan.tables:
            scored = scorer.scores(table)
            metrics[table.name] = (table, results.metrics_of(scored, seed=job.options.seed))
            if scored.matrix is None:
                rows.extend(results.score_rows(scored))
            elif keep == "all" or table.condition.name == "clean" or (keep == "auto" and not big):
                folder.write_matrix(table.group.config, table.condition.name, results.similarities(scored))
            advance(1)
    folder.write_scores(rows)
    folder.write_metrics(results.summary(metrics))
    folder.finish(_facts(run, scorer, missing) | {"device": device, "seconds": round(seconds, 2)})
    from video_contrast.hub_cards.results import write_results

    write_results(job.output)


def _facts(run: _Run, scorer: TableScorer, missing: dict[str, str]) -> Any:
    """The content of `run.json`, but for the device and the time."""
    job, plan, counts = run.job, run.plan, run.counts
    return {
        "version": record.__version__,
        "request": job.request,
        "model": model_facts(job, run.model) | _model_counts(run),
        "set": {
            "dataset": job.loaded.name,
            "split": job.loaded.split,
            "configs": sorted(job.loaded.fingerprints),
            "fingerprints": job.loaded.fingerprints,
            "items": sum(len(group.items) for group in job.loaded.groups),
        },
        "sampling": asdict(job.sampling),
        "embeddings": {"store": str(job.store.resolve()), "space": run.space, "keys": VERSION}
        if isinstance(run.model, Encoder)
        else {},
        "conditions": {table.condition.name: _recipe(table.condition) for table in plan.tables},
        "skipped": plan.skipped,
        "seed": job.options.seed,
        "dtype": run.dtype,
        "processes": run.processes.count,
        "versions": record.versions(),
        "missing": dict(sorted(missing.items())),
        "n_missing": len(scorer.missing),
        **({"damaged": _damaged(run)} if job.sampling.accept_damaged else {}),
        "counters": {
            "frames_decoded": counts.decode.decoded,
            "frames_minimum": counts.decode.minimum,
            "frames_converted": counts.decode.converted,
            "visual_encodings": counts.visual_encodings,
            "visual_encodings_planned": run.planned["visual_encodings"],
            "visual_encodings_in_all": plan.n_views if run.videos else 0,
            "text_encodings": counts.text_encodings,
            "text_encodings_planned": run.planned["text_encodings"],
            "text_encodings_in_all": len(plan.texts),
            "batches": counts.batches,
        },
        "notes": counts.notes,
    }


def _damaged(run: _Run) -> dict[str, str]:
    """Video path -> what is wrong, of the damaged videos that were accepted."""
    return {
        Path(file).relative_to(run.video_root).as_posix(): why
        for file, why in sorted(run.counts.decode.damaged.items())
    }


def _model_counts(run: _Run) -> dict[str, Any]:
    """What holds for the whole run, not for this process and this start of it."""
    counts: dict[str, Any] = {"counters": run.model_counts} if run.model_counts else {}
    truncated = run.model.truncated_texts(run.plan.texts)
    return counts if truncated is None else counts | {"truncated_texts": truncated}


def _missing(run: _Run, scorer: TableScorer) -> dict[str, str]:
    """Video path -> why, of the clips without scores."""
    reasons = {clip.video_path: why for clip, why in run.counts.broken.items()}
    reasons |= {path: f"{path}: {entry['error']}" for path, entry in run.videos.items() if "error" in entry}
    return {clip.video_path: reasons.get(clip.video_path, "could not be read") for clip in scorer.missing}


def _recipe(condition: Condition) -> dict[str, Any]:
    return {"group": condition.group, "visual": asdict(condition.visual), "text": asdict(condition.text)}
