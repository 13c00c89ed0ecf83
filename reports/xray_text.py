"""The X-rays of sets in words: one screen, or a table of several sets side by side."""

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
    SuspectFacts,
    Tell,
    XrayRecord,
)
from video_contrast.console import counted
from video_contrast.reports.compare import shown
from video_contrast.reports.layout import percent
from video_contrast.reports.terminal import BEST, TableLine, markdown
from video_contrast.rows import MultipleChoiceRow

Records = Mapping[str, XrayRecord]  # name of a set -> its X-ray
# Findings of an X-ray: part, key, and what is counted.
FINDINGS = [line.split("\t") for line in Path(__file__).with_name("findings.tsv").read_text("utf-8").splitlines()]
OVER = "95 % intervals over source videos"
SKEWED = 0.01  # p-value of the places of the key, below which a step is proposed


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
    place = record["position"]
    counts = " ".join(map(str, place["counts"]))
    return [
        *([f"guessed: {guess}" for guess in record["source"]["guesses"]] if "source" in record else []),
        *(f"left out: {text}" for text in left_out(record)),
        f"{name} ({record['split']}): {counted(record['items'], 'item')} ({sizes}), "
        f"{counted(record['clusters'], 'source video')}, against {', '.join(record['blind']['against'])}",
        *([] if brief else sample_lines(record["sample"])),
        verdict(name, record),
        *_blind_lines(record, brief),
        *map(_explained_line, record["explained"] or ()),
        f"places of the true candidate: {counts} (p {place['p_value']:.2g} if all are alike)",
        *_finding_lines(record, brief),
        *_suspect_lines(record["suspects"]),
        *([order_line(record["order"], what) for what in ("items", "candidates")] if record["order"] else []),
        power_line(record["power"]),
        *(f"next: {step}" for step in next_steps(record)),
    ]


def _blind_lines(record: XrayRecord, brief: bool) -> list[str]:
    blind = record["blind"]
    lines = [f"without the video ({OVER}):"]
    for model in blind["models"]:
        share = f"{100 * model['accuracy']:5.1f} %{interval(model)}"
        lines.append(f"  {model['name']:20} {share:22} {model['scorer']}")
    lines += [f"  {blind['note']}"] if blind["note"] else []
    lines += [f"  told by {tell_text(tell)}" for tell in record["tells"][: 3 if brief else None]]
    if record["tasks"] and not brief:
        shares = [
            f"{task['task']} {100 * task['accuracy']:.1f} ({100 * task['chance']:.1f})" for task in record["tasks"]
        ]
        lines += [f"{blind['best']['name']} by task, % (chance):", f"  {', '.join(shares)}"]
    return lines


def _finding_lines(record: XrayRecord, brief: bool) -> list[str]:
    entries = findings(record)
    lines = [f"{entry['count']:,} {text}, as {entry['examples'][0]}" for text, entry in entries if entry["count"]]
    if not brief:
        lines.append(f"none: {'; '.join(text for text, entry in entries if not entry['count'])}")
        most = record["texts"]["long_candidates"]["most"]
        lines.append(f"the longest candidate has {most} tokens ({record['texts']['counter']})")
    return lines


def _suspect_lines(facts: SuspectFacts | None) -> list[str]:
    if facts is None:
        return []
    return [
        f"{facts['count']:,} of {facts['of']:,} items where {len(facts['models'])} models agree against the key "
        f"({facts['expected']:g} if they erred by themselves)",
        *(f"  {text}" for text in facts["examples"]),
    ]


def sample_lines(item: MultipleChoiceRow) -> list[str]:
    """An item as it was read: its clip, its question, its candidates, and which of them is the key."""
    end = "" if item["end"] is None else f"{item['end']:g}"
    span = "" if item["start"] is None and not end else f", {item['start'] or 0:g} to {end or 'its end'} s"
    lines = [f"item {item['id']} as it was read: {item['video_path']}{span}"]
    lines += [f"  {question}"] if (question := item.get("question")) else []
    marks = (" (key)" if n == item["label"] else "" for n in range(len(item["candidates"])))
    return lines + [
        f"  {n}: {text}{mark}" for n, (text, mark) in enumerate(zip(item["candidates"], marks, strict=True))
    ]


def tell_text(tell: Tell) -> str:
    """What gives answers away, with its counts.

    >>> tell_text({"what": "'not'", "items": 40, "true": 3.0, "expected": 20.0, "score": -5.4})
    "'not': with the true candidate in 3 of 40 items that it sets apart (20 by chance)"
    """
    return (
        f"{tell['what']}: with the true candidate in {tell['true']:g} of {tell['items']:,} items that it sets apart "
        f"({tell['expected']:g} by chance)"
    )


def next_steps(record: XrayRecord) -> list[str]:
    """What an author should do about an X-ray, the most pressing first."""
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
        steps.append(
            f"add source videos, not items of the same ones, up to {power['clusters_needed']:,}; a smaller difference "
            f"than {100 * power['detectable']:.1f} points does not show"
            if power["detectable"] < 1
            else f"add source videos, up to {power['clusters_needed']:,}"
        )
    if record["explained"] is None:
        steps.append("give the runs of your models (--scores): how much of their accuracy is there without the video?")
    return steps


def power_line(facts: PowerFacts) -> str:
    """What a set of this size can show."""
    at_best = facts.get("clusters_needed_at_best")
    unlike = at_best and at_best != facts["clusters_needed"]
    more = f" ({at_best:,} if the items of a video were unrelated)" if unlike else ""
    return (
        f"to tell two models {facts['points']:g} points apart (80 % power) it takes {facts['clusters_needed']:,} "
        f"source videos{more}; there are {facts['n_clusters']:,}, {shown(facts['detectable'])} "
        f"(variance from {facts['from']})"
    )


def _explained_line(row: ExplainedFacts) -> str:
    share, rest = row["explained"], row["on_rest"]
    lead = f"{100 * (share or 0):.0f} % of its lead over chance is there without the video"
    more = f"; {percent(rest['accuracy'])} on the {row['n_rest']:,} items that no blind model wins" if rest else ""
    return f"{row['model']}: {percent(row['accuracy'])}; {'no lead over chance' if share is None else lead}{more}"


def order_line(order: OrderFacts, what: Literal["items", "candidates"]) -> str:
    """Whether the published order is known to a language model."""
    p_value = order[what]["p_value"]
    if p_value is None:
        return f"order of {what}: too few to test"
    known = (
        "likelier than shuffled ones: the model may know the set"
        if p_value < 0.05
        else "not likelier than shuffled ones"
    )
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
        findings = [finding_of(record, part, name) for record in records.values()]
        if any(findings):
            rows[text] = [f"{finding['count']:,}" if finding else "–" for finding in findings]
    points = next(iter(records.values()))["power"]["points"]
    rows[f"source videos for {points:g} points"] = [f"{r['power']['clusters_needed']:,}" for r in records.values()]
    return markdown([TableLine(name, None, cells) for name, cells in rows.items()], list(records))


def blind_models(record: XrayRecord) -> dict[str, NamedScorer]:
    """The blind models by key."""
    return {model["key"]: model for model in record["blind"]["models"]}


def _blind_cell(record: XrayRecord, key: str) -> str:
    model = blind_models(record).get(key)
    if model is None:
        return "–"
    best = f" {BEST}" if key == record["blind"]["best"]["key"] else ""
    return f"{100 * model['accuracy']:.1f}{interval(model)}{best}"


def findings(record: XrayRecord) -> list[tuple[str, Finding]]:
    """All findings of an X-ray, each with what is counted."""
    return [(text, finding) for part, key, text in FINDINGS if (finding := finding_of(record, part, key))]


def finding_of(record: XrayRecord, part: str, key: str) -> Finding | None:
    """A finding of an X-ray; None where it was not looked for. `part, key`: as in `FINDINGS`."""
    return cast(Mapping[str, Mapping[str, Finding]], record)[part].get(key)


def counters(records: Records) -> str:
    """What counts the tokens of the sets."""
    return " ".join(dict.fromkeys(f"Tokens: {record['texts']['counter']}." for record in records.values()))


def left_out(record: XrayRecord) -> list[str]:
    """The rows of a table that are no items, a sentence a reason."""
    reasons = record["source"]["left_out"] if "source" in record else {}
    return [f"{counted(len(places), 'row')} with {reason}, first {places[0]}" for reason, places in reasons.items()]


def interval(facts: AccuracyFacts | PairFacts, form: str = " [{:.1f}, {:.1f}]") -> str:
    """The ends of an interval in percent; "" where there is none."""
    low, high = facts["low"], facts["high"]
    return "" if low is None or high is None else form.format(100 * low, 100 * high)
