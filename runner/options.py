"""The options of `score`, in groups; each is declared here and nowhere else (see `video_contrast.options`)."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from video_contrast import options as declared
from video_contrast.files import JsonObject
from video_contrast.options import POSITIVE, Device, Flag, GivenOptions, Precision, Range, Seed, VideoRoot, names_in
from video_contrast.storage.table_columns import TableColumns
from video_contrast.video import Policy

ConfigNames = str | Sequence[str] | None  # None: all
DEFAULT_FRAMES = 8  # of a clip, where neither the model nor the caller says how many
MOST_FRAMES = 64  # of a clip that is sampled by --fps
MODEL, SCORED, RUN = "Model", "What is scored", "How it runs"  # headings of the help


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """The options of finding and reading a model."""

    PANEL: ClassVar[str] = MODEL
    kind: Annotated[str | None, "model kind; each has options of its own: list models KIND"] = None
    options: Annotated[
        GivenOptions, "options of the model kind, by name (`list models KIND`)", Flag(python_only=True)
    ] = field(default_factory=dict)
    revision: Annotated[str | None, "branch, tag or commit on the Hub"] = None
    trust_remote_code: Annotated[bool, "run code of the model's repository"] = False


@dataclass(frozen=True, kw_only=True)
class SetOptions:
    """The rows and videos of a set that are scored, and the perturbations under which they are."""

    PANEL: ClassVar[str] = SCORED
    conditions: Annotated[str | Sequence[str], "clean,visual:*,text:*,pairs,controls, or names"] = "clean"
    seed: Seed = 0
    profile: Annotated[Literal["paper", "released", "monotone"], "perturbation variant"] = "paper"
    scope: Annotated[Literal["clip", "video"], "what temporal perturbations act on"] = "clip"
    order: Annotated[Literal["perturb_then_sample", "sample_then_perturb"], "place of sampling"] = "perturb_then_sample"
    split: Annotated[str, "split to score"] = "test"
    video_root: VideoRoot = None
    limit: Annotated[int | None, "only the first clips of each config (a trial run)", Range(1)] = None
    questions: Annotated[Literal["with", "without"], "whether models see questions"] = "with"
    output: Annotated[Path | None, "folder of the run; the same call resumes it"] = None


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The frames of a clip that the model sees, where and in which steps it runs, and what a run keeps and shows."""

    PANEL: ClassVar[str] = RUN
    frames: Annotated[
        int | Literal["owner"] | None, f"frames a clip; default: what the model needs, or {DEFAULT_FRAMES}", Range(1)
    ] = None
    fps: Annotated[float | None, f"frames a second instead; 4 at least, --frames ({MOST_FRAMES}) at most", POSITIVE] = (
        None
    )
    sampling: Annotated[Policy, "where frames lie"] = "uniform"
    accept_damaged: Annotated[bool, "score damaged videos all the same, and record them"] = False
    batch_size: Annotated[int, "clips in a batch; halved where memory runs out", Range(1)] = 32
    device: Device = "auto"
    dtype: Annotated[Precision, "of the model"] = "auto"
    device_map: Annotated[str | None, "auto: spread a large model over devices"] = None
    preprocess_on: Annotated[Literal["cpu", "device"], "where dual encoders resize frames"] = "cpu"
    perturb_on: Annotated[Literal["auto", "device", "cpu"], "where frames are perturbed"] = "auto"
    workers: Annotated[int | None, "decoding threads; default: by the number of cores"] = None
    store: Annotated[Path | None, "where embeddings are kept; default: the user's cache"] = None
    keep_matrices: Annotated[float, "GB of similarities kept whole, else the best 100"] = 2.0
    dry_run: Annotated[bool, "print what would be done and its cost; score nothing"] = False
    show_input: Annotated[bool, "print what the model is given for one item, and score nothing"] = False
    accept: Annotated[str | Sequence[str], "checks of the self-test that may fail; all: no self-test"] = ""
    progress: Annotated[bool, "show progress bars", Flag(python_only=True)] = True


# In the record of a run these say nothing about its numbers.
NOT_RECORDED = ("progress", "workers", "dry_run", "show_input", "store", "output", "interval", "once")


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(RunOptions, SetOptions, ModelOptions, TableColumns):
    """All options of `score`."""

    HIDDEN: ClassVar[frozenset[str]] = frozenset(column.name for column in fields(TableColumns))  # `xray` shows them

    def request(self) -> JsonObject:
        """The options as `run.json` records them: those that the numbers depend on."""
        record = {name: value for name, value in declared.as_record(self).items() if name not in NOT_RECORDED}
        return record | {"conditions": names_in(self.conditions) or []}


@dataclass(frozen=True, kw_only=True)
class WatchOptions(ScoreOptions):
    """All options of `watch`."""

    limit: Annotated[int | None, "only the first clips of each config; 0: all", Flag(panel=SCORED), Range(0)] = 100
    revision: Annotated[str | None, "of `score` only", Flag(hidden=True)] = None
    dry_run: Annotated[bool, "of `score` only", Flag(hidden=True)] = False
    show_input: Annotated[bool, "of `score` only", Flag(hidden=True)] = False
    interval: Annotated[float, "seconds between two looks", Flag(panel=RUN), POSITIVE] = 60.0
    once: Annotated[bool, "score what is there, and end", Flag(panel=RUN)] = False
