"""The failure gallery: every scored item as compact data for the page, with frame strips for the worst failures.

The page's script filters and sorts; here it is decided what travels with the page. Strips, a few frames of a
clip side by side as one small JPEG, are by far the heaviest part, so the worst failures of all runs get them, each clip
once, and they shrink until they fit the budget.
"""

import io
import json
from base64 import b64encode
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from video_contrast.console import bar
from video_contrast.errors import VideoContrastError
from video_contrast.files import Json, resolve_under
from video_contrast.reports.runs import ConfigRun, SetKey
from video_contrast.rows import Row
from video_contrast.video import Clip

if TYPE_CHECKING:
    from PIL import Image

LIMIT = 14_500_000  # bytes of a single file that strips are fitted to, so that the whole stays under 15 MB
SIZES = ((96, 78), (80, 70), (64, 62), (48, 55))  # of strips: height in pixels, and JPEG quality
_RIVALS = 4  # wrong captions that a retrieval item shows
Item = dict[str, Json]  # a row of a set; of retrieval one that was put together of a run's best captions
Groups = dict[tuple[SetKey, str], list[Item]]  # set and name of a group of clips -> its items
Roots = dict[str, Path | None]  # data set -> where its clips lie
Entry = tuple[ConfigRun, SetKey, list[list[float] | None]]  # a run, the items it is shown with, and its scores of them


def strip_of(item: Item) -> str:
    """Names the clip of an item: items of one clip share their strip."""
    if item.get("segments"):  # an edited clip has a name of its own
        return str(item["video_id"])
    cut = "" if item["start"] is None and item["end"] is None else f"#{item['start']}-{item['end']}"
    return f"{item['video_path']}{cut}"


# Items for the page's script; short keys, since a page holds thousands of items.
#   sets     of each its `name` and `items`: i id, v video id, c candidates, l label, k kinds, s name of its strip; and
#            where it has them, e edits (from, to, what stood there), p the other clips of its group (strip, video id,
#            label), q question, w what was done to an edited clip, t span
#   runs     of each its `model`, `set` by number, `share`, and `scores`, a list an item (None: not scored)
#   strips   name of a strip -> its picture or its file
#   missing  name of a strip -> why there is none
GalleryData = dict[str, Json]


def gallery_data(
    runs: Sequence[ConfigRun], *, max_failures: int, progress: bool = False, folder: Path | None = None, used: int = 0
) -> GalleryData | None:
    """The JSON-able data of the gallery, or None where no run has items.

    As many as `max_failures` get a frame strip: a file in `folder`, named relative to its parent, or embedded in the
    page, of whose bytes so many are `used`.
    """
    sets: dict[SetKey, list[Item]] = {}
    entries: list[Entry] = []
    for run in runs:
        if run.layout != "retrieval":
            items = sets.setdefault(run.key, [dict(row) for row in run.set_rows.values() if "captions" not in row])
            lines = [run.choices.get(run.main, {}).get(item["id"]) for item in items]
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
    groups: Groups = defaultdict(list)
    for key, items in sets.items():
        for item in items:
            groups[key, _group(item)].append(item)
    gallery: GalleryData = {"sets": [], "runs": [], "strips": {}, "missing": {}}
    for key, items in sets.items():
        entries_of_set = [_compact(item, groups[key, _group(item)], names[key.dataset]) for item in items]
        gallery["sets"].append({"name": titles[key], "items": entries_of_set})
    for run, key, scores in entries:
        share = _share(sets[key], scores)
        gallery["runs"].append({"model": run.model, "set": list(sets).index(key), "share": share, "scores": scores})
    room = LIMIT - used - len(json.dumps(gallery, ensure_ascii=False, separators=(",", ":")).encode())
    worst = _worst(entries, sets, groups, max_failures)
    strips, missing = _strips(worst, roots, progress=progress, folder=folder, room=room)
    gallery["strips"] = {f"{names[dataset]}|{name}": uri for (dataset, name), uri in strips.items()}
    gallery["missing"] = {f"{names[dataset]}|{name}": reason for (dataset, name), reason in missing.items()}
    return gallery


def margin(scores: Sequence[float], label: int) -> float:
    """The lead of the best wrong candidate over the true one; 0 or more is a failure.

    >>> margin([0.25, 0.75, 0.5], 0)
    0.5
    """
    return max(score for position, score in enumerate(scores) if position != label) - scores[label]


def _retrieval_items(run: ConfigRun) -> tuple[list[Item], list[list[float] | None]]:
    """One item a clip: its best caption against the captions of other clips that the model puts highest."""
    matrix = run.matrix(run.main)
    caption_to_video = np.asarray(matrix.relevant)
    items: list[Item] = []
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
        pairs = zip(columns.tolist(), values.tolist(), strict=True)
        rivals = list(islice((pair for pair in pairs if caption_to_video[pair[0]] != number), _RIVALS))
        if not len(own) or not rivals:
            continue
        columns_shown = [int(own[own_values.argmax()]), *(column for column, _ in rivals)]
        texts, kinds = [run.captions[column] for column in columns_shown], ["true", *["other clip"] * len(rivals)]
        texts_and_kinds = {"candidates": texts, "label": 0, "kinds": kinds, "edits": [None] * len(columns_shown)}
        items.append({**run.set_rows[name], **texts_and_kinds})
        scores.append(_rounded([float(own_values.max()), *(value for _, value in rivals)]))
    return items, scores


def _worst(
    entries: Sequence[Entry], sets: Mapping[SetKey, list[Item]], groups: Groups, limit: int
) -> list[tuple[SetKey, Item]]:
    """The worst failures, taken from the runs in turn so that no run is without pictures; each clip once.

    A failure is shown beside the other clips of its group.
    """
    queues = []
    for _, key, scores in entries:
        items = sets[key]
        margins = [(margin(s, items[n]["label"]), n) for n, s in enumerate(scores) if s]
        worst = sorted((pair for pair in margins if pair[0] >= 0), key=lambda pair: (-pair[0], pair[1]))
        queues.append([(key, items[n]) for _, n in worst])
    failures: dict[tuple[str, str], tuple[SetKey, Item]] = {}
    for key, item in filter(None, chain.from_iterable(zip_longest(*queues))):
        failures.setdefault((key.dataset, strip_of(item)), (key, item))
    clips: dict[tuple[str, str], tuple[SetKey, Item]] = {}
    for key, item in islice(failures.values(), limit):
        clips |= {(key.dataset, strip_of(own)): (key, own) for own in (item, *groups[key, _group(item)])}
    return list(clips.values())


def _strips(
    failures: Sequence[tuple[SetKey, Item]], roots: Roots, *, progress: bool, folder: Path | None, room: int
) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
    """(data set, clip) -> what shows its frames; and why there are none. Embedded ones take at most `room` bytes."""
    frames: dict[tuple[str, str], Pictures] = {}
    missing: dict[tuple[str, str], str] = {}
    for key, item in bar(failures, desc="frame strips", unit="clip", disable=not progress):
        root = roots[key.dataset]
        place = (key.dataset, strip_of(item))
        if root is None:
            missing[place] = "The run does not say where its videos are; give --video-root."
            continue
        try:
            frames[place] = clip_frames(root, Clip.of(cast(Row, item)))
        except VideoContrastError as error:
            missing[place] = f"No frames: {error}".replace(f"{root}/", "")

    def embedded() -> int:  # bytes as base64, with the clips' names
        return sum(len(jpeg) * 4 // 3 + 150 for jpeg in jpegs.values())

    for size in SIZES:
        jpegs = {place: strip_jpeg(pictures, *size) for place, pictures in frames.items()}
        if folder is not None or embedded() <= room:
            break
    if folder is None:
        while jpegs and embedded() > room:
            jpegs.popitem()  # even small ones do not fit: the least bad failures do without
        return {place: f"data:image/jpeg;base64,{b64encode(jpeg).decode()}" for place, jpeg in jpegs.items()}, missing
    folder.mkdir(parents=True, exist_ok=True)
    addresses: dict[tuple[str, str], str] = {}
    for number, (place, jpeg) in enumerate(jpegs.items()):
        (folder / f"{number:05d}.jpg").write_bytes(jpeg)
        addresses[place] = f"{folder.name}/{number:05d}.jpg"
    return addresses, missing


def _group(item: Item) -> str:
    return str(item.get("group", item["id"]))


def _compact(row: Item, group: Sequence[Item], place: str) -> dict[str, Json]:
    small: dict[str, Json] = {
        "i": row["id"], "v": row["video_id"], "c": row["candidates"], "l": row["label"], "k": row["kinds"],
        "s": f"{place}|{strip_of(row)}",
    }  # fmt: skip
    if any(row["edits"]):
        small["e"] = [(e["start"], e["end"], e["old"]) if e else None for e in row["edits"]]
    if partners := [other for other in group if other is not row]:  # a group lies in one place
        small["p"] = [(f"{place}|{strip_of(other)}", other["video_id"], other["label"]) for other in partners]
    if question := row.get("question"):
        small["q"] = str(question)
    if truth := json.loads(row["meta"] or "{}").get("truth"):
        small["w"] = truth_in_words(truth)
    if row["start"] is not None or row["end"] is not None:
        small["t"] = f"{row['start'] or 0:g}–{'end' if row['end'] is None else format(row['end'], 'g')} s"
    return small


def truth_in_words(truth: Mapping[str, Json]) -> str:
    """The truth record of an edited clip: the edit, and the false claims about it.

    >>> truth_in_words({"shown": "a twice", "false": ["once", None]})
    'Edit: a twice. False of it: once'
    """
    false = "; ".join(str(claim) for claim in truth.get("false", ()) if claim)
    return f"Edit: {truth.get('shown', '')}" + (f". False of it: {false}" if false else "")


def _rounded(scores: Sequence[float] | npt.NDArray[np.float64] | None) -> list[float] | None:
    if scores is None or not np.isfinite(scores).all():
        return None
    return [float(f"{value:.6g}") for value in scores]


def _share(items: Sequence[Item], scores: Sequence[list[float] | None]) -> str:
    wrong = [margin(own, item["label"]) >= 0 for own, item in zip(scores, items, strict=True) if own]
    return f"{sum(wrong)} of {len(wrong)} wrong"


Pictures = list["Image.Image"]  # of one clip
FRAMES = 6  # enough to see a direction of movement
MOST_FRAMES = 12  # of an edited clip
_GAP = 3  # pixels between frames
_WIDEST = 2.0  # a frame's width over its height; wider pictures are cut at the sides


def clip_frames(root: Path, clip: "Clip") -> Pictures:
    """Evenly spaced frames of a clip, from its first to its last, no higher than a strip needs.

    `clip`: a span of a file below `root`, or an edit, which has as many frames as show each of its parts twice; a clip
    with fewer frames gives all. Raises VideoContrastError: the file is missing, unreadable or outside of `root`.
    """
    from PIL import Image

    from video_contrast.video import EditedFootage, footage_of

    clip_files(root, clip)
    footage = footage_of(root, clip)
    if isinstance(footage, EditedFootage):
        counts = (count for count in range(FRAMES, MOST_FRAMES + 1, 2))
        count = next((n for n in counts if footage.shows_all(n)), MOST_FRAMES)
        numbers = footage.timeline.sample(count)
    else:
        numbers = np.unique(footage.sample(FRAMES, "linspace"))
    return [_scaled(Image.fromarray(frame), 96) for frame in footage.decode(numbers.tolist())]


def clip_files(root: Path, clip: "Clip") -> list[Path]:
    """The files that a clip is made from. Raises VideoContrastError: one is not there, or outside of `root`."""
    paths = [resolve_under(root, name) for name in clip.paths]
    for path in paths:
        if not path.is_file():
            raise VideoContrastError(f"{path}: no such video file")
    return paths


def strip_jpeg(pictures: Sequence["Image.Image"], height: int, quality: int) -> bytes:
    """The pictures side by side as one JPEG of the given height."""
    from PIL import Image

    small = [_scaled(picture, height) for picture in pictures]
    width = sum(picture.width for picture in small) + _GAP * (len(small) - 1)
    strip = Image.new("RGB", (width, height), (128, 128, 128))
    left = 0
    for picture in small:
        strip.paste(picture, (left, 0))
        left += picture.width + _GAP
    sink = io.BytesIO()
    strip.save(sink, "JPEG", quality=quality, optimize=True)
    return sink.getvalue()


def _scaled(picture: "Image.Image", height: int) -> "Image.Image":
    from PIL import Image

    if picture.height == height and picture.width <= _WIDEST * height:
        return picture
    keep = min(picture.width, round(_WIDEST * picture.height))
    left = (picture.width - keep) // 2
    resample = Image.Resampling.LANCZOS if picture.height > height else Image.Resampling.BICUBIC
    width = max(1, round(keep * height / picture.height))
    return picture.crop((left, 0, left + keep, picture.height)).resize((width, height), resample)
