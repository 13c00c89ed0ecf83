"""The page of the X-rays of sets, with their JSON and a certificate each."""

import json
from pathlib import Path

from video_contrast.audit.records import AccuracyFacts
from video_contrast.audit.xray import certificate_text
from video_contrast.console import counted
from video_contrast.files import Json, read_json, write_json, write_text
from video_contrast.reports.layout import Cell, Column, Section, Table, columns, row, share_cell
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


def write_xray(records: Records, output: Path) -> Path:
    """Writes `index.html`, `xray.json` and a certificate a set into a folder.

    Returns the page. `records`: the X-rays, with `source` (what was read, guessed and left out).
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
    models = {model["key"]: model for record in records.values() for model in record["blind"]["models"]}
    rows = []
    for name, record in records.items():
        own, best = blind_models(record), record["blind"]["best"]["key"]
        shares = (_share(own.get(key), record["blind"]["chance"], key == best) for key in models)
        rows.append(row(name, f"{record['items']:,}", share_cell(record["blind"]["chance"]), *shares))
    known = "; ".join(f"{model['name']}: {model['scorer']}" for model in models.values())
    note = f"{OVER}. Models that learn are cross-validated, grouped by source video. {known}."
    heads = columns("set", "items", "chance", *(model["name"] for model in models.values()))
    table = Table("blind", "Accuracy without the video, %", heads, rows, note=note)
    section = Section.of("blind", table, _beside_others(records))
    for name, record in records.items():
        if record["tasks"]:
            rows = [row(t["task"], f"{t['items']:,}", _share(t, t["chance"])) for t in record["tasks"]]
            heads = columns("task", "items", record["blind"]["best"]["name"])
            section.parts.append(Table(f"tasks-{file_name(name)}", f"By task, %, {name}", heads, rows, note=f"{OVER}."))
    return section


def _beside_others(records: Records) -> Table:
    """The best blind models of these sets beside those of published ones."""
    own = [(Cell(name), r["items"], r["blind"]["best"], r["blind"]["chance"]) for name, r in records.items()]
    others = [(Cell(s["name"], tone="quiet"), s["items"], s["best"], s["chance"]) for s in reference_sets()]
    rows = [row(name, f"{n:,}", best["name"], _share(best, chance)) for name, n, best, chance in [*own, *others]]
    heads = columns("set", "items", Column("best blind model", numeric=False), "accuracy")
    note = (
        "Intervals are 95 % for all blind models of a set at once; the tick is chance. The whole table: docs/xray.md."
    )
    return Table("beside", "Best blind model beside those of published sets, %", heads, rows, note=note)


def reference_sets() -> list[dict[str, Json]]:
    """The best blind models of published sets, as `video-contrast xray` prints them of the released files.

    Returns of each its `name`, `items`, `clusters`, `chance`, and `best`: the figures of the model.
    """
    sets: list[dict[str, Json]] = read_json(Path(__file__).with_name("published") / "xray.json")["sets"]
    return sets


def _tells_section(records: Records) -> Section:
    section = Section.of("tells")
    for name, record in records.items():
        stem = file_name(name)
        if record["tells"]:
            rows = [
                row(t["what"], f"{t['items']:,}", f"{t['true']:g}", f"{t['expected']:g}", f"{t['score']:+.1f}")
                for t in record["tells"]
            ]
            heads = columns("word or feature of form", "items it sets apart", "the true one has it", "by chance",
                            "standard score")  # fmt: skip
            section.parts.append(Table(f"tells-{stem}", f"Words and features of form, {name}", heads, rows))
        if record["blind_wins"]:
            rows = [row(won["id"], won["question"] or None, won["true"], won["next"]) for won in record["blind_wins"]]
            caption = f"Items won by the widest margin, {record['blind']['best']['name']}, {name}"
            heads = columns("item", "question", "true candidate", "next to it", words=4)
            section.parts.append(Table(f"won-{stem}", caption, heads, rows))
    return section


def _read_section(records: Records) -> Section:
    section = Section.of("read")
    rows = [
        row("" if at else name, Cell(line.strip(), tone="good" if line.endswith(" (key)") else ""))
        for name, record in records.items()
        for at, line in enumerate(sample_lines(record["sample"]))
    ]
    section.parts.append(Table("sample", "One item as it was read", columns("set", "item", words=2), rows))
    steps = [row(name, step) for name, record in records.items() for step in next_steps(record)]
    if steps:
        section.parts.append(Table("next", "What to do next", columns("set", "step", words=2), steps))
    return section


def _models_section(records: Records) -> Section:
    rows = [
        row(
            Cell(facts["model"], note=name), _share(facts, record["chance"]),
            None if facts["explained"] is None else Cell(f"{100 * facts['explained']:.0f}", 100 * facts["explained"]),
            _share(facts["on_rest"]), f"{facts['n_rest']:,}",
        )
        for name, record in records.items()
        for facts in record["explained"] or ()
    ]  # fmt: skip
    section = Section.of("models")
    if rows:
        heads = columns("model", "accuracy", "explained", "where no blind model wins", "items there")
        section.parts.append(Table("models", "Accuracy of models, %", heads, rows))
    return section


def _items_section(records: Records) -> Section:
    rows, none = [], []
    for part, key, text in FINDINGS:
        counts = [finding_of(record, part, key) for record in records.values()]
        if any(finding and finding["count"] for finding in counts):
            bad = key in _ERRORS
            cells = (f and Cell(f"{f['count']:,}", tone="bad" if bad and f["count"] else "") for f in counts)
            rows.append(row(text, *cells))
        elif any(counts):
            none.append(text)
    width = max(len(record["position"]["counts"]) for record in records.values())
    places = []
    for name, record in records.items():
        place = record["position"]
        counted_places = [f"{n:,}" for n in place["counts"]] + [None] * (width - len(place["counts"]))
        places.append(row(name, *counted_places, f"{place['p_value']:.2g}"))
    examples = [
        row(Cell(text, note=name if len(records) > 1 else ""), example)
        for name, record in records.items()
        for text, finding in findings(record)
        for example in finding["examples"]
    ]
    p_value = Column("p", hint="if all places held as many keys")
    section = Section.of("items")
    note = f"None: {'; '.join(none)}. {counters(records)}"
    section.parts += [
        Table("findings", "Findings", columns("finding", *records), rows, note=note),
        Table("places", "Where the true candidate stands",
              columns("set", *(f"place {n}" for n in range(width)), p_value), places),
    ]  # fmt: skip
    if examples:
        section.parts.append(Table("examples", "First examples", columns("finding", "example", words=2), examples))
    return section


def _labels_section(records: Records) -> Section:
    section = Section.of("labels")
    for name, record in records.items():
        facts = record["suspects"]
        if facts and facts["items"]:
            rows = [row(item["id"], item["key"], item["chosen"]) for item in facts["items"]]
            note = f"{facts['count']:,} of {facts['of']:,} items; {facts['expected']:g} if each model erred by itself."
            heads = columns("item", "key", "all models", words=3)
            section.parts.append(Table(f"labels-{file_name(name)}", name, heads, rows, note=note))
    return section


def _power_section(records: Records) -> Section:
    rows = []
    for name, facts in ((name, record["power"]) for name, record in records.items()):
        needed = Cell(f"{facts['clusters_needed']:,}", tone="good" if facts["enough"] else "bad")
        shows = f"{100 * facts['detectable']:.1f}" if facts["detectable"] < 1 else "none"
        rows.append(row(name, f"{facts['n_clusters']:,}", needed, shows))
    points = next(iter(records.values()))["power"]["points"]
    note = " ".join(dict.fromkeys(f"Variance from {record['power']['from']}." for record in records.values()))
    heads = columns("set", "source videos", "source videos needed", "shows, points")
    table = Table("power", f"Two models {points:g} points apart, 80 % power", heads, rows, note=note)
    section = Section.of("power", table)
    known = [(name, record["order"]) for name, record in records.items() if record["order"]]
    if known:
        rows = [row(name, order_line(order, "items"), order_line(order, "candidates")) for name, order in known]
        heads = columns("set", "order of items", "of candidates", words=3)
        section.parts.append(Table("order", "Is the published order known?", heads, rows))
    return section


SECTIONS = (
    _read_section, _blind_section, _tells_section, _models_section, _items_section, _labels_section, _power_section,
)  # fmt: skip


def _share(facts: AccuracyFacts | None, chance: float | None = None, best: bool = False) -> Cell | None:
    if facts is None:
        return None
    return share_cell(facts["accuracy"], facts["low"], facts["high"], chance=chance, tone="best" if best else "")
