"""Where the set comes from that a paper's tables need: named, made before, or made now from the annotations."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.storage import SetFolder

BuildPlan = tuple[list[str], dict[str, str | Path]]  # configs that can be built of a folder, the builder's options


@dataclass(frozen=True)
class Annotations:
    """How a paper's set is made."""

    builder: str  # the builder's name; the set is kept under `sets/<builder>`
    requirements: str  # what a folder of annotations holds, for messages
    command: str  # the command that makes the set
    # what can be built of a folder; None where it holds no annotations.
    plan: Callable[[Path, Sequence[str]], BuildPlan | None]


def find_set(
    annotations: Annotations,
    configs: Sequence[str],
    *,
    folder: str | Path | None = None,
    video_root: str | Path | None = None,
    log: Callable[[str], None] = print,
) -> Path:
    """The folder of the set, made on first use.

    `configs`: which configs; those whose source is not there are left out. `folder`: folder of the annotations; where
    None they are looked for beside the videos. Raises UsageError: neither a set nor annotations; the message names what
    is looked for and the command.
    """
    dataset = Path("sets") / annotations.builder
    if folder is None and SetFolder(dataset).is_built:
        return dataset
    folders = [Path(folder)] if folder is not None else []
    if folder is None and video_root is not None:
        folders = [Path(video_root), Path(video_root).parent]
    for source in folders:
        plan = annotations.plan(source, configs) if source.is_dir() else None
        if plan is None:
            continue
        buildable, options = plan
        lacking = [config for config in buildable if not (dataset / config).is_dir()]
        if lacking:
            from video_contrast.builders import build

            log(f"building {', '.join(lacking)} of {annotations.builder} from {source} into {dataset} ...")
            build(annotations.builder, lacking, output=dataset, **options)
        return dataset
    if folder is not None:
        raise UsageError(f"--folder {folder} does not hold {annotations.requirements}")
    raise UsageError(
        f"no set at {dataset}, and no annotations beside the videos; give --folder FOLDER with "
        f"{annotations.requirements}, or --dataset with a set made by `{annotations.command}`"
    )


def _msrvtt(folder: Path, configs: Sequence[str]) -> BuildPlan | None:
    from video_contrast.builders.sources.msrvtt import ANNOTATIONS, RELEASED

    if not any((folder / name).is_file() for name in ANNOTATIONS):
        return None
    there = [config for config in configs if config not in RELEASED or (folder / RELEASED[config]).is_file()]
    splits = "test,test_1k_a" if (folder / "MSRVTT_JSFUSION_test.csv").is_file() else "test"
    return there, {"folder": folder, "splits": splits}


def _feint6k(folder: Path, configs: Sequence[str]) -> BuildPlan | None:
    tables: dict[str, str | Path] = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as handle:
            fits = set(next(csv.reader(handle), ())) == {"sentence", "video_id"}
        tables |= {source: path for source in ("msrvtt", "vatex") if fits and source in path.name.lower()}
    if not tables:
        return None
    return [config for config in configs if config.rpartition("_")[2] in tables], tables


_MSRVTT = Annotations(
    "msrvtt",
    "MSR-VTT's annotations (test_videodatainfo.json, MSRVTT_JSFUSION_test.csv, and where you have it the released "
    "msrvtt_lm_contrast_set.tsv)",
    "video-contrast build msrvtt --folder ANNOTATIONS --output sets/msrvtt",
    _msrvtt,
)
_FEINT6K = Annotations(
    "feint6k",
    "Feint6K's csv files (columns sentence and video_id, with msrvtt or vatex in their names)",
    "video-contrast build feint6k --msrvtt MSRVTT.csv --vatex VATEX.csv --output sets/feint6k",
    _feint6k,
)
ANNOTATIONS = {own.builder: own for own in (_MSRVTT, _FEINT6K)}
