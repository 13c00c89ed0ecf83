"""Lines to compare with: how well people do, and what the papers published (the runner's tables, the one source)."""

from collections.abc import Mapping, Sequence
from functools import cache

from video_contrast.files import Json
from video_contrast.reports.layout import Cell, Table, columns, row
from video_contrast.reports.runs import SetKey, config_facts, set_record
from video_contrast.storage.run_figures import ABSOLUTE, ACCURACY, AMONG_FIRST, MAIN, MEAN_RANK, RELATIVE, leading

# Builders whose sets the papers measured, by the name that the published rows give the data.
_DATA = {name: name.removesuffix("_p") for name in ("msrvtt", "msrvtt_p", "youcook2", "youcook2_p", "lsmdc_ids")}
# The papers' names of configs, where a builder's differ: the same method, on items of our own making.
_CONFIGS = {("lsmdc_ids", "verb_mc"): "verb_lm_mc"}
_RETRIEVAL = {score.key: score.words for score in MAIN["retrieval"]}
_COUNTERFACTUAL = [score.name for score in (leading("retrieval"), *AMONG_FIRST, MEAN_RANK)]  # by their columns
_PEOPLE = "human"


def human(key: SetKey) -> float | None:
    """Accuracy of people on a config in percent, or None where nobody measured it.

    A set that was judged here (`video-contrast annotate judge`) carries its own figure.
    """
    judged = config_facts(key).get("human", {})
    if isinstance(judged, dict) and judged.get(ACCURACY.key) is not None:
        return 100 * float(judged[ACCURACY.key])
    for _, _, rows in _tables():
        for line in rows:
            name = _published_name(key, line["dataset"])
            if line["model"].lower() == _PEOPLE and name in line["figures"]:
                return float(line["figures"][name]["value"])
    return None


def published(keys: Sequence[SetKey]) -> list[Table]:
    """The figures that papers report for the configs, a table a published table; empty where they have none."""
    tables: list[Table] = []
    for title, source, rows in _tables():
        data_sets = dict.fromkeys(line["dataset"] for line in rows)
        for data_set in data_sets:
            headings: dict[str, str] = {}  # published name -> heading
            for key in keys:
                name = _published_name(key, data_set)
                if name:
                    headings[name] = key.config
                if key.config == "retrieval" and _DATA.get(_builder(key)) == data_set.removesuffix("_1k_a"):
                    headings |= _RETRIEVAL
                if key.config == data_set:  # counterfactual retrieval: the rows name the config itself
                    headings |= {name: name.replace("_", " ") for name in _COUNTERFACTUAL}
            of_data = [line for line in rows if line["dataset"] == data_set]
            heading = title if "_" not in data_set or len(data_sets) == 1 else f"{title}, {data_set}"
            tables += _table(f"published-{data_set}-{len(tables)}", heading, source, of_data, headings)
    return tables


def published_gammas(key: SetKey) -> list[Table]:
    """The robustness paper's gammas on the data of a set; empty for other data."""
    data_set = _DATA.get(_builder(key))
    tables: list[Table] = []
    for title, source, rows in _tables():
        of_data = [line for line in rows if line["dataset"] == data_set]
        for gamma in (RELATIVE, ABSOLUTE):
            names = [name for line in of_data for name in line["figures"] if name.endswith(f":{gamma}")]
            headings = {name: name.removesuffix(f":{gamma}").replace(":", ": ") for name in names}
            heading = f"{title}, {gamma.removeprefix('gamma_')} gamma"
            tables += _table(f"published-gamma-{data_set}-{len(tables)}", heading, source, of_data, headings)
    return tables


def _table(name: str, title: str, source: str, lines: Sequence[Json], headings: Mapping[str, str]) -> list[Table]:
    """A table of the wanted figures, of the models that have any; none where no model has."""
    keys = [key for key in headings if any(key in line["figures"] for line in lines)]
    rows = [
        row(line["model"], *(_cell(line["figures"].get(key), 2 if ":gamma" in key else 1) for key in keys))
        for line in lines
        if line["figures"].keys() & set(keys)
    ]
    heads = columns("model", *(headings[key] for key in keys))
    folded = "Published figures on the same data"
    return [Table(name, f"Published: {title}", heads, rows, note=source, folded=folded)] if rows else []


def _cell(figure: Json, digits: int) -> Cell | None:
    if figure is None:
        return None
    value, spread = float(figure["value"]), figure.get("sd")
    return Cell(f"{value:.{digits}f}", value, note="" if spread is None else f"± {spread:.{digits}f}")


def _builder(key: SetKey) -> str:
    record = set_record(key.dataset)
    return record["builder"] if record else key.dataset


def _published_name(key: SetKey, data_set: str) -> str:
    """The name of the config in the published rows of `data`; "" if they are of other data."""
    if key.config == data_set:
        return _COUNTERFACTUAL[0]
    builder = _builder(key)
    of_split = data_set.endswith("_1k_a") == (key.split == "test_1k_a") or key.config == "retrieval"
    of_data = _DATA.get(builder) == data_set.removesuffix("_1k_a") and of_split
    return _CONFIGS.get((builder, key.config), key.config) if of_data else ""


@cache
def _tables() -> list[tuple[str, str, list[Json]]]:
    """(title, source, rows) of every published table."""
    from video_contrast.reports.reproduce import NAMES
    from video_contrast.reports.reproduce import published as paper_of

    return [
        (f"{table['name']}, {table['what']}", paper["citation"], table["rows"])
        for paper in map(paper_of, NAMES)
        for table in paper["tables"]
    ]
