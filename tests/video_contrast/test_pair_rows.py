"""Groups of pairs and questions in tables: what is taken, and what is refused with file, row and column."""

from pathlib import Path
from typing import Any

import datasets
import pytest

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import Row, layout_of, multiple_choice_row, table_features, validate_rows
from video_contrast.storage import SetDraft, SetFolder

CAPTIONS = ["a door opens", "a door closes"]


def pair(name: str = "g1", **changes: Any) -> list[Row]:
    rows: list[Row] = []
    for label, way in enumerate(("forward", "back")):
        row = multiple_choice_row(
            id=f"{name}-{way}", video_id=f"{name}-{way}", video_path=f"{name}/{way}.mp4", candidates=CAPTIONS,
            label=label, kinds=["true", "antonym"] if label == 0 else ["antonym", "true"], cluster=name, group=name,
        )  # fmt: skip
        rows.append(row)
    rows[1].update(changes)  # type: ignore[typeddict-item]
    return rows


def test_groups_are_a_layout_of_their_own_and_of_a_version_that_older_readers_refuse() -> None:
    rows = pair()
    assert validate_rows(rows + pair("g2")) == 4
    assert layout_of(rows[0]) == "pairs"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"candidates": ["a door opens", "a dog barks"]}, "column 'candidates': differ from those of row 0"),
        ({"label": 0, "kinds": ["true", "antonym"]}, "column 'label': is 0 as in row 0"),
        ({"cluster": "other"}, "column 'cluster': is 'other', that of row 0 is 'g1'"),
        ({"group": "g2"}, "has 1 rows, but 2 candidates"),
        ({"group": ""}, "column 'group': must be a non-empty string"),
    ],
)
def test_a_group_that_is_no_square_is_refused(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(VideoContrastError) as caught:
        validate_rows(pair(**changes), "reversal_pairs, split test")
    message = str(caught.value)
    assert message.startswith("reversal_pairs, split test: row ") and says in message


def test_a_row_more_than_a_group_has_candidates_is_refused() -> None:
    with pytest.raises(VideoContrastError, match=r"row 2 .*column 'group': 'g1' has more rows, but 2 candidates"):
        validate_rows([*pair(), {**pair()[0], "id": "third"}])


def test_a_question_is_a_column_more() -> None:
    row = multiple_choice_row(
        id="q", video_id="v", video_path="v.mp4", candidates=["yes", "no"], label=0, kinds=["true", "answer"],
        question="Does the door open?",
    )  # fmt: skip
    assert validate_rows([row]) == 1
    with pytest.raises(VideoContrastError, match=r"row 0 .*column 'question': must be a non-empty string, not ' '"):
        validate_rows([{**row, "question": " "}])
    loaded = datasets.Dataset.from_list([row], features=table_features("multiple_choice", ["questions"]))
    assert loaded[0] == row


def test_a_set_of_pairs_is_written_and_read_back(tmp_path: Path) -> None:
    rows = [{**row, "question": "What happens?"} for row in pair()]
    draft = SetDraft(tmp_path / "set", "test")
    entry = draft.add("pairs", {"test": rows}, {})
    folder = draft.save()
    assert entry["layout"] == "pairs" and entry["questions"]
    assert SetFolder.open(folder.path).choice_rows("pairs", "test") == rows
    loaded = datasets.load_dataset("parquet", data_files=str(folder.path / "pairs/*.parquet"), split="train")
    assert loaded[1] == rows[1]
    with pytest.raises(UsageError, match="not a retrieval config"):
        folder.retrieval_rows("pairs", "test")
