"""The builder `pairs`: any list of pairs of a true and a false caption, each pair an item of its own."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from video_contrast.builders.assembly.captioned_clip import MAY_BE_TRUE, CaptionedClip, normal, warn_of_doubtful
from video_contrast.builders.assembly.multiple_choice import KIND, contrasts_only_row, kind_of
from video_contrast.builders.registry import BuiltSet, about, builder
from video_contrast.builders.sources.caption_table import PlacedRow, Span, VideoTable, check_split
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.edit import difference
from video_contrast.perturbations.contrast.generate import judged
from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_folder import Facts

CONFIG = "pairs_mc"


class _Pair(NamedTuple):
    """A true caption of a clip, and the edit that makes it false."""

    clip: CaptionedClip
    truth: str
    edit: Edit
    kind: str


@builder("pairs", configs=(CONFIG,), requirements="a table of videos, true captions and false captions")
def pairs(
    configs: list[str],
    *,
    table: VideoTable,
    true: Annotated[str, "column with the true caption"],
    false: Annotated[str, "column with the false caption, or a list of false captions"],
    kind: Annotated[str | None, f"column with the kind of the false caption, of your own; default: {KIND}"] = None,
    seed: Annotated[int, "seed of the places of the candidates"] = 0,
) -> BuiltSet:
    """Two-way items from any list of pairs of captions, as published benchmarks have them."""
    rows, counts = _read_pairs(table, true=true, false=false, kind=kind, seed=seed)
    warn_of_doubtful(CONFIG, sum(of_split[MAY_BE_TRUE] for of_split in counts.values()), sum(map(len, rows.values())))
    n_rows = sum(of_split.pop("rows") for of_split in counts.values())
    n_clips = len({row["cluster"] for of_split in rows.values() for row in of_split})
    own: Facts = {"sources": [table.source_name()], "options": {"true": true, "false": false, "kind": kind}}
    own |= {"counts": {"rows": n_rows, "clips": n_clips}, "seed": seed, "configs": {}}
    dataset = BuiltSet("pairs", {}, about("pairs") | own | table.card_facts())
    splits = {split: {"items": len(own), "counts": dict(sorted(counts[split].items()))} for split, own in rows.items()}
    dataset.add_config(CONFIG, rows, {"negatives": "the false caption of the pair", "options": 2, "splits": splits})
    return dataset


def _read_pairs(
    table: VideoTable, *, true: str, false: str, kind: str | None, seed: int
) -> tuple[dict[str, list[MultipleChoiceRow]], dict[str, Counter[str]]]:
    """The pairs of a table by split, each as a row with two candidates; and counts of each split.

    These are the "rows" of the table, "built" pairs, those that were left out by reason, and those of which the
    negative may be true (`may_be_true`).
    """
    by_split: dict[str | None, tuple[list[_Pair], Counter[str]]] = {}
    first: PlacedRow | None = None
    of_clip: Counter[str] = Counter()
    spans: dict[str, tuple[Span, str | None, str]] = {}
    built_texts: set[tuple[str, str, str]] = set()
    for row in table.rows():
        first = first or row
        of_split = table.split_of(row)
        pairs, counts = by_split.setdefault(of_split, ([], Counter({"rows": 0, "built": 0})))
        counts["rows"] += 1
        span = table.span(row)
        first_span, former, place = spans.setdefault(span.id, (span, of_split, row.place))
        first_span.check_same(span, row.place)
        check_split(row.place, span.id, of_split, former=former, former_place=place)
        truths, negatives = row.texts(true, "--true"), row.texts(false, "--false")
        if len(truths) > 1:
            raise VideoContrastError(f"{row.place}: column {true!r} must hold one caption, not {len(truths)}")
        if not truths or not negatives:
            counts["empty_captions"] += 1
            continue
        name = kind_of(" ".join(row.texts(kind, "--kind")), row.place) if kind else KIND
        for negative in negatives:
            pair_texts = (span.id, truths[0], negative)
            if normal(negative) == normal(truths[0]):
                counts["negative_equals_truth"] += 1
            elif pair_texts in built_texts:
                counts["repeated_pairs"] += 1
            else:
                built_texts.add(pair_texts)
                edit = difference(truths[0], negative, "table")
                id = f"{span.id}#{of_clip[span.id]}"  # each pair of a clip has one of its own
                clip = CaptionedClip(id=id, captions=(), cluster=span.video_id, **span.columns())
                pairs.append(_Pair(clip, truths[0], edit, name))
                of_clip[span.id] += 1
    parts = table.built_splits(by_split) if by_split else {}
    paths = {pair.clip.video_path for pairs, _ in parts.values() for pair in pairs}
    without_ending = {span.path for span, _, _ in spans.values() if span.ending_guessed}
    table.say({split: counts["rows"] for split, (_, counts) in parts.items()}, first, len(without_ending & paths))
    rows = {split: _rows(pairs, counts, seed) for split, (pairs, counts) in parts.items()}
    return rows, {split: counts for split, (_, counts) in parts.items()}


def _rows(pairs: Sequence[_Pair], counts: Counter[str], seed: int) -> list[MultipleChoiceRow]:
    edits, doubtful = judged([pair.truth for pair in pairs], [pair.edit for pair in pairs])
    counts["built"] = len(pairs)
    if any(doubtful):
        counts[MAY_BE_TRUE] = sum(doubtful)
    return [
        contrasts_only_row(pair.clip, pair.truth, [edit], pair.kind, seed=seed)
        for pair, edit in zip(pairs, edits, strict=True)
    ]
