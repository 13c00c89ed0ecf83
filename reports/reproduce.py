"""The papers' tables as data (`published/`), and ours beside theirs; sets are named, or made of the annotations.

RCAD has a released convention too: ties count for the model, after a softmax over all videos, which needs embeddings.
"""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from video_contrast.console import Say, aligned
from video_contrast.errors import UsageError, VideoContrastError, check_names
from video_contrast.files import AnyPath, Json
from video_contrast.reports.similarity_plots import StoredVectors
from video_contrast.rows import Layout, MultipleChoiceRow
from video_contrast.runner.job import RunResult
from video_contrast.runner.score_call import score
from video_contrast.storage import RunFolder, SetFolder
from video_contrast.storage.run_figures import (
    ABSOLUTE,
    ACCURACY,
    AMONG_FIRST,
    MEAN_RANK,
    RECALLS,
    RELATIVE,
    FigureKey,
    Gamma,
    RunNumbers,
)
from video_contrast.storage.run_file_fields import Numbers

BuildPlan = tuple[list[str], dict[str, str | Path]]  # configs that can be built of a folder, the builder's options


def find_set(
    builder: str, configs: Sequence[str], *, folder: AnyPath | None, video_root: AnyPath | None, log: Say
) -> Path:
    """The folder of the set, made on first use.

    `builder`: "msrvtt" or "feint6k". `configs`: which configs; those whose source is not there are left out. `folder`:
    folder of the annotations; where None they are looked for beside the videos. Raises UsageError: neither a set nor
    annotations; the message names what is looked for and the command.
    """
    dataset, names = Path("sets") / builder, BUILDERS[builder]
    if folder is None and SetFolder(dataset).is_built:
        return dataset
    folders = [Path(folder)] if folder is not None else []
    if folder is None and video_root is not None:
        folders = [Path(video_root), Path(video_root).parent]
    for source in folders:
        plan = PLANS[builder](source, configs) if source.is_dir() else None
        if plan is None:
            continue
        buildable, options = plan
        lacking = [config for config in buildable if not (dataset / config).is_dir()]
        if lacking:
            from video_contrast.builders import build

            log(f"building {', '.join(lacking)} of {builder} from {source} into {dataset} ...")
            build(builder, lacking, output=dataset, **options)
        return dataset
    if folder is not None:
        raise UsageError(f"--folder {folder} does not hold {names['requirements']}")
    raise UsageError(
        f"no set at {dataset}, and no annotations beside the videos; give --folder FOLDER with "
        f"{names['requirements']}, or --dataset with a set made by `{names['command']}`"
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


# Builder -> its plan of a folder of annotations; None where the folder holds none.
PLANS: Mapping[str, Callable[[Path, Sequence[str]], BuildPlan | None]] = {"msrvtt": _msrvtt, "feint6k": _feint6k}
_USUAL_SCALE = 100.0  # of the CLIP family, where a checkpoint does not hold its own


def released_rcad(run: str | Path, rows: Sequence[MultipleChoiceRow], config: str) -> dict[str, float] | None:
    """R@1, R@2, R@3 in percent and the mean rank by the released convention; None without the run's embeddings.

    `config`: a config of counterfactual captions, as many for each clip.
    """
    from video_contrast.metrics import rcad

    folder = RunFolder.open(run)
    rows_of = folder.tables.get((config, "clean"), {})
    rows = [row for row in rows if row["id"] in rows_of]
    vectors = StoredVectors(folder)
    captions = list(dict.fromkeys(text for row in rows for text in row["candidates"]))
    clips, texts = vectors.clips(rows), vectors.texts(captions)
    if clips is None or texts is None or clips.shape[1] != texts.shape[1]:
        return None
    column = {text: number for number, text in enumerate(captions)}
    columns, labels = [[column[text] for text in row["candidates"]] for row in rows], [row["label"] for row in rows]
    scale = logit_scale(folder.model)
    numbers: Numbers = rcad(  # None where an interval is undefined, which these are not
        clips @ texts.T, labels, columns=columns, normalise="videos", scale=scale, ties="released"
    )
    figures: dict[str, float] = {key: 100 * float(numbers[key]) for key in ("R@1", "R@2", "R@3") if key in numbers}
    return figures | {"mean_rank": float(numbers["mean_rank"])}


def logit_scale(model: str) -> float:
    """The factor by which a model multiplies cosines before its softmax; 100 where its checkpoint does not say."""
    from safetensors import safe_open

    from video_contrast.runner.model_files import locate

    path = locate(model).path
    for file in sorted(path.glob("*.safetensors")) if path is not None and path.is_dir() else []:
        with safe_open(str(file), "np") as tensors:
            if "logit_scale" in tensors.keys():  # noqa: SIM118  (no mapping)
                return float(np.exp(np.asarray(tensors.get_tensor("logit_scale"), np.float64)).reshape(-1)[0])
    return _USUAL_SCALE


NAMES = ("contrast_sets", "robustness", "rcad")
_PAPERS_SCORES = (RECALLS["t2v"][1], RECALLS["t2v"][0], ACCURACY)  # the first of them that there are gammas of
COVERAGE = 0.9  # share of the paper's clips below which figures are not set beside the paper's
RELEASED = "released convention"
ONE_K_A = "msrvtt_1k_a"  # rows of a table whose contrasts are of the 1k-A test; R@1 is of 1k-A in every table
Figures = dict[str, float]  # key of the published tables -> ours
# A paper's `title`, `source`, `citation`, `notes` (known errors) and `tables`: of each its `name`, `what`, and `rows`
# with a `model`, a `dataset` and `figures`, by name `value` (percent, or a share where its table has shares) and `sd`.
Paper = dict[str, Json]
Reproduction = dict[str, Json]  # of `unscored`


@dataclass(frozen=True)
class PaperPart:
    """Configs that are scored on one split, for the rows of one published data set."""

    name: str  # of the part
    configs: Mapping[str, int]  # config -> items that the paper has (at least, where `together` is given)
    split: str  # the paper's
    rows: Sequence[str]  # the data sets, as the published rows name them, beside which the figures stand
    on_request: str = ""  # scored only if asked for
    together: int = 0  # items that the paper has of all configs; 0 where that is no more than `configs` says


@dataclass(frozen=True)
class NeededRuns:
    """The scoring that a paper's tables need."""

    builder: str  # of the set, which is kept under `sets/<builder>`
    conditions: str  # scored in all parts
    parts: Sequence[PaperPart]  # configs and conditions that are scored


def _published(name: str) -> Json:
    return json.loads((files("video_contrast.reports") / "published" / f"{name}.json").read_text(encoding="utf-8"))


# Builder -> what its folder holds, and its command.
BUILDERS: Mapping[str, Mapping[str, str]] = _published("needed_runs")["builders"]
NEEDED_RUNS = {
    name: NeededRuns(needed["builder"], needed["conditions"], [PaperPart(**part) for part in needed["parts"]])
    for name, needed in _published("needed_runs").items()
    if name in NAMES
}
# Columns of ours that the papers do not print -> the column that they follow. The paper's v2t_R@1 is of the data sets'
# own tests (1k-A), ours of Feint6K's videos, so they do not share a column.
OWN_COLUMNS = {"R@3": "R@2", "random6 R@1": "mean_rank", "Feint6K v2t_R@1": "v2t_R@1"}


def published(name: str) -> Paper:
    """A paper's tables.

    Raises UsageError: no such paper.

    >>> row = published("contrast_sets")["tables"][0]["rows"][0]
    >>> row["model"], row["figures"]["verb_lm_mc"]["value"]
    ('CLIP zero-shot', 65.4)
    """
    check_names("paper", [name], NAMES)
    paper: Paper = _published(name)
    return paper


def unscored(paper: Paper) -> Reproduction:
    """Our figures for a paper's tables, before anything is scored, by data set as the published rows name it."""
    return {
        "ours": {},  # whether or not they can be compared
        "compared": {},  # those of them that stand beside the paper's
        "released": {},  # the same by the released convention, where there is one
        "items": {},  # config (and split, if not the paper's first) -> on how many items its figures are
        "too_few": {},  # config -> why its figures do not stand beside the paper's
        "left_out": {},  # config or part -> why it was not scored
        "published": paper,
    }


def default_output(name: str, model: str) -> Path:
    """The folder of a reproduction's runs when none is named.

    >>> default_output("rcad", "openai/clip-vit-base-patch32").as_posix()
    'runs/reproduce-rcad-openai-clip-vit-base-patch32'
    """
    return Path("runs") / f"reproduce-{name}-{re.sub(r'[^A-Za-z0-9._]+', '-', model).strip('-.')}"


def reproduce(
    name: str,
    model: str,
    dataset: Annotated[str | Path | None, "a built set; default: sets/BUILDER, built if absent"] = None,
    *,
    output: str | Path | None = None,
    folder: Annotated[str | Path | None, "folder of the annotations; default: looked for beside the videos"] = None,
    video_root: Annotated[str | Path | None, "where the videos lie"] = None,
    parts: Sequence[str] | None = None,
    split: Annotated[str | None, "another split than the paper's, for all configs"] = None,
    conditions: Annotated[str | None, "conditions; default: the paper's"] = None,
    log: Say = print,
    **options: Any,  # each of its own type
) -> tuple[list[str], Reproduction]:
    """Scores what a paper's tables need and puts our figures beside the published ones.

    Figures stand beside the paper's only if they are of the same split and of at least 90 % of its clips. Returns lines
    of text, and our figures. Raises UsageError: no such paper or part, or no set and nothing to make it of;
    VideoContrastError: nothing could be scored.

    `name`: of `NAMES`. `model, options`: as for `score`. `dataset`: configs that it lacks are left out and named.
    `output`: a folder for the runs (`default_output` where None); a finished part is not scored again. `parts`: all but
    "videoqa" where None, which costs three times the rest.
    """
    paper, needed = published(name), NEEDED_RUNS[name]
    asked_parts = _asked_parts(name, parts)
    if dataset is None:
        configs = list({config: None for part in asked_parts for config in part.configs})
        dataset = find_set(needed.builder, configs, folder=folder, video_root=video_root, log=log)
    base = Path(output) if output is not None else default_output(name, model)
    ours = unscored(paper)
    others = [part for part in needed.parts if part.on_request and part not in asked_parts]
    ours["left_out"] = {part.name: f"give --part {part.name} ({part.on_request})" for part in others}
    for part, config in _tables_of(asked_parts, dataset):
        its_split = split or _OTHER_SPLITS.get(_builder(dataset), part.split)
        run = base / (config if part.rows != [ONE_K_A] else f"{config}-1k_a")
        try:
            result = score(
                model, dataset, config, split=its_split, output=run, video_root=video_root,
                conditions=conditions or needed.conditions, **options,
            )  # fmt: skip
        except UsageError as error:
            if not re.search("(config|split) of", str(error)):
                raise
            ours["left_out"][_label(part, config)] = f"{dataset} does not have it in the split {its_split!r}"
            continue
        ours["left_out"] |= dict(result.record.get("skipped", {}))
        _take(ours, name, part, config, result=result, dataset=dataset, split=its_split)
        if name == part.name == "rcad":
            _take_released(ours, run, config, dataset=dataset, split=its_split)
    if not ours["ours"]:
        raise VideoContrastError(
            f"{dataset} has none of the configs of {name} ({'; '.join(ours['left_out'].values())}); "
            f"make it with `{BUILDERS[needed.builder]['command']}`"
        )
    return lines(model, ours), ours


def _asked_parts(name: str, names: Sequence[str] | None) -> list[PaperPart]:
    """The parts of a paper that are scored: those of some names, or all but those on request."""
    parts = NEEDED_RUNS[name].parts
    check_names(f"part of {name}", names or (), [part.name for part in parts])
    return [part for part in parts if (part.name in names if names else not part.on_request)]


_OTHER_SPLITS = {"youcook2": "validation", "lsmdc_ids": "test"}  # where a builder's split is not that of MSR-VTT


def _builder(dataset: str | Path) -> str:
    return SetFolder(Path(dataset)).builder


def _label(part: PaperPart, config: str) -> str:
    return f"{config} (1k-A)" if part.rows == [ONE_K_A] else config


def _tables_of(parts: Sequence[PaperPart], dataset: str | Path) -> list[tuple[PaperPart, str]]:
    """The configs that are scored: each of each part, without the parts of MSR-VTT's 1k-A on other data."""
    usable = [part for part in parts if _builder(dataset) not in _OTHER_SPLITS or part.rows != [ONE_K_A]]
    return [(part, config) for part in usable for config in part.configs]


def _take(
    ours: Reproduction, name: str, part: PaperPart, config: str, *, result: RunResult, dataset: str | Path, split: str
) -> None:
    """Enters the figures of a run, and says whether they can stand beside the paper's."""
    entry = result[config]
    numbers = RunNumbers.of({config: entry})
    score = RECALLS["v2t"][0] if entry["layout"] == "retrieval" else ACCURACY
    over = numbers.figures.get(FigureKey(config, "clean", score))
    builder = _builder(dataset)
    of_source = [f"rcad_{config.rpartition('_')[2]}"]
    rows = of_source if name == "rcad" else [builder] if builder in _OTHER_SPLITS else part.rows
    label = _label(part, config)
    n = (over.n if over else 0) or 0
    missing = int(result.record.get("n_missing", 0))
    folder = SetFolder(Path(dataset)) if Path(dataset).is_dir() else None
    in_set = len(folder.rows(config, split)) if folder is not None else n + missing
    together = _rows_of_all(folder, list(part.configs), split) if folder and part.together else 0
    in_paper = max(in_set, part.configs[config] if builder not in _OTHER_SPLITS else 0)
    ours["items"][label] = f"{n:,}" + (f" (n_missing {missing:,})" if missing else "")
    figures = _figures(name, config, entry["layout"], numbers)
    for row in rows:
        ours["ours"].setdefault(row, {}).update(figures)
    if split != _OTHER_SPLITS.get(builder, part.split):
        ours["too_few"][label] = f"split {split!r} is not the paper's"
    elif n < COVERAGE * in_paper:
        least = "at least " * bool(part.together and in_set < in_paper)
        ours["too_few"][label] = f"{n:,} of {least}{in_paper:,} items; below {COVERAGE:.0%} figures cannot be compared"
    elif together and together < COVERAGE * part.together:
        ours["too_few"][label] = (
            f"{' and '.join(part.configs)} have {together:,} of {part.together:,} items together; below {COVERAGE:.0%} "
            "figures cannot be compared"
        )
    else:
        for row in rows:
            ours["compared"].setdefault(row, {}).update(figures)


def _take_released(ours: Reproduction, run: Path, config: str, *, dataset: str | Path, split: str) -> None:
    """Enters the figures of a run by the released convention, where they can be compared."""
    if config in ours["compared"] and Path(dataset).is_dir():
        figures = released_rcad(run, SetFolder(Path(dataset)).choice_rows(config, split), config)
        ours["released"] |= {config: figures} if figures is not None else {}


def _rows_of_all(folder: SetFolder, configs: Sequence[str], split: str) -> int:
    """Rows of several configs of a set; 0 where it lacks one."""
    whole = all(config in folder.configs and split in folder.splits(config) for config in configs)
    return sum(len(folder.rows(config, split)) for config in configs) if whole else 0


def _figures(name: str, config: str, layout: Layout, numbers: RunNumbers) -> Figures:
    """The figures of a config under the names that they have in the tables of a paper."""
    if name == "robustness":
        return _mean_gammas([gamma for gamma in numbers.gammas if gamma.group])
    values = {row.score: row.value for row in numbers.figures.values() if row.condition == "clean"}
    percents = {score: 100 * value for score, value in values.items()}
    if config.startswith("random6_"):
        return {"random6 R@1": percents[ACCURACY]}
    if layout == "retrieval":
        own = {score.key: percents[score] for way, (score, *_) in RECALLS.items() if name != "rcad" or way == "v2t"}
        return {f"Feint6K {key}": value for key, value in own.items()} if name == "rcad" else own
    if name == "rcad":
        figures = {"R@1": percents[ACCURACY], "mean_rank": values[MEAN_RANK]}
        return figures | {score.name: percents[score] for score in AMONG_FIRST if score in percents}
    return {config: percents[ACCURACY]}


def _mean_gammas(gammas: Sequence[Gamma]) -> Figures:
    """Gammas by group under the keys of the published tables, of the score that the paper takes."""
    scores = [score for score in _PAPERS_SCORES if any(gamma.score == score for gamma in gammas)]
    own = [gamma for gamma in gammas if gamma.score in scores[:1]]
    means = {f"{gamma.group}:{ABSOLUTE}": gamma.absolute for gamma in own}
    means |= {f"{gamma.group}:{RELATIVE}": gamma.relative for gamma in own}
    return {name: value for name, value in means.items() if value is not None}


def lines(model: str, ours: Reproduction) -> list[str]:
    """The published rows with ours below each table, the sources, and the known errors."""
    paper = ours["published"]
    text = [paper["title"], f"published: {paper['source']}"]
    for table in paper["tables"]:
        text += ["", f"{table['name']}: {table['what']}", *_table(table["rows"], model[-30:], ours)]
    text += [""]
    if ours["items"]:
        text.append("items: " + ", ".join(f"{config} {n}" for config, n in ours["items"].items()))
    text += [f"not compared: {config}: {why}" for config, why in ours["too_few"].items()]
    text += [f"left out: {name}: {why}" for name, why in ours["left_out"].items()]
    text += [f"known: {note}" for note in paper["notes"]]
    return text


def _table(rows: Sequence[Json], model: str, ours: Reproduction) -> list[str]:
    lines: list[tuple[str, dict[str, str]]] = []  # label and cells
    columns = list(dict.fromkeys(key for row in rows for key in row["figures"]))
    for data_set in dict.fromkeys(row["dataset"] for row in rows):
        theirs = [(row["model"], row["figures"]) for row in rows if row["dataset"] == data_set]
        lines += [(f"{data_set}: {name}", {key: _printed(f) for key, f in figures.items()}) for name, figures in theirs]
        for name, figures in ((f"ours, {model}", ours["compared"]), (f"ours, {RELEASED}", ours["released"])):
            cells = {key: f"{value:.2f}" for key, value in figures.get(data_set, {}).items()}
            columns += [key for key, after in OWN_COLUMNS.items() if key in cells and after in columns]
            if cells.keys() & set(columns):
                lines.append((f"{data_set}: {name}", cells))
    places = {key: place for place, key in reversed(list(enumerate(columns)))}
    columns = sorted(places, key=lambda column: (places[OWN_COLUMNS.get(column) or column], column in OWN_COLUMNS))
    heads = [column.replace(ABSOLUTE, "abs").replace(RELATIVE, "rel") for column in columns]
    return aligned([["", *heads], *([label, *(cells.get(key, "-") for key in columns)] for label, cells in lines)])


def _printed(figure: Json) -> str:
    return f"{figure['value']:.2f}" + (f" ± {figure['sd']:.2f}" if figure.get("sd") is not None else "")
