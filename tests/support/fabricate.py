"""Run directories as the runner writes them, made from the real tables with invented scores."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import edit_record, multiple_choice_row, retrieval_row
from video_contrast.seeds import stream
from video_contrast.storage import RunFolder
from video_contrast.video import write_video

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
            edits[hard_at] = edit_record(old, "silently", len(hard) - len("silently"), generator="t5-base")
        rows.append(
            multiple_choice_row(
                id=f"item-{number:05d}", video_id=f"video{number % 7}", video_path=f"clips/video{number % 7}.mp4",
                candidates=candidates, label=label, kinds=names, edits=edits,
                replaced=f"a replaced distractor {number}" if len(kinds) > 1 else None,
            )
        )  # fmt: skip
    return rows


def make_set(
    root: Path, n: int = 40, *, captions: Sequence[str] = (), videos: int = 7, facts: dict[str, Any] | None = None,
    configs: Sequence[str] = ("random_mc", "verb_mc", "retrieval"),
) -> Path:  # fmt: skip
    """A set with `verb_mc`, `random_mc`, `retrieval`, and its clips (7; with fewer, the others are missing)."""
    makers = {
        "random_mc": lambda: choice_rows(n, ("random",)),
        "verb_mc": lambda: choice_rows(n, captions=captions),
        "retrieval": lambda: [
            retrieval_row(id=f"video{k}", video_id=f"video{k}", video_path=f"clips/video{k}.mp4",
                          captions=[f"caption {c} of video {k}" for c in range(2)])
            for k in range(7)
        ],
    }  # fmt: skip
    tables = {config: {"test": makers[config]()} for config in configs}
    files: dict[str, Callable[[Any], None]] = {
        f"clips/video{k}.mp4": lambda path, k=k: write_video(path, clip(k), 8) for k in range(videos)
    }
    base = {
        "pretty_name": "Fabricated",
        "summary": "A set for tests.",
        "licence": "CC0",
        "licence_id": "cc0-1.0",
        "seed": 0,
        # The audit of these captions says nothing, and takes its time: an empty one is "not audited".
        "configs": {config: {"audit": {}} for config in tables if config != "retrieval"},
    }
    return write_set(BuiltSet("fabricated", tables, base | (facts or {}), files), root)


def make_run(
    path: Path,
    root: Path,
    configs: Sequence[str] = ("verb_mc",),
    *,
    model: str = "someone/model",
    skill: float = 1.5,
    conditions: Mapping[str, float] | None = None,
    stored: Mapping[str, float] | None = None,
    whole: bool = True,
) -> Path:
    """A finished run, written by the runner's own functions, of a scorer whose skill is known a condition.

    `stored` are conditions that the set itself holds (a robustness set); `whole`: all similarities are kept.
    """
    from video_contrast.runner import table_metrics
    from video_contrast.runner.conditions import parse
    from video_contrast.runner.plan import make_plan
    from video_contrast.runner.sets import load_set

    skills = {"clean": skill, **(conditions or {})}
    loaded = load_set(root, list(configs), "test")
    plan = make_plan(loaded, parse(list(skills)), None)
    path.mkdir(parents=True)
    run = RunFolder(path)
    tables, found = [], {}
    for table in plan.tables:
        scored = _scored(table, model, {**skills, **(stored or {})}[table.condition.name])
        if table.is_retrieval:
            scored, matrix = table_metrics.with_ranks(scored, whole=whole)
            run.write_matrix(*table.name, matrix)
        else:
            tables.append(scored)
        found[table.name] = (table, table_metrics.metrics_of(scored, seed=0))
    tables.sort(key=lambda scored: scored.table.name)
    pairs = any(scored.table.group.layout == "pairs" for scored in tables)
    run.write_scores((row for scored in tables for row in table_metrics.score_rows(scored)), pairs=pairs)
    run.write_metrics(table_metrics.summary(found))
    record = {
        "version": "0.1.0",
        "request": {"video_root": None},
        "model": {"name": model, "revision": None, "kind": "dual-encoder", "kind_version": "1", "options": {}},
        "set": {"dataset": str(root), "split": "test", "configs": sorted(configs), "fingerprints": loaded.fingerprints},
        "sampling": {"frames": 3, "policy": "middle"},
        "conditions": {
            own.name: {"group": own.group, "visual": asdict(own.visual), "text": asdict(own.text)}
            for own in (table.condition for table in plan.tables)
        },
        "seed": 0,
        "dtype": "float32",
        "versions": {},
        "missing": {},
        "n_missing": 0,
    }
    run.finish(record)
    return path


def _scored(table: Any, model: str, skill: float) -> Any:
    from video_contrast.metrics.retrieval_counts import SimilarityBlock
    from video_contrast.runner.table_metrics import TableScores

    items = table.group.items
    kept = tuple(range(len(items)))
    rng = stream("fabricated", "scores", model, *table.name)
    if table.group.layout == "retrieval":
        columns = [(f"{item.id}#{k}", text, n) for n, item in enumerate(items) for k, text in enumerate(item.texts)]
        matrix = rng.normal(size=(len(items), len(columns))).astype(np.float32)
        for column, (_, _, owner) in enumerate(columns):
            matrix[owner, column] += skill
        blocks = (SimilarityBlock(np.arange(len(items)), np.arange(len(columns)), lambda: matrix),)
        return TableScores(table, kept, blocks=blocks, columns=tuple(columns), frames=((0, 3, 7),) * len(items))
    rows = []
    for item in items:
        scores = rng.normal(size=len(item.texts))
        # Random options are easier than contrasts, as for real models.
        for place, kind in enumerate(item.kinds):
            scores[place] += skill * {"true": 1.0, "random": -1.0}.get(kind, 0.4)
        rows.append(scores)
    replaced = tuple(None if item.replaced is None else float(rng.normal() - skill) for item in items)
    return TableScores(table, kept, tuple(rows), replaced, frames=((0, 3, 7),) * len(items))
