"""Sets of very many items: rows pass by, and what is kept of each is little."""

import tracemalloc
from pathlib import Path

import runner_set

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import multiple_choice_row
from video_contrast.runner.sets import load_set

ITEMS = 4000


def test_what_is_kept_of_an_item_is_less_than_its_row(tmp_path: Path) -> None:
    texts = [f"a person crosses the {runner_set.WORDS[k % 7]} field of clip {k}" for k in range(ITEMS)]
    rows = [
        multiple_choice_row(
            id=f"item{k}", video_id=f"v{k}", video_path=f"{k}.mp4", label=0, kinds=["true", *["random"] * 4],
            candidates=[texts[(k + 997 * j) % ITEMS] for j in range(5)],
        )
        for k in range(ITEMS)
    ]  # fmt: skip
    write_set(BuiltSet("captions", {"random_mc": {"test": rows}}, {"summary": "many items"}), tmp_path / "set")
    load_set(tmp_path / "set", None, "test", limit=1)  # brings what is imported
    tracemalloc.start()
    try:
        loaded = load_set(tmp_path / "set", None, "test")
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (group,) = loaded.groups
    assert [group.items[n].texts[0] for n in range(3)] == texts[:3] and len(group.items) == ITEMS
    assert kept < 700 * ITEMS and peak < 1200 * ITEMS  # the rows of all items take 2,600 bytes each
