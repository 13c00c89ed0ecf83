"""Several runs asked for in one call: a list of mappings, from Python, from `--model A --model B` or a YAML file."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from video_contrast.errors import UsageError, unknown_name
from video_contrast.files import Json
from video_contrast.options import GivenOptions, Option, bind, options_of
from video_contrast.runner.kinds import all_kinds
from video_contrast.runner.options import ScoreOptions

NOT_OF_ONE_RUN = ("dry_run", "show_input", "progress")  # they are said once, for all runs
OWN = ("model", "dataset", "config", "name")


@dataclass(frozen=True)
class RunRequest:
    """One run of several: the arguments of `score`."""

    name: str  # of its folder and its column in the table; unique among the runs
    model: str
    dataset: str
    configs: tuple[str, ...] | None
    options: ScoreOptions  # with `output`


def read_run_list(path: Path) -> list[GivenOptions]:
    """The runs of a YAML file: a list of mappings.

    Raises UsageError: the file cannot be read, or holds something else.
    """
    import yaml

    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=_loader(path))
    except OSError as error:
        raise UsageError(f"--runs {path}: {error.strerror or error}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"--runs {path} is no YAML file: {' '.join(str(error).split())}") from error
    if not isinstance(content, list) or not content or not all(isinstance(entry, dict) for entry in content):
        raise UsageError(f"--runs {path} must be a list of runs, each with model, dataset and its options")
    return content


def _loader(path: Path) -> Any:  # a class of yaml, which is imported at first use
    """YAML's safe loader, which takes the last of two equal keys unless it is told not to."""
    import yaml

    class Once(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Json]:
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            twice = next((key for n, key in enumerate(keys) if key in keys[:n]), None)
            if twice is not None:
                raise UsageError(
                    f"--runs {path}: a run that begins in line {node.start_mark.line + 1} has {twice} twice"
                )
            return super().construct_mapping(node, deep)

    return Once


def run_requests(
    runs: Sequence[GivenOptions], output: Path, *, options: ScoreOptions, where: str = "the runs"
) -> list[RunRequest]:
    """The runs with their options filled in and checked.

    `runs`: a mapping a run: `model`, `dataset`, `config` (one or several), `name`, and options of `score` or of the
    model's kind by name. `output`: the folder of the runs' folders, but for those with an `output` of their own.
    `options`: what holds for every run that does not say otherwise. `where`: what holds the runs, for messages. Raises
    UsageError: an entry lacks its model or data set, or has an unknown option, or two write to one folder.
    """
    names = _names([str(entry.get("name") or entry.get("model") or "") for entry in runs])
    requests: list[RunRequest] = []
    for number, (entry, name) in enumerate(zip(runs, names, strict=True), 1):
        place = f"run {number} of {where}"
        values = {str(key).replace("-", "_"): value for key, value in entry.items()}
        own = _own_options({key: value for key, value in values.items() if key not in OWN}, options, place)
        missing = [key for key in ("model", "dataset") if not values.get(key)]
        if missing:
            raise UsageError(f"{place} has no {missing[0]}")
        place_of_run = own.output if "output" in values else output / name
        options_of_run = replace(own, output=place_of_run, progress=options.progress)
        configs = _configs(values.get("config"), place)
        requests.append(RunRequest(name, str(values["model"]), str(values["dataset"]), configs, options_of_run))
    folders = [request.options.output for request in requests]
    twice = next((folder for n, folder in enumerate(folders) if folder in folders[:n]), None)
    if twice is not None:
        raise UsageError(f"two of {where} write to {twice}; give them other names or outputs")
    return requests


def _own_options(values: GivenOptions, usual: ScoreOptions, place: str) -> ScoreOptions:
    """The options of one run: those of `score` by name, all others are options of kinds."""
    known = options_of(ScoreOptions)
    of_kinds = {option.name for kind in all_kinds().values() for option in kind.options}
    for key in values:
        if key in NOT_OF_ONE_RUN or (key not in known and key not in of_kinds):
            allowed = [*OWN, *(name for name in known if name not in NOT_OF_ONE_RUN), *sorted(of_kinds)]
            raise unknown_name(f"option of {place}", key, allowed)
    fields = {key: _checked(known[key], value, place) for key, value in values.items() if key in known}
    own = replace(usual, **bind(ScoreOptions, fields, place))
    more = {key: value for key, value in values.items() if key not in known}
    return replace(own, options={**usual.options, **more}) if more else own


def _checked(option: Option, value: Json, place: str) -> Json:
    """A value of YAML, which knows numbers and truths, and gives whatever was written."""
    members = get_args(option.type) or (option.type,)
    expected = next((kind for kind in (bool, int, float) if kind in members), None)
    if expected is None and isinstance(value, bool | int | float):  # a revision of digits alone, which YAML counts
        raise UsageError(f"{place}: {option.name} {value!r} is not text; put it in quotes")
    if value is None or expected is None or type(value) is expected or (expected is float and type(value) is int):
        return value
    raise UsageError(f"{place}: {option.name} {value!r} is not {expected.__name__}")


def _configs(config: Json, place: str) -> tuple[str, ...] | None:
    if config is None:
        return None
    words = config.split(",") if isinstance(config, str) else config
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise UsageError(f"{place}: config {config!r} is neither a name nor a list of names")
    return tuple(str(word).strip() for word in words)


def _names(models: Sequence[str]) -> list[str]:
    """Names of folders: the last part of a path, a Hub id with `--` for `/`; equal ones are numbered.

    >>> _names(["openai/clip", "runs/a/checkpoint-10", "runs/b/checkpoint-10", "temporal"])
    ['openai--clip', 'checkpoint-10', 'checkpoint-10-2', 'temporal']
    """
    names: list[str] = []
    for model in models:
        path = model.rstrip("/")
        short = path if path.count("/") == 1 and not path.startswith((".", "/", "~")) else path.rpartition("/")[2]
        name = re.sub(r"[^\w.-]+", "-", short.replace("/", "--")).lstrip(".") or "run"
        count = sum(other == name or re.fullmatch(rf"{re.escape(name)}-\d+", other) is not None for other in names)
        names.append(name if name not in names else f"{name}-{count + 1}")
    return names
