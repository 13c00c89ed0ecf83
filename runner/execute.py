"""Carrying out a run: the processes share the encoding, the first one joins, measures and writes."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from video_contrast import files, seeds
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner import record, results
from video_contrast.runner.conditions import Visual
from video_contrast.runner.encode import (
    Batcher,
    Keys,
    RunCounts,
    encode_blank,
    encode_texts,
    encode_videos,
    todo_chunks,
    todo_texts,
)
from video_contrast.runner.job import Job, RunResult, identity, model_facts, read_result
from video_contrast.runner.join import Scorer, encoder_tables, pair_tables, text_tables
from video_contrast.runner.kinds.base import Encoder, LoadOptions, PairScorer, TextScorer
from video_contrast.runner.pairs import PairResults, score_pairs, score_requests
from video_contrast.runner.plan import Plan, make_plan
from video_contrast.runner.store import Store
from video_contrast.video.clip import Clip

MATRICES_LIMIT = 2 << 30  # bytes


def execute(job: Job, *, in_memory: bool) -> RunResult:
    """Runs a job in all processes; every one of them returns the result."""
    state = _processes(job.device)
    if in_memory and state.num_processes > 1:
        raise UsageError("several processes meet in the run's directory; give --output")
    device, dtype = _device(job, state)
    began = time.time()
    with record.locked(job.output, state.process_index), record.room_on(job.output, job.store):
        if state.is_main_process:
            record.claim(job.output, identity(job, dtype))
        state.wait_for_everyone()
        settings = LoadOptions(device, dtype, job.device_map, job.trust_remote_code, job.batch_size, job.options)
        model = job.kind.load(job.source, settings)
        if not isinstance(model, Encoder | PairScorer | TextScorer):
            raise VideoContrastError(
                f"the kind {job.kind.name} made a {type(model).__name__}, not a model to score with"
            )
        plan = _first(state, lambda: make_plan(job.loaded, job.conditions, job.output / "texts"))
        work = _Work(job, state, model, plan, dtype)
        scorer = work.carry_out()
        if state.is_main_process:
            _write(job, work, scorer, device, dtype, state.num_processes, time.time() - began)
        state.wait_for_everyone()
        return read_result(job.output)


class _Work:
    """One process's share of a run."""

    def __init__(self, job: Job, state: Any, model: Any, plan: Plan, dtype: str) -> None:
        self.job, self.state, self.model, self.plan = job, state, model, plan
        self.counts = RunCounts()
        self.manifest: dict[str, Any] = {}
        self.embeddings: dict[str, str] = {}
        self.planned = {"visual_encodings": 0, "text_encodings": 0}
        self.space = seeds.digest(
            job.source.revision or job.source.name, job.kind.name, job.kind.version, dtype,
            *(f"{key}={value}" for key, value in sorted(job.options.items())),
        ).hex()[:32]  # fmt: skip

    def carry_out(self) -> Scorer:
        """Encodes or scores what is missing; gives the tables' scores, made as they are asked for."""
        if isinstance(self.model, TextScorer):
            return text_tables(self.model, self.plan)
        paths = _paths(self.job, self.plan)
        self.manifest = _first(self.state, lambda: _manifest(self.job.output, paths))
        keys = Keys({path: entry.get("sha256", "") for path, entry in self.manifest.items()}, self.job.sampling)
        if isinstance(self.model, Encoder):
            return self._encode(self.model, keys, paths)
        return self._pairs(self.model, keys, paths)

    def _encode(self, model: Encoder, keys: Keys, paths: dict[str, Path]) -> Scorer:
        store = Store(self.job.store, self.space)
        self.embeddings = {"store": str(self.job.store.resolve()), "space": self.space}
        batcher = Batcher(self.job.batch_size, self.counts)
        # The first process says what is missing: another may already see what a third one has just written.
        runs, chunks = self._told(
            lambda: (todo_texts(self.plan, store), todo_chunks(self.plan, store, keys, batcher.size))
        )
        self.planned["text_encodings"] = len({text for run in runs for text in run if Keys.text(text) not in store})
        self.planned["visual_encodings"] = sum(
            keys.video(clip, v) not in store for chunk in chunks for clip in chunk for v in self.plan.seen(clip)
        )
        with self.state.split_between_processes(runs) as mine, self.bar("texts", sum(map(len, mine)), "text") as bar:
            encode_texts(model, mine, store, Batcher(4 * self.job.batch_size, self.counts), bar)
        if self.state.is_main_process:
            self.planned["visual_encodings"] += (
                self.plan.blind and keys.video(_any(self.plan), Visual("blind")) not in store
            )
            encode_blank(model, self.plan, keys, store, self.counts)
        with self.state.split_between_processes(chunks) as mine:
            total = sum(len(self.plan.seen(clip)) for chunk in mine for clip in chunk)
            with self.bar("videos", total, "view") as bar:
                encode_videos(
                    model, mine, self.plan, keys, store, batcher, paths=paths, workers=self._workers(), progress=bar
                )
        self._meet()
        store.refresh()
        return encoder_tables(model, self.plan, keys, store)

    def _pairs(self, model: PairScorer, keys: Keys, paths: dict[str, Path]) -> Scorer:
        requests = score_requests(self.plan, keys, model.together)
        folder = self.job.output / "answers" / self.space
        answers = PairResults(folder, self.state.process_index)
        clips = self._told(
            lambda: [clip for clip in requests if any(request.key not in answers for request in requests[clip])]
        )
        self.planned["visual_encodings"] = sum(
            len({request.visual for request in requests[clip] if request.key not in answers}) for clip in clips
        )
        with self.state.split_between_processes(clips) as mine, self.bar("videos", len(mine), "clip") as bar:
            score_pairs(
                model, mine, requests, answers, self.counts, keys, paths=paths, workers=self._workers(), progress=bar
            )
        answers.close()
        self._meet()
        answers.refresh()
        return pair_tables(self.plan, keys, answers, model.together)

    def _workers(self) -> int:
        if self.job.workers is not None:
            return self.job.workers
        local = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
        return max(1, min(16, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 4) // local)

    def _told(self, make: Callable[[], Any]) -> Any:
        return _broadcast(self.state, make() if self.state.is_main_process else None)

    def _meet(self) -> None:
        """Brings the processes' tallies together."""
        if self.state.num_processes > 1:
            from accelerate.utils import gather_object

            every = gather_object([self.counts])
            self.counts = RunCounts()
            for one in every:
                self.counts.add(one)
        self.state.wait_for_everyone()

    @contextmanager
    def bar(self, what: str, total: int, unit: str) -> Iterator[Callable[[int], None]]:
        """A progress bar with rate and time left, in the first process; a line every ten seconds in a log file."""
        import sys

        from tqdm import tqdm

        hidden = not self.job.progress or not self.state.is_main_process or total == 0
        pace = 0.1 if sys.stderr.isatty() else 10
        with tqdm(
            total=total, desc=what, unit=unit, disable=hidden, leave=False, delay=1, mininterval=pace, maxinterval=pace
        ) as bar:

            def advance(n: int) -> None:
                if not hidden:
                    bar.update(n)

            yield advance


def _processes(device: str) -> Any:
    import torch
    from accelerate import PartialState
    from accelerate.utils import parse_flag_from_env

    if int(os.environ.get("WORLD_SIZE", 1)) <= 1:
        return PartialState()
    # Without being told, accelerate makes one world of each process where there is no accelerator.
    found = torch.accelerator.is_available() if hasattr(torch, "accelerator") else torch.cuda.is_available()
    cpu = device == "cpu" or parse_flag_from_env("ACCELERATE_USE_CPU") or not found
    # The first process joins and measures alone while the others wait: give it a day.
    return PartialState(cpu=cpu, timeout=datetime.timedelta(days=1))


def _any(plan: Plan) -> Clip:
    return next(iter(plan.views))


def _broadcast(state: Any, value: Any) -> Any:
    if state.num_processes == 1:
        return value
    from accelerate.utils import broadcast_object_list

    box = [value]
    broadcast_object_list(box)
    return box[0]


def _first(state: Any, make: Callable[[], Any]) -> Any:
    """`make()` of the first process, for all; its error is everyone's, so that none waits for ever."""
    failure: VideoContrastError | None = None
    value = None
    if state.is_main_process:
        try:
            value = make()
        except VideoContrastError as error:
            failure = error
    value, failure = _broadcast(state, (value, failure))
    if failure is not None:
        raise failure
    return value


def _device(job: Job, state: Any) -> tuple[str, str]:
    import torch

    if job.kind.family == "text" and job.device == "auto":
        return "cpu", "float32"
    device = str(state.device) if job.device == "auto" else job.device
    try:
        torch.device(device)
    except RuntimeError as error:
        raise UsageError(f"--device {device!r} is not a torch device (cpu, cuda, cuda:1, mps ...)") from error
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(f"--device {device}: torch sees no GPU; give --device cpu, or install torch for your GPU")
    if job.device_map and state.num_processes > 1:
        raise UsageError("--device-map spreads one model over the devices; run it in one process")
    if job.dtype != "auto":
        if job.dtype not in ("float32", "bfloat16", "float16"):
            raise UsageError(f"--dtype {job.dtype!r} is not one of auto, float32, bfloat16, float16")
        return device, job.dtype
    named = str(job.source.config.get("dtype") or job.source.config.get("torch_dtype") or "float32")
    return device, "float32" if device == "cpu" or named not in ("bfloat16", "float16") else named


def _paths(job: Job, plan: Plan) -> dict[str, Path]:
    if job.video_root is None:
        raise UsageError(f"--dataset {job.loaded.name} comes without videos; give their folder with --video-root")
    if not job.video_root.is_dir():
        raise UsageError(f"--video-root {job.video_root}: no such folder")
    return {path: files.resolve_under(job.video_root, path) for path in dict.fromkeys(c.video_path for c in plan.views)}


def _manifest(output: Path, paths: dict[str, Path]) -> dict[str, Any]:
    """Path -> sha256, size and time of change; those that are unchanged since the last attempt are not read again."""
    target = output / "videos.json"
    former = files.read_json(target) if target.exists() else {}

    def entry(item: tuple[str, Path]) -> tuple[str, dict[str, Any]]:
        name, path = item
        try:
            stat = path.stat()
            seen = former.get(name, {})
            if seen.get("size") == stat.st_size and seen.get("changed") == stat.st_mtime_ns:
                return name, seen
            return name, {"sha256": files.sha256(path), "size": stat.st_size, "changed": stat.st_mtime_ns}
        except OSError as error:
            return name, {"error": error.strerror or str(error)}

    with ThreadPoolExecutor(4) as pool:
        found = dict(pool.map(entry, paths.items()))
    files.write_json(target, {**former, **found})
    return found


def _write(job: Job, work: _Work, scorer: Scorer, device: str, dtype: str, processes: int, seconds: float) -> None:
    """Measures and writes: scores and matrices, then the metrics, and the record last."""
    plan, output = work.plan, job.output
    missing = _missing(work, scorer)
    for group in dict.fromkeys(table.group for table in plan.tables):
        if all(item.clip in scorer.missing for item in group.items):
            clip = group.items[0].clip
            raise VideoContrastError(
                f"no video of the config {group.config} could be read under {job.video_root} (--video-root); the "
                f"first: {missing.get(clip.video_path, 'unknown')}"
            )
    (output / "run.json").unlink(missing_ok=True)
    big = sum(scorer.matrix_bytes(table) for table in plan.tables) > MATRICES_LIMIT
    tables, found = [], {}
    with work.bar("measuring", len(plan.tables), "condition") as advance:
        for table in plan.tables:
            scored = scorer.scores(table)
            found[table.name] = (table, results.metrics_of(scored, seed=job.seed))
            if scored.matrix is None:
                tables.append(scored)
            elif job.keep == "all" or table.condition.name == "clean" or (job.keep == "auto" and not big):
                results.write_matrix(output, scored)
            advance(1)
    results.write_scores(output, tables)
    files.write_json(output / "metrics.json", results.summary(found))
    counts = work.counts
    facts = {
        "version": record.__version__,
        "request": record._plain(job.request),
        "model": model_facts(job, work.model),
        "set": {
            "dataset": job.loaded.name,
            "split": job.loaded.split,
            "configs": sorted(job.loaded.fingerprints),
            "fingerprints": job.loaded.fingerprints,
            "items": sum(len(group.items) for group in job.loaded.groups),
        },
        "sampling": {"frames": job.sampling.frames, "policy": job.sampling.policy},
        "embeddings": work.embeddings,
        "conditions": {table.condition.name: _recipe(table.condition) for table in plan.tables},
        "skipped": plan.skipped,
        "seed": job.seed,
        "device": device,
        "dtype": dtype,
        "processes": processes,
        "versions": record.versions(),
        "missing": dict(sorted(missing.items())),
        "n_missing": len(scorer.missing),
        "counters": {
            "frames_decoded": counts.decode.decoded,
            "frames_minimum": counts.decode.minimum,
            "frames_converted": counts.decode.converted,
            "visual_encodings": counts.visual_encodings,
            "visual_encodings_planned": work.planned["visual_encodings"],
            "visual_encodings_in_all": plan.n_views if work.manifest else 0,
            "text_encodings": counts.text_encodings,
            "text_encodings_planned": work.planned["text_encodings"],
            "text_encodings_in_all": len(plan.texts),
            "batches": counts.batches,
        },
        "notes": counts.notes,
        "seconds": round(seconds, 2),
    }
    files.write_json(output / "run.json", record._plain(facts))
    from video_contrast.hub_cards.results import write_results

    write_results(output)


def _missing(work: _Work, scorer: Scorer) -> dict[str, str]:
    reasons = {clip.video_path: why for clip, why in work.counts.broken.items()}
    for path, entry in work.manifest.items():
        if "error" in entry:
            reasons[path] = f"{path}: {entry['error']}"
    return {clip.video_path: reasons.get(clip.video_path, "could not be read") for clip in scorer.missing}


def _recipe(condition: Any) -> dict[str, Any]:
    from dataclasses import asdict

    found = {"group": condition.group, "visual": asdict(condition.visual), "text": asdict(condition.text)}
    return {key: value for key, value in found.items() if value}
