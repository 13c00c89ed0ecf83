"""Calls that take turns against a clock, so that a busy machine slows all of them alike."""

import time
from collections.abc import Callable, Mapping


def in_turn(
    calls: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Returns the seconds of each call, one figure a round.

    `calls`: by name, in the order of a round. `clock`: CPU seconds of this process, or another clock.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            began = clock()
            call()
            spent[name].append(clock() - began)
    return spent
