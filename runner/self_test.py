"""The self-test before a run: once a folder and model, by the first process, compared over all."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from video_contrast import seeds
from video_contrast.runner.doctor.examine import examine, first_scores
from video_contrast.runner.doctor.known import check_lengths, check_recipe
from video_contrast.runner.doctor.probe import ClipSource, Probe
from video_contrast.runner.doctor.result import ALL, SelfTest, accepted_checks, refuse
from video_contrast.runner.doctor.steady import same_in_all
from video_contrast.runner.kinds.base import TextScorer
from video_contrast.runner.run import Run
from video_contrast.storage import RunFolder

VERSION = "2"  # of the checks: raise it when they change, so that folders are tested anew


def self_test(run: Run) -> SelfTest | None:
    """Tests the model of a run, unless it was tested in this folder.

    Returns:
        The verdicts; None where `--accept all` left them out.

    Raises:
        VideoContrastError: a check failed that `--accept` does not name.
    """
    accepted = accepted_checks(run.job.options.accept)
    if ALL in accepted:
        return None
    if isinstance(run.model, TextScorer):
        return examine_run(run)[0]
    folder, key = RunFolder(run.job.output), _key(run)
    former = run.processes.from_first(lambda: folder.read_self_test(key))
    test = SelfTest.from_dict(former) if former else _tested(run)
    refuse(test, run.job.source.name, accepted)
    if run.processes.first and test.verdicts and not former:
        folder.write_self_test(key, asdict(test))
    return test


def _tested(run: Run) -> SelfTest:
    processes = run.processes

    def first() -> tuple[SelfTest, tuple[Any, ...]]:
        test, probe = examine_run(run)
        return test, (probe.clips[:1], probe.captions_of(0), probe.clean) if probe else ()

    test, shared = processes.from_first(first)
    if processes.count > 1 and shared:
        clips, captions, clean = shared
        assert not isinstance(run.model, TextScorer)
        mine = Probe(run.model, clips, captions, half=run.dtype != "float32", batch_size=run.job.options.batch_size)
        mine.clean = clean  # the unit of differences is that of all items
        verdict = same_in_all(mine, processes.gather(first_scores(mine)))
        test = replace(test, verdicts=(*test.verdicts, verdict))
    return test


def examine_run(run: Run) -> tuple[SelfTest, Probe | None]:
    """The verdicts of one process on items of the run, and the items."""
    test, probe = examine(
        run.model,
        run.plan,
        ClipSource(run.video_root, run.job.sampling, run.job.frames),
        half=run.dtype != "float32",
        batch_size=run.job.options.batch_size,
        processes=run.processes.count,
    )
    if not test.verdicts or probe is None:
        return test, probe
    known = check_recipe(run.job.source, run.job.kind.name), check_lengths(probe, run.job.source, run.job.kind.name)
    return replace(test, verdicts=(*(verdict for verdict in known if verdict), *test.verdicts)), probe


def _key(run: Run) -> str:
    """What a self-test holds for: the model, its libraries and options, the sampling, and the set."""
    sampling, marks = run.job.sampling, sorted(run.job.loaded.fingerprints.items())
    return seeds.digest("self-test", VERSION, run.space, str(sampling), str(marks)).hex()[:32]
