"""The sources of an X-ray: a set of ours, a table of any kind, a log with the items inside, a data set of the Hub."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from video_contrast.audit.model_answers import ModelAnswers
from video_contrast.audit.nearest_contrast import mark_nearest
from video_contrast.errors import UsageError, VideoContrastError, check_names
from video_contrast.hub import set_of_hub
from video_contrast.reports.foreign_logs import inspect_ai, named_by_text, read_logs
from video_contrast.rows import MultipleChoiceRow, optional_parts
from video_contrast.storage import RunFolder, SetFolder
from video_contrast.storage.plain_table import PlainTable, plain_table
from video_contrast.storage.table_columns import TableColumns, TableRow
from video_contrast.storage.table_file import read_table_file

Against = Literal["auto", "all", "nearest"]


@dataclass
class XraySource:
    """A set to X-ray."""

    name: str  # of the set, and of the config where it has several
    splits: dict[str, list[MultipleChoiceRow]]  # split -> rows
    guesses: list[str] = field(default_factory=list)  # which column was read as what, a sentence each
    left_out: dict[str, list[str]] = field(default_factory=dict)  # reason -> places of rows that are no item
    folder: SetFolder | None = None  # folder of a set of ours with a record; its config is `config`
    config: str = ""
    table: PlainTable | None = None  # that it was read from, where it was one
    path: Path = Path()  # of the input
    columns: TableColumns = field(default_factory=TableColumns)  # that the user names


def open_sources(
    what: str, configs: Sequence[str] | None = None, *, split: str | None = None,
    columns: TableColumns | None = None, against: Against = "auto", strict: bool = False,
) -> list[XraySource]:  # fmt: skip
    """Reads what is to be X-rayed; a folder or a data set gives one source a config.

    `split`: of a data set of the Hub, the only one to load; of others all are read. `against`: what the true candidate
    is told from: the contrasts (kinds that a set names; where it names none the nearest candidate, if one stands out),
    all others, or the nearest. `strict`: refuse a table with a row that is no item. Raises UsageError: nothing of that
    name, no such config, or a run of ours; VideoContrastError: a table cannot be read; names file and row.
    """
    path = Path(what).expanduser()
    if path.is_dir():
        sources = _folder(path, configs, columns)
    elif path.is_file():
        sources = [_file(path, columns, strict)]
    elif what.count("/") == 1 and not what.startswith((".", "/", "~")):
        with set_of_hub(what):
            sources = _hub(what, configs, split, columns=columns, strict=strict)
    else:
        raise UsageError(f"no such file, folder or data set of the Hub: {what}")
    for source in sources:
        source.path, source.columns = path, columns or source.columns
        kinds = {kind for rows in source.splits.values() for row in rows for kind in row["kinds"]}
        for name, rows in source.splits.items():
            if against == "all":
                for row in rows:
                    row["kinds"] = ["true" if n == row["label"] else "distractor" for n in range(len(row["kinds"]))]
            elif against == "nearest" or kinds <= {"true", "distractor"}:
                source.splits[name], alone = mark_nearest(rows)
                if alone:
                    source.guesses.append(
                        f"contrasts ({name}): in {alone:,} of {len(rows):,} items one candidate differs from the true "
                        "one in a few words; the nearest one is taken (--against all takes all)"
                    )
    return sources


def _folder(path: Path, configs: Sequence[str] | None, columns: TableColumns | None) -> list[XraySource]:
    if RunFolder(path).is_finished:
        raise UsageError(f"{path} is a run; X-ray its set, and give the run as --scores")
    folder = replace(SetFolder.open(path), columns=columns)
    configs_of_set = folder.configs
    check_names(f"config of {path}", configs or (), configs_of_set)
    sources = []
    for config in configs or configs_of_set:
        splits = {name: folder.rows(config, name) for name in folder.splits(config)}
        rows: dict[str, list[MultipleChoiceRow]] = {}
        for name, of_split in splits.items():
            if of_split and "candidates" in of_split[0] and "perturbed" not in optional_parts(of_split[0]):
                rows[name] = [row for row in of_split if "candidates" in row]  # tells the type checker which rows
        if rows and (configs or not config.endswith("_refined")):
            name = path.resolve().name if len(configs_of_set) == 1 else f"{path.resolve().name} {config}"
            sources.append(XraySource(name, rows, folder=folder if folder.is_built else None, config=config))
    if not sources:
        raise UsageError(f"{path} has no multiple-choice config without perturbations to X-ray")
    return sources


def _file(path: Path, columns: TableColumns | None, strict: bool) -> XraySource:
    log = None
    with suppress(*[VideoContrastError] * (path.suffix == ".json")):  # JSON lines, or an error of the table's reader
        log = inspect_ai.load(path) if path.suffix in (".eval", ".json") else None
    if log is not None:
        rows: list[TableRow] = []
        for sample in log.get("samples") or ():
            if not sample.get("choices"):
                where = f"{path}: sample {sample.get('id')!r}"
                raise VideoContrastError(f"{where} has no choices; only multiple choice is X-rayed")
            if sample.get("epoch", 1) == 1:
                metadata = sample["metadata"] if isinstance(sample.get("metadata"), dict) else {}
                question = {"question": sample["input"] if isinstance(sample["input"], str) else None}
                own = {"id": sample["id"], "candidates": sample["choices"], "label": sample["target"]}
                rows.append({**metadata, **own, **question})
        table = plain_table(rows, str(path), columns=columns, strict=strict)
        return replace(_source(path.stem, table, ["the samples of the log"]), table=None)
    text = columns or TableColumns()
    file = read_table_file(path, encoding=text.encoding, delimiter=text.delimiter)
    if {"doc_id", "filtered_resps"} <= next(iter(file.rows.values())).keys():
        raise UsageError(f"{path}: a log of lmms-eval holds no candidates; give the set, and the log as --scores")
    table = plain_table(file.rows, str(path), columns=columns, strict=strict)
    return _source(path.stem, table, file.notes)


def _source(name: str, table: PlainTable, notes: Sequence[str]) -> XraySource:
    no_video = "no column of the source video: each row counts as a video of its own: --video or --cluster names it"
    own = [] if table.has_videos else [no_video]
    return XraySource(name, table.splits, [*notes, *table.guesses, *own], table.left_out, table=table)


def _hub(
    name: str, configs: Sequence[str] | None, split: str | None, *, columns: TableColumns | None, strict: bool
) -> list[XraySource]:
    import datasets

    all_configs = list(datasets.get_dataset_config_names(name))
    sources = []
    for config in configs or all_configs:
        splits = [split] if split else list(datasets.get_dataset_split_names(name, config))
        rows: list[TableRow] = []
        for part in splits:
            dataset = datasets.load_dataset(name, config, split=part)
            plain = [key for key, feature in dataset.features.items() if "Video" not in type(feature).__name__]
            rows += [{**row, "split": part} for row in dataset.select_columns(plain)]
        table = plain_table(rows, f"{name}, {config}", columns=columns, strict=strict)
        sources.append(_source(name if len(all_configs) == 1 else f"{name} {config}", table, []))
    return sources


def answers_of(paths: Sequence[Path], source: XraySource, split: str) -> list[ModelAnswers]:
    """The answers to a set's items, of our runs and of others' logs.

    `paths`: run folders or logs. Raises VideoContrastError: a log without samples, or one that has no item of the set.
    """
    ids = {row["id"] for row in source.splits[split]}
    answers = []
    for path in paths:
        best = max(read_logs(path), key=lambda log: (log.task == source.config, len(ids & log.hits.keys())))
        if not ids & best.hits.keys():
            best = named_by_text(best, source.splits[split])
        if not ids & best.hits.keys():
            why = "it has no samples"
            if best.hits:
                why = f"its ids are like {next(iter(best.hits))!r}, those of the set like {min(ids)!r}"
            raise VideoContrastError(f"--scores {path}: holds no item of {source.name}: {why}")
        answers.append(ModelAnswers(best.model, best.hits, best.choices))
    return answers
