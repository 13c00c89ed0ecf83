"""The builder `pairs`: any list of true and false captions, every pair an item of its own, with kinds of its own."""

import json
from collections import Counter
from pathlib import Path

import datasets
import pytest

from video_contrast.audit.blind_audit import audit
from video_contrast.builders import build
from video_contrast.cli import main
from video_contrast.errors import VideoContrastError
from video_contrast.storage import open_set

HEADER = "file,right,wrong,what\n"


def write_pairs(path: Path) -> Path:
    lines = []
    for n in range(30):
        lines.append(f"v{n}.mp4,a man opens door {n},a man closes door {n},Antonym Action")
        lines.append(f"v{n}.mp4,a man opens door {n},a man opens window {n},object")
    path.write_text(HEADER + "\n".join(lines))
    return path


def command(table: Path, output: Path) -> list[str]:
    columns = ["--video-column", "file", "--true", "right", "--false", "wrong", "--kind", "what"]
    return ["build", "pairs", "--captions", str(table), *columns, "--output", str(output)]


def test_all_pairs_of_a_clip_are_items_with_kinds_of_their_own(tmp_path, capsys):
    root = tmp_path / "set"
    assert main(command(write_pairs(tmp_path / "pairs.csv"), root)) == 0
    assert "pairs_mc test: 60 rows" in capsys.readouterr().out
    rows = open_set(root).choice_rows("pairs_mc", "test")
    assert len({row["id"] for row in rows}) == 60 and len({row["cluster"] for row in rows}) == 30
    kinds = Counter(kind for row in rows for kind in row["kinds"])
    assert kinds == {"true": 60, "antonym_action": 30, "object": 30}
    assert {row["label"] for row in rows} == {0, 1}
    for row in rows:
        assert row["candidates"][row["label"]].startswith("a man opens door")
        edit = row["edits"][1 - row["label"]]
        assert row["candidates"][1 - row["label"]][edit["start"] : edit["end"]] == edit["new"]
    assert main(["check", str(root)]) == 0
    loaded = datasets.load_dataset(str(root), "pairs_mc", split="test", cache_dir=str(tmp_path / "hf"))
    assert loaded[0]["candidates"] == rows[0]["candidates"]
    assert audit(rows)["against"] == ["antonym_action", "object"]


def test_a_list_of_false_captions_makes_a_pair_of_each(tmp_path):
    table = tmp_path / "pairs.jsonl"
    negatives = ["a cat runs", "A dog runs.", "a cat runs", "a dog sleeps"]
    lines = [
        {"video": "v.mp4", "yes": "a dog runs", "no": negatives, "what": 0},
        {"video": "w.mp4", "yes": "a dog runs", "no": [], "what": 1},
    ]
    table.write_text("\n".join(map(json.dumps, lines)))
    root = build("pairs", output=tmp_path / "set", captions=str(table), true="yes", false="no", kind="what")
    rows = open_set(root).choice_rows("pairs_mc", "test")
    assert [row["candidates"][1 - row["label"]] for row in rows] == ["a cat runs", "a dog sleeps"]
    assert {kind for row in rows for kind in row["kinds"]} == {"true", "kind_0"}
    facts = open_set(root).record["configs"]["pairs_mc"]["facts"]["splits"]["test"]["counts"]
    assert facts == {
        "built": 2,
        "negative_equals_truth": 1,
        "repeated_pairs": 1,
        "empty_captions": 1,
    }


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("v.mp4,a,b,true", "line 2: the kind 'true' is reserved"),
        ("v.mp4,a,b,動詞", "line 2: the kind '動詞' must begin with a letter and hold no letters but a to z"),
        ("../v.mp4,a,b,x", "line 2: column 'file' must be a path relative"),
        ("v.mp4,a,A.,x", "no item could be built. test: 1 clip has a negative that says what the true caption says"),
    ],
)
def test_bad_pairs_are_named(tmp_path, line, message):
    table = tmp_path / "pairs.csv"
    table.write_text(HEADER + line)
    options = {"video_column": "file", "true": "right", "false": "wrong", "kind": "what"}
    with pytest.raises(VideoContrastError, match=message):
        build("pairs", output=tmp_path / "set", captions=str(table), **options)


def test_negatives_that_may_be_true_are_kept_counted_and_told(tmp_path, capsys):
    table = tmp_path / "pairs.csv"
    may_be_true = "v.mp4,a man is singing on a stage,a man is dancing on a stage,verb"
    lines = [may_be_true, "w.mp4,A door opens.,a door closes.,verb"]
    table.write_text(HEADER + "\n".join(lines))
    assert main(command(table, tmp_path / "set")) == 0
    assert "pairs_mc: 1 of 2 negatives may be true of the clip" in capsys.readouterr().err
    assert open_set(tmp_path / "set").record["configs"]["pairs_mc"]["facts"]["splits"]["test"]["counts"] == {
        "built": 2, "may_be_true": 1,
    }  # fmt: skip
    rows = {row["video_id"]: row for row in open_set(tmp_path / "set").choice_rows("pairs_mc", "test")}
    edit = rows["v"]["edits"][1 - rows["v"]["label"]]
    assert json.loads(edit["scores"])["falsity"] < 0.5


@pytest.mark.parametrize(("n", "shown", "warned"), [(1, "100.0 % by", 0), (6, "100.0 % [54.1, 100.0] by", 0),
                                                    (12, "100.0 % [73.5, 100.0] by", 1)])  # fmt: skip
def test_a_blind_audit_of_few_items_has_an_interval_or_none_and_warns_where_a_test_does(
    tmp_path, capsys, n, shown, warned
):
    """The shorter caption wins all; of six items one of two blind models does in one set of 32 by chance."""
    table = tmp_path / "pairs.csv"
    lines = [f"v{k}.mp4,a man opens door {k},a man slowly opens that heavy door {k}\n" for k in range(n)]
    table.write_text("file,right,wrong\n" + "".join(lines))
    root = tmp_path / "set"
    columns = ["--video-column", "file", "--true", "right", "--false", "wrong"]
    assert main(["build", "pairs", "--captions", str(table), *columns, "--output", str(root)]) == 0
    printed = capsys.readouterr()
    assert f"pairs_mc: {shown} shorter wins" in printed.out and "+-" not in printed.out
    assert ("an interval" in printed.out) == (n < 5)
    assert printed.err.count("can be won without the video") == warned and "--refine" not in printed.err
    facts = audit(open_set(root).choice_rows("pairs_mc", "test"))
    assert facts["solvable"] is (None if n < 5 else bool(warned))
    assert (facts["shorter_wins"]["standard_error"] is None) == (n == 1)
