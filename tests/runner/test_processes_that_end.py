"""When a process of several ends, the others say so in one sentence, and soon."""

import datetime
import os
import signal
import time
from pathlib import Path

import pytest
import runner_set
import tiny_models
from processes import left_alone

from video_contrast.errors import VideoContrastError

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("ending")
    runner_set.write(place / "set")
    tiny_models.clip(place / "model")
    return place


def one_is_killed(place: Path) -> None:
    from accelerate import PartialState

    from video_contrast.runner import processes, score

    PartialState._reset_state()  # a forked process inherits the parent's, which is of one process
    if os.environ["RANK"] == "1":
        # after the others have been met, before its share is done
        processes.Processes.share = lambda self, work: os.kill(os.getpid(), signal.SIGKILL)  # type: ignore[method-assign,assignment,return-value]
    try:
        score(str(place / "model"), place / "set", output=place / "killed", store=place / "store", progress=False)
    except VideoContrastError as error:
        (place / "said").write_text(str(error))


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


def test_a_killed_process_ends_the_others_with_one_sentence(place: Path) -> None:
    left_alone(2, one_is_killed, place)
    said = (place / "said").read_text()
    assert said.startswith("another process of the run ended before its work was done")
    assert "\n" not in said and "gloo" not in said


def test_a_process_that_does_not_come_is_waited_for_for_minutes_only(place: Path) -> None:
    left_alone(2, one_never_comes, place)
    assert (place / "waited").read_text().startswith("the 2 processes of the run did not meet within 0:00:03")
