"""When a process of several ends, the others do its work; without the first one they say so in one sentence."""

import datetime
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import runner_set
import tiny_models
from processes import launch, left_alone

from video_contrast.errors import VideoContrastError
from video_contrast.runner.kinds.base import ClipFrames

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("ending")
    runner_set.write(place / "set")
    tiny_models.clip(place / "model")
    return place


def one_is_killed(place: Path, rank: str, name: str, model: str = "", config: str | None = None) -> None:
    from accelerate import PartialState

    from video_contrast.runner import processes, score

    PartialState._reset_state()  # a forked process inherits the parent's, which is of one process
    processes.PULSE, processes.STOPPED = 0.1, 2.0
    deal = processes.WorkQueue._dealt

    def dealt(self: processes.WorkQueue) -> Iterator[int]:
        time.sleep(2 if rank and os.environ["RANK"] != rank else 0)  # so that the other one is dealt some
        yield from deal(self)

    processes.WorkQueue._dealt = dealt  # type: ignore[method-assign]
    if os.environ["RANK"] == rank:
        # with a chunk that is dealt to it and not done
        processes.WorkQueue.mark_done = lambda self, *rest: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign,assignment]
    try:
        score(model or str(place / "model"), place / "set", config, output=place / name, store=place / f"store-{name}",
              batch_size=2, accept="all", progress=False)  # fmt: skip
    except VideoContrastError as error:
        (place / f"said-{name}").write_text(str(error))


def a_scorer_is_killed(place: Path, rank: str, name: str) -> None:
    """Notes each call; the process of a rank dies with answers whose chunk is not done."""
    from video_contrast.runner.kinds.base import PairScorer, ScoreResult, kind

    class Noting(PairScorer):
        def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
            with open(place / f"calls-{name}", "a") as calls:
                calls.write(f"{position}\n")
            return ScoreResult(np.arange(len(captions), dtype=float))

    kind("noting", family="pair", summary="for this test", names=("noting",))(lambda source, settings: Noting())
    one_is_killed(place, rank, name, model="noting", config="verb_mc")


def one_never_comes(place: Path) -> None:
    from accelerate import PartialState

    from video_contrast.runner import processes

    PartialState._reset_state()
    processes.MEETING = datetime.timedelta(seconds=3)
    if os.environ["RANK"] == "1":
        time.sleep(8)
        return
    try:
        processes.Processes("cpu")
    except VideoContrastError as error:
        (place / "waited").write_text(str(error))


def test_the_chunks_of_a_killed_process_are_taken_by_the_others(place: Path) -> None:
    launch(1, one_is_killed, place, "", "alone")
    codes = left_alone(2, one_is_killed, place, "1", "killed")
    assert codes == [0, -signal.SIGKILL]
    for file in ("metrics.json", "scores.parquet", "retrieval/retrieval/clean.npy"):
        assert (place / "killed" / file).read_bytes() == (place / "alone" / file).read_bytes()


def test_what_a_killed_process_was_answered_is_not_asked_again(place: Path) -> None:
    launch(1, a_scorer_is_killed, place, "", "answers")
    assert left_alone(2, a_scorer_is_killed, place, "1", "killed-answers") == [0, -signal.SIGKILL]
    alone, both = ((place / f"calls-{name}").read_text().split() for name in ("answers", "killed-answers"))
    assert sorted(alone) == sorted(both)
    for file in ("metrics.json", "scores.parquet"):
        assert (place / "killed-answers" / file).read_bytes() == (place / "answers" / file).read_bytes()


def test_without_the_first_process_the_others_end_with_one_sentence_and_the_command_goes_on(place: Path) -> None:
    codes = left_alone(2, one_is_killed, place, "0", "first")
    assert codes == [-signal.SIGKILL, 0]
    said = (place / "said-first").read_text()
    assert said.startswith("another process of the run ended before its work was done")
    assert "\n" not in said and "store" not in said
    launch(2, one_is_killed, place, "", "first")
    assert (place / "first" / "metrics.json").read_bytes() == (place / "alone" / "metrics.json").read_bytes()


def test_a_process_that_does_not_come_is_waited_for_for_minutes_only(place: Path) -> None:
    left_alone(2, one_never_comes, place)
    assert (place / "waited").read_text().startswith("the 2 processes of the run did not meet within 0:00:03")


def test_workers_end_with_a_parent_that_is_killed() -> None:
    code = (
        "import time; from video_contrast.launcher import worker_pool\n"
        "pool = worker_pool(2); pool.submit(time.sleep, 60); pool.submit(print, 'began', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None and parent.stdout.readline() == "began\n"
        parent.kill()
        parent.communicate(timeout=10)  # the workers hold its output as long as they live
