"""Run directories as the runner writes them, made from the real tables with invented scores."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.seeds import stream
from video_contrast.tables import edit, multiple_choice_row, retrieval_row
from video_contrast.video_io import write_video

HOSTILE = (
    "<script>window.hacked = true</script> a man & a \"woman\" <img src=x onerror='window.hacked=true'>",
    "رجل يركض على الشاطئ",
    "👩‍🚀👨‍👩‍👧 a girl 🏃 runs",
    "</script><b>bold</b> <!-- a comment",
)


def clip(seed: int, size: int = 48, frames: int = 8) -> np.ndarray:
    """A square that walks over a coloured ground."""
    rng = stream("fabricated", seed)
    ground, square = rng.integers(40, 215, 3), rng.integers(0, 255, 3)
    pictures = np.empty((frames, size, size * 4 // 3, 3), np.uint8)
    pictures[:] = ground
    for t in range(frames):
        left = 2 + t * (size // frames)
        pictures[t, size // 3 : size // 2, left : left + size // 5] = square
    return pictures


def choice_rows(n: int, kinds: Sequence[str] = ("random", "verb_lm"), captions: Sequence[str] = ()) -> list[dict]:
    """Items with five options, of which one is of the second kind; given captions replace the first true ones."""
    rows = []
    for number in range(n):
        rng = stream("fabricated", "row", number)
        true = captions[number] if number < len(captions) else f"a woman sings song {number} on a stage"
        words = true.split(" ")
        old, words[-1] = words[-1], "silently"
        hard = " ".join(words)
        label = int(rng.integers(5))
        hard_at = (label + 1 + int(rng.integers(4))) % 5
        candidates = [f"a dog chases ball {number} of {k}" for k in range(5)]
        candidates[label], candidates[hard_at] = true, hard
        names = ["random"] * 5
        names[label], names[hard_at] = "true", kinds[1] if len(kinds) > 1 else "random"
        edits: list[Any] = [None] * 5
        if len(kinds) > 1:
            edits[hard_at] = edit(old, "silently", len(hard) - len("silently"), generator="t5-base")
        rows.append(
            multiple_choice_row(
                id=f"item-{number:05d}", video_id=f"video{number % 7}", video_path=f"clips/video{number % 7}.mp4",
                candidates=candidates, label=label, kinds=names, edits=edits,
                replaced=f"a replaced distractor {number}" if len(kinds) > 1 else None,
            )
        )  # fmt: skip
    return rows


def make_set(
    root: Path, n: int = 40, *, captions: Sequence[str] = (), videos: int = 7, facts: dict[str, Any] | None = None
) -> Path:
    """A set with `verb_mc`, `random_mc` and `retrieval`, and its clips (7 of them, or fewer: the others are missing)."""
    tables = {
        "random_mc": {"test": choice_rows(n, ("random",))},
        "verb_mc": {"test": choice_rows(n, captions=captions)},
        "retrieval": {
            "test": [
                retrieval_row(id=f"video{k}", video_id=f"video{k}", video_path=f"clips/video{k}.mp4",
                              captions=[f"caption {c} of video {k}" for c in range(2)])
                for k in range(7)
            ]
        },
    }  # fmt: skip
    files: dict[str, Callable[[Any], None]] = {
        f"clips/video{k}.mp4": lambda path, k=k: write_video(path, clip(k), 8) for k in range(videos)
    }
    base = {
        "pretty_name": "Fabricated",
        "summary": "A set for tests.",
        "licence": "CC0",
        "licence_id": "cc0-1.0",
        "seed": 0,
        "configs": {},
    }
    return write_set(BuiltSet("fabricated", tables, base | (facts or {}), files), root)


def skill_scores(rows: Sequence[dict], skill: float, seed: object) -> Iterator[list[float]]:
    """Scores of a scorer that is right the more often the larger `skill` is."""
    for row in rows:
        scores = stream("fabricated", "scores", str(seed), row["id"]).normal(size=len(row["candidates"]))
        scores[row["label"]] += skill
        yield [float(v) for v in scores]


def choice_run(
    path: Path,
    root: Path,
    config: str = "verb_mc",
    *,
    model: str = "someone/model",
    skills: dict[str, float] | None = None,
) -> Path:
    """A finished multiple-choice run with one skill a condition."""
    rows = pq.read_table(root / config / "test-00000-of-00001.parquet").to_pylist()
    lines: dict[str, list[Any]] = {"condition": [], "id": [], "scores": []}
    for condition, skill in (skills or {"clean": 1.5}).items():
        for row, scores in zip(rows, skill_scores(rows, skill, (model, condition)), strict=True):
            lines["condition"].append(condition)
            lines["id"].append(row["id"])
            lines["scores"].append(scores)
    path.mkdir(parents=True)
    pq.write_table(pa.table(lines), path / "scores.parquet")
    _write_record(path, root, config, model, "multiple_choice", list(skills or {"clean": 1.5}))
    return path


def retrieval_run(
    path: Path, root: Path, *, model: str = "someone/model", skills: dict[str, float] | None = None
) -> Path:
    """A finished retrieval run."""
    rows = pq.read_table(root / "retrieval" / "test-00000-of-00001.parquet").to_pylist()
    texts = [row["id"] for row in rows for _ in row["captions"]]
    videos = [row["id"] for row in rows]
    (path / "similarity").mkdir(parents=True)
    for condition, skill in (skills or {"clean": 1.5}).items():
        values = stream("fabricated", "matrix", model, condition).normal(size=(len(texts), len(videos)))
        for n, owner in enumerate(texts):
            values[n, videos.index(owner)] += skill
        np.save(path / "similarity" / f"{condition}.npy", values.astype(np.float32))
    (path / "similarity" / "ids.json").write_text(json.dumps({"texts": texts, "videos": videos}))
    _write_record(path, root, "retrieval", model, "retrieval", list(skills or {"clean": 1.5}))
    return path


def _write_record(path: Path, root: Path, config: str, model: str, layout: str, conditions: list[str]) -> None:
    record = {
        "model": model, "dataset": str(root), "config": config, "split": "test", "layout": layout,
        "fingerprint": f"{root.name}-{config}", "conditions": conditions, "frames": 8, "seed": 0,
    }  # fmt: skip
    (path / "run.json").write_text(json.dumps(record))
    (path / "metrics.json").write_text("{}")
