"""A page on which people read pairs of captions without knowing their source, and what their votes say of each source.

`write_reading` shuffles pairs of any sets and writes a folder: `page.html`, which readers open from disk and which
knows no source, and `pairs.jsonl`, which says where each pair comes from and stays with the organiser. Readers' own
files (`save` on the page) hold two votes a pair; with the reading's folder they become one file of votes: `set, number,
source, clip, wording_1, truth_1, wording_2, ...`, which holds no captions and can be published.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import AnyPath, Json, read_json, write_text
from video_contrast.metrics.interval import share_interval
from video_contrast.reports.annotate.tasks import page_html
from video_contrast.reports.layout import ends
from video_contrast.reports.table_formats import TableLine
from video_contrast.rows import contrast_places
from video_contrast.seeds import digest, stream
from video_contrast.storage import open_set

PAGE, KEY = "page.html", "pairs.jsonl"
# The questions to a reader: question -> key, name, explanation (the standard by which the shipped votes were made).
QUESTIONS: dict[str, list[tuple[str, str, str]]] = read_json(Path(__file__).with_name("questions.json"))
LEGENDS = {
    "wording": "Could a person have written the edited caption?",
    "truth": "Is it false, if the original is true?",
}


@dataclass(frozen=True)
class PairSource:
    """A config of a set, of which pairs are read."""

    name: str  # in the results
    folder: Path  # of the set
    config: str
    count: int | None = None  # how many different ones of its pairs; None for all

    @classmethod
    def of(cls, text: str) -> "PairSource":
        """Reads `[NAME=]FOLDER/CONFIG[:COUNT]`.

        Raises UsageError: it has another form; the message shows one that works.

        >>> PairSource.of("ours=sets/mine/verb_mc:150")
        PairSource(name='ours', folder=PosixPath('sets/mine'), config='verb_mc', count=150)
        """
        match = re.fullmatch(r"(?:([^=/\\]+)=)?(.+)[/\\]([\w-]+?)(?::(\d+))?", text)
        if match is None or match[4] == "0":
            raise UsageError(f"{text!r} must be [NAME=]FOLDER/CONFIG[:COUNT], such as ours=sets/mine/verb_mc:150")
        name, folder, config, count = match.groups()
        name = name or f"{Path(folder).name}/{config}"
        if "+" in name or "\t" in name:
            raise UsageError(f"{name!r}: the name of a source must not hold + or tabs")
        return cls(name, Path(folder), config, int(count) if count else None)


@dataclass
class Pair:
    """An original and an edited caption, of one source or of several that made the same."""

    original: str  # shown to readers
    edited: str
    clip: str  # id of the video
    sources: list[str] = field(default_factory=list)  # names of the sources

    @property
    def id(self) -> str:
        """Names the pair in votes; says nothing of its source."""
        return digest("sibling-pair", self.original, self.edited).hex()[:16]


def write_reading(
    sources: Sequence[PairSource], output: AnyPath, *, split: str = "test", seed: int = 0, again: int = 0
) -> tuple[int, Counter[str]]:
    """Draws pairs of the sources, shuffles them, and writes the page and the key.

    Returns how many pairs there are, and how many of them each source has. Raises UsageError: two sources of one name,
    a source without a pair, or another reading in the folder: a key that is there already must be the same. `seed`: of
    the samples and of the order. `again`: how many of the first pairs are shown once more at the end, to measure each
    reader against themselves.
    """
    if len({source.name for source in sources}) < len(sources):
        raise UsageError("two sources have the same name: give each its own (NAME=FOLDER/CONFIG)")
    return write_pairs(_mixed(sources, split, seed), output, seed=seed, again=again)


def write_pairs(pairs: Sequence[Pair], output: AnyPath, *, seed: int = 0, again: int = 0) -> tuple[int, Counter[str]]:
    """Shuffles pairs, and writes the page and the key.

    `pairs`: in an order that says nothing of their sources. The rest is as of `write_reading`.
    """
    order = stream("sibling-pairs", seed).permutation(len(pairs))
    pairs = [pairs[n] for n in order]
    root = Path(output)
    lines = [
        {"number": n, "pair": pair.id, "clip": pair.clip, "source": "+".join(pair.sources)}
        | {"original": pair.original, "edited": pair.edited}
        for n, pair in enumerate(pairs, 1)
    ]
    key = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    if (root / KEY).is_file() and (root / KEY).read_text(encoding="utf-8") != key:
        raise UsageError(f"{root} holds another reading, whose votes would be lost: give another --output")
    root.mkdir(parents=True, exist_ok=True)
    write_text(root / KEY, key)
    write_text(root / PAGE, page(pairs, again=min(again, len(pairs))))
    return len(pairs), Counter(name for pair in pairs for name in pair.sources)


def page(pairs: Sequence[Pair], *, again: int = 0) -> str:
    """The page as one HTML file without network or sources; the first `again` pairs are shown once more at the end."""
    answers = {question: [(key, key, name, why) for key, name, why in own] for question, own in QUESTIONS.items()}
    content = {
        "reading": digest("sibling-page", *(pair.id for pair in pairs)).hex()[:12],
        "pairs": [[pair.id, pair.original, pair.edited] for pair in pairs],
        "again": again,
        "legends": LEGENDS,
        "answers": answers,
    }
    return page_html("read", "Reading pairs of captions", content)


def _mixed(sources: Sequence[PairSource], split: str, seed: int) -> list[Pair]:
    """The pairs of all sources, equal ones once, in an order that does not depend on the sources' order."""
    pairs: dict[tuple[str, str], Pair] = {}
    for source in sources:
        different: dict[tuple[str, str], Pair] = {}  # an item may repeat another
        for row in open_set(source.folder).choice_rows(source.config, split):
            true = row["candidates"][row["label"]]
            texts = [text for n in contrast_places(row["kinds"]) if (text := row["candidates"][n]) != true]
            if texts:  # else all others are captions of other videos
                text = texts[int(stream("sibling-candidate", seed, row["id"]).integers(len(texts)))]
                pair = Pair(" ".join(true.split()), " ".join(text.split()), row["video_id"])
                different.setdefault((pair.original, pair.edited), pair)
        own_pairs = [*different.values()]
        if not own_pairs:
            raise UsageError(f"{source.folder} {source.config}: no item has an edited caption to read")
        if source.count is not None and source.count > len(own_pairs):
            raise UsageError(f"{source.name}: {source.count} pairs are asked for, the set has {len(own_pairs)}")
        places = stream("sibling-draw", seed, source.name).permutation(len(own_pairs))[: source.count]
        for place in sorted(places):
            pair = own_pairs[place]
            pairs.setdefault((pair.original, pair.edited), pair).sources.append(source.name)
    return [pairs[texts] for texts in sorted(pairs)]


def read_key(folder: AnyPath) -> dict[str, dict[str, str]]:
    """The key of a reading: pair -> its number, clip and source.

    Raises UsageError: there is no reading in the folder; VideoContrastError: the key is broken.
    """
    path = Path(folder) / KEY
    if not path.is_file():
        raise UsageError(f"{folder}: no {KEY} there; give the folder that `annotate reading` wrote")
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        return {line["pair"]: {name: str(line[name]) for name in ("number", "clip", "source")} for line in lines}
    except (ValueError, KeyError, TypeError) as error:
        raise VideoContrastError(f"{path}: not the key of a reading: {error}") from error


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


def read_votes(path: AnyPath) -> list[Row]:
    """The rows of a file of votes of all readers (tab-separated; lines that begin with "#" say what it is).

    Raises UsageError: no such file; VideoContrastError: a column is missing, or a vote is no letter; names the line.
    """
    rows = _table(Path(path))
    for number, row in rows:
        if "source" not in row or "wording_1" not in row:
            raise VideoContrastError(f"{path}, line {number}: the columns source, wording_1 and truth_1 are needed")
        for reader in readers_of([row]):
            _checked(path, number, row.get(f"wording_{reader}", ""), row.get(f"truth_{reader}", ""))
    return [row for _, row in rows]


def merge(folder: AnyPath, votes: Sequence[AnyPath]) -> tuple[list[Row], dict[str, dict[str, float]]]:
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
    shares_of: dict[str, dict[str, float]] = {}
    for reader, path in enumerate(votes, 1):
        looks: dict[str, dict[str, tuple[str, str]]] = {"1": {}, "2": {}}
        for number, vote in _table(Path(path)):
            if not {"pair", "look", "wording", "truth"} <= set(vote):
                raise VideoContrastError(f"{path}, line {number}: the columns pair, look, wording and truth are needed")
            if vote["pair"] not in key:
                raise VideoContrastError(f"{path}, line {number}: pair {vote['pair']} is not in this reading")
            _checked(path, number, vote["wording"], vote["truth"])
            looks.get(vote["look"], looks["1"])[vote["pair"]] = vote["wording"], vote["truth"]
        first, second = looks["1"], looks["2"]
        if not first:
            raise VideoContrastError(f"{path}: holds no vote")
        for pair, row in rows.items():
            row |= dict(zip((f"wording_{reader}", f"truth_{reader}"), first.get(pair, ("", "")), strict=True))
        both = [pair for pair in second if pair in first]
        if both:
            shares_of[str(reader)] = {
                question: sum(first[pair][n] == second[pair][n] for pair in both) / len(both)
                for n, question in enumerate(QUESTIONS)
            } | {"pairs": len(both)}
    return sorted(rows.values(), key=lambda row: int(row["number"])), shares_of


def write_votes(rows: Sequence[Row], path: AnyPath) -> Path:
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
            percents[-1] += ends(last["low"], last["high"], " [{:.0f}, {:.0f}]")
            lines.append(TableLine(source, None, [reader, str(shares["pairs"]), *percents]))
    return lines


def agreement_lines(result: Mapping[str, Json]) -> list[str]:
    """The agreement of readers, one line a question and two readers, and of each reader with themselves."""
    lines = []
    for question, by_two in result["agreement"].items():
        for two, facts in by_two.items():
            kappa = "not defined" if facts["kappa"] is None else f"{facts['kappa']:.2f}"
            lines.append(
                f"{question}: readers {two} gave {100 * facts['equal']:.0f} % equal votes on {facts['pairs']} pairs, "
                f"Cohen's kappa {kappa}"
            )
    for reader, own in result.get("again", {}).items():
        shares = ", ".join(f"{question} {100 * own[question]:.0f} %" for question in QUESTIONS)
        lines.append(f"reader {reader} read {own['pairs']:.0f} pairs again and voted as before: {shares}")
    return lines


def _shares(rows: Sequence[Row], readers: Sequence[str]) -> dict[str, Json]:
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
            kappa = float(cohen_kappa_score(*votes)) if several else None
            equal = sum(map(str.__eq__, *votes)) / len(votes[0])
            by_two[f"{first}, {second}"] = {"equal": equal, "kappa": kappa, "pairs": len(votes[0])}
    return by_two


def _table(path: Path) -> list[tuple[int, Row]]:
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


def _checked(path: AnyPath, number: int, wording: str, truth: str) -> None:
    for vote, question in ((wording, "wording"), (truth, "truth")):
        letters = [letter for letter, _, _ in QUESTIONS[question]]
        if vote and vote not in letters:
            raise VideoContrastError(f"{path}, line {number}: {question} is {vote!r}, not one of {', '.join(letters)}")
    if bool(wording) != bool(truth):
        raise VideoContrastError(f"{path}, line {number}: wording and truth must both be given, or neither")
