"""A figure for each rule of English, from readers' votes: contrasts, and with --data text perturbations.

    python benchmarks/text_rules.py [--data FOLDER [--sheet FILE]]

Of contrasts: `parts/read_contrasts.py`. Of text perturbations: how many captions each rule changes, and how many of
the changed ones readers found well formed. FOLDER holds msrvtt/train_val_videodatainfo.json and
youcook2/validation_youcook.csv; the captions are of the two validation splits. `--sheet` writes 100 changed captions
for each line, shuffled over the rules (number, original, edited), and beside it the key (number, rule, captions, id).
Two readers who see neither rules nor key answer ok or fault; readings/text_rules.tsv holds their votes. An id names a
rule, a caption and what became of it: votes on a text that is no longer written are lost; a lost fault still counts.

The exit status is 1 if a kind of contrast is read no better than a model's (Verb_LM), if fewer than 90 texts of a line
are left, or if a line is below its floor: passives 92 % well formed, of 12 % of MSR-VTT's captions and 50 % of
YouCook2's changed; the other rules 94 %.
"""

import csv
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from make_caption_counts import msrvtt
from parts.measuring import parser_of
from parts.read_contrasts import print_contrasts, table

from video_contrast.perturbations.english import parse
from video_contrast.perturbations.text import perturb_captions
from video_contrast.seeds import digest, stream

DRAWN = {"msrvtt": 2000, "youcook2": 1000}  # captions whose share of changed ones is taken
TEXTS, FEWEST = 100, 90  # changed captions of a line that are read; that the rule must still write
READ = {"active_to_passive": (TEXTS, TEXTS), "gender_neutral": (TEXTS, 0), "gender_swap": (TEXTS, 0)}  # others: 70, 30
PASSIVE = {"msrvtt": (0.92, 0.12), "youcook2": (0.92, 0.50)}  # least shares well formed, changed; others: 0.94, 0
OTHERS = ("tense", "reverse_neg", "insert_adv", "prefix_swap", "swap_syn_wordnet", "gender_neutral", "gender_swap")
RULES = ("active_to_passive", *OTHERS)


def main() -> int:
    """Prints the tables; with --sheet, writes the sheet and its key."""
    options = parser_of(__doc__)
    options.add_argument("--data", type=Path)
    options.add_argument("--sheet", type=Path)
    given = options.parse_args()
    failed = print_contrasts()
    if given.data is None:
        print("\ntext perturbations are left out: --data names the folder of their captions")
        return int(failed)
    captions = {name: drawn(texts, DRAWN[name]) for name, texts in validation(given.data).items()}
    ids = {rule: {name: changed(rule, texts) for name, texts in captions.items()} for rule in RULES}
    if given.sheet:
        write_sheet(given.sheet, ids)
    print("\n| rule | captions | changed | texts read | votes lost | well formed |\n|---|---|---|---|---|---|")
    for rule in RULES:
        apart = rule == "active_to_passive"  # statements of MSR-VTT, orders of YouCook2
        for names in [("msrvtt",), ("youcook2",)] if apart else [("msrvtt", "youcook2")]:
            rows = [row for row in table("text_rules.tsv") if row["rule"] == rule and row["captions"] in names]
            votes = {row["id"]: [row["reader_1"], row["reader_2"]] for row in rows}
            shares = [len(ids[rule][name]) / len(captions[name]) for name in names]
            failed |= print_line(rule, names, votes, {n for name in names for n in ids[rule][name]}, shares)
    return int(failed)


def print_line(
    rule: str, names: Sequence[str], votes: Mapping[str, list[str]], written: Set[str], shares: Sequence[float]
) -> bool:
    """Prints the line of a rule on some captions; whether it falls below its floor.

    `votes`: of each text that was read. `written`: what the rule still writes. `shares`: of the captions changed.
    """
    live = [vote for text, pair in votes.items() if text in written for vote in pair]
    ok, faults = live.count("ok"), sum(pair.count("fault") for pair in votes.values())
    well_formed, least = PASSIVE[names[0]] if rule == "active_to_passive" else (0.94, 0)
    counts = f"{len(live) // 2} | {2 * len(votes) - len(live)} | {ok / max(ok + faults, 1):.1%}"
    print(f"| `{rule}` | {', '.join(names)} | {', '.join(f'{share:.1%}' for share in shares)} | {counts} |")
    return len(live) < 2 * FEWEST or ok < well_formed * (ok + faults) or shares[0] < least


def validation(data: Path) -> dict[str, list[str]]:
    """The distinct captions of the two validation splits, sorted."""
    clips = {caption.strip() for captions in msrvtt(data / "msrvtt", "validate").values() for caption in captions}
    with (data / "youcook2" / "validation_youcook.csv").open(encoding="utf-8", newline="") as handle:
        return {"msrvtt": sorted(clips), "youcook2": sorted({row["text"].strip() for row in csv.DictReader(handle)})}


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
