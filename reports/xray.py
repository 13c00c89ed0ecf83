"""The page of the X-rays of sets, with their JSON and a certificate each."""

import json
from importlib.resources import files
from pathlib import Path
from typing import TypedDict, cast

from video_contrast.audit.records import AccuracyFacts, Finding, NamedScorer
from video_contrast.audit.xray import certificate_text
from video_contrast.console import counted
from video_contrast.files import write_json, write_text
from video_contrast.reports.layout import Cell, Column, Section, Table
from video_contrast.reports.write import Page, render_page
from video_contrast.reports.xray_text import (
    FINDINGS,
    OVER,
    Records,
    blind_models,
    counters,
    file_name,
    finding_of,
    findings,
    headline,
    left_out,
    next_steps,
    order_line,
    sample_lines,
)

_ERRORS = ("key_differs", "true_elsewhere", "videos")  # findings that are errors of a set


class ReferenceSet(TypedDict):
    """A published set and the best of its blind models."""

    name: str
    items: int
    clusters: int
    chance: float
    best: NamedScorer


def write_xray(records: Records, output: Path) -> Path:
    """Writes `index.html`, `xray.json` and a certificate a set into a folder.

    Args:
        records: the X-rays, with `source` (what was read, guessed and left out).
        output: the folder.

    Returns:
        The page.
    """
    write_json(output / "xray.json", records)
    for name, record in records.items():
        write_text(output / f"{file_name(name)}.certificate.md", certificate_text(record))
    sections = [section for section in (make(records) for make in SECTIONS) if section.parts]
    entries = [
        (name, [(key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
                for key, value in record.get("source", {}).items() if value])
        for name, record in records.items()
    ]  # fmt: skip
    n_items = sum(record["items"] for record in records.values())
    page = Page(
        title="X-ray" if len(records) > 1 else f"X-ray of {next(iter(records))}",
        counts=f"{counted(len(records), 'set')}, {counted(n_items, 'item')}",
        finding=headline(records),
        warnings=[f"{name}: {text}" for name, record in records.items() for text in left_out(record)],
        record=entries,
    )
    return write_text(output / "index.html", render_page(page, sections))


def _blind_section(records: Records) -> Section:
    models = {model["key"]: model["name"] for record in records.values() for model in record["blind"]["models"]}
    columns = [Column("set", numeric=False), Column("items"), Column("chance"), *map(Column, models.values())]
    rows = []
    for name, record in records.items():
        chance = 100 * record["blind"]["chance"]
        cells = [Cell(name), Cell(f"{record['items']:,}"), Cell(f"{chance:.1f}", chance)]
        own, best = blind_models(record), record["blind"]["best"]["key"]
        cells += [_share(own[key], chance, key == best) if key in own else Cell("–", tone="quiet") for key in models]
        rows.append(cells)
    scorers = {model["name"]: model["scorer"] for record in records.values() for model in record["blind"]["models"]}
    known = "; ".join(f"{name}: {scorer}" for name, scorer in scorers.items())
    note = f"{OVER}. Models that learn are cross-validated, grouped by source video. {known}."
    lead = "Models that never see a video. What they win, a model can win without looking."
    section = Section(
        "blind", "Without the video", lead, [Table("blind", "Accuracy without the video, %", columns, rows, note=note)]
    )
    section.parts.append(_beside_others(records))
    for name, record in records.items():
        if record["tasks"]:
            columns = [Column("task", numeric=False), Column("items"), Column(record["blind"]["best"]["name"])]
            rows = [
                [Cell(task["task"]), Cell(f"{task['items']:,}"), _share(task, 100 * task["chance"])]
                for task in record["tasks"]
            ]
            stem, note = f"tasks-{file_name(name)}", f"{OVER}."
            section.parts.append(Table(stem, f"By task, %, {name}", columns, rows, note=note))
    return section


def _beside_others(records: Records) -> Table:
    """The best blind models of these sets beside those of published ones."""
    rows = [
        [Cell(name), Cell(f"{record['items']:,}"), Cell(record["blind"]["best"]["name"]),
         _share(record["blind"]["best"], 100 * record["blind"]["chance"])]
        for name, record in records.items()
    ]  # fmt: skip
    for other in reference_sets():
        share = _share(other["best"], 100 * other["chance"])
        rows.append(
            [Cell(other["name"], tone="quiet"), Cell(f"{other['items']:,}"), Cell(other["best"]["name"]), share]
        )
    columns = [Column("set", numeric=False), Column("items"), Column("best blind model", numeric=False),
               Column("accuracy")]  # fmt: skip
    note = (
        "Intervals are 95 % for all blind models of a set at once; the tick is chance. The whole table: docs/xray.md."
    )
    return Table("beside", "Best blind model beside those of published sets, %", columns, rows, note=note)


def reference_sets() -> list[ReferenceSet]:
    """The best blind models of published sets, as `video-contrast xray` prints them of the released files."""
    text = (files("video_contrast.reports") / "published" / "xray.json").read_text(encoding="utf-8")
    return cast(list[ReferenceSet], json.loads(text)["sets"])


def _tells_section(records: Records) -> Section:
    lead = "What tells the true candidate without the video, and items that are won that way."
    section = Section("tells", "What gives the answers away", lead)
    for name, record in records.items():
        stem = file_name(name)
        if record["tells"]:
            rows = [
                [Cell(tell["what"]), Cell(f"{tell['items']:,}"), Cell(f"{tell['true']:g}"),
                 Cell(f"{tell['expected']:g}"), Cell(f"{tell['score']:+.1f}")]
                for tell in record["tells"]
            ]  # fmt: skip
            columns = [Column("word or feature of form", numeric=False), Column("items it sets apart"),
                       Column("the true one has it"), Column("by chance"), Column("standard score")]  # fmt: skip
            section.parts.append(Table(f"tells-{stem}", f"Words and features of form, {name}", columns, rows))
        if record["blind_wins"]:
            rows = [
                [Cell(won["id"]), Cell(won["question"] or "–"), Cell(won["true"]), Cell(won["next"])]
                for won in record["blind_wins"]
            ]
            columns = [Column(head, numeric=False) for head in ("item", "question", "true candidate", "next to it")]
            caption = f"Items won by the widest margin, {record['blind']['best']['name']}, {name}"
            section.parts.append(Table(f"won-{stem}", caption, columns, rows))
    return section


def _read_section(records: Records) -> Section:
    section = Section("read", "As it was read", "The first item of each set, and what to do next.")
    rows = [
        [Cell("" if at else name), Cell(line.strip(), tone="good" if line.endswith(" (key)") else "")]
        for name, record in records.items()
        for at, line in enumerate(sample_lines(record["sample"]))
    ]
    columns = [Column("set", numeric=False), Column("item", numeric=False)]
    section.parts.append(Table("sample", "One item as it was read", columns, rows))
    steps = [[Cell(name), Cell(step)] for name, record in records.items() for step in next_steps(record)]
    if steps:
        columns = [Column("set", numeric=False), Column("step", numeric=False)]
        section.parts.append(Table("next", "What to do next", columns, steps))
    return section


def _models_section(records: Records) -> Section:
    rows = [
        [
            Cell(row["model"], note=name),
            _share(row, 100 * record["chance"]),
            Cell("–") if row["explained"] is None else Cell(f"{100 * row['explained']:.0f}", 100 * row["explained"]),
            _share(row["on_rest"]) if row["on_rest"] else Cell("–"),
            Cell(f"{row['n_rest']:,}"),
        ]
        for name, record in records.items()
        for row in record["explained"] or ()
    ]
    section = Section("models", "Models", "How much of a model's lead over chance the best blind model has too.")
    if rows:
        columns = [Column("model", numeric=False), Column("accuracy"), Column("explained"),
                   Column("where no blind model wins"), Column("items there")]  # fmt: skip
        section.parts.append(Table("models", "Accuracy of models, %", columns, rows))
    return section


def _items_section(records: Records) -> Section:
    columns = [Column("finding", numeric=False), *map(Column, records)]
    rows, none = [], []
    for part, key, text in FINDINGS:
        counted_here = [finding_of(record, part, key) for record in records.values()]
        if any(finding and finding["count"] for finding in counted_here):
            rows.append([Cell(text), *[_count(finding, key in _ERRORS) for finding in counted_here]])
        elif any(counted_here):
            none.append(text)
    width = max(len(record["position"]["counts"]) for record in records.values())
    counts = [
        [Cell(name), *[Cell(f"{place:,}") for place in place["counts"]],
         *[Cell("–", tone="quiet")] * (width - len(place["counts"])), Cell(f"{place['p_value']:.2g}")]
        for name, place in ((name, record["position"]) for name, record in records.items())
    ]  # fmt: skip
    examples = [
        [Cell(text, note=name if len(records) > 1 else ""), Cell(example)]
        for name, record in records.items()
        for text, finding in findings(record)
        for example in finding["examples"]
    ]
    places = [Column("set", numeric=False), *[Column(f"place {n}") for n in range(width)],
              Column("p", hint="if all places held as many keys")]  # fmt: skip
    section = Section("items", "Items", "Copies, leaks and texts. A finding is a place to look at, not yet an error.")
    note = f"None: {'; '.join(none)}. {counters(records)}"
    section.parts.append(Table("findings", "Findings", columns, rows, note=note))
    section.parts.append(Table("places", "Where the true candidate stands", places, counts))
    if examples:
        columns = [Column("finding", numeric=False), Column("example", numeric=False)]
        section.parts.append(Table("examples", "First examples", columns, examples))
    return section


def _count(finding: Finding | None, is_error: bool) -> Cell:
    if finding is None:
        return Cell("–", tone="quiet")
    return Cell(f"{finding['count']:,}", tone="bad" if is_error and finding["count"] else "")


def _labels_section(records: Records) -> Section:
    section = Section("labels", "Suspected labels", "Items where several models agree against the key.")
    for name, record in records.items():
        facts = record["suspects"]
        if facts and facts["items"]:
            rows = [[Cell(item["id"]), Cell(item["key"]), Cell(item["chosen"])] for item in facts["items"]]
            columns = [Column("item", numeric=False), Column("key", numeric=False), Column("all models", numeric=False)]
            note = f"{facts['count']:,} of {facts['of']:,} items; {facts['expected']:g} if each model erred by itself."
            section.parts.append(Table(f"labels-{file_name(name)}", name, columns, rows, note=note))
    return section


def _power_section(records: Records) -> Section:
    heads = ("source videos", "source videos needed", "shows, points")
    columns = [Column("set", numeric=False), *map(Column, heads)]
    rows = [
        [Cell(name), Cell(f"{facts['n_clusters']:,}"),
         Cell(f"{facts['clusters_needed']:,}", tone="good" if facts["enough"] else "bad"),
         Cell(f"{100 * facts['detectable']:.1f}" if facts["detectable"] < 1 else "none")]
        for name, facts in ((name, record["power"]) for name, record in records.items())
    ]  # fmt: skip
    points = next(iter(records.values()))["power"]["points"]
    note = " ".join(dict.fromkeys(f"Variance from {record['power']['from']}." for record in records.values()))
    table = Table("power", f"Two models {points:g} points apart, 80 % power", columns, rows, note=note)
    section = Section("power", "What it can show", "How many source videos it takes to tell two models apart.", [table])
    known = [(name, record["order"]) for name, record in records.items() if record["order"]]
    if known:
        rows = [
            [Cell(name), *[Cell(order_line(order, what)) for what in ("items", "candidates")]] for name, order in known
        ]
        columns = [
            Column("set", numeric=False),
            Column("order of items", numeric=False),
            Column("of candidates", numeric=False),
        ]
        section.parts.append(Table("order", "Is the published order known?", columns, rows))
    return section


SECTIONS = (
    _read_section, _blind_section, _tells_section, _models_section, _items_section, _labels_section, _power_section,
)  # fmt: skip


def _share(facts: AccuracyFacts, chance: float | None = None, best: bool = False) -> Cell:
    value = 100 * facts["accuracy"]
    low, high = (None if end is None else 100 * end for end in (facts["low"], facts["high"]))
    return Cell(f"{value:.1f}", value, low=low, high=high, chance=chance, tone="best" if best else "")
