"""How many captions each rule of English changes, and how many of the changed ones readers found well formed.

    python benchmarks/text_rules.py --data FOLDER [--sheet FILE]

FOLDER holds msrvtt/train_val_videodatainfo.json and youcook2/validation_youcook.csv; the captions are of the two
validation splits. `--sheet` writes 100 changed captions for each line of the table, shuffled over the rules (number,
original, edited), and beside it the key (number, rule, captions, id). Two readers who see neither rules nor key answer
ok or fault; readings/text_rules.tsv holds their votes (rule, captions, id, reader_1, reader_2). An id names a rule, a
caption and what became of it: votes on a text which the rule no longer writes are lost; a lost fault still counts.

The exit status is 1 if fewer than 90 texts of a line are left, or a line is below its floor: passives 92 % well formed,
of 12 % of MSR-VTT's captions and 50 % of YouCook2's changed; the other rules 94 %.
"""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

from parts.measuring import parser_of

from video_contrast.perturbations.english import parse
from video_contrast.perturbations.text import perturb_captions
from video_contrast.seeds import digest, stream

READINGS = Path(__file__).parent / "readings" / "text_rules.tsv"
DRAWN = {"msrvtt": 2000, "youcook2": 1000}  # captions whose share of changed ones is taken
TEXTS, FEWEST = 100, 90  # changed captions of a line that are read; that the rule must still write
READ = {"active_to_passive": (TEXTS, TEXTS), "gender_neutral": (TEXTS, 0), "gender_swap": (TEXTS, 0)}  # others: 70, 30
PASSIVE = {"msrvtt": (0.92, 0.12), "youcook2": (0.92, 0.50)}  # least shares well formed, changed; others: 0.94, 0
OTHERS = ("tense", "reverse_neg", "insert_adv", "prefix_swap", "swap_syn_wordnet", "gender_neutral", "gender_swap")
RULES = ("active_to_passive", *OTHERS)


def main() -> int:
    """Prints the table; with --sheet, writes the sheet and its key."""
    options = parser_of(__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--sheet", type=Path)
    given = options.parse_args()
    captions = {name: drawn(texts, DRAWN[name]) for name, texts in validation(given.data).items()}
    ids = {rule: {name: changed(rule, texts) for name, texts in captions.items()} for rule in RULES}
    if given.sheet:
        write_sheet(given.sheet, ids)
    read = [row.split("\t") for row in READINGS.read_text(encoding="utf-8").splitlines() if row[:1] != "#"]
    print("| rule | captions | changed | texts read | votes lost | well formed |\n|---|---|---|---|---|---|")
    failed = False
    for rule in RULES:
        of_passive = rule == "active_to_passive"  # statements of MSR-VTT and orders of YouCook2 stand apart
        for names in [("msrvtt",), ("youcook2",)] if of_passive else [("msrvtt", "youcook2")]:
            votes = {row[2]: row[3:] for row in read if row[0] == rule and row[1] in names}
            live = [vote for n, pair in votes.items() if any(n in ids[rule][name] for name in names) for vote in pair]
            ok, faults = live.count("ok"), sum(pair.count("fault") for pair in votes.values())
            shares = [len(ids[rule][name]) / len(captions[name]) for name in names]
            well_formed, least = PASSIVE[names[0]] if of_passive else (0.94, 0)
            failed |= len(live) < 2 * FEWEST or ok < well_formed * (ok + faults) or shares[0] < least
            counts = f"{len(live) // 2} | {2 * len(votes) - len(live)} | {ok / max(ok + faults, 1):.1%}"
            print(f"| `{rule}` | {', '.join(names)} | {', '.join(f'{share:.1%}' for share in shares)} | {counts} |")
    return int(failed)


def validation(data: Path) -> dict[str, list[str]]:
    """The distinct captions of the two validation splits, sorted."""
    info = json.loads((data / "msrvtt" / "train_val_videodatainfo.json").read_text(encoding="utf-8"))
    videos = {video["video_id"] for video in info["videos"] if video["split"] == "validate"}
    msrvtt = {sentence["caption"].strip() for sentence in info["sentences"] if sentence["video_id"] in videos}
    with (data / "youcook2" / "validation_youcook.csv").open(encoding="utf-8", newline="") as handle:
        return {"msrvtt": sorted(msrvtt), "youcook2": sorted({row["text"].strip() for row in csv.DictReader(handle)})}


def drawn(captions: Sequence[str], count: int) -> list[str]:
    """Returns `count` captions in an order that is always the same; no rule was mended on them before the reading."""
    return [captions[n] for n in stream("text rules", 1).permutation(len(captions))[:count].tolist()]


def changed(rule: str, captions: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The captions that a rule changes: id -> the caption, and what becomes of it."""
    after = perturb_captions(captions, rule, ids=captions, sentences=parse(captions))
    return {digest(rule, *pair).hex()[:12]: pair for pair in zip(captions, after, strict=True) if pair[0] != pair[1]}


def write_sheet(path: Path, ids: dict[str, dict[str, dict[str, tuple[str, str]]]]) -> None:
    """Writes what readers are shown, and the key to it."""
    counts = {rule: dict(zip(DRAWN, READ.get(rule, (70, 30)), strict=True)) for rule in RULES}
    shown = [(r, name, n) for r in RULES for name, part in ids[r].items() for n in list(part)[: counts[r][name]]]
    order = [shown[n] for n in stream("text rules", "sheet").permutation(len(shown)).tolist()]
    texts = ["\t".join((str(n), *ids[r][name][text])) for n, (r, name, text) in enumerate(order, 1)]
    key = ["\t".join((str(n), *row)) for n, row in enumerate(order, 1)]
    path.write_text("\n".join(["number\toriginal\tedited", *texts]) + "\n", encoding="utf-8")
    path.with_suffix(".key").write_text("\n".join(["number\trule\tcaptions\tid", *key]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
