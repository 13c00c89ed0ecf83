"""A repaired set on disk, with its errata, its X-ray before and after, and a page on which people read a sample.

OUTPUT/repaired     the rows, as `load_dataset(OUTPUT)` reads them
OUTPUT/errata.json  what differs from the authors' own file; OUTPUT/authors/ that file with the errata applied
OUTPUT/xray         the X-ray before and after, one page
OUTPUT/reading      old and new distractors, shuffled, for readers
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from video_contrast.audit.new_distractors import DistractorEdits
from video_contrast.audit.records import XrayRecord
from video_contrast.audit.repair import Repair, repair
from video_contrast.audit.xray import certificate, xray
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import sha256, write_bytes
from video_contrast.hub_cards import write_card
from video_contrast.reports.annotate.blind_reading import Pair, merge, results, write_pairs
from video_contrast.reports.xray_input import XraySource, open_sources
from video_contrast.reports.xray_page import write_xray
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import stream
from video_contrast.storage import SetDraft
from video_contrast.storage.errata import CORRECTED, Errata, Erratum, corrected, write_errata

CONFIG = "repaired"
_REASONS = {"identical candidates": "repeats", "a repeated id": "repeats"}  # faults of rows that are no items
_NEGATIVES = (
    "The authors' own, but in items that are won blind, repeat a candidate, or say the same as the true one: there "
    "distractors of this package, chosen over the whole set; see errata.json."
)


def write_repair(
    source: XraySource, output: Path, edits: DistractorEdits, *, sample: int = 60, votes: Sequence[Path] = (),
    seed: int = 0,
) -> tuple[dict[str, XrayRecord], str]:  # fmt: skip
    """Repairs a set and writes all of it; returns the X-rays before and after, and a summary in one sentence.

    `source`: of `open_sources`. Readers see a `sample` of the old distractors, and as many new ones; without `votes`,
    files of these readers, the card says "not read". Other arguments are those of `repair`.
    Raises UsageError: pairs, too few items, or no `Errata` where votes are given; VideoContrastError: the file with the
    errata applied reads otherwise than the repaired rows.
    """
    repairs = {split: repair(rows, edits, seed=seed) for split, rows in source.splits.items()}
    rows_of = {split: of_split.rows for split, of_split in repairs.items() if of_split.rows}
    sums = Counter[str]()
    for of_split in repairs.values():
        sums.update(of_split.counts)
    why = ", ".join(f"{n:,} {name}" for name, n in sorted(sums.items()) if name.startswith("left out"))
    if not rows_of:
        raise UsageError(f"{source.name}: no item stays ({why}): no distractor that would not tell is known for any")
    split = "test" if "test" in rows_of else next(iter(rows_of))
    before, after = xray(source.splits, split=split, seed=seed), xray(rows_of, split=split, seed=seed)
    before["source"] = {"read": str(source.path), "guesses": source.guesses, "left_out": source.left_out}
    after["source"] = {"read": str(source.path), "guesses": [], "left_out": {}}  # all of its rows are items
    records = {f"{source.name} before": before, f"{source.name} after": after}
    errata = _errata(source, repairs)
    authors = _authors(errata, source, rows_of)
    draft = SetDraft(output, "repair")
    draft.add(CONFIG, rows_of, {
        "negatives": _NEGATIVES,
        "repaired_from": source.name,
        "counts": {name: of_split.counts for name, of_split in repairs.items()},
        "audit": {**after["blind"]["audit"], "split": split, "certificate": certificate(after)},
    })  # fmt: skip
    pairs = _drawn(source, repairs, sample, seed)
    read = _read(pairs, votes, seed)
    if pairs:
        write_pairs(pairs, output / "reading", seed=seed)
    draft.record["facts"] = {
        "summary": f"{source.name} with new distractors where a model won without the video.",
        "seed": seed,
        "options": {
            "kinds": list(edits.kinds), "quality": edits.quality,
            "generator": edits.generator.name if edits.generator else "lexicon",
        },
        "checks": {"new distractors read by people": read},
    }  # fmt: skip
    write_card(draft.save())
    write_errata(errata, output / "errata.json")
    if authors is not None:
        write_bytes(output / "authors" / errata.file, authors)
    write_xray(records, output / "xray")
    summary = f"{sums['items']:,} items, {sums['won blind']:,} won blind: {sums['repaired']:,} have new distractors, "
    summary += f"{sums['won blind and kept']:,} kept theirs, {why or 'none left out'}"
    if after["blind"]["solvable"]:
        summary += "; still solvable blind: report its best blind model beside every score"
    return records, summary


def _errata(source: XraySource, repairs: Mapping[str, Repair]) -> Errata:
    """The differences from the authors' file; where the set is no file, rows are counted in each split."""
    entries, path, columns = [], source.path, source.columns
    for split, of_split in repairs.items():
        numbers = source.table.numbers[split] if source.table else range(len(source.splits[split]))
        for change in of_split.changes:
            old = source.splits[split][change.row]
            entries.append(Erratum(numbers[change.row], old["id"], change.reason, change.old, change.new, change.kind))
    if source.table is not None:
        entries += [Erratum(n, "", _REASONS.get(why, why)) for n, why in source.table.faulty.items()]
        entries.sort(key=lambda erratum: erratum.row)
    file = path.name if source.table is not None and path.is_file() else ""
    digest, names = sha256(path) if file else "", source.table.columns if source.table is not None else ("candidates",)
    return Errata(file, digest, names, tuple(entries), columns.encoding, columns.delimiter)


def _authors(errata: Errata, source: XraySource, rows_of: Mapping[str, Sequence[MultipleChoiceRow]]) -> bytes | None:
    """The authors' file with the errata applied, read again to see that it says the same; None for other formats."""
    path = source.path
    if not errata.file or path.suffix.lower() not in CORRECTED:
        return None
    content = corrected(errata, path)
    with tempfile.TemporaryDirectory() as folder:
        [read] = open_sources(str(write_bytes(Path(folder) / path.name, content)), columns=source.columns, strict=True)
    for split, rows in rows_of.items():
        both = zip(rows, read.splits.get(split, ()), strict=True)
        for row, again in both:
            texts, label = again["candidates"], again["label"]
            if set(texts) != set(row["candidates"]) or texts[label] != row["candidates"][row["label"]]:
                raise VideoContrastError(
                    f"{path}: with its new distractors, item {row['id']} would be read with the key {texts[label]!r}, "
                    f"not {row['candidates'][row['label']]!r}; say how labels are to be read: --label-is"
                )
    return content


def _drawn(source: XraySource, repairs: Mapping[str, Repair], sample: int, seed: int) -> list[Pair]:
    """A sample of as many old as new distractors, of different items where there are enough, against comparing."""
    changes = [(source.splits[split][change.row], change) for split in repairs for change in repairs[split].changes]
    changes = [(row, change) for row, change in changes if change.old is not None and change.new is not None]
    half = min(sample, len(changes) // 2)
    pair_of: dict[tuple[str, str], Pair] = {}
    for place, n in enumerate(stream(seed, "repair-sample").permutation(len(changes))[: 2 * half]):
        row, change = changes[n]
        name, distractor = ("old", change.old) if place < half else ("new", change.new)
        before = f"{row['question']} " if row.get("question") else ""
        pair = Pair(before + row["candidates"][row["label"]], f"{before}{distractor}", row["video_id"], [name])
        pair_of[pair.original, pair.edited] = pair
    return [pair_of[texts] for texts in sorted(pair_of)]


def _read(pairs: Sequence[Pair], votes: Sequence[Path], seed: int) -> str:
    """The votes of readers on the sample, for the card. Raises as `merge` where a file of votes is of another page."""
    if not votes:
        return "not read"
    with tempfile.TemporaryDirectory() as reading:  # nothing is left in the output where the votes do not fit
        write_pairs(pairs, reading, seed=seed)
        sources = results(merge(reading, votes)[0])["sources"]
    shares = {name: next(reversed(by_reader.values())) for name, by_reader in sources.items()}
    return "; ".join(
        f"{name}: {100 * of_source['natural and surely false']['share']:.0f} % natural and surely false of "
        f"{of_source['pairs']}"
        for name, of_source in shares.items()
    )
