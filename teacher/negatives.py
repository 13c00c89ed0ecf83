"""Synthetic negative captions for training (RCAD paper, 4.2): made once, stored as a data set, read by the training.

A file `negatives.parquet` has one row a training caption: `id` (of the clip), `caption`, `negatives` (up to k; fewer
where fewer pass the constraints), `kinds` (action or object) and `teacher` (the teacher's cosines with the caption).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import atomic_path, read_json, write_json
from video_contrast.seeds import Streams
from video_contrast.tables import Row
from video_contrast.teacher.similarity import cosines, load_encoder

# asked-for kinds -> (action, object) negatives: the paper's default and its ablations
AMOUNTS = {"10-action": (10, 0), "5-action": (5, 0), "5-action-5-object": (5, 5)}
GENERATORS = ("auto", "shapes", "lexical", "t5", "mlm", "llm")


@dataclass(frozen=True)
class Wanted:
    """Which negatives and which teacher: what the stored file must have been made with.

    Attributes:
        actions, objects: negatives a caption, at most.
        generator: one of `GENERATORS`.
        encoder: "lsa", or a sentence encoder (folder or Hub id).
        set: digest of the rows they are made for.
    """

    actions: int
    objects: int
    generator: str
    encoder: str
    seed: int
    set: str


def negatives(
    rows: Sequence[Row], wanted: Wanted, path: Path, *, say: Callable[[str], None] = print, **options: Any
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """The stored negatives if they were made with the same settings, otherwise made now and stored.

    Args:
        rows: of a retrieval set.
        wanted: see `Wanted`.
        path: the parquet file; its settings stand beside it as `.json`.
        say: told what takes long.
        **options: for the generator (a model, a server).

    Returns:
        One dict a caption, and counts: "captions", "negatives", "captions with fewer than asked for",
        "captions with none".
    """
    record = path.with_suffix(".json")
    if path.exists() and record.exists():
        kept = read_json(record)
        if kept["settings"] == asdict(wanted):
            return pq.read_table(path).to_pylist(), kept["counts"]
    say(f"negatives: {len(rows)} clips, {wanted.actions} action and {wanted.objects} object captions each")
    made = _made(rows, wanted, options)
    if not any(row["negatives"] for row in made):
        raise VideoContrastError("no negative caption could be made: no caption has an action that can be swapped")
    encoder = load_encoder(wanted.encoder, [row["captions"] for row in rows])
    say(f"teacher: similarities by {encoder.name}")
    for row, similar in zip(made, cosines(encoder, made), strict=True):
        row["teacher"] = similar
    counts = _counts(made, wanted.actions + wanted.objects)
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(made), temporary, compression="zstd")
    write_json(record, {"settings": asdict(wanted), "counts": counts, "encoder": encoder.name})
    return made, counts


def _made(rows: Sequence[Row], wanted: Wanted, options: dict[str, Any]) -> list[dict[str, Any]]:
    if wanted.generator == "shapes":
        return _of_shapes(rows, wanted)
    return _of_captions(rows, wanted, options)


def _of_shapes(rows: Sequence[Row], wanted: Wanted) -> list[dict[str, Any]]:
    """From the grammar of the shapes world, each checked against the scene."""
    from video_contrast.builders.shapes import scene_of
    from video_contrast.builders.shapes_captions import claim, write
    from video_contrast.builders.shapes_contrasts import negatives as of_scene

    streams, made = Streams(), []
    for row in rows:
        scene = scene_of(row["id"])
        # a retrieval row has the usual phrase, and the paraphrase with names
        for number, caption in enumerate(row["captions"]):
            rng = streams.at("teacher negatives", wanted.seed, row["id"], number)
            found = of_scene(scene, claim(scene), rng, phrase=number, names=bool(number))
            assert write(claim(scene), phrase=number, names=bool(number)) == caption
            actions = [*found["antonym"], *found["verb"]][: wanted.actions]
            objects = [text for kind in ("object", "entity", "colour") for text in found.get(kind, [])[:3]]
            objects = objects[: wanted.objects]
            kinds = ["action"] * len(actions) + ["object"] * len(objects)
            made.append({"id": row["id"], "caption": caption, "negatives": [*actions, *objects], "kinds": kinds})
    return made


def _of_captions(rows: Sequence[Row], wanted: Wanted, options: dict[str, Any]) -> list[dict[str, Any]]:
    """From the generators of the contrast sets: each pass proposes one edit a caption, until there are enough."""
    from video_contrast.perturbations.contrast import object as things
    from video_contrast.perturbations.contrast import verb

    flat = [(row["id"], text, row["captions"]) for row in rows for text in row["captions"]]
    texts = [text for _, text, _ in flat]
    made = [{"id": name, "caption": text, "negatives": [], "kinds": []} for name, text, _ in flat]
    for kind, module, count in (("action", verb, wanted.actions), ("object", things, wanted.objects)):
        if not count:
            continue
        counts = module.count(texts)
        found: list[list[str]] = [[] for _ in flat]
        for attempt in range(3 * count):
            open_ = [n for n, row in enumerate(found) if len(row) < count]
            if not open_:
                break
            edits, _ = module.contrasts(
                [texts[n] for n in open_],
                [f"{flat[n][0]}/{n}" for n in open_],
                siblings=[flat[n][2] for n in open_],
                counts=counts,
                generator=wanted.generator,
                seed=wanted.seed + attempt,
                **options,
            )
            fresh = 0
            for n, edit in zip(open_, edits, strict=True):
                if edit and edit.text not in found[n] and edit.text not in flat[n][2]:
                    found[n].append(edit.text)
                    fresh += 1
            if not fresh:
                break
        for row, texts_of in zip(made, found, strict=True):
            row["negatives"] += texts_of
            row["kinds"] += [kind] * len(texts_of)
    return made


def _counts(made: Sequence[dict[str, Any]], asked: int) -> dict[str, int]:
    have = Counter(len(row["negatives"]) for row in made)
    return {
        "captions": len(made),
        "negatives": sum(size * count for size, count in have.items()),
        "captions with fewer than asked for": sum(count for size, count in have.items() if size < asked),
        "captions with none": have[0],
    }


def amounts(kind: str) -> tuple[int, int]:
    """Action and object negatives of a named choice: "10-action", "5-action" or "5-action-5-object".

    >>> amounts("5-action-5-object")
    (5, 5)
    """
    if kind not in AMOUNTS:
        raise UsageError(f"--negatives {kind!r} is not one of {', '.join(AMOUNTS)}")
    return AMOUNTS[kind]
