"""Runs over several processes, and runs that are killed: the numbers are those of one undisturbed process."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import runner_set
import tiny_models
from processes import launch

from video_contrast import seeds
from video_contrast.runner import score

pytestmark = [pytest.mark.processes, pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")]
CONDITIONS = "clean,visual:jumble@2,visual:gaussian_noise@4,text:drop_first,controls"
RESULTS = ("metrics.json", "scores.parquet", "retrieval/retrieval/clean.npy", "retrieval/retrieval/visual.jumble@2.npy")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("processes")
    runner_set.write(root / "set", n_clips=9)
    tiny_models.xclip(root / "xclip")
    return root


def run(place: Path, name: str, **changed: Any) -> None:
    """A run whose model is not tested, unless `accept` is given."""
    import torch
    from accelerate import PartialState

    torch.set_num_threads(1)
    PartialState._reset_state()  # a forked process inherits the parent's, which is of one process
    given: dict[str, Any] = {"conditions": CONDITIONS, "batch_size": 3, "workers": 2, "progress": False}
    given |= {"accept": "all", "output": place / name, "store": place / f"store-{name}"} | changed
    score(str(place / "xclip"), place / "set", ["verb_mc", "retrieval"], **given)


def killed_after(place: Path, name: str, shards: int) -> None:
    """Runs until this process has written `shards` shards, then dies as by `kill -9`, between two of them or inside."""
    from video_contrast.runner.embedding_store import Store

    write, left = Store.put, [shards]

    def put(self: Store, *rest: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        write(self, *rest)

    Store.put = put  # type: ignore[method-assign]
    run(place, name)


def at_addresses(place: Path, name: str) -> None:
    """A run whose model is tested, and whose folders are worked on in the cache and sent to an address."""
    os.environ["VIDEO_CONTRAST_CACHE"] = str(place / "cache")
    run(place, name, accept="", output=f"file://{place / name}", store=f"file://{place / f'store-{name}'}")


def results(place: Path, name: str) -> dict[str, bytes]:
    return {file: (place / name / file).read_bytes() for file in RESULTS}


@pytest.fixture(scope="module")
def one(place: Path) -> dict[str, bytes]:
    launch(1, run, place, "one")
    return results(place, "one")


def test_several_processes_give_the_bytes_of_one(place: Path, one: dict[str, bytes]) -> None:
    launch(3, at_addresses, place, "many")  # two of one machine: the last ones of the killed run below
    assert results(place, "many") == one
    assert any((place / "store-many").rglob("*.safetensors")) and not any((place / "cache/runs").iterdir())


def test_two_machines_with_a_common_folder_give_the_bytes_of_one(place: Path, one: dict[str, bytes]) -> None:
    launch(2, run, place, "nodes", nodes=2)
    assert results(place, "nodes") == one


def test_a_killed_run_goes_on_with_any_number_of_processes(place: Path, one: dict[str, bytes]) -> None:
    from video_contrast.files import read_json

    rng = seeds.stream("kill", 0)
    for attempt, processes in enumerate([1, 3]):
        with pytest.raises(Exception, match=r"SIGKILL|signal|terminated"):
            launch(processes, killed_after, place, "killed", int(rng.integers(0, 2)))
        assert not (place / "killed" / "run.json").exists(), attempt
    launch(2, run, place, "killed")
    assert results(place, "killed") == one
    counters = read_json(place / "killed" / "run.json")["counters"]
    assert (
        0 < counters["visual_encodings"] == counters["visual_encodings_planned"] < counters["visual_encodings_in_all"]
    )
    stored = [path for path in (place / "store-killed").rglob("*.safetensors") if not path.name.startswith(".")]
    keys = [key for path in stored for key in _keys(path)]
    assert len(keys) == len(set(keys)), "something was encoded twice"


def _keys(path: Path) -> list[str]:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as shard:
        return list(json.loads(shard.metadata()["keys"]))
