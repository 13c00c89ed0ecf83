"""`score`: the engine from a model and a set to a directory of scores, over one or many processes."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import cache_dir, read_json
from video_contrast.runner import record
from video_contrast.runner.conditions import Condition, parse
from video_contrast.runner.kinds import Kind, all_kinds, choose, options_for
from video_contrast.runner.kinds.base import ModelSource
from video_contrast.runner.locate import locate, signature
from video_contrast.runner.plan import Plan, make_plan
from video_contrast.runner.sets import LoadedSet, load_set
from video_contrast.runner.views import Sampling
from video_contrast.video.sampling import POLICIES, Policy

DEFAULT_FRAMES = 8


@dataclass(frozen=True)
class RunResult:
    """What `score` returns.

    Attributes:
        metrics: as in `metrics.json`: config -> conditions -> numbers, and robustness.
        record: as in `run.json`; of a dry run, the plan.
        output: the run's directory; None where none was given.
        scores: one dict a multiple-choice item and condition, as in `scores.parquet`.
    """

    metrics: dict[str, Any]
    record: dict[str, Any]
    output: Path | None = None
    scores: list[dict[str, Any]] = field(default_factory=list)

    def __getitem__(self, config: str) -> dict[str, Any]:
        """The metrics of a config."""
        return dict(self.metrics["configs"][config])


@dataclass(frozen=True)
class Job:
    """Everything that a run was asked for, checked, before anything heavy is imported."""

    source: ModelSource
    kind: Kind
    options: dict[str, Any]
    loaded: LoadedSet
    conditions: tuple[Condition, ...]
    sampling: Sampling
    video_root: Path | None
    output: Path
    store: Path
    batch_size: int
    device: str
    dtype: str
    device_map: str | None
    trust_remote_code: bool
    seed: int
    limit: int | None
    workers: int | None
    keep: str
    progress: bool
    request: dict[str, Any]


def score(
    model: str | Path,
    dataset: str | Path,
    config: str | Sequence[str] | None = None,
    *,
    split: str = "test",
    output: str | Path | None = None,
    video_root: str | Path | None = None,
    frames: int | None = None,
    sampling: Policy = "uniform",
    batch_size: int = 32,
    device: str = "auto",
    dtype: str = "auto",
    device_map: str | None = None,
    conditions: str | Sequence[str] = ("clean",),
    seed: int = 0,
    profile: str = "paper",
    scope: str = "clip",
    order: str = "perturb_then_sample",
    kind: str | None = None,
    options: Mapping[str, Any] | None = None,
    revision: str | None = None,
    trust_remote_code: bool = False,
    store: str | Path | None = None,
    workers: int | None = None,
    limit: int | None = None,
    keep_matrices: str = "auto",
    dry_run: bool = False,
    progress: bool = True,
) -> RunResult:
    """Scores a model on configs of a set under conditions.

    Under `torchrun` or `accelerate launch` the processes share the work, and the numbers are those of one process.
    Called again with the same arguments it goes on where it stopped, and returns at once when it is finished.

    Args:
        model: Hub id, folder, packaged checkpoint ("temporal"), or baseline ("random", "constant", "blind").
        dataset: folder of a set, Hub id, or a builder that needs no data ("shapes").
        config: one or several configs, which share decoding and encodings; all where None.
        split: which split.
        output: the run's directory; None leaves nothing behind (one process only).
        video_root: where `video_path` starts; the set's own folder where None.
        frames: frames a clip; None is 8, or what the model needs. Shorter clips repeat frames.
        sampling: "uniform" (middles of equal segments), "linspace" (ends included) or "head".
        batch_size: clips in a batch; halved where the memory does not suffice.
        device: "auto" (the first GPU, else the CPU) or a torch device.
        dtype: "auto" (float32 on a CPU, the checkpoint's own on a GPU), "float32", "bfloat16" or "float16". Scores
            are computed in float32 whatever it is.
        device_map: for a model that does not fit one device ("auto"); one process only.
        conditions: names and wildcards: see `video_contrast.runner.conditions`.
        seed: of everything random.
        profile: constants of the perturbations: "paper", "released" or "monotone".
        scope: what temporal perturbations act on: the "clip", or the whole "video" before it is cut.
        order: "perturb_then_sample" or "sample_then_perturb".
        kind: a model kind, where the config does not tell.
        options: the kind's options (`video-contrast list models`).
        revision: of the model on the Hub.
        trust_remote_code: whether code of the model's repository may run.
        store: where embeddings are kept and found again; the user's cache where None.
        workers: decoding threads; None takes what the machine has.
        limit: only the first clips of each config (a trial run).
        keep_matrices: similarity matrices in `output`: "all", "clean", or "auto" (all up to 2 GB, else clean).
        dry_run: plan only.
        progress: show progress bars.

    Raises:
        UsageError: the call is wrong (unknown name, wrong number of frames, a directory of another run ...).
        VideoContrastError: something failed; the message says what and what to do.
    """
    given = {key: value for key, value in locals().items() if key not in ("progress", "workers", "dry_run", "store")}
    configs = [config] if isinstance(config, str) else (list(config) if config is not None else None)
    words = [conditions] if isinstance(conditions, str) else list(conditions)
    request = {
        **given, "model": str(model), "dataset": str(dataset), "output": None, "config": configs,
        "conditions": [part.strip() for word in words for part in word.split(",")], "options": dict(options or {}),
    }  # fmt: skip
    if sampling not in POLICIES:
        raise UsageError(f"--sampling {sampling!r} is not one of {', '.join(POLICIES)}")
    if batch_size < 1 or (frames is not None and frames < 1) or (limit is not None and limit < 1):
        raise UsageError("--batch-size, --frames and --limit must be at least 1")
    if keep_matrices not in ("auto", "all", "clean"):
        raise UsageError(f"--keep-matrices {keep_matrices!r} is not one of auto, all, clean")
    kinds = all_kinds()
    chosen_kind = kinds.get(kind or "")
    names = tuple(name for one in kinds.values() for name in one.names)
    source = locate(str(model), revision=revision, names=(*names, str(model)) if _no_files(chosen_kind) else names)
    chosen = choose(source, kind)
    filled = options_for(chosen, options or {})
    loaded = load_set(dataset, configs, split, limit)
    with ExitStack() as stack:
        if output is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="video-contrast-")))
        else:
            folder = Path(output)
            if folder.is_file():
                raise UsageError(f"--output {folder} is a file; give a folder")
            if not dry_run and record.finished(folder, request, source, loaded.fingerprints):
                return read_result(folder)
        wanted = parse(conditions, seed=seed, profile=profile, scope=scope, order=order)
        job = Job(
            source, chosen, filled, loaded, tuple(wanted), Sampling(_frames(chosen, source, frames), sampling),
            Path(video_root) if video_root is not None else loaded.root, folder,
            Path(store) if store is not None else cache_dir() / "embeddings",
            batch_size, device, dtype, device_map, trust_remote_code, seed, limit, workers, keep_matrices, progress,
            request,
        )  # fmt: skip
        if dry_run:
            return RunResult({}, describe(job, make_plan(loaded, wanted, None)))
        from video_contrast.runner.execute import execute

        result = execute(job, in_memory=output is None)
        return result


def _no_files(kind: Kind | None) -> bool:
    """Whether a kind that was asked for by name takes models that are no files here (served ones)."""
    return kind is not None and any(name.endswith(":") for name in kind.names)


def _frames(kind: Kind, source: ModelSource, asked: int | None) -> int:
    needed = kind.frames(source.config) if kind.frames else None
    if needed is not None and asked is not None and asked != needed:
        raise UsageError(f"{source.name} takes exactly {needed} frames, not --frames {asked}; leave the option out")
    usual = kind.usual_frames(source.config) if kind.usual_frames else None
    return needed or asked or usual or DEFAULT_FRAMES


def describe(job: Job, plan: Plan) -> dict[str, Any]:
    """What a run would do: the plan in numbers."""
    cost = plan.cost()
    separate = sum(len({item.clip for item in table.group.items}) for table in plan.tables)
    return {
        "model": job.source.name,
        "kind": job.kind.name,
        "frames": job.sampling.frames,
        "conditions": list(dict.fromkeys(table.condition.name for table in plan.tables)),
        "skipped": plan.skipped,
        **cost,
        "visual_encodings_without_sharing": separate,
        "frames_to_the_model": cost["visual_encodings"] * job.sampling.frames if job.kind.family != "text" else 0,
    }


def read_result(output: Path) -> RunResult:
    """The result that a finished run's directory holds.

    Raises:
        VideoContrastError: it holds no finished run.
    """
    if not (output / "run.json").exists():
        raise VideoContrastError(f"{output} holds no finished run (no run.json)")
    import pyarrow.parquet as pq

    rows = pq.ParquetFile(output / "scores.parquet").read().to_pylist()
    return RunResult(read_json(output / "metrics.json"), read_json(output / "run.json"), output, rows)


def identity(job: Job, dtype: str) -> dict[str, Any]:
    """What a directory belongs to."""
    return {
        "model": job.source.name,
        "revision": job.source.revision,
        "kind": job.kind.name,
        "options": job.options,
        "dataset": job.loaded.name,
        "split": job.loaded.split,
        "frames": job.sampling.frames,
        "sampling": job.sampling.policy,
        "dtype": dtype,
        "seed": job.seed,
        "limit": job.limit,
        "fingerprints": job.loaded.fingerprints,
    }


def model_facts(job: Job, model: Any) -> dict[str, Any]:
    """The model in the record."""
    return {
        "name": job.source.name,
        "revision": job.source.revision,
        "kind": job.kind.name,
        "kind_version": job.kind.version,
        "options": job.options,
        "files": signature(job.source.path) if job.source.path else {},
        **model.facts,
    }
