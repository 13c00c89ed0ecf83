"""Batches of the training: every caption once a pass, and hard videos side by side on request."""

from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import video_contrast
from video_contrast.errors import UsageError
from video_contrast.teacher import teach
from video_contrast.teacher.batches import Batches, groups_of

# (clip, its group) of each caption
CAPTIONS = st.lists(st.integers(0, 11), min_size=1, max_size=60).map(lambda clips: [(c, f"g{c // 3}") for c in clips])


@given(CAPTIONS, st.integers(1, 9), st.booleans(), st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_a_pass_holds_every_caption_once(captions: list[tuple[int, str]], size: int, grouped: bool, seed: int) -> None:
    clips, groups = zip(*captions, strict=True)
    for epoch in (0, 1):
        found = list(Batches(clips, groups if grouped else None, size, seed, epoch=epoch))
        assert found == list(Batches(clips, groups if grouped else None, size, seed, epoch=epoch))
        assert sorted(number for batch in found for number in batch) == list(range(len(clips)))
        assert len(found) == -(-len(clips) // size) and all(len(batch) == size for batch in found[:-1])


@given(CAPTIONS, st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_clips_of_a_group_stand_side_by_side_one_caption_each(captions: list[tuple[int, str]], seed: int) -> None:
    clips, groups = zip(*captions, strict=True)
    [order] = Batches(clips, groups, len(clips), seed)
    runs: dict[str, list[list[int]]] = defaultdict(list)
    seen: dict[int, int] = defaultdict(int)
    for number in order:
        turn = seen[clips[number]]
        seen[clips[number]] += 1
        rounds = runs[groups[number]]
        if turn == len(rounds):
            rounds.append([])
        rounds[turn].append(order.index(number))
    for rounds in runs.values():
        for places in rounds:
            assert places == list(range(places[0], places[0] + len(places)))


def test_passes_and_seeds_differ() -> None:
    clips = list(range(40))
    [first], [second], [other] = (list(Batches(clips, None, 40, s, epoch=e)) for s, e in ((0, 0), (0, 1), (1, 0)))
    assert first != second != other != first


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("batches") / "set"
    sizes = {"items": 4, "gallery": 4, "train": 24, "validation": 6}
    return video_contrast.build("shapes", ["retrieval"], output=root, reversals=True, **sizes)


def rows_of(dataset: Path) -> list[dict[str, Any]]:
    return pq.read_table(dataset / "retrieval" / "train-00000-of-00001.parquet").to_pylist()


def test_a_clip_of_the_shapes_world_meets_its_reversal(dataset: Path) -> None:
    rows = rows_of(dataset)
    clips = [n for n, row in enumerate(rows) for _ in row["captions"]]
    by_row = groups_of(rows, "cluster")
    together = apart = 0
    groups = [by_row[clip] for clip in clips]
    for batch in chain.from_iterable(Batches(clips, groups, 16, 0, epoch=epoch) for epoch in range(3)):
        shown = {rows[clips[number]]["id"] for number in batch}
        for name in shown:
            back = name.removesuffix("r") if name.endswith("r") else f"{name}r"
            if any(row["id"] == back for row in rows):
                together += back in shown
                apart += back not in shown
    assert together > 8 * apart > 0  # a batch's end cuts a pair now and then


def test_a_group_is_a_column_or_a_field_of_meta(dataset: Path) -> None:
    rows = rows_of(dataset)
    assert groups_of(rows, "video_id") == [row["video_id"] for row in rows]
    assert set(groups_of(rows, "setting")) == {"grass", "sand", "snow", "night"}
    with pytest.raises(
        UsageError, match="--group 'scene': row 'train-0-0000' has no such field; it has action, cluster"
    ):
        groups_of(rows, "scene")


def test_a_killed_run_with_groups_ends_with_the_same_numbers(dataset: Path, common: Path, tmp_path: Path) -> None:
    clip = common / "clip"
    given: dict[str, Any] = {
        "epochs": 1, "batch_size": 32, "evaluate_every": 1, "learning_rate": 1e-3, "progress": False, "frames": 2,
        "group": "cluster", "store": tmp_path / "store", "seed": 3,
    }  # fmt: skip
    teach(clip, dataset, output=tmp_path / "whole", **given)
    teach(clip, dataset, output=tmp_path / "killed", stop_after=1, **given)
    assert not (tmp_path / "killed" / "model").exists()
    teach(clip, dataset, output=tmp_path / "killed", **given)
    for name in ("model/model.safetensors", "curves.csv", "result.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    with pytest.raises(UsageError, match=r"other settings: group \('cluster' then, None now\)"):
        teach(clip, dataset, output=tmp_path / "whole", **given | {"group": None})
