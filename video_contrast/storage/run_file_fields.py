"""The fields of a run's files: `run.json`, `metrics.json`, the lines of `scores.parquet`, `videos.json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import numpy as np
import numpy.typing as npt

from video_contrast.errors import UsageError
from video_contrast.files import Json, JsonObject
from video_contrast.rows import Layout

# Name of a metric -> value, shares from 0 to 1; None where an interval is undefined, which only some names may be.
Numbers = dict[str, Any]  # which of them are None, and which are whole numbers, is known by name only
Gammas = dict[str, float | None]  # gamma_absolute, gamma_relative, gamma_corrected; of means also *_sd, n, n_undefined
# score -> {"clean": float, "at_chance": bool, "conditions": name -> Gammas, group -> Gammas}; groups have names of
# their own ("visual:Noise"), so a type by key is not possible
Robustness = dict[str, Numbers]  # as described above


class ScoreRow(TypedDict):
    """A line of `scores.parquet`: one multiple-choice item under one condition."""

    config: str
    condition: str
    id: str
    video_id: str
    cluster: str
    label: int
    kinds: list[str]
    scores: list[float]  # one a candidate, higher is better
    replaced_score: float | None  # of the random distractor that the contrast displaced
    parts: str | None  # JSON: raw parts, a dict a candidate
    frames: list[int]  # numbers of the frames that were seen
    group: NotRequired[str]  # of pairs


@dataclass(frozen=True)
class BestMatches:
    """The part that is kept of too many similarities: the best captions of each clip, and ranks of the true ones."""

    columns: npt.NDArray[np.int32]  # [n, k], the captions that are most similar to each clip, the best first
    values: npt.NDArray[np.floating]  # [n, k], their similarities
    own: npt.NDArray[np.floating]  # [m], the similarity of each caption with its own clip
    captions: npt.NDArray[np.int64]  # [2, m]: how many clips are more similar to a caption than its own, and as similar
    # [3, c], of the clips that have captions: how many captions of others are more similar than the best own one, how
    # many as similar, and how many own ones are as similar as that.
    clips: npt.NDArray[np.int64]


@dataclass(frozen=True)
class SimilarityMatrix:
    """Similarities of a retrieval config under one condition: all of them, or the best of each clip."""

    rows: Sequence[str]  # n item ids
    videos: Sequence[str]  # n video ids
    columns: Sequence[str]  # m ids of captions, "ITEM#NUMBER"
    relevant: Sequence[int]  # m rows: that of each caption's own clip
    frames: Sequence[Sequence[int]] = ()  # numbers of the frames that were seen, a list a clip; () if none were decoded
    all_values: npt.NDArray[np.floating] | None = None  # float32[n, m]; None where they were not kept
    best: BestMatches | None = None  # kept instead

    @property
    def values(self) -> npt.NDArray[np.floating]:
        """float32[n, m], clips against captions, higher is more similar. Raises UsageError: they were not kept."""
        if self.all_values is None:
            raise UsageError(
                f"of {len(self.rows):,} x {len(self.columns):,} similarities the best of each clip were kept; score "
                "again with a larger --keep-matrices"
            )
        return self.all_values


class VideoFile(TypedDict, total=False):
    """A file of `videos.json`: what it held when it was read, or why it could not be read."""

    sha256: str
    size: int  # bytes
    changed: int  # time of change, ns
    status_changed: int  # time of change of the status, ns, which no program can set
    error: str


class ConfigMetrics(TypedDict):
    """The metrics of one config."""

    layout: Layout
    conditions: dict[str, Numbers]
    robustness: NotRequired[Robustness]
    n_missing: NotRequired[int]  # clips of the run, in tables and what `table --json` prints
    n_clips: NotRequired[int]  # that were to be scored, the missing ones among them


def perturbed_configs(configs: Mapping[str, ConfigMetrics]) -> list[str]:
    """The configs of a robustness set that hold conditions of its config `clean`; none where that is not there."""
    clean = configs.get("clean")
    if not clean or "clean" not in clean["conditions"]:
        return []
    own = clean["conditions"].keys()
    alike = {name: entry for name, entry in configs.items() if entry["layout"] == clean["layout"]}
    return [name for name, entry in alike.items() if not entry["conditions"].keys() & own]


class RunMetrics(TypedDict):
    """The content of `metrics.json`."""

    configs: dict[str, ConfigMetrics]


class RunRecord(TypedDict):
    """The content of `run.json`: what made the numbers."""

    version: str
    request: JsonObject  # the arguments of `score`, as given
    # name, revision, kind, kind_version, options, files (path -> size, time of change), the step of a checkpoint of a
    # training run, the recipe of its family, and what its kind tells of it.
    model: Json
    # dataset, split, configs, fingerprints (config -> digest of its rows), items; of a set with questions, by config,
    # how these were used, and the prompts with which they were asked.
    set: Json
    sampling: Json  # of frames: the fields of `runner.views.Sampling`
    embeddings: dict[str, str]  # store, space; empty where a model has none
    # name -> "group", and the fields of `Visual` and `Text` of `runner.conditions` under "visual" and "text".
    conditions: dict[str, Json]
    skipped: dict[str, str]  # condition, or config none of whose edits a sampling shows -> why it was left out
    seed: int
    device: str
    dtype: str
    perturb_on: NotRequired[str]  # place of perturbing: "cpu", or the "device" of the model
    processes: int
    versions: dict[str, str]
    missing: dict[str, str]  # video path -> why it could not be read
    n_missing: int
    n_clips: NotRequired[int]  # that were to be scored, the missing ones among them
    gone: NotRequired[list[str]]  # of a finished run that is returned: videos that were scored and are not there now
    n_unseen: NotRequired[int]  # edited clips of which the sampling does not show every segment
    edited_clips: NotRequired[dict[str, str]]  # how their frames were chosen, and in which size they were shown
    damaged: NotRequired[dict[str, str]]  # video path -> what is wrong with it, where it was scored all the same
    remarks: NotRequired[dict[str, list[str]]]  # fact that a reader should know of decoded files -> video paths
    counters: dict[str, int]
    notes: list[str]
    self_test: NotRequired[Json]  # of `runner.doctor.result.SelfTest`
    input: NotRequired[JsonObject]  # input of the model for one item: prompt, tokens, times, pixel shapes
    seconds: float
