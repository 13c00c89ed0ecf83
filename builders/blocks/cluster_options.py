"""The options of builds that are done in blocks."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from video_contrast.errors import UsageError
from video_contrast.options import Range


@dataclass(frozen=True, kw_only=True)
class ClusterOptions:
    """Where the blocks of a large corpus are built."""

    HIDDEN: ClassVar[frozenset[str]] = frozenset({"workers", "slurm"})  # of few; docs/cluster.md has them

    executor: Annotated[
        Literal["local", "slurm", "ray"] | None, "build in blocks; default: here above 100,000 captions"
    ] = None
    workers: Annotated[int | None, "blocks at once; default: one here, on a cluster all that it takes", Range(1)] = None
    slurm: Annotated[str | None, "partition=NAME,time=HH:MM:SS, options of datatrove's SlurmPipelineExecutor"] = None

    def __post_init__(self) -> None:
        if (self.executor == "slurm") != (self.slurm is not None):
            raise UsageError("--executor slurm and --slurm partition=NAME,time=HH:MM:SS go together")
