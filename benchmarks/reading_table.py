"""The table of a blind reading: share of pairs that are natural, surely false, and both, a source, for two readers.

python benchmarks/reading_table.py benchmarks/readings/frames.tsv
"""

import argparse
import csv
from collections import Counter, defaultdict
from pathlib import Path

READERS = ("1", "2")


def read(path: Path) -> list[dict[str, str]]:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines, delimiter="\t"))


def share(rows: list[dict[str, str]], test) -> str:
    return f"{100 * sum(map(test, rows)) / len(rows):.0f}"


def table(rows: list[dict[str, str]]) -> list[str]:
    """A line a source: pairs, and of each reader the shares in percent of natural, surely false, maybe true, usable."""
    sources: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows:
        for source in dict.fromkeys(row["source"].split("+")):
            sources[f"{row['set']}: {source}"].append(row)
    lines = [
        "| source | pairs | natural | surely false | maybe true | natural and surely false |",
        "|---|---|---|---|---|---|",
    ]
    for source, mine in sorted(sources.items()):
        cells = []
        for test in (
            lambda row, k: row[f"wording_{k}"] == "g",
            lambda row, k: row[f"truth_{k}"] == "f",
            lambda row, k: row[f"truth_{k}"] == "m",
            lambda row, k: (row[f"wording_{k}"], row[f"truth_{k}"]) == ("g", "f"),
        ):
            cells.append(" / ".join(share(mine, lambda row, k=k, test=test: test(row, k)) for k in READERS))
        lines.append(f"| {source} | {len(mine)} | " + " | ".join(cells) + " |")
    return lines


def agreement(rows: list[dict[str, str]], column: str) -> str:
    """Share of equal votes of the two readers, and Cohen's kappa."""
    pairs = [(row[f"{column}_1"], row[f"{column}_2"]) for row in rows]
    observed = sum(a == b for a, b in pairs) / len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[vote] * second[vote] for vote in first) / len(pairs) ** 2
    return f"{column}: {100 * observed:.0f} % of votes equal, kappa {(observed - expected) / (1 - expected):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("votes", type=Path)
    rows = read(parser.parse_args().votes)
    print("\n".join(table(rows)))
    print("\n".join(agreement(rows, column) for column in ("wording", "truth")))


if __name__ == "__main__":
    main()
