"""How many captions each rule of English changes, and how many of the changed ones readers found well formed.

    python benchmarks/text_rules.py --data FOLDER [--sheets FOLDER]

FOLDER holds msrvtt/train_val_videodatainfo.json and youcook2/validation_youcook.csv; the captions are of the two
validation splits. `--sheets` writes a sheet a rule for readers: 100 changed captions, 70 of MSR-VTT and 30 of YouCook2,
shuffled (id, before, after). Their votes (ok or fault) stand in readings/text_rules.tsv (rule, id, reader_1, reader_2).
An id names a rule, a caption and what became of it, so a vote counts as long as the rule writes what was read. Those on
the passive of older rules (readings/passive.tsv) count where the rule writes the same.

The exit status is 1 if a rule is below its floor: passive 92 % well formed, of 12 % of MSR-VTT's captions and 50 % of
YouCook2's changed; tense, negation, adverbs and prefixes 94 %.
"""

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from parts.measuring import parser_of

from video_contrast.perturbations.english import parse
from video_contrast.perturbations.text import perturb_captions
from video_contrast.seeds import digest, stream

READINGS = Path(__file__).parent / "readings"
WELL_FORMED = {"active_to_passive": 0.92, "tense": 0.94, "reverse_neg": 0.94, "insert_adv": 0.94, "prefix_swap": 0.94}
CHANGED = {"active_to_passive": {"msrvtt": 0.12, "youcook2": 0.50}}
RULES = (*WELL_FORMED, "swap_syn_wordnet", "gender_neutral", "gender_swap")
DRAWN = {"msrvtt": 2000, "youcook2": 1000}  # captions whose share of changed ones is taken
READ = {"msrvtt": 70, "youcook2": 30}  # changed captions of a sheet
Pair = tuple[str, str]  # a caption, and what a rule makes of it


def main() -> int:
    """Prints the table; with --sheets, writes the sheets."""
    options = parser_of(__doc__)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--sheets", type=Path)
    given = options.parse_args()
    captions = {name: drawn(texts, DRAWN[name]) for name, texts in validation(given.data).items()}
    pairs = {rule: {name: changed(rule, texts) for name, texts in captions.items()} for rule in RULES}
    if given.sheets:
        given.sheets.mkdir(parents=True, exist_ok=True)
        for rule in RULES:
            shown = [pair for name, part in pairs[rule].items() for pair in part[: READ[name]]]
            order = stream("sheet", rule).permutation(len(shown)).tolist()
            rows = ["id\tbefore\tafter", *("\t".join((name_of(rule, *shown[n]), *shown[n])) for n in order)]
            (given.sheets / f"text_{rule}.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    print("| rule | msrvtt changed | youcook2 changed | votes | well formed |\n|---|---|---|---|---|")
    failed = False
    for rule in RULES:
        shares = {name: len(pairs[rule][name]) / len(captions[name]) for name in captions}
        votes = votes_on(rule, [pair for part in pairs[rule].values() for pair in part])
        well_formed = sum(votes) / len(votes) if votes else None
        failed |= any(shares[name] < floor for name, floor in CHANGED.get(rule, {}).items())
        failed |= well_formed is not None and well_formed < WELL_FORMED.get(rule, 0)
        cells = [rule, *(f"{shares[name]:.1%}" for name in captions), str(len(votes))]
        print(f"| {' | '.join(cells)} | {'' if well_formed is None else f'{well_formed:.1%}'} |")
    return int(failed)


def validation(data: Path) -> dict[str, list[str]]:
    """The distinct captions of the two validation splits, sorted."""
    info = json.loads((data / "msrvtt" / "train_val_videodatainfo.json").read_text(encoding="utf-8"))
    videos = {video["video_id"] for video in info["videos"] if video["split"] == "validate"}
    msrvtt = [sentence["caption"] for sentence in info["sentences"] if sentence["video_id"] in videos]
    with (data / "youcook2" / "validation_youcook.csv").open(encoding="utf-8", newline="") as handle:
        youcook2 = [row["text"] for row in csv.DictReader(handle)]
    return {
        "msrvtt": sorted({text.strip() for text in msrvtt}),
        "youcook2": sorted({text.strip() for text in youcook2}),
    }


def drawn(captions: Sequence[str], count: int) -> list[str]:
    """Returns `count` captions in a random order that is always the same."""
    return [captions[n] for n in stream("text rules", 0).permutation(len(captions))[:count].tolist()]


def changed(rule: str, captions: Sequence[str]) -> list[Pair]:
    """The captions that a rule changes, each with what becomes of it."""
    models = {rule: "rules"} if rule == "active_to_passive" else None
    after = perturb_captions(captions, rule, ids=captions, models=models, sentences=parse(captions))
    return [pair for pair in zip(captions, after, strict=True) if pair[0] != pair[1]]


def votes_on(rule: str, pairs: Iterable[Pair]) -> list[bool]:
    """The votes on texts that the rule still writes: True where a reader found one well formed."""
    current = {name_of(rule, *pair) for pair in pairs}
    votes = [row[2:] for row in lines("text_rules.tsv") if row[0] == rule and row[1] in current]
    if rule == "active_to_passive":
        earlier = [row for row in lines("passive.tsv") if row[0] != "draw"]
        same = set(changed(rule, [row[2] for row in earlier]))
        votes += [row[4:] for row in earlier if (row[2], row[3]) in same]
    return [vote == "ok" for pair in votes for vote in pair]


def lines(name: str) -> list[list[str]]:
    """The cells of a readings file; empty if it is not there."""
    path = READINGS / name
    text = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [line.split("\t") for line in text if not line.startswith("#")]


def name_of(rule: str, before: str, after: str) -> str:
    """The id of a text that a rule made."""
    return digest(rule, before, after).hex()[:12]


if __name__ == "__main__":
    raise SystemExit(main())
