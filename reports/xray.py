"""The X-rays of sets: one screen, one page, JSON; several sets stand side by side."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from video_contrast.audit.records import (
    AccuracyFacts,
    ExplainedFacts,
    Finding,
    NamedScorer,
    OrderFacts,
    PairFacts,
    PowerFacts,
    XrayRecord,
)
from video_contrast.audit.xray import certificate_text
from video_contrast.console import counted
from video_contrast.files import write_json, write_text
from video_contrast.reports.layout import Cell, Column, Section, Table, percent
from video_contrast.reports.power import shown
from video_contrast.reports.write import Page, render_page

Records = Mapping[str, XrayRecord]  # name of a set -> its X-ray
# Findings of an X-ray: part, key, and what is counted.
FINDINGS = (
    ("copies", "copies", "items that stand twice (same clip, question and candidates)"),
    ("copies", "key_differs", "of them, another candidate is the true one"),
    ("copies", "true_elsewhere", "negatives that are a true caption of their clip in another item"),
    ("copies", "shared_captions", "true captions that also belong to another video"),
    ("copies", "near_captions", "pairs of true captions of different videos that share nearly all words"),
    ("texts", "equal_candidates", "candidates equal up to case and punctuation"),
    ("texts", "near_candidates", "candidates of an item that share nearly all words"),
    ("texts", "long_candidates", "candidates longer than models read"),
    ("leaks", "videos", "source videos in several splits"),
    ("leaks", "captions", "true captions in several splits"),
)

_ERRORS = ("key_differs", "true_elsewhere", "videos")  # findings that are errors of a set


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
        warnings=[f"{name}: {text}" for name, record in records.items() for text in _left_out(record)],
        record=entries,
    )
    return write_text(output / "index.html", render_page(page, sections))


def file_name(name: str) -> str:
    """The name of a set as that of a file."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)


def headline(records: Records) -> str:
    """What the sets show together: those that can be won without the video first, the rest in a count."""
    if len(records) == 1:
        return " ".join(verdict(name, record) for name, record in records.items())
    solvable = {name: record for name, record in records.items() if record["blind"]["solvable"]}
    few = sum(record["blind"]["solvable"] is None for record in records.values())
    counts = [f"{len(solvable)} of {len(records)} are solvable blind"]
    counts += [f"{few} have too few source videos to tell"] if few else []
    strongest = sorted(
        solvable.items(), key=lambda item: item[1]["blind"]["chance"] - item[1]["blind"]["best"]["accuracy"]
    )
    return " ".join([", ".join(counts) + ".", *(verdict(name, record) for name, record in strongest[:3])])


def verdict(name: str, record: XrayRecord) -> str:
    """The first sentence on a set: whether it can be won without the video."""
    blind = record["blind"]
    best, chance = blind["best"], percent(blind["chance"])
    share = percent(best["accuracy"]) + _interval(best, " ({:.1f} to {:.1f})")
    figure = f"{best['name']} {share} where chance is {chance}"
    if pairs := record.get("pairs"):
        among = _interval(pairs, " ({:.1f} to {:.1f})")
        figure += (
            f"; all clips of a group right {percent(pairs['accuracy'])}{among} ({pairs['name']}) where chance is "
            f"{percent(pairs['chance'])}"
        )
    if blind["solvable"] is None:
        return f"{name} has too few source videos to tell whether it is solvable blind: {figure}."
    if blind["solvable"]:
        return f"{name} is solvable blind: {figure}."
    return f"{name} is not shown to be solvable blind: {figure}."


def screen(name: str, record: XrayRecord, *, brief: bool = False) -> list[str]:
    """The X-ray of a set as text, one screen.

    Args:
        name: of the set.
        record: its X-ray.
        brief: leaves out what nothing was found of, where a table of several sets follows.
    """
    lines = [f"guessed: {guess}" for guess in record["source"]["guesses"]] if "source" in record else []
    lines += [f"left out: {text}" for text in _left_out(record)]
    sizes = ", ".join(f"{n:,} of {size} candidates" for size, n in record["candidates"].items())
    lines.append(
        f"{name} ({record['split']}): {counted(record['items'], 'item')} ({sizes}), "
        f"{counted(record['clusters'], 'source video')}, "
        f"against {', '.join(record['blind']['against'])}"
    )
    lines.append(verdict(name, record))
    for model in record["blind"]["models"]:
        lines.append(f"  {model['name']:20} {100 * model['accuracy']:5.1f} %{_interval(model)}")
    if record["blind"]["note"]:
        lines.append(f"  {record['blind']['note']}")
    lines += [_explained_line(row) for row in record["explained"] or ()]
    place = record["position"]
    counts = " ".join(map(str, place["counts"]))
    lines.append(f"places of the true candidate: {counts} (p {place['p_value']:.2g} if all are alike)")
    for text, finding in _findings(record):
        if finding["count"]:
            lines.append(f"{finding['count']:,} {text}, as {finding['examples'][0]}")
    if not brief:
        none = [text for text, finding in _findings(record) if not finding["count"]]
        lines.append(f"none: {'; '.join(none)}")
        most = record["texts"]["long_candidates"]["most"]
        lines.append(f"the longest candidate has {most} tokens ({record['texts']['counter']})")
    if record["suspects"]:
        facts = record["suspects"]
        lines.append(
            f"{facts['count']:,} of {facts['of']:,} items where {len(facts['models'])} models agree against the key "
            f"({facts['expected']:g} if they erred by themselves)"
            + "".join(f"\n  {text}" for text in facts["examples"])
        )
    if record["order"]:
        lines += [_order_line(record["order"], what) for what in ("items", "candidates")]
    return [*lines, power_line(record["power"])]


def power_line(facts: PowerFacts) -> str:
    """What a set of this size can show."""
    at_worst = facts.get("clusters_needed_at_worst")
    more = ""
    if at_worst and at_worst != facts["clusters_needed"]:
        more = f" ({at_worst:,} if all items of a video were alike)"
    return (
        f"to tell two models {facts['points']:g} points apart (80 % power) it takes {facts['clusters_needed']:,} "
        f"source videos{more}; there are {facts['n_clusters']:,}, {shown(facts['detectable'])} "
        f"(variance from {facts['from']})"
    )


def _explained_line(row: ExplainedFacts) -> str:
    lead = "no lead over chance"
    if row["explained"] is not None:
        lead = f"{100 * row['explained']:.0f} % of its lead over chance is there without the video"
    text = f"{row['model']}: {percent(row['accuracy'])}; {lead}"
    if rest := row["on_rest"]:
        text += f"; {percent(rest['accuracy'])} on the {row['n_rest']:,} items that no blind model wins"
    return text


def _order_line(order: OrderFacts, what: Literal["items", "candidates"]) -> str:
    p_value = order[what]["p_value"]
    if p_value is None:
        return f"order of {what}: too few to test"
    known = "not likelier than shuffled ones"
    if p_value < 0.05:
        known = "likelier than shuffled ones: the model may know the set"
    return f"order of {what} under {order['model']}: {known} (p {p_value:.2g})"


def side_by_side(records: Records) -> str:
    """The X-rays as a table of Markdown, a column a set."""
    rows: dict[str, list[str]] = {}
    rows["items, source videos"] = [f"{r['items']:,}, {r['clusters']:,}" for r in records.values()]
    rows["chance, %"] = [f"{100 * r['blind']['chance']:.1f}" for r in records.values()]
    models = {model["key"]: model["name"] for record in records.values() for model in record["blind"]["models"]}
    for key, label in models.items():
        rows[f"{label}, %"] = [_blind_cell(record, key) for record in records.values()]
    verdicts = {True: "yes", False: "not shown", None: "too small to tell"}
    rows["solvable blind"] = [verdicts[record["blind"]["solvable"]] for record in records.values()]
    rows["fullest place of the key, %"] = [f"{100 * r['position']['most_common']:.1f}" for r in records.values()]
    for part, name, text in FINDINGS:
        findings = [_finding(record, part, name) for record in records.values()]
        if any(findings):
            rows[text] = [f"{finding['count']:,}" if finding else "–" for finding in findings]
    points = next(iter(records.values()))["power"]["points"]
    rows[f"source videos for {points:g} points"] = [f"{r['power']['clusters_needed']:,}" for r in records.values()]
    lines = [f"| | {' | '.join(records)} |", "|---|" + "---|" * len(records)]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())])


def _blind_models(record: XrayRecord) -> dict[str, NamedScorer]:
    return {model["key"]: model for model in record["blind"]["models"]}


def _blind_cell(record: XrayRecord, key: str) -> str:
    model = _blind_models(record).get(key)
    if model is None:
        return "–"
    text = f"{100 * model['accuracy']:.1f}{_interval(model)}"
    return f"**{text}**" if key == record["blind"]["best"]["key"] else text


def _blind_section(records: Records) -> Section:
    models = {model["key"]: model["name"] for record in records.values() for model in record["blind"]["models"]}
    columns = [Column("set", numeric=False), Column("items"), Column("chance"), *map(Column, models.values())]
    rows = []
    for name, record in records.items():
        chance = 100 * record["blind"]["chance"]
        cells = [Cell(name), Cell(f"{record['items']:,}"), Cell(f"{chance:.1f}", chance)]
        own, best = _blind_models(record), record["blind"]["best"]["key"]
        cells += [_share(own[key], chance, key == best) if key in own else Cell("–", tone="quiet") for key in models]
        rows.append(cells)
    note = "95 % intervals over source videos. Models that learn are cross-validated, grouped by source video."
    lead = "Models that never see a video. What they win, a model can win without looking."
    return Section(
        "blind", "Without the video", lead, [Table("blind", "Accuracy without the video, %", columns, rows, note=note)]
    )


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
    rows = []
    for part, key, text in FINDINGS:
        findings = [_finding(record, part, key) for record in records.values()]
        if any(findings):
            rows.append([Cell(text), *[_count(finding, key in _ERRORS) for finding in findings]])
    counts = [
        [Cell(name), *[Cell(f"{place:,}") for place in record["position"]["counts"]]]
        for name, record in records.items()
    ]
    width = max(map(len, counts))
    counts = [row + [Cell("–", tone="quiet")] * (width - len(row)) for row in counts]
    examples = [
        [Cell(text, note=name if len(records) > 1 else ""), Cell(example)]
        for name, record in records.items()
        for text, finding in _findings(record)
        for example in finding["examples"]
    ]
    places = [Column("set", numeric=False), *[Column(f"place {n + 1}") for n in range(width - 1)]]
    section = Section("items", "Items", "Copies, leaks and texts. A finding is a place to look at, not yet an error.")
    section.parts.append(Table("findings", "Findings", columns, rows, note=_counters(records)))
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
    columns = [Column("set", numeric=False), Column("source videos"), Column("needed"), Column("shows, points")]
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
            [Cell(name), *[Cell(_order_line(order, what)) for what in ("items", "candidates")]] for name, order in known
        ]
        columns = [
            Column("set", numeric=False),
            Column("order of items", numeric=False),
            Column("of candidates", numeric=False),
        ]
        section.parts.append(Table("order", "Is the published order known?", columns, rows))
    return section


SECTIONS = (_blind_section, _models_section, _items_section, _labels_section, _power_section)


def _share(facts: AccuracyFacts, chance: float | None = None, best: bool = False) -> Cell:
    value = 100 * facts["accuracy"]
    low, high = (None if end is None else 100 * end for end in (facts["low"], facts["high"]))
    return Cell(f"{value:.1f}", value, low=low, high=high, chance=chance, tone="best" if best else "")


def _findings(record: XrayRecord) -> list[tuple[str, Finding]]:
    return [(text, finding) for part, key, text in FINDINGS if (finding := _finding(record, part, key))]


def _finding(record: XrayRecord, part: str, key: str) -> Finding | None:
    return cast(Mapping[str, Mapping[str, Finding]], record)[part].get(key)


def _counters(records: Records) -> str:
    return " ".join(dict.fromkeys(f"Tokens: {record['texts']['counter']}." for record in records.values()))


def _left_out(record: XrayRecord) -> list[str]:
    reasons = record["source"]["left_out"] if "source" in record else {}
    return [f"{counted(len(places), 'row')} with {reason}, first {places[0]}" for reason, places in reasons.items()]


def _interval(facts: AccuracyFacts | PairFacts, form: str = " [{:.1f}, {:.1f}]") -> str:
    low, high = facts["low"], facts["high"]
    return "" if low is None or high is None else form.format(100 * low, 100 * high)
