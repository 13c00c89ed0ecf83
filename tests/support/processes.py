"""Several processes with the environment that torchrun gives them, for tests."""

import os
from typing import Any


def launch(processes: int, function: Any, *arguments: Any, nodes: int = 1) -> None:
    """Starts processes with the environment that torchrun gives them on `nodes` machines, and raises if one dies."""
    import socket

    from torch.multiprocessing import start_processes

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    given = (processes, nodes, port, function, arguments)
    start_processes(as_torchrun, given, nprocs=processes, start_method="fork")


def as_torchrun(rank: int, processes: int, nodes: int, port: int, function: Any, arguments: tuple[Any, ...]) -> None:
    a_node = processes // nodes
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank % a_node), WORLD_SIZE=str(processes), LOCAL_WORLD_SIZE=str(a_node),
        GROUP_RANK=str(rank // a_node), GROUP_WORLD_SIZE=str(nodes),
        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), ACCELERATE_USE_CPU="true", OMP_NUM_THREADS="1",
    )  # fmt: skip
    function(*arguments)
