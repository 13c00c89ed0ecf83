"""`score`: from a model and a set to a directory of scores, over one or many processes."""

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import cast

from video_contrast.addresses import address_of, check_writable
from video_contrast.errors import UsageError
from video_contrast.files import AnyPath, JsonObject, cache_dir
from video_contrast.options import names_in, with_options
from video_contrast.runner import run_directory
from video_contrast.runner.conditions import Visual, parse
from video_contrast.runner.doctor.result import accepted_checks
from video_contrast.runner.job import Job, RunResult, describe
from video_contrast.runner.kinds import all_kinds, choose, options_for
from video_contrast.runner.kinds.base import Kind, ModelSource
from video_contrast.runner.kinds.model_recipes import recipe_of
from video_contrast.runner.model_files import locate
from video_contrast.runner.options import DEFAULT_FRAMES, MOST_FRAMES, ConfigNames, ScoreOptions
from video_contrast.runner.plan import make_plan
from video_contrast.runner.sets import Questions, load_set
from video_contrast.runner.views import Sampling
from video_contrast.seeds import digest
from video_contrast.storage.run_file_fields import RunRecord


@with_options
def score(
    model: AnyPath, dataset: AnyPath, config: ConfigNames = None, *, folder: Path | None = None, request: ScoreOptions
) -> RunResult:
    """Scores a model on configs of a set under conditions, as `video_contrast.score` says.

    Args:
        model, dataset, config: as there, but for sets that are built by name.
        folder: where the set lies, if `dataset` is only its name.
    """
    in_memory = request.output is None
    if request.output is not None and request.output.is_file():
        raise UsageError(f"--output {request.output} is a file; give a folder")
    with ExitStack() as stack:
        if in_memory:
            output = stack.enter_context(tempfile.TemporaryDirectory(prefix="video-contrast-"))
            request = replace(request, output=Path(output))
        job = make_job(model, dataset, config, folder=folder, request=request)
        if request.dry_run:
            plan = make_plan(job.dataset, job.conditions, None)
            return RunResult({"configs": {}}, cast(RunRecord, describe(job, plan)))
        if request.show_input:
            from video_contrast.runner.self_test import shown_input

            return RunResult({"configs": {}}, cast(RunRecord, shown_input(job)))
        result = score_job(job, in_memory=in_memory)
        return _with_table(result) if in_memory else result


def score_job(job: Job, *, in_memory: bool = False) -> RunResult:
    """Carries out a job, or reads what it wrote before if it is finished.

    A run at an address is worked on in the cache, and sent when it is done. Raises UsageError, VideoContrastError: as
    `score`.
    """
    if address := address_of(job.output):
        from video_contrast.runner.processes import Processes

        processes = Processes(job.options.device)
        folder_of_copy = cache_dir() / "runs" / digest("run", address).hex()
        with processes.together():
            processes.from_first(lambda: check_writable(address))  # refused before the work
            with processes.shared_copy(address, folder_of_copy) as copy:
                new_result = _with_table(score_job(replace(job, output=copy)))
        return replace(new_result, output=job.output)
    if not in_memory and (result := run_directory.finished(job)):
        return result
    from video_contrast.runner.execute import execute

    return execute(job, in_memory=in_memory)


def _with_table(result: RunResult) -> RunResult:
    """The result of a run whose folder goes."""
    table = result.table
    return replace(result, read_table=lambda: table)


def make_job(
    model: AnyPath, dataset: AnyPath, config: ConfigNames, *, folder: Path | None, request: ScoreOptions
) -> Job:
    """Everything that a call of `score` asks for, checked. Raises UsageError: the call is wrong."""
    options = request
    one_machine = int(os.environ.get("WORLD_SIZE", 1)) <= int(os.environ.get("LOCAL_WORLD_SIZE", 1))
    for name, path in (("output", options.output), ("store", options.store)):
        if path is not None and (address := address_of(path)) and not one_machine:
            raise UsageError(f"--{name} {address}: processes of several machines need a folder that all of them see")
    accepted_checks(options.accept)
    configs = names_in(config)
    kinds = all_kinds()
    names = [name for kind in kinds.values() for name in kind.names]
    if options.kind in kinds and any(name.endswith(":") for name in kinds[options.kind].names):
        names.append(str(model))  # of a served model, which is no file here
    source = locate(str(model), revision=options.revision, names=tuple(names))
    kind = choose(source, options.kind)
    kind_options = options_for(kind, {**_owners_options(kind, source, options), **options.options})
    questions: Questions = "left out" if options.questions == "without" else "asked" if kind.asks else "joined"
    loaded_set = load_set(
        dataset, configs, options.split, limit=options.limit, folder=folder, questions=questions, columns=options
    )
    visual = Visual(profile=options.profile, seed=options.seed, scope=options.scope, order=options.order)
    return Job(
        source=source,
        kind=kind,
        kind_options=kind_options,
        dataset=loaded_set,
        conditions=tuple(parse(options.conditions, visual)),
        sampling=_sampling(kind, source, options),
        video_root=options.video_root if options.video_root is not None else loaded_set.root,
        output=options.output or Path(),
        store=options.store if options.store is not None else cache_dir() / "embeddings",
        options=options,
        request=request_record(model, dataset, configs, options),
    )


def request_record(
    model: AnyPath, dataset: AnyPath, configs: Sequence[str] | None, options: ScoreOptions
) -> JsonObject:
    """The record of a call in `run.json`. `model, dataset, configs`: as in `score`."""
    names = list(configs) if configs is not None else None
    return {"model": str(model), "dataset": str(dataset), "config": names, **options.request()}


def _sampling(kind: Kind, source: ModelSource, options: ScoreOptions) -> Sampling:
    if options.frames == "owner":  # those of its recipe, or as many as its config says
        if options.fps is not None or options.sampling != "uniform":
            raise UsageError("--frames owner says at which rate and where frames lie: leave --fps and --sampling out")
        if (recipe := recipe_of(source, kind.name)) and (owner := recipe.owner):
            return Sampling(owner.frames, owner.policy, options.accept_damaged, *owner.bounds)
        if kind.frames is None or kind.frames(source.config) is None:
            unknown = f"frames of {source.name}'s owner are not known"
            raise UsageError(f"--frames owner: {unknown}: give --frames N, --fps RATE")
    elif options.fps is not None:
        if kind.family != "pair" and not kind.by_rate:
            raise UsageError(f"--fps goes with models that read any number of frames, which {source.name} does not")
        return Sampling(options.frames or MOST_FRAMES, options.sampling, options.accept_damaged, options.fps)
    elif options.sampling == "steps":
        raise UsageError("--sampling steps takes frames at a rate: give --fps")
    frames = None if options.frames == "owner" else options.frames
    return Sampling(_frames(kind, source, frames), options.sampling, options.accept_damaged)


def _owners_options(kind: Kind, source: ModelSource, options: ScoreOptions) -> dict[str, str]:
    """The options of a kind that `--frames owner` sets: the size of frames and the prompt, where they are known."""
    recipe = recipe_of(source, kind.name) if options.frames == "owner" else None
    if recipe is None or (owner := recipe.owner) is None:
        return {}
    owners_values = {"frame_size": owner.side, "letter_prompt": owner.prompt}
    return {option.name: "owner" for option in kind.options if owners_values.get(option.name)}


def _frames(kind: Kind, source: ModelSource, n_asked: int | None) -> int:
    n_needed = kind.frames(source.config) if kind.frames else None
    if n_needed is not None and n_asked is not None and n_asked != n_needed:
        raise UsageError(f"{source.name} takes exactly {n_needed} frames, not --frames {n_asked}; leave the option out")
    usual = kind.usual_frames(source.config) if kind.usual_frames else None
    return n_needed or n_asked or usual or DEFAULT_FRAMES
