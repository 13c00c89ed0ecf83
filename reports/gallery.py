"""The failure gallery: every scored item as compact data for the page, with frame strips for the worst failures.

The page's script filters and sorts; here it is decided what travels with the page. Strips are by far the heaviest part,
so the worst failures of all runs get them, each clip once, and they shrink until they fit the budget.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from video_contrast.console import bar
from video_contrast.errors import VideoContrastError
from video_contrast.files import Json
from video_contrast.reports.runs import ConfigRun, SetKey
from video_contrast.reports.strips import Pictures, StripSize, clip_frames, data_uri, strip_jpeg
from video_contrast.rows import EditRecord, Row
from video_contrast.video import Clip

LIMIT = 14_500_000  # bytes of a single file that strips are fitted to, so that the whole stays under 15 MB
SIZES = (StripSize(96, 78), StripSize(80, 70), StripSize(64, 62), StripSize(48, 55))
_RIVALS = 4  # wrong captions that a retrieval item shows

Entry = tuple[ConfigRun, SetKey, list[list[float] | None]]  # a run, the items it is shown with, and its scores of them


@dataclass(frozen=True)
class ShownItem:
    """What the page shows of one item under one run's set."""

    row: Row
    candidates: list[str]
    label: int
    kinds: list[str]
    edits: Sequence[EditRecord | None]
    partners: list["ShownItem"] = field(default_factory=list, compare=False, repr=False)  # the others of its group

    @property
    def strip(self) -> str:
        """Names the clip: items of one clip share their strip."""
        row = self.row
        if row.get("segments"):  # an edited clip has a name of its own
            return row["video_id"]
        cut = "" if row["start"] is None and row["end"] is None else f"#{row['start']}-{row['end']}"
        return f"{row['video_path']}{cut}"


# What the page's script reads; short keys, since a page holds thousands of items.
#   sets     of each its `name` and `items`: i id, v video id, c candidates, l label, k kinds, s name of its strip; and
#            where it has them, e edits (from, to, what stood there), p the other clips of its group (strip, video id,
#            label), q question, w what was done to an edited clip, t span
#   runs     of each its `model`, `set` by number, `share`, and `scores`, a list an item (None: not scored)
#   strips   name of a strip -> its picture or its file
#   missing  name of a strip -> why there is none
GalleryData = dict[str, Json]


def gallery_data(
    runs: Sequence[ConfigRun],
    *,
    max_failures: int,
    progress: bool = False,
    folder: Path | None = None,
    used: int = 0,
) -> GalleryData | None:
    """The JSON-able data of the gallery, or None where no run has items.

    Args:
        max_failures: how many items get a frame strip; the others are compact rows.
        folder: where to write strips as files, named relative to its parent; None embeds them in the page.
        used: bytes of the rest of the page.
    """
    sets: dict[SetKey, list[ShownItem]] = {}
    entries: list[Entry] = []
    for run in runs:
        if run.layout != "retrieval":
            items = sets.setdefault(run.key, _choice_items(run.set_rows.values()))
            scored = run.choices.get(run.main, {})
            lines = [scored.get(item.row["id"]) for item in items]
            entries.append((run, run.key, [_rounded(line["scores"]) if line else None for line in lines]))
        elif run.has_matrix(run.main):
            # A retrieval item's rivals are the run's own, so each such run has a list of items of its own.
            key = replace(run.key, config=f"{run.key.config}, {run.model}")
            sets[key], scores = _retrieval_items(run)
            entries.append((run, key, scores))
    if not entries:
        return None
    roots = {key.dataset: run.root for run, key, _ in entries}
    titles = {key: run.key.name for run, key, _ in entries}
    names = {dataset: str(number) for number, dataset in enumerate(roots)}
    order = {key: number for number, key in enumerate(sets)}
    gallery: GalleryData = {
        "sets": [
            {"name": titles[key], "items": [_compact(item, f"{names[key.dataset]}|{item.strip}") for item in items]}
            for key, items in sets.items()
        ],
        "runs": [
            {"model": run.model, "set": order[key], "share": _share(sets[key], scores), "scores": scores}
            for run, key, scores in entries
        ],
        "strips": {},
        "missing": {},
    }
    room = LIMIT - used - len(json.dumps(gallery, ensure_ascii=False, separators=(",", ":")).encode())
    # A failure is shown beside the other clips of its group.
    worst = [(key, member) for key, item in _worst(entries, sets, max_failures) for member in (item, *item.partners)]
    failures = list({(key.dataset, item.strip): (key, item) for key, item in worst}.values())
    strips, missing = _strips(failures, roots, progress=progress, folder=folder, room=room)
    gallery["strips"] = {f"{names[dataset]}|{name}": uri for (dataset, name), uri in strips.items()}
    gallery["missing"] = {f"{names[dataset]}|{name}": reason for (dataset, name), reason in missing.items()}
    return gallery


def margin(scores: Sequence[float], label: int) -> float:
    """How far the best wrong candidate is above the true one; 0 or more is a failure.

    >>> margin([0.25, 0.75, 0.5], 0)
    0.5
    """
    return max(score for position, score in enumerate(scores) if position != label) - scores[label]


def _choice_items(rows: Iterable[Row]) -> list[ShownItem]:
    """The rows as items; those of a group know each other."""
    items = [
        ShownItem(row, row["candidates"], row["label"], kinds=row["kinds"], edits=row["edits"])
        for row in rows
        if "captions" not in row
    ]
    groups: dict[str, list[ShownItem]] = {}
    for item in items:
        if "group" in item.row:
            groups.setdefault(item.row["group"], []).append(item)
    for members in groups.values():
        for item in members:
            item.partners.extend(other for other in members if other is not item)
    return items


def _retrieval_items(run: ConfigRun) -> tuple[list[ShownItem], list[list[float] | None]]:
    """One item a clip: its best caption against the captions of other clips that the model puts highest."""
    matrix = run.matrix(run.main)
    caption_to_video = np.asarray(matrix.relevant)
    items: list[ShownItem] = []
    scores: list[list[float] | None] = []
    for number, name in enumerate(matrix.rows):
        own = np.flatnonzero(caption_to_video == number)
        if matrix.best is None:
            similar = np.asarray(matrix.values[number], np.float64)
            columns = np.argsort(-similar, kind="stable")
            values, own_values = similar[columns], similar[own]
        else:
            columns, own_values = matrix.best.columns[number], np.asarray(matrix.best.own[own], np.float64)
            values = np.asarray(matrix.best.values[number], np.float64)
        ranked = zip(columns.tolist(), values.tolist(), strict=True)
        rivals = list(islice((pair for pair in ranked if caption_to_video[pair[0]] != number), _RIVALS))
        if not len(own) or not rivals:
            continue
        picked = [int(own[own_values.argmax()]), *(column for column, _ in rivals)]
        kinds = ["true", *["other clip"] * len(rivals)]
        texts = [run.captions[column] for column in picked]
        items.append(ShownItem(run.set_rows[name], texts, 0, kinds=kinds, edits=[None] * len(picked)))
        scores.append(_rounded([float(own_values.max()), *(value for _, value in rivals)]))
    return items, scores


def _worst(entries: Sequence[Entry], sets: dict[SetKey, list[ShownItem]], limit: int) -> list[tuple[SetKey, ShownItem]]:
    """The worst failures, taken from the runs in turn so that no run is without pictures; each clip once."""
    queues = []
    for _, key, scores in entries:
        items = sets[key]
        margins = [(margin(s, items[n].label), n) for n, s in enumerate(scores) if s]
        worst = sorted((pair for pair in margins if pair[0] >= 0), key=lambda pair: (-pair[0], pair[1]))
        queues.append([(key, items[n]) for _, n in worst])
    failures: list[tuple[SetKey, ShownItem]] = []
    seen: set[tuple[str, str]] = set()
    for turn in range(max(map(len, queues), default=0)):
        for queue in queues:
            if turn < len(queue) and len(failures) < limit:
                key, item = queue[turn]
                if (key.dataset, item.strip) not in seen:
                    seen.add((key.dataset, item.strip))
                    failures.append(queue[turn])
    return failures


def _strips(
    failures: Sequence[tuple[SetKey, ShownItem]],
    roots: dict[str, Path | None],
    *,
    progress: bool,
    folder: Path | None,
    room: int,
) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
    """(data set, clip) -> what shows its frames; and why there are none. Embedded ones take at most `room` bytes."""
    frames: dict[tuple[str, str], Pictures] = {}
    missing: dict[tuple[str, str], str] = {}
    for key, item in bar(failures, desc="frame strips", unit="clip", disable=not progress):
        root = roots[key.dataset]
        place = (key.dataset, item.strip)
        if root is None:
            missing[place] = "The run does not say where its videos are; give --video-root."
            continue
        try:
            frames[place] = clip_frames(root, Clip.of(item.row))
        except VideoContrastError as error:
            missing[place] = f"No frames: {error}".replace(f"{root}/", "")

    def embedded() -> int:  # bytes as base64, with the clips' names
        return sum(len(jpeg) * 4 // 3 + 150 for jpeg in jpegs.values())

    for size in SIZES:
        jpegs = {place: strip_jpeg(pictures, size) for place, pictures in frames.items()}
        if folder is not None or embedded() <= room:
            break
    if folder is None:
        while jpegs and embedded() > room:
            jpegs.popitem()  # even small ones do not fit: the least bad failures do without
        return {place: data_uri(jpeg) for place, jpeg in jpegs.items()}, missing
    folder.mkdir(parents=True, exist_ok=True)
    named: dict[tuple[str, str], str] = {}
    for number, (place, jpeg) in enumerate(jpegs.items()):
        (folder / f"{number:05d}.jpg").write_bytes(jpeg)
        named[place] = f"{folder.name}/{number:05d}.jpg"
    return named, missing


def _compact(item: ShownItem, strip: str) -> dict[str, Json]:
    row = item.row
    small: dict[str, Json] = {
        "i": row["id"], "v": row["video_id"], "c": item.candidates, "l": item.label, "k": item.kinds, "s": strip,
    }  # fmt: skip
    if any(item.edits):
        small["e"] = [(e["start"], e["end"], e["old"]) if e else None for e in item.edits]
    if item.partners:  # strips are named PLACE|STRIP, and a group lies in one place
        place = strip.partition("|")[0]
        small["p"] = [(f"{place}|{other.strip}", other.row["video_id"], other.label) for other in item.partners]
    if question := row.get("question"):
        small["q"] = str(question)
    if truth := json.loads(row["meta"] or "{}").get("truth"):
        small["w"] = truth_in_words(truth)
    if row["start"] is not None or row["end"] is not None:
        small["t"] = f"{row['start'] or 0:g}–{'end' if row['end'] is None else format(row['end'], 'g')} s"
    return small


def truth_in_words(truth: Mapping[str, Json]) -> str:
    """The truth record of an edited clip: what was done to it, and what is false of it.

    >>> truth_in_words({"shown": "a twice", "false": ["once", None]})
    'Edit: a twice. False of it: once'
    """
    false = "; ".join(str(claim) for claim in truth.get("false", ()) if claim)
    return f"Edit: {truth.get('shown', '')}" + (f". False of it: {false}" if false else "")


def _rounded(scores: Sequence[float] | npt.NDArray[np.float64] | None) -> list[float] | None:
    if scores is None or not np.isfinite(scores).all():
        return None
    return [float(f"{value:.6g}") for value in scores]


def _share(items: Sequence[ShownItem], scores: Sequence[list[float] | None]) -> str:
    wrong = [margin(own, item.label) >= 0 for own, item in zip(scores, items, strict=True) if own]
    return f"{sum(wrong)} of {len(wrong)} wrong"
