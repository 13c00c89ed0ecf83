"""A job: everything that a run was asked for, and what it returns."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from video_contrast.files import Json, JsonObject
from video_contrast.runner.conditions import Condition
from video_contrast.runner.kinds.base import Kind, KindOptions, Model, ModelSource, Work
from video_contrast.runner.kinds.model_recipes import recipe_of
from video_contrast.runner.options import ScoreOptions
from video_contrast.runner.plan import Plan
from video_contrast.runner.sets import LoadedSet
from video_contrast.runner.views import FrameStore, Sampling
from video_contrast.storage import RunFolder
from video_contrast.storage.run_file_fields import ConfigMetrics, RunMetrics, RunRecord, ScoreRow

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class RunResult:
    """The result of `score`."""

    metrics: RunMetrics  # as in `metrics.json`: config -> conditions -> numbers, and robustness
    # as in `run.json`; of a dry run, the plan.
    record: RunRecord  # of a dry run: what `describe` returns, cast
    output: Path | None = None  # the run's directory; None where none was given
    read_table: "Callable[[], pa.Table | None]" = lambda: None

    @cached_property
    def table(self) -> "pa.Table | None":
        """The content of `scores.parquet`, read when it is first asked for; None of a dry run."""
        return self.read_table()

    @cached_property
    def scores(self) -> list[ScoreRow]:
        """One dict a multiple-choice item and condition, as in `scores.parquet`."""
        return [] if self.table is None else cast(list[ScoreRow], self.table.to_pylist())

    def __getitem__(self, config: str) -> ConfigMetrics:
        """The metrics of a config."""
        return self.metrics["configs"][config]


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that a run was asked for, checked, before anything heavy is imported."""

    source: ModelSource
    kind: Kind
    kind_options: KindOptions  # all of them, with their defaults
    dataset: LoadedSet
    conditions: tuple[Condition, ...]
    sampling: Sampling
    video_root: Path | None  # folder of `video_path`; None for a set of the Hub without videos
    output: Path
    store: Path  # of embeddings
    options: ScoreOptions  # as the caller gave them
    request: JsonObject  # the call as `run.json` records it
    frames: FrameStore | None = None  # holds decoded frames for the other runs of the same call


def describe(job: Job, plan: Plan) -> JsonObject:
    """The plan of a run in numbers."""
    cost = plan.cost()
    return {
        "model": job.source.name,
        "kind": job.kind.name,
        "frames": job.sampling.frames,
        "conditions": list(dict.fromkeys(table.condition.name for table in plan.tables)),
        "skipped": plan.skip_reasons,
        **cost,
        "visual_encodings_without_sharing": sum(
            len(np.unique(plan.views.places[table.group])) for table in plan.tables
        ),
        "frames_to_the_model": cost["visual_encodings"] * job.sampling.frames if job.kind.family != "text" else 0,
        **{f"estimated_{name}": value for name, value in estimate_of(job, plan).items()},
    }


def estimate_of(job: Job, plan: Plan) -> dict[str, float]:
    """The cost of a model that is asked elsewhere: requests, tokens and price; {} for models that run here."""
    if job.kind.estimate is None:
        return {}
    tables = [(table, [text for own in table.texts for text in own]) for table in plan.tables]
    galleries = [(len(table.group.items) if table.is_retrieval else 1, texts) for table, texts in tables]
    work = Work(
        frames=job.sampling.frames,
        items=sum(len(table.group.items) for table in plan.tables),
        captions=sum(table.n_pairs for table in plan.tables),
        characters=sum(times * sum(map(len, texts)) for times, texts in galleries),
        distractors=sum(t.distractor(n) is not None for t in plan.tables for n in range(len(t.group.items))),
        clips=plan.n_views,
        texts=len(plan.texts),
        text_characters=sum(map(len, plan.texts)),
    )
    return job.kind.estimate(work, job.kind_options)


def numeric_options(job: Job) -> JsonObject:
    """The options of the kind on which numbers depend."""
    return {name: value for name, value in job.kind_options.items() if name not in job.kind.not_numeric}


def read_result(output: Path) -> RunResult:
    """The result that a finished run's directory holds. Raises VideoContrastError: it holds no finished run."""
    run = RunFolder.open(output)
    return RunResult(run.metrics, run.record, output, run.score_table)


def identity(job: Job, dtype: str) -> Json:
    """The run that a directory belongs to."""
    own = job.sampling
    rate = [own.least, own.multiple, own.rounding]
    mark: JsonObject = {
        "model": job.source.name,
        "revision": job.source.revision,
        "kind": job.kind.name,
        "options": numeric_options(job),
        "dataset": job.dataset.name,
        "split": job.dataset.split,
        "sampling": own.policy,
        **{name: getattr(own, name) for name in ("frames", "fps", "accept_damaged")},
        **{name: getattr(job.options, name) for name in ("questions", "seed", "limit")},
        "dtype": dtype,
        "fingerprints": job.dataset.fingerprints,
    }
    if own.fps is not None and rate != [Sampling.least, Sampling.multiple, Sampling.rounding]:
        mark["rate"] = rate
    return mark


def model_facts(job: Job, model: Model) -> JsonObject:
    """The model in the record."""
    entry: JsonObject = {
        "name": job.source.name,
        "revision": job.source.revision,
        "kind": job.kind.name,
        "kind_version": job.kind.version,
        "options": dict(job.kind_options),
        "files": dict(job.source.files),
    }
    if (step := step_of(job.source.name)) is not None:
        entry["step"] = step
    if recipe := recipe_of(job.source, job.kind.name):
        entry["recipe"] = recipe.record()
    return entry | model.facts


def step_of(name: str) -> int | None:
    """The step of a model that is a checkpoint of a training run; None for any other.

    >>> step_of("training/checkpoint-300"), step_of("openai/clip-vit-base-patch32")
    (300, None)
    """
    match = re.fullmatch(r"checkpoint-(\d+)", Path(name).name)
    return int(match[1]) if match else None
