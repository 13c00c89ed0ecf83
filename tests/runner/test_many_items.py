"""Sets of very many items: rows pass by, and what is kept of each is little."""

import tracemalloc
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import runner_set

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import multiple_choice_row
from video_contrast.runner import score_pairs
from video_contrast.runner.items import Item, Items
from video_contrast.runner.kinds.base import ScoreResult
from video_contrast.runner.sets import load_set
from video_contrast.video import Clip
from video_contrast.video.segments import Segment

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
    assert kept < 400 * ITEMS and peak < 1200 * ITEMS  # the rows of all items take 2,600 bytes each


def test_items_come_out_of_their_columns_as_they_were_and_clips_in_the_order_of_their_files() -> None:
    rng = np.random.default_rng(0)
    cuts: list[tuple[Segment, ...]] = [(), (Segment("a.mp4", 0.0, 1.0),), (Segment("a.mp4", 0.0, 2.0),)]

    def item(n: int) -> Item:
        start, end, cut, name, path = rng.integers(0, 3, 5).tolist()
        clip = Clip(f"v{name}", f"{path}é.mp4", (None, 0.0, 0.5)[start], (None, 1.0, 2.0)[end], cuts[cut])
        texts = tuple(f"text {k}" for k in rng.integers(0, 9, 1 + n % 3).tolist())
        return Item(f"i{n}", clip, texts, n % 2, ("true", "random"), "c", None if n % 5 else "text 1")

    listed = [item(n) for n in range(1500)]
    items = Items.of(listed)
    assert list(items) == listed and items[700] == listed[700] and list(items.taken([3, 9])) == [listed[3], listed[9]]
    assert [at for at, _ in items.by_id()] == sorted(range(1500), key=lambda n: f"i{n}")
    clips, which = items.clips.distinct()
    assert list(clips) == sorted(dict.fromkeys(item.clip for item in listed), key=lambda clip: clip.sort_key)
    assert [clips[n] for n in which.tolist()] == [item.clip for item in listed]
    some = clips.taken(slice(0, None, 5))
    names = Counter(replace(clip, video_id="") for clip in some)
    assert list(some.repeated()) == [clip for clip in some if names[replace(clip, video_id="")] > 1]
    assert 0 < len(some.repeated()) < len(some) and len(clips.taken([]).repeated()) == 0


def test_the_latest_result_of_a_key_is_found_whether_it_is_sorted_in_or_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(score_pairs, "SORTED_IN", 4)
    results = score_pairs.PairResults(tmp_path, 0)
    keys = [f"{n:032x}" for n in (256, 3, 7, 0, 3, 9, 256, 1)]
    for value, key in enumerate(keys):
        results.put(key, ScoreResult(np.array([float(value)])))
        assert key in results and results.get(key).scores == value
    again = score_pairs.PairResults(tmp_path, 1)
    for one in (results, again):
        assert [one.get(key).scores[0] for key in keys] == [6, 4, 2, 3, 4, 5, 6, 7] and f"{2:032x}" not in one
