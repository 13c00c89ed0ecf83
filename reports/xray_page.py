"""The X-rays of sets in words (one screen, or a table of several), and their page, JSON and certificates."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from video_contrast.audit.records import AccuracyFacts, Finding, NamedBlindModel, XrayRecord
from video_contrast.audit.xray import certificate_text
from video_contrast.console import counted
from video_contrast.files import read_json, write_json, write_text
from video_contrast.reports.compare import shown
from video_contrast.reports.layout import Cell, Column, Section, Table, columns, ends, percent, row, share_cell
from video_contrast.reports.table_formats import BEST, TableLine, markdown
from video_contrast.reports.write import Page, render_page
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_folder import Facts

Records = Mapping[str, XrayRecord]  # name of a set -> its X-ray
# Findings of an X-ray: part, key, and what is counted.
FINDINGS = [line.split("\t") for line in Path(__file__).with_name("findings.tsv").read_text("utf-8").splitlines()]
OVER = "95 % intervals over source videos"
SKEWED = 0.01  # p-value of the places of the key, below which a step is proposed


def file_name(name: str) -> str:
    """The name of a set as that of a file."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)


def headline(records: Records) -> str:
    """The finding of all sets together: those that can be won without the video first, the rest in a count."""
    if len(records) == 1:
        return " ".join(verdict(name, record) for name, record in records.items())
    solvable = {name: record for name, record in records.items() if record["blind"]["solvable"]}
    few = sum(record["blind"]["solvable"] is None for record in records.values())
    counts = [f"{len(solvable)} of {len(records)} are solvable blind"]
    counts += [f"{few} have too few source videos to tell"] if few else []
    lead = {name: record["blind"]["best"]["accuracy"] - record["blind"]["chance"] for name, record in solvable.items()}
    strongest = sorted(solvable, key=lambda name: -lead[name])[:3]
    return " ".join([", ".join(counts) + ".", *(verdict(name, records[name]) for name in strongest)])


def verdict(name: str, record: XrayRecord) -> str:
    """The first sentence on a set: whether it can be won without the video."""
    blind = record["blind"]
    best, chance = blind["best"], percent(blind["chance"])
    at_once = f"{{:.1f}} to {{:.1f}}, 95 % for all {len(blind['models'])} blind models at once"
    share = percent(best["accuracy"]) + interval(best, f" ({at_once})")
    figure = f"{best['name']} {share} where chance is {chance}"
    if pairs := record.get("pairs"):
        among = interval(pairs, f" ({at_once})")
        figure += (
            f"; all clips of a group right {percent(pairs['accuracy'])}{among} ({pairs['name']}) where chance is "
            f"{percent(pairs['chance'])}"
        )
    verdicts = {True: "is solvable blind", False: "is not shown to be solvable blind",
                None: "has too few source videos to tell whether it is solvable blind"}  # fmt: skip
    return f"{name} {verdicts[blind['solvable']]}: {figure}."


def screen(name: str, record: XrayRecord, *, brief: bool = False) -> list[str]:
    """The X-ray of a set as text, one screen.

    `brief`: leaves out what nothing was found of and how the sample was read, where a table of several sets follows.
    """
    sizes = ", ".join(f"{n:,} of {size} candidates" for size, n in record["candidates"].items())
    place, suspects, entries = record["position"], record["suspects"], findings(record)
    lines = [f"guessed: {guess}" for guess in record["source"]["guesses"]] if "source" in record else []
    lines += [f"left out: {text}" for text in left_out(record)]
    lines.append(
        f"{name} ({record['split']}): {counted(record['items'], 'item')} ({sizes}), "
        f"{counted(record['clusters'], 'source video')}, against {', '.join(record['blind']['against'])}"
    )
    lines += [] if brief else sample_lines(record["sample"])
    lines += [verdict(name, record), *_blind_lines(record, brief), *map(_explained_line, record["explained"] or ())]
    counts = " ".join(map(str, place["counts"]))
    lines.append(f"places of the true candidate: {counts} (p {place['p_value']:.2g} if all are alike)")
    lines += [f"{entry['count']:,} {text}, as {entry['examples'][0]}" for text, entry in entries if entry["count"]]
    if not brief:
        lines.append(f"none: {'; '.join(text for text, entry in entries if not entry['count'])}")
        most = record["texts"]["long_candidates"]["most"]
        lines.append(f"the longest candidate has {most} tokens ({record['texts']['counter']})")
    if suspects is not None:
        models = f"{len(suspects['models'])} models agree against the key ({suspects['expected']:g} if they erred by"
        lines.append(f"{suspects['count']:,} of {suspects['of']:,} items where {models} themselves)")
        lines += [f"  {text}" for text in suspects["examples"]]
    lines += [order_line(record["order"], what) for what in ("items", "candidates")] if record["order"] else []
    return [*lines, power_line(record["power"]), *(f"next: {step}" for step in next_steps(record))]


def _blind_lines(record: XrayRecord, brief: bool) -> list[str]:
    blind = record["blind"]
    lines = [f"without the video ({OVER}):"]
    for model in blind["models"]:
        share = f"{100 * model['accuracy']:5.1f} %{interval(model)}"
        lines.append(f"  {model['name']:20} {share:22} {model['description']}")
    lines += [f"  {blind['note']}"] if blind["note"] else []
    lines += [f"  told by {tell_text(tell)}" for tell in record["tells"][: 3 if brief else None]]
    if record["tasks"] and not brief:
        shares = [f"{t['task']} {100 * t['accuracy']:.1f} ({100 * t['chance']:.1f})" for t in record["tasks"]]
        lines += [f"{blind['best']['name']} by task, % (chance):", f"  {', '.join(shares)}"]
    return lines


def sample_lines(item: MultipleChoiceRow) -> list[str]:
    """An item as it was read: its clip, its question, its candidates, and which of them is the key."""
    end = "" if item["end"] is None else f"{item['end']:g}"
    span = "" if item["start"] is None and not end else f", {item['start'] or 0:g} to {end or 'its end'} s"
    lines = [f"item {item['id']} as it was read: {item['video_path']}{span}"]
    lines += [f"  {question}"] if (question := item.get("question")) else []
    marks = {item["label"]: " (key)"}
    return lines + [f"  {n}: {text}{marks.get(n, '')}" for n, text in enumerate(item["candidates"])]


def tell_text(tell: Facts) -> str:
    """The mark that gives answers away, with its counts.

    >>> tell_text({"what": "'not'", "items": 40, "true": 3.0, "expected": 20.0, "score": -5.4})
    "'not': with the true candidate in 3 of 40 items that it sets apart (20 by chance)"
    """
    return (
        f"{tell['what']}: with the true candidate in {tell['true']:g} of {tell['items']:,} items that it sets apart "
        f"({tell['expected']:g} by chance)"
    )


def next_steps(record: XrayRecord) -> list[str]:
    """The advice to an author after an X-ray, the most pressing first."""
    blind, power, copies = record["blind"], record["power"], record["copies"]
    steps = []
    if rows := sum(map(len, record["source"]["left_out"].values())) if "source" in record else 0:
        steps.append(f"mend or take out {counted(rows, 'row')} that are no items")
    if wrong := copies["key_differs"]["count"] + copies["true_elsewhere"]["count"]:
        steps.append(f"look at {counted(wrong, 'item')} whose key another item contradicts")
    if record["position"]["p_value"] < SKEWED:
        steps.append("shuffle the candidates: the key stands in some places more often than in others")
    if blind["solvable"]:
        steps.append(
            "rewrite what gives the answers away, or cut the set (--refine); until then report "
            f"{percent(blind['best']['accuracy'])} without the video beside every score"
        )
    if not power["enough"]:
        shows = f"; a smaller difference than {100 * power['detectable']:.1f} points does not show"
        which, end = (", not items of the same ones", shows) if power["detectable"] < 1 else ("", "")
        steps.append(f"add source videos{which}, up to {power['clusters_needed']:,}{end}")
    if record["explained"] is None:
        steps.append("give the runs of your models (--scores): how much of their accuracy is there without the video?")
    return steps


def power_line(facts: Facts) -> str:
    """The differences that a set of this size can show."""
    at_best = facts.get("clusters_needed_at_best")
    unlike = at_best and at_best != facts["clusters_needed"]
    more = f" ({at_best:,} if the items of a video were unrelated)" if unlike else ""
    return (
        f"to tell two models {facts['points']:g} points apart (80 % power) it takes {facts['clusters_needed']:,} "
        f"source videos{more}; there are {facts['n_clusters']:,}, {shown(facts['detectable'])} "
        f"(variance from {facts['from']})"
    )


def _explained_line(row: Facts) -> str:
    share, rest = row["explained"], row["on_rest"]
    lead = f"{100 * (share or 0):.0f} % of its lead over chance is there without the video"
    more = f"; {percent(rest['accuracy'])} on the {row['n_rest']:,} items that no blind model wins" if rest else ""
    return f"{row['model']}: {percent(row['accuracy'])}; {'no lead over chance' if share is None else lead}{more}"


def order_line(order: Facts, what: Literal["items", "candidates"]) -> str:
    """Whether the published order is known to a language model."""
    p_value = order[what]["p_value"]
    if p_value is None:
        return f"order of {what}: too few to test"
    likelier = "likelier than shuffled ones"
    says = f"{likelier}: the model may know the set" if p_value < 0.05 else f"not {likelier}"
    return f"order of {what} under {order['model']}: {says} (p {p_value:.2g})"


def side_by_side(records: Records) -> str:
    """The X-rays as a table of Markdown, a column a set."""
    rows: dict[str, list[str]] = {}
    rows["items, source videos"] = [f"{r['items']:,}, {r['clusters']:,}" for r in records.values()]
    rows["chance, %"] = [f"{100 * r['blind']['chance']:.1f}" for r in records.values()]
    models = {model["key"]: model["name"] for record in records.values() for model in record["blind"]["models"]}
    for key, label in models.items():
        cells = []
        for record in records.values():
            model, best = blind_models(record).get(key), record["blind"]["best"]["key"]
            mark = f" {BEST}" if key == best else ""
            cells.append(f"{100 * model['accuracy']:.1f}{interval(model)}{mark}" if model else "–")
        rows[f"{label}, %"] = cells
    verdicts = {True: "yes", False: "not shown", None: "too small to tell"}
    rows["solvable blind"] = [verdicts[record["blind"]["solvable"]] for record in records.values()]
    rows["fullest place of the key, %"] = [f"{100 * r['position']['most_common']:.1f}" for r in records.values()]
    for part, name, text in FINDINGS:
        findings = [finding_of(record, part, name) for record in records.values()]
        if any(findings):
            rows[text] = [f"{finding['count']:,}" if finding else "–" for finding in findings]
    points = next(iter(records.values()))["power"]["points"]
    rows[f"source videos for {points:g} points"] = [f"{r['power']['clusters_needed']:,}" for r in records.values()]
    return markdown([TableLine(name, None, cells) for name, cells in rows.items()], list(records))


def blind_models(record: XrayRecord) -> dict[str, NamedBlindModel]:
    """The blind models by key."""
    return {model["key"]: model for model in record["blind"]["models"]}


def findings(record: XrayRecord) -> list[tuple[str, Finding]]:
    """All findings of an X-ray, each with what is counted."""
    return [(text, finding) for part, key, text in FINDINGS if (finding := finding_of(record, part, key))]


def finding_of(record: XrayRecord, part: str, key: str) -> Finding | None:
    """A finding of an X-ray; None where it was not looked for. `part, key`: as in `FINDINGS`."""
    return cast(Mapping[str, Mapping[str, Finding]], record)[part].get(key)


def left_out(record: XrayRecord) -> list[str]:
    """The rows of a table that are no items, a sentence a reason."""
    reasons = record["source"]["left_out"] if "source" in record else {}
    return [f"{counted(len(places), 'row')} with {reason}, first {places[0]}" for reason, places in reasons.items()]


def interval(facts: AccuracyFacts | Facts, form: str = " [{:.1f}, {:.1f}]") -> str:
    """The interval of an accuracy in percent."""
    return ends(facts["low"], facts["high"], form)


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
    title = "X-ray" if len(records) > 1 else f"X-ray of {next(iter(records))}"
    counts = f"{counted(len(records), 'set')}, {counted(n_items, 'item')}"
    warnings = [f"{name}: {text}" for name, record in records.items() for text in left_out(record)]
    page = Page(title, counts, headline(records), warnings, record=entries)
    return write_text(output / "index.html", render_page(page, sections))


def _blind_section(records: Records) -> Section:
    models = {model["key"]: model for record in records.values() for model in record["blind"]["models"]}
    rows = []
    for name, record in records.items():
        own, best = blind_models(record), record["blind"]["best"]["key"]
        shares = (_share(own.get(key), record["blind"]["chance"], key == best) for key in models)
        rows.append(row(name, f"{record['items']:,}", share_cell(record["blind"]["chance"]), *shares))
    described = "; ".join(f"{model['name']}: {model['description']}" for model in models.values())
    note = f"{OVER}. Models that learn are cross-validated, grouped by source video. {described}."
    heads = columns("set", "items", "chance", *(model["name"] for model in models.values()))
    table = Table("blind", "Accuracy without the video, %", heads, rows, note=note)
    public_sets = read_json(Path(__file__).with_name("published") / "xray.json")["sets"]  # of the released files
    best_models = [(Cell(name), r["items"], r["blind"]["best"], r["blind"]["chance"]) for name, r in records.items()]
    best_models += [(Cell(s["name"], tone="quiet"), s["items"], s["best"], s["chance"]) for s in public_sets]
    rows = [row(name, f"{n:,}", best["name"], _share(best, chance)) for name, n, best, chance in best_models]
    heads = columns("set", "items", Column("best blind model", numeric=False), "accuracy")
    note = "Intervals are 95 % for all blind models of a set at once; the tick is chance. Whole table: docs/xray.md."
    beside = Table("beside", "Best blind model beside those of published sets, %", heads, rows, note=note)
    section = Section.of("blind", table, beside)
    for name, record in records.items():
        if record["tasks"]:
            rows = [row(t["task"], f"{t['items']:,}", _share(t, t["chance"])) for t in record["tasks"]]
            heads = columns("task", "items", record["blind"]["best"]["name"])
            section.parts.append(Table(f"tasks-{file_name(name)}", f"By task, %, {name}", heads, rows, note=f"{OVER}."))
    return section


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


def _counters(records: Records) -> str:
    return " ".join(dict.fromkeys(f"Tokens: {record['texts']['counter']}." for record in records.values()))


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
    note = f"None: {'; '.join(none)}. {_counters(records)}"
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
        cell = Cell(f"{facts['clusters_needed']:,}", tone="good" if facts["enough"] else "bad")
        shows = f"{100 * facts['detectable']:.1f}" if facts["detectable"] < 1 else "none"
        rows.append(row(name, f"{facts['n_clusters']:,}", cell, shows))
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


def _share(facts: AccuracyFacts | Facts | None, chance: float | None = None, best: bool = False) -> Cell | None:
    if facts is None:
        return None
    return share_cell(facts["accuracy"], facts["low"], facts["high"], chance=chance, tone="best" if best else "")
