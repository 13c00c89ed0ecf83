"""The tables reject what is wrong and name the row and the column."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.errors import VideoContrastError
from video_contrast.rows import (
    KINDS,
    Row,
    edit_record,
    multiple_choice_row,
    retrieval_row,
    table_columns,
    table_features,
    validate_rows,
)


def choice(**changes: Any) -> Row:
    row = multiple_choice_row(
        id="clip1-0",
        video_id="clip1",
        video_path="videos/clip1.mp4",
        candidates=["a man sits", "a woman sits", "a dog runs"],
        label=0,
        kinds=["true", "gender", "random"],
        edits=[None, edit_record("man", "woman", 2, generator="table6"), None],
    )
    return {**row, **changes}


def test_a_valid_table_is_counted() -> None:
    assert validate_rows([choice(), choice(id="clip1-1")]) == 2


@pytest.mark.parametrize(
    ("changes", "column", "says"),
    [
        ({"id": "clip1-0"}, "id", "duplicate of row 0"),
        ({"label": 3}, "label", "not one of 0..2"),
        ({"label": -1}, "label", "not one of 0..2"),
        ({"label": 1}, "kinds", "label is 1"),
        ({"candidates": ["a man sits", " ", "a dog runs"]}, "candidates", "text 1 is empty"),
        ({"candidates": ["a man sits", "a dog runs", "a dog runs"]}, "candidates", "2 equals 1"),
        ({"candidates": ["a man sits"]}, "candidates", "at least 2"),
        ({"kinds": ["true", "gender"]}, "kinds", "one kind a candidate"),
        ({"kinds": ["true", "Gender contrast", "random"]}, "kinds", "'Gender contrast' must be a name"),
        ({"edits": [None]}, "edits", "one entry"),
        ({"video_path": "../secret.mp4"}, "video_path", "without '..'"),
        ({"video_path": "/etc/passwd"}, "video_path", "must be relative"),
        ({"video_path": "C:/clip.mp4"}, "video_path", "must be relative"),
        ({"video_path": "videos\\clip.mp4"}, "video_path", "must be relative"),
        ({"video_path": ""}, "video_path", "non-empty"),
        ({"start": -1.0}, "start", "seconds from 0"),
        ({"start": float("nan")}, "start", "seconds from 0"),
        ({"start": 2.0, "end": 2.0}, "end", "not after start"),
        ({"kinds": ["true", "gender", "low"]}, "kinds", "'low' cannot be a kind here: accuracy_low is another"),
        ({"kinds": ["true", "gender", "ties"]}, "kinds", "'ties' cannot be a kind here: n_ties is another"),
        ({"kinds": ["true", "gender", "gender_best"]}, "kinds", "'gender_best' cannot be a kind here"),
        ({"schema_version": 99}, "schema_version", "this version reads 1"),
        ({"cluster": ""}, "cluster", "non-empty"),
    ],
)
def test_the_message_names_row_and_column(changes: dict[str, Any], column: str, says: str) -> None:
    rows = [choice(), choice(**{"id": "clip1-1", **changes})]
    with pytest.raises(VideoContrastError) as caught:
        validate_rows(rows, "gender_mc, split test")
    message = str(caught.value)
    assert message.startswith("gender_mc, split test: row 1 ")
    assert f"column {column!r}" in message
    assert says in message


def test_a_missing_column_is_named() -> None:
    row = choice()
    del row["kinds"]
    with pytest.raises(VideoContrastError, match="column 'kinds': is missing"):
        validate_rows([row])


def test_a_table_of_neither_layout_is_refused() -> None:
    with pytest.raises(VideoContrastError, match="neither a multiple-choice set"):
        validate_rows([{"id": "a", "text": "b"}])


def test_retrieval_rows_need_captions() -> None:
    row = retrieval_row(id="a", video_id="a", video_path="a.mp4", captions=["a man sits"])
    assert validate_rows([row]) == 1
    with pytest.raises(VideoContrastError, match="column 'captions': needs at least 1"):
        validate_rows([{**row, "captions": []}])


@settings(deadline=None, max_examples=50)
@given(st.integers(2, 6), st.data())
def test_any_permutation_of_the_options_stays_valid(k: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(k)))
    texts = [f"caption {i}" for i in order]
    kinds = ["true" if i == 0 else "random" for i in order]
    row = choice(candidates=texts, kinds=kinds, edits=[None] * k, label=order.index(0))
    assert validate_rows([copy.deepcopy(row)]) == 1


def test_features_hold_every_column_and_round_trip() -> None:
    import datasets

    rows = [choice()]
    loaded = datasets.Dataset.from_list(rows, features=table_features("multiple_choice"))
    assert loaded[0] == rows[0]
    assert set(table_features("retrieval", ["perturbed"])) == set(table_columns("retrieval", ["perturbed"]))


def test_the_kinds_of_every_generator_are_listed() -> None:
    from video_contrast.builders.assembly.word_contrasts import VERB_KIND_OF

    assert {*VERB_KIND_OF.values()} == {kind for kind in KINDS if kind.startswith("verb_")} - {"verb_human"}
    assert validate_rows([choice(kinds=["true", "verb_frames", "random"])]) == 1  # of an older set
