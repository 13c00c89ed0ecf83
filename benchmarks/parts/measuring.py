"""The beginning of every benchmark: its command line, and a clock that calls take turns against."""

import argparse
import time
from collections.abc import Callable, Mapping


def parser_of(text: str | None) -> argparse.ArgumentParser:
    """Returns a parser whose help begins with the docstring of a benchmark, as it stands."""
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def in_turn(
    calls: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Returns the seconds of each call, one figure a round: a busy machine slows all of them alike.

    `calls`: by name, in the order of a round. `clock`: CPU seconds of this process, or another clock.
    """
    spent: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            began = clock()
            call()
            spent[name].append(clock() - began)
    return spent
