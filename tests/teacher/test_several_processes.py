"""LLM-teacher under torchrun: the first process makes what is stored, and an end of one is the end of all."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from processes import left_alone
from teacher_set import SETTINGS

from video_contrast.errors import VideoContrastError
from video_contrast.teacher import teach, training_data
from video_contrast.teacher.trainer import TeachTrainer

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]
ENDED = "another process of the run ended before its work was done: see the messages of the others"


def run(place: Path, name: str, store: Path) -> dict[str, Any]:
    torch.set_num_threads(1)
    settings = SETTINGS | {"generator": "lexicon", "quality": "0", "store": store, "stop_after": 1}
    return teach(place / "clip", place / "set", output=place / name, **settings)


def in_several(place: Path, name: str, store: Path) -> None:
    """A run in a forked process, which notes what it says at its end."""
    from accelerate import PartialState

    PartialState._reset_state()  # a forked process inherits the parent's, which is of one process
    try:
        run(place, name, store)
    except VideoContrastError as error:
        (place / f"{name}-{os.environ['RANK']}").write_text(str(error))
        raise SystemExit(error.exit_code) from error


def test_two_processes_make_the_negatives_that_one_makes(place: Path, tmp_path: Path) -> None:
    run(place, "one", tmp_path / "one")
    assert left_alone(2, in_several, place, "two", tmp_path / "two") == [0, 0]
    one, two = (sorted((tmp_path / name).glob("negatives-*.parquet")) for name in ("one", "two"))
    assert [path.name for path in one] == [path.name for path in two] and len(one) == 2
    for a, b in zip(one, two, strict=True):
        assert pq.read_table(a).to_pylist() == pq.read_table(b).to_pylist()


def one_makes_no_negatives(place: Path, name: str, store: Path, which: str) -> None:
    def negatives(*given: object, **named: object) -> None:
        raise VideoContrastError("no negative caption could be made")

    if os.environ["RANK"] == which:
        training_data.negatives = negatives  # type: ignore[assignment]
    in_several(place, name, store)


@pytest.mark.parametrize(
    ("which", "said"), [("0", ("no negative caption could be made",) * 2), ("1", (ENDED, "no negative"))]
)
def test_an_error_of_one_process_ends_both_with_a_sentence(place: Path, which: str, said: tuple[str, str]) -> None:
    name = f"error-of-{which}"
    assert left_alone(2, one_makes_no_negatives, place, name, place / "store", which) == [1, 1]
    for rank, begin in enumerate(said):
        sentence = (place / f"{name}-{rank}").read_text()
        assert sentence.startswith(begin) and "\n" not in sentence and "gloo" not in sentence


def one_dies_in_training(place: Path, name: str, store: Path) -> None:
    if os.environ["RANK"] == "1":

        def die(*given: object, **named: object) -> None:
            (place / "died").write_text(str(time.time()))
            os.kill(os.getpid(), signal.SIGKILL)

        TeachTrainer.training_step = die  # type: ignore[method-assign,assignment]
    in_several(place, name, store)


def test_a_process_that_dies_in_training_ends_the_other_soon(place: Path) -> None:
    assert left_alone(2, one_dies_in_training, place, "killed", place / "store") == [1, -signal.SIGKILL]
    noted = place / "killed-0"
    sentence = noted.read_text()
    assert sentence.startswith(ENDED) and "\n" not in sentence and "gloo" not in sentence
    assert noted.stat().st_mtime - float((place / "died").read_text()) < 20
