"""Small shards of the store are merged into large ones, and whoever uses the store meanwhile finds every row."""

from pathlib import Path

import numpy as np
import pytest

from video_contrast.runner import embedding_store
from video_contrast.runner.embedding_store import Store

KEYS = [f"{n:032x}" for n in range(300)]
ROWS = np.arange(300 * 4, dtype=np.float32).reshape(300, 4)
NUMBERS = [np.arange(2 + n % 2) + n for n in range(300)]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setattr(embedding_store, "LARGE", 1 << 12)
    filled = Store(tmp_path, "space")
    for begin in range(0, 300, 3):
        part = slice(begin, begin + 3)
        filled.put(KEYS[part], ROWS[part], NUMBERS[part] if begin < 150 else None)
    filled.refresh()
    return filled


def shards(store: Store) -> list[Path]:
    return sorted(store.folder.glob("*.safetensors"))


def same(store: Store) -> bool:
    order = np.random.default_rng(0).permutation(300)
    rows = store.get([KEYS[n] for n in order])
    return np.array_equal(rows, ROWS[order]) and store.numbers(KEYS[:150]) == [tuple(n) for n in NUMBERS[:150]]


def test_merged_rows_are_those_that_were_put_also_for_others(store: Store, tmp_path: Path) -> None:
    other = Store(tmp_path, "space")
    store.merge(KEYS)
    assert len(shards(store)) < 12 and same(store)
    assert all(key in other for key in KEYS[:5]) and same(other) and same(Store(tmp_path, "space"))
    assert len(Store(tmp_path, "space")) == 300
    before = [path.read_bytes() for path in shards(store)]
    store.merge(KEYS)
    assert [path.read_bytes() for path in shards(store)] == before


def test_few_shards_and_those_with_rows_of_others_are_left_alone(store: Store) -> None:
    names = set(shards(store))
    store.merge(KEYS[:150])  # 50 shards
    store.merge([key for n, key in enumerate(KEYS) if n % 3])
    assert set(shards(store)) == names and same(store)


def test_a_damaged_shard_is_made_anew_and_the_others_are_merged(store: Store) -> None:
    victim = shards(store)[7]
    victim.write_bytes(victim.read_bytes()[:-4] + b"\0\1\2\3")
    fresh = Store(store.folder.parent, "space")
    fresh.merge(KEYS)
    assert sum(key in fresh for key in KEYS) == 297 and victim.with_name(f"{victim.name}.damaged").exists()
