"""What a run costs: time an item, memory, and the estimate for the whole."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

from video_contrast.runner.doctor.probe import Probe
from video_contrast.runner.doctor.result import Outcome
from video_contrast.runner.kinds.base import Encoder
from video_contrast.runner.plan import Plan


def check_cost(probe: Probe, plan: Plan, processes: int) -> Outcome:
    """The verdict "cost": seconds of the model alone; decoding goes on beside it. `processes`: that share the run."""
    if isinstance(probe.model, Encoder):
        view = _timed(lambda: probe.videos(probe.clips)) / len(probe.clips)
        text = _timed(lambda: probe.texts(probe.captions)) / len(probe.captions)
        total = view * plan.n_views + text * len(plan.texts)
        item, what = view, "a clip"
    else:
        captions = probe.captions_of(0)
        item = _timed(lambda: probe.scores(probe.clips[:1], captions, again=True))
        single = item
        if len(captions) > 1:
            single = _timed(lambda: probe.scores(probe.clips[:1], captions[:1], again=True))
        each = max(0.0, item - single) / max(1, len(captions) - 1)
        pairs = sum(table.n_pairs for table in plan.tables)
        views = sum(len(table.group.items) for table in plan.tables)
        total = views * max(0.0, single - each) + pairs * each
        what = f"a clip with {len(captions)} captions"
    total /= processes
    memory = peak_bytes()
    numbers = {"seconds_an_item": item, "estimated_seconds": total, "peak_bytes": memory}
    each_takes = f"{item:.2g} s" if item < 10 else _duration(item)
    says = f"{each_takes} {what}; about {_duration(total)} of the model for the run; {memory / 2**30:.1f} GB"
    return Outcome("cost", "fact", says, numbers)


def peak_bytes() -> int:
    """The most memory that was in use so far: of the GPUs that something was put on, else of the process."""
    import torch

    if on_gpus := sum(torch.cuda.max_memory_allocated(n) for n in range(torch.cuda.device_count())):
        return int(on_gpus)
    try:
        import resource
    except ImportError:  # no such count on this system
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _timed(call: Callable[[], np.ndarray]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"
