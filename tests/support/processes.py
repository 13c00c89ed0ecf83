"""Several processes with the environment that torchrun gives them, for tests."""

import os
import sys
import time
from typing import Any


def launch(processes: int, function: Any, *arguments: Any, nodes: int = 1) -> None:
    """Starts processes with the environment that torchrun gives them on `nodes` machines, and raises if one dies."""
    from torch.multiprocessing import start_processes

    given = (processes, nodes, _free_port(), function, arguments)
    start_processes(as_torchrun, given, nprocs=processes, start_method="fork")


def left_alone(processes: int, function: Any, *arguments: Any, seconds: float = 90) -> list[int | None]:
    """As `launch`, but none is ended when another one is; the exit codes, None of one that did not end in time."""
    from multiprocessing import get_context

    given = (processes, 1, _free_port(), function, arguments)
    running = [get_context("fork").Process(target=as_torchrun, args=(rank, *given)) for rank in range(processes)]
    for process in running:
        process.start()
    until = time.monotonic() + seconds
    for process in running:
        process.join(timeout=max(0.0, until - time.monotonic()))
    codes = [process.exitcode for process in running]
    for process in running:
        process.kill()
        process.join()
    return codes


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def as_torchrun(rank: int, processes: int, nodes: int, port: int, function: Any, arguments: tuple[Any, ...]) -> None:
    a_node = processes // nodes
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank % a_node), WORLD_SIZE=str(processes), LOCAL_WORLD_SIZE=str(a_node),
        GROUP_RANK=str(rank // a_node), GROUP_WORLD_SIZE=str(nodes),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), ACCELERATE_USE_CPU="true", OMP_NUM_THREADS="1",
    )  # fmt: skip
    if "torch" in sys.modules:  # the library reads the environment once, before the fork
        sys.modules["torch"].set_num_threads(1)
    function(*arguments)
