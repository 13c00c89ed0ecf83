"""What readers of pairs said: shares a source with intervals, and how far the readers agree.

Readers' own files (`save` on the page) hold a vote a pair; with the reading's folder they become one file of votes:
`set, number, source, clip, wording_1, truth_1, wording_2, ...`, which holds no captions and can be published.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, write_text
from video_contrast.metrics.interval import share_interval
from video_contrast.reports.annotate.blind_reading import QUESTIONS, read_key
from video_contrast.reports.terminal import TableLine

Row = dict[str, str]
# Columns of the table: name, and the votes (wording, truth) that count; None for any.
COLUMNS: tuple[tuple[str, str | None, str | None], ...] = (
    ("natural", "g", None),
    ("odd", "o", None),
    ("broken", "b", None),
    ("surely false", None, "f"),
    ("maybe true", None, "m"),
    ("same", None, "t"),
    ("natural and surely false", "g", "f"),
)
ALL = "all"  # the line of all readers of a source


def read_votes(path: str | Path) -> list[Row]:
    """The rows of a file of votes of all readers (tab-separated; lines that begin with "#" say what it is).

    Raises UsageError: no such file; VideoContrastError: a column is missing, or a vote is none of the letters; names
    the line.
    """
    rows = _table(Path(path))
    for number, row in rows:
        if "source" not in row or "wording_1" not in row:
            raise VideoContrastError(f"{path}, line {number}: the columns source, wording_1 and truth_1 are needed")
        for reader in readers_of([row]):
            _checked(path, number, row.get(f"wording_{reader}", ""), row.get(f"truth_{reader}", ""))
    return [row for _, row in rows]


def merge(folder: str | Path, votes: Sequence[str | Path]) -> tuple[list[Row], dict[str, dict[str, float]]]:
    """One row a pair from the files that readers saved.

    Returns the rows in the order of the page, and for each reader who read pairs twice the share of equal votes a
    question. `folder`: the reading's (`write_reading`). Raises UsageError: no such file or reading; VideoContrastError:
    a vote of a pair that is not in this reading, or no vote at all; names the line.
    """
    key = read_key(folder)
    rows = {
        pair: {"set": Path(folder).resolve().name, "number": f["number"], "source": f["source"], "clip": f["clip"]}
        for pair, f in key.items()
    }
    repeated: dict[str, dict[str, float]] = {}
    for reader, path in enumerate(votes, 1):
        first, second = _own_votes(Path(path), key)
        for pair, row in rows.items():
            row |= dict(zip((f"wording_{reader}", f"truth_{reader}"), first.get(pair, ("", "")), strict=True))
        both = [pair for pair in second if pair in first]
        if both:
            repeated[str(reader)] = {
                question: sum(first[pair][n] == second[pair][n] for pair in both) / len(both)
                for n, question in enumerate(QUESTIONS)
            } | {"pairs": len(both)}
    return sorted(rows.values(), key=lambda row: int(row["number"])), repeated


def write_votes(rows: Sequence[Row], path: str | Path) -> Path:
    """Writes rows as a file of votes."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, delimiter="\t", lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(rows)
    head = "# Votes on pairs, read without their sources. Wording: g natural, o odd, b broken. "
    return write_text(path, head + "Truth: f surely false, m maybe true, t the same.\n" + text.getvalue())


def readers_of(rows: Sequence[Row]) -> list[str]:
    """Numbers of the readers, in order."""
    names = {name.removeprefix("wording_") for row in rows for name in row if name.startswith("wording_")}
    return sorted(names, key=lambda name: (len(name), name))


def results(rows: Sequence[Row]) -> dict[str, Json]:
    """Everything that votes say, JSON-able.

    Returns `sources`: source -> reader ("all": all together) -> `pairs`, and for each column its `share` with `low` and
    `high`, the 95 % interval over clips (None below five clips); `agreement`: question -> two readers ("1, 2") -> the
    share of `equal` votes, `kappa` (None where all votes are one answer), `pairs`. Raises VideoContrastError: no vote.
    """
    readers = readers_of(rows)
    several_sets = len({row.get("set", "") for row in rows}) > 1
    of_source: dict[str, list[Row]] = {}
    for row in rows:
        for source in dict.fromkeys(row["source"].split("+")):
            of_source.setdefault(f"{row['set']}: {source}" if several_sets else source, []).append(row)
    sources = {}
    for source, own in sorted(of_source.items()):
        by_reader = {reader: _shares(own, [reader]) for reader in readers}
        if len(readers) > 1:
            by_reader[ALL] = _shares(own, readers)
        sources[source] = {reader: shares for reader, shares in by_reader.items() if shares["pairs"]}
    sources = {source: shares for source, shares in sources.items() if shares}
    if not sources:
        raise VideoContrastError("there is no vote yet")
    return {"sources": sources, "agreement": {question: _agreement(rows, question, readers) for question in QUESTIONS}}


HEADS = ("reader", "pairs", *(name for name, _, _ in COLUMNS))


def table_lines(result: Mapping[str, Json]) -> list[TableLine]:
    """A line a source and reader under `HEADS`: percent, and the 95 % interval of the last column."""
    lines = []
    for source, by_reader in result["sources"].items():
        for reader, shares in by_reader.items():
            percents = [f"{100 * shares[name]['share']:.0f}" for name, _, _ in COLUMNS]
            last = shares[COLUMNS[-1][0]]
            if last["low"] is not None and last["high"] is not None:
                percents[-1] += f" [{100 * last['low']:.0f}, {100 * last['high']:.0f}]"
            lines.append(TableLine(source, None, [reader, str(shares["pairs"]), *percents]))
    return lines


def agreement_lines(result: Mapping[str, Json]) -> list[str]:
    """How far readers agree, one line a question and two readers, and each reader with themselves."""
    lines = []
    for question, by_two in result["agreement"].items():
        for two, facts in by_two.items():
            kappa = "not defined" if facts["kappa"] is None else f"{facts['kappa']:.2f}"
            lines.append(
                f"{question}: readers {two} gave {100 * facts['equal']:.0f} % equal votes on {facts['pairs']} pairs, "
                f"Cohen's kappa {kappa}"
            )
    for reader, repeated in result.get("again", {}).items():
        shares = ", ".join(f"{question} {100 * repeated[question]:.0f} %" for question in QUESTIONS)
        lines.append(f"reader {reader} read {repeated['pairs']:.0f} pairs again and voted as before: {shares}")
    return lines


def _shares(rows: Sequence[Row], readers: Sequence[str]) -> dict[str, Json]:
    """The share of votes in each column; the interval goes over clips."""
    every = [[(row.get(f"wording_{reader}"), row.get(f"truth_{reader}")) for reader in readers] for row in rows]
    votes = [(vote, row["clip"]) for row, of_row in zip(rows, every, strict=True) for vote in of_row if all(vote)]
    shares: dict[str, Json] = {"pairs": sum(any(map(all, of_row)) for of_row in every)}
    for name, wording, truth in COLUMNS if votes else ():
        hits = [wording in (None, vote[0]) and truth in (None, vote[1]) for vote, _ in votes]
        interval = share_interval([float(hit) for hit in hits], [clip for _, clip in votes])
        shares[name] = dict(zip(("share", "low", "high"), (interval.estimate, *interval.bounds), strict=True))
    return shares


def _agreement(rows: Sequence[Row], question: str, readers: Sequence[str]) -> dict[str, Json]:
    from sklearn.metrics import cohen_kappa_score

    by_two: dict[str, Json] = {}
    for first, second in combinations(readers, 2):
        both = [(row.get(f"{question}_{first}", ""), row.get(f"{question}_{second}", "")) for row in rows]
        votes = list(zip(*filter(all, both), strict=True))
        if votes:
            several = len({*votes[0], *votes[1]}) > 1  # of one answer alone kappa is not defined
            by_two[f"{first}, {second}"] = {
                "equal": sum(map(str.__eq__, *votes)) / len(votes[0]),
                "kappa": float(cohen_kappa_score(*votes)) if several else None,
                "pairs": len(votes[0]),
            }
    return by_two


def _own_votes(path: Path, key: Mapping[str, object]) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """The votes of one reader's file: those of the first look, and those of the second."""
    looks: dict[str, dict[str, tuple[str, str]]] = {"1": {}, "2": {}}
    for number, row in _table(path):
        if not {"pair", "look", "wording", "truth"} <= set(row):
            raise VideoContrastError(f"{path}, line {number}: the columns pair, look, wording and truth are needed")
        if row["pair"] not in key:
            raise VideoContrastError(f"{path}, line {number}: pair {row['pair']} is not in this reading")
        _checked(path, number, row["wording"], row["truth"])
        looks.get(row["look"], looks["1"])[row["pair"]] = row["wording"], row["truth"]
    if not looks["1"]:
        raise VideoContrastError(f"{path}: holds no vote")
    return looks["1"], looks["2"]


def _table(path: Path) -> list[tuple[int, Row]]:
    """The rows of a tab-separated file with their line numbers."""
    if not path.is_file():
        raise UsageError(f"{path}: no such file of votes")
    text = path.read_text(encoding="utf-8-sig")
    lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")]
    if not lines:
        raise VideoContrastError(f"{path}: holds no vote")
    (_, header), *rows = ((number, line.split("\t")) for number, line in lines)
    for number, cells in rows:
        if len(cells) != len(header):
            raise VideoContrastError(f"{path}, line {number}: {len(cells)} cells, the header names {len(header)}")
    return [(number, dict(zip(header, cells, strict=True))) for number, cells in rows]


def _checked(path: str | Path, number: int, wording: str, truth: str) -> None:
    for vote, question in ((wording, "wording"), (truth, "truth")):
        letters = [letter for letter, _, _ in QUESTIONS[question]]
        if vote and vote not in letters:
            raise VideoContrastError(f"{path}, line {number}: {question} is {vote!r}, not one of {', '.join(letters)}")
    if bool(wording) != bool(truth):
        raise VideoContrastError(f"{path}, line {number}: wording and truth must both be given, or neither")
