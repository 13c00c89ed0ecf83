"""Carrying out a job: the processes share the encoding, the first one joins, measures and writes."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

from video_contrast.addresses import address_of, check_writable
from video_contrast.console import note
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject, cache_dir
from video_contrast.runner import run_directory, table_metrics
from video_contrast.runner.device import device_of, full_float32, load_model
from video_contrast.runner.doctor.result import accepted_checks
from video_contrast.runner.embedding_store import VERSION
from video_contrast.runner.encode import frames_by_themselves
from video_contrast.runner.job import Job, RunResult, estimate_of, identity, model_facts, read_result
from video_contrast.runner.kinds.base import Encoder
from video_contrast.runner.memory import enough_memory
from video_contrast.runner.plan import make_plan
from video_contrast.runner.price import price_of
from video_contrast.runner.process_share import Run
from video_contrast.runner.processes import Processes
from video_contrast.runner.self_test import self_test
from video_contrast.runner.sets import Group
from video_contrast.runner.table_scores import TableScorer
from video_contrast.runner.traces import item_digests, run_evidence
from video_contrast.runner.video_files import root_of
from video_contrast.seeds import digest
from video_contrast.storage import RunFolder
from video_contrast.storage.run_file_fields import RunRecord, ScoreRow
from video_contrast.storage.run_notes import WITH_ITS_GROUP
from video_contrast.version import __version__
from video_contrast.video import timeline


def execute(job: Job, *, in_memory: bool) -> RunResult:
    """Runs a job in all processes; every one of them returns the result.

    Raises UsageError: the job cannot run with these processes or on this device; VideoContrastError: something failed;
    what is done is kept.
    """
    processes = Processes(job.options.device)
    if in_memory and processes.count > 1:
        raise UsageError("several processes meet in the run's directory; give --output")
    device, dtype = device_of(job, processes)
    # Before anything is written: a call that is refused leaves no files behind.
    if address := address_of(job.store):
        processes.from_first(lambda: check_writable(address))
    video_root = root_of(job) if job.kind.family != "text" else job.video_root or Path()
    began = time.monotonic()
    folder = RunFolder(job.output)
    exact = full_float32()
    with (
        run_directory.locked(folder, processes.rank),
        run_directory.room_on(job.output, job.store, cache_dir()),
        enough_memory(),
        exact,
        processes.together(),
    ):
        if processes.first:
            run_directory.claim(folder, identity(job, dtype))
        processes.wait()
        model = load_model(job, device, dtype)
        plan = processes.from_first(lambda: make_plan(job.dataset, job.conditions, folder))
        choice = job.options.perturb_on
        perturb_on = device if choice == "device" or (choice == "auto" and device.startswith("cuda")) else None
        run = Run(job, processes, model, plan, device, dtype, video_root, perturb_on=perturb_on, began=began)
        if processes.first and job.options.progress and (estimate := estimate_of(job, plan)):
            amounts = [f"{value:,g} {name.replace('_', ' ')}" for name, value in estimate.items() if name != "price"]
            price = f", price {estimate['price']:.2f}" if "price" in estimate else ""
            note(f"about {', '.join(amounts)}{price} (stored answers cost nothing)")
        run.self_test = self_test(run)
        with _local_store(run):
            scorer = run.encode_or_score()
            processes.from_first(lambda: measure_and_write(run, scorer) if scorer is not None else None)
        return read_result(job.output)


@contextmanager
def _local_store(run: Run) -> Iterator[None]:
    """A stretch in which a store at an address has a local copy of its model's rows; new ones are sent at its end."""
    address, job = address_of(run.job.store), run.job
    if address is None or not isinstance(run.model, Encoder):
        yield
        return
    root = cache_dir() / "runs" / digest("store", address, str(job.output.resolve())).hex()
    run.job = replace(job, store=root)
    with run.processes.shared_copy(f"{address}/{run.space}", root / run.space):
        yield
    if run.processes.first:
        root.rmdir()


def measure_and_write(run: Run, scorer: TableScorer) -> None:
    """Measures and writes what the first process has: scores and matrices, then the metrics, and the record last."""
    seconds = time.monotonic() - run.began
    job, plan, folder = run.job, run.plan, RunFolder(run.job.output)
    missing = _missing(run, scorer)
    unseen = _unseen_configs(run, scorer)
    tables = [table for table in plan.tables if table.group.config not in unseen]
    for group in dict.fromkeys(table.group for table in tables or plan.tables):
        if all(clip in scorer.missing for clip in group.items.clips):
            raise _nothing_scored(run, group, missing)
    folder.begin()
    # The tables of retrieval all of whose similarities are kept: as many as fit, clean ones first.
    whole: set[tuple[str, str]] = set()
    room = job.options.keep_matrices * 1e9
    for table in sorted(tables, key=lambda table: table.condition.name != "clean"):
        if table.is_retrieval and 4 * table.n_pairs <= room:
            whole.add(table.name)
            room -= 4 * table.n_pairs
    metrics = {}
    hits: dict[tuple[str, str], dict[str, tuple[float, str]]] = {}
    has_tests = any(table.group.config.endswith(table_metrics.PROFICIENCY) for table in tables)

    def score_rows() -> Iterator[ScoreRow]:
        """Measures table after table; yields their rows, so that memory holds those of one."""
        with run.bar("measuring", len(tables), "condition") as progress:
            for table in sorted(tables, key=lambda table: table.name):  # the order of the lines
                scores = scorer.scores(table)
                if table.is_retrieval:
                    scores, matrix = table_metrics.with_ranks(scores, whole=table.name in whole)
                    folder.write_matrix(*table.name, matrix)
                metrics[table.name] = (table, table_metrics.metrics_of(scores, seed=job.options.seed))
                if has_tests:
                    hits[table.name] = table_metrics.item_hits(scores)
                yield from table_metrics.score_rows(scores)
                progress.update()

    folder.write_scores(score_rows(), pairs=any(table.group.layout == "pairs" for table in tables))
    for name, numbers in table_metrics.with_proficiency(hits).items():
        metrics[name][1].update(numbers)
    folder.write_metrics(table_metrics.summary({table.name: metrics[table.name] for table in tables}))
    folder.write_evidence(run_evidence(run), item_digests(run.model, plan, run.total))
    folder.finish(_record(run, scorer, missing, seconds=round(seconds, 2)))
    from video_contrast.hub_cards.results import write_results

    write_results(job.output)


def _nothing_scored(run: Run, group: Group, missing: dict[str, str]) -> VideoContrastError:
    """Why no item of a group has scores."""
    clips = group.items.clips
    clip = next((clip for clip in clips if clip in run.total.broken), clips[0])
    if clip in run.total.unseen:
        return VideoContrastError(
            f"no edited clip of the config {group.config} is shown whole: {run.total.broken[clip]}"
        )
    place = (run.job.video_root and address_of(run.job.video_root)) or run.video_root
    return VideoContrastError(
        f"no video of the config {group.config} could be read under {place} (--video-root); the "
        f"first: {missing.get(clip.name, 'unknown')}"
    )


def _record(run: Run, scorer: TableScorer, missing: dict[str, str], *, seconds: float) -> RunRecord:
    """The content of `run.json`."""
    job, plan, counts = run.job, run.plan, run.total
    store = job.options.store or job.store
    rows = {"store": address_of(store) or str(store.resolve()), "space": run.space, "keys": VERSION}
    entry: RunRecord = {
        "version": __version__,
        "request": job.request,
        "model": {**model_facts(job, run.model), **_model_counts(run)},
        "set": _scored_set(job),
        "sampling": asdict(job.sampling),
        "embeddings": rows if isinstance(run.model, Encoder) else {},
        "conditions": {
            name: {"group": condition.group, "visual": asdict(condition.visual), "text": asdict(condition.text)}
            for name, condition in {table.condition.name: table.condition for table in plan.tables}.items()
        },
        "skipped": plan.skip_reasons | _unseen_configs(run, scorer),
        "seed": job.options.seed,
        "device": run.device,
        "dtype": run.dtype,
        "perturb_on": "device" if run.perturb_on else "cpu",
        "processes": run.processes.count,
        "versions": run_directory.versions(),
        "missing": dict(sorted(missing.items())),
        "n_missing": len(scorer.missing),
        "n_clips": len(plan.views),
        "counters": {
            "frames_decoded": counts.decode.decoded,
            "frames_minimum": counts.decode.minimum,
            "frames_converted": counts.decode.converted,
            **counts.counters,
            "visual_encodings_in_all": plan.n_views if counts.videos else 0,
            "text_encodings_in_all": len(plan.texts),
        },
        "notes": counts.notes,
        "self_test": run.self_test.record(accepted_checks(job.options.accept)) if run.self_test else {"left_out": True},
        "seconds": seconds,
    }
    if counts.unseen:
        entry["n_unseen"] = len(counts.unseen)
    if any(clip.segments for clip in plan.views):
        alone = isinstance(run.model, Encoder) and frames_by_themselves(run.model)
        sizes = "each in its own; perturbed, scaled into the smallest" if alone else "scaled into the smallest"
        entry["edited_clips"] = {"frames": f"{timeline.RULE} {timeline.VERSION}", "sizes": sizes}

    def relative(file: str) -> str:
        return Path(file).relative_to(run.video_root).as_posix()

    if job.sampling.accept_damaged:
        entry["damaged"] = {relative(file): why for file, why in sorted(counts.decode.damaged.items())}
    if counts.decode.remarks:
        remarks = sorted(counts.decode.remarks.items())
        entry["remarks"] = {remark: sorted(map(relative, files)) for remark, files in remarks}
    if run.self_test and run.self_test.rendered:
        entry["input"] = run.self_test.rendered
    return entry


def _scored_set(job: Job) -> JsonObject:
    """The set, how the questions of its configs were used, and the prompts with which they were asked."""
    entry: JsonObject = {
        "dataset": job.dataset.name,
        "split": job.dataset.split,
        "configs": sorted(job.dataset.fingerprints),
        "fingerprints": job.dataset.fingerprints,
        "items": sum(len(group.items) for group in job.dataset.groups),
    }
    if any(group.questions for group in job.dataset.groups):
        entry["questions"] = {group.config: group.questions for group in job.dataset.groups if group.questions}
    if with_questions := [group for group in job.dataset.groups if group.questions == "asked"]:
        prompts = ((g.config, {item.question.prompt for item in g.items if item.question}) for g in with_questions)
        entry["prompts"] = {config: sorted(own) for config, own in prompts}
    return entry


def _model_counts(run: Run) -> JsonObject:
    """The facts of the whole run, not of this process and this start of it."""
    counts: JsonObject = {"counters": run.model_counts} if run.model_counts else {}
    if estimate := estimate_of(run.job, run.plan):
        price = price_of(run.model_counts, run.job.kind_options)
        counts |= {"estimate": estimate} | ({"price": price["price"]} if price else {})
    n_truncated = run.model.truncated_texts(run.plan.texts)
    return counts if n_truncated is None else counts | {"truncated_texts": n_truncated}


def _missing(run: Run, scorer: TableScorer) -> dict[str, str]:
    """Video path (the name of an edited clip) -> why, of the clips without scores."""
    reasons = {clip.name: why for clip, why in run.total.broken.items()}
    reasons |= {path: f"{path}: {entry['error']}" for path, entry in run.total.videos.items() if "error" in entry}
    other = {True: WITH_ITS_GROUP, False: "could not be read"}  # by whether the clip is edited
    return {clip.name: reasons.get(clip.name, other[bool(clip.segments)]) for clip in scorer.missing}


def _unseen_configs(run: Run, scorer: TableScorer) -> dict[str, str]:
    """Config -> why it is left out, of those of whose edits the sampling shows none whole."""
    reasons = {}
    for group in dict.fromkeys(table.group for table in run.plan.tables):
        clips = group.items.clips
        unseen = sorted(run.total.unseen.intersection(clips), key=lambda clip: clip.name) if run.total.unseen else ()
        if unseen and all(clip in scorer.missing for clip in clips):
            reasons[group.config] = run.total.broken[unseen[0]]
    return reasons
