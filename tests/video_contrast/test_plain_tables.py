"""Tables made elsewhere: what is guessed, what is refused with file and row, and that they are scored and audited."""

import json
import zipfile
from functools import partial
from itertools import chain
from pathlib import Path

import pandas
import pytest

from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.reports.xray_input import open_sources
from video_contrast.storage import open_run, open_set
from video_contrast.storage.plain_table import plain_table
from video_contrast.storage.set_folder import FileSet
from video_contrast.storage.table_columns import TableColumns
from video_contrast.storage.table_file import read_table_file


def read(path, strict=False, **columns):
    table = read_table_file(path, encoding=columns.get("encoding", "utf-8-sig"), delimiter=columns.get("delimiter"))
    return plain_table(table.rows, str(path), columns=TableColumns(**columns), strict=strict)


FORMATS = {
    "NExT-QA": ([{"video": "v1", "qid": "0", "question": "why", "a0": "x", "a1": "y", "a2": "z", "answer": 2}], 2),
    "letters": ([{"index": 7, "video": "v1", "question": "why", "A": "x", "B": "y", "answer": "B"}], 1),
    "text of the answer": ([{"video": "v1", "question": "why", "candidates": ["x", "y"], "answer": "y"}], 1),
    "options as text": ([{"options": "['x', 'y']", "correct": "A."}], 0),
    "two captions": ([{"video_name": "v1", "caption": "x", "counterfactual": "y", "aspect": "Action"}], 0),
    "foils": ([{"video_file": "v1", "caption": "x", "foils": ["y", "z"]}], 0),
    "released": ([{"clip": "v1", "ending0": "x", "ending1": "y", "label": "1"}], 1),
}


@pytest.mark.parametrize("name", FORMATS)
def test_columns_are_guessed_and_the_guess_is_said(tmp_path, name):
    rows, label = FORMATS[name]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(rows))
    table = read(path)
    item = table.rows[0]
    assert item["candidates"][item["label"]] == "xyz"[label]
    if name not in ("two captions", "foils"):  # those have no order
        assert item["label"] == label and item["candidates"][:2] == ["x", "y"]
    assert table.rows[0].get("question") == rows[0].get("question")
    assert table.guesses or name == "text of the answer"


@pytest.mark.parametrize("name", ["a.mp4", "a.wmv", "a.flv", "a.mpg", "a.ogv", "a.m2ts", "a.3GP", "a.jpg", "a"])
def test_names_of_video_files_keep_their_ending(tmp_path, name):
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"video": name, "candidates": ["x", "y"], "label": 0}]))
    row = read(path).rows[0]
    assert row["video_path"] == (name if "." in name else "a.mp4") and row["video_id"] == "a"


def test_the_clip_of_a_gif_is_no_number_of_the_question(tmp_path):
    path = tmp_path / "t.csv"  # the columns of TGIF-QA, whose vid_id counts the questions
    columns = "gif_name\tquestion\ta1\ta2\tanswer\tvid_id\tkey\n"
    path.write_text(f"{columns}tumblr_a\twhat?\tx\ty\t1\tACTION4\t26\ntumblr_a\twhich?\tx\tz\t0\tACTION5\t26\n")
    assert {(row["video_path"], row["cluster"]) for row in read(path).rows} == {("tumblr_a.mp4", "tumblr_a")}


def test_labels_that_count_from_one_are_seen(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("\n".join(json.dumps({"options": ["x", "y", "z"], "answer": 1 + n % 3}) for n in range(6)))
    table = read(path)
    assert [row["label"] for row in table.rows] == [0, 1, 2, 0, 1, 2]
    assert "labels of answer: places, counted from 1" in table.guesses


@pytest.mark.parametrize(
    ("label", "number"),
    [("b", 1), ("B.", 1), ("(b) a man", 1), ("1.0", 1), ("a man opens it", 0), ("a dog runs", None), ("A man", None)],
)
def test_a_label_is_a_letter_only_where_no_words_follow_it(tmp_path, label, number):
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{"candidates": ["a man opens it", "a man closes it"], "label": label}]))
    if number is None:
        with pytest.raises(VideoContrastError, match=f"the label '{label}' is outside the 2 candidates"):
            read(path)
    else:
        assert read(path).rows[0]["label"] == number


def test_named_columns_come_before_guesses(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("good,bad,film,family,label\na b,a c,v1,f1,9\na d,a e,v2,f1,9\n")
    table = read(path, candidates="good,bad", label="0", video="film", cluster="family")
    assert [sorted(row["candidates"]) for row in table.rows] == [["a b", "a c"], ["a d", "a e"]]
    assert [row["candidates"][row["label"]] for row in table.rows] == ["a b", "a d"]
    assert {row["cluster"] for row in table.rows} == {"f1"} and table.rows[0]["video_path"] == "v1.mp4"
    with pytest.raises(UsageError, match=r"--cluster clan: .*t\.csv has no such column; it has good, bad"):
        read(path, candidates="good,bad", label="0", cluster="clan")


CSV = "id,video,candidates,label\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CSV + "1,v,\"['x', 'y']\",2\n", "row 2 (id '1'): the label '2' is outside"),
        (CSV + "1,v,\"['x', 'y']\",E\n", "row 2 (id '1'): the label 'E' is outside"),
        (CSV + "1,v,\"['x', 'y']\",0\n1,v,\"['x', 'z']\",0\n", "row 3 (id '1'): the id '1' was that of row 2"),
        (CSV + "1,v,\"['x', 'x']\",0\n", "row 2 (id '1'): candidate 1 equals candidate 0: 'x'"),
        (CSV + "1,v,x,0\n", "row 2 (id '1'): column 'candidates' is no list"),
        (CSV.replace(",", "~") + "1~v\n", "line 1 holds a single column"),
        ("id,video\n1,v\n", "needs the candidates of each item and which of them is true"),
        ("id,options\n1,\"['x','y']\"\n", "needs which candidate is true"),
        (CSV, "holds no rows"),
    ],
)
def test_a_bad_table_is_refused_with_file_and_row(tmp_path, capsys, content, message):
    path = tmp_path / "t.csv"
    path.write_text(content)
    with pytest.raises(VideoContrastError) as raised:
        read(path, strict=True)
    assert str(path) in str(raised.value) and message in str(raised.value)
    assert main(["xray", str(path), "--strict", "--output", str(tmp_path / "x")]) == 1
    assert message in " ".join(capsys.readouterr().err.split()) and not (tmp_path / "x").exists()


def test_another_delimiter_is_found_and_another_encoding_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("id;A;B;label\n1;un café;un thé;0\n".encode("cp1252"))
    with pytest.raises(VideoContrastError, match=r"t.csv: line 2 is not utf-8 \(byte 0xe9\).*--encoding cp1252"):
        read(path)
    table = read(path, encoding="cp1252")
    assert table.rows[0]["candidates"] == ["un café", "un thé"]
    assert read_table_file(path, encoding="cp1252").notes == ["delimiter: semicolon"]
    with pytest.raises(UsageError, match="--encoding nonsense: no such encoding"):
        read(path, encoding="nonsense")
    path.write_bytes("id\tA\tB\tlabel\n1\tx\ty\tB\n".encode("utf-16"))
    assert read(path).rows[0]["label"] == 1


def test_a_zip_whose_member_leaves_its_root_is_refused(tmp_path):
    path = tmp_path / "t.zip"
    for member in ("../t.csv", "/etc/t.csv", "a/../../t.csv"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(member, CSV)
        with pytest.raises(VideoContrastError, match="leaves the root of the zip"):
            read_table_file(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("inner/t.csv", CSV + "1,v,\"['x', 'y']\",0\n")
    assert read(path).rows[0]["candidates"] == ["x", "y"]


def test_mixed_numbers_of_candidates_are_read_and_bad_items_counted(tmp_path):
    path = tmp_path / "t.jsonl"
    lists = [["x", "y"], ["x", "y", "z"], ["x", " "], ["x", "x"], ["x"]]
    path.write_text("\n".join(json.dumps({"candidates": texts, "label": 0}) for texts in lists))
    table = read(path)
    assert [len(row["candidates"]) for row in table.rows] == [2, 3]
    assert {reason: len(places) for reason, places in table.left_out.items()} == {
        "an empty candidate": 1, "identical candidates": 1, "fewer than two candidates": 1,
    }  # fmt: skip
    assert table.left_out["identical candidates"] == ["row 4 (id '3'): candidate 1 equals candidate 0: 'x'"]


def test_a_plain_table_is_scored_and_audited_without_a_record(tmp_path, capsys):
    path = tmp_path / "mine" / "t.jsonl"
    path.parent.mkdir()
    path.write_text("\n".join(json.dumps({"candidates": ["a cat", "a dog"], "label": n % 2}) for n in range(30)))
    assert main(["score", "--model", "blind", "--dataset", str(path), "--output", str(tmp_path / "run")]) == 0
    assert main(["score", "--model", "blind", "--dataset", str(path.parent), "--split", "train", "--output",
                 str(tmp_path / "run2")]) == 0  # fmt: skip
    assert main(["audit", str(path)]) == 0
    assert "t (test): 30 items, against distractor, chance 50.0 %" in capsys.readouterr().out
    row = open_set(path.parent).rows("default", "train")[3]
    assert (row["id"], row["video_path"], row["label"], row["cluster"]) == ("3", "3.mp4", 1, "3")
    assert main(["score", "--model", "temporal", "--dataset", str(path), "--output", str(tmp_path / "run3")]) == 1
    assert "the first: 0.mp4: no such file" in capsys.readouterr().err
    assert main(["audit", str(path), "--refine"]) == 2 and "has no set.json" in capsys.readouterr().err


def test_score_takes_the_columns_that_xray_takes(tmp_path):
    """A cp1252 table with labels from 1: the options are in the run's record, and the keys are right."""
    path = tmp_path / "t.csv"
    lines = [f"v{n};un café {n};un thé {n};{1 + n % 2}" for n in range(8)]
    path.write_bytes("\n".join(["film;gut;böse;richtig", *lines]).encode("cp1252"))
    given = {"candidates": "gut,böse", "label": "richtig", "label_is": "place1", "encoding": "cp1252", "video": "film"}
    flags = [part for name, value in given.items() for part in (f"--{name.replace('_', '-')}", value)]
    run = ["--model", "blind", "--dataset", str(path), "--output", str(tmp_path / "run")]
    assert main(["score", *run, *flags]) == 0
    scored = open_run(tmp_path / "run")
    assert [row["label"] for row in scored.score_rows()] == [n % 2 for n in range(8)]
    assert given.items() <= scored.record["request"].items()
    assert main(["audit", str(path), *flags]) == 0


def test_json_lines_end_at_line_feeds_alone(tmp_path):
    path = tmp_path / "t.jsonl"
    rows = [{"candidates": ["a\u2028man", "a\x85dog"], "label": 1}] * 2
    path.write_bytes("\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode())
    assert [row["candidates"] for row in read(path).rows] == [["a\u2028man", "a\x85dog"]] * 2


def test_a_folder_of_tables_is_read_from_within_and_one_of_videos_is_no_set(tmp_path, capsys, monkeypatch):
    (tmp_path / "t.jsonl").write_text('{"candidates": ["a cat", "a dog"], "label": 1}\n')
    monkeypatch.chdir(tmp_path)
    assert main(["audit", "."]) == 0
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "a.mp4").touch()
    for command in (["audit", "videos"], ["score", "--model", "random", "--dataset", "videos", "--output", "run"]):
        assert main(command) == 1 and "videos: no set, as no table lies in it" in capsys.readouterr().err


def test_what_a_plain_table_lacks_is_said_once(tmp_path, capsys):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "x"}\n')
    assert main(["score", "--model", "blind", "--dataset", str(path), "--output", str(tmp_path / "run")]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "needs the candidates of each item and which of them is true" in said
    assert "name them with --candidates and --label" in said
    path.write_text('{"video": "x.mp4", "caption": "x"}\n')
    assert main(["audit", str(path)]) == 1
    assert "`video-contrast build captions` makes a set" in " ".join(capsys.readouterr().err.split())


def test_a_fault_in_one_of_several_splits_is_named_by_its_row_in_the_file(tmp_path, capsys):
    path = tmp_path / "t.csv"
    path.write_text("split,A,B,label\ntrain,x,y,0\ntest,x,y,1\ntest,x,y,9\n")
    assert main(["audit", str(path)]) == 1
    assert main(["xray", str(path), "--strict", "--output", str(tmp_path / "x")]) == 1
    assert capsys.readouterr().err.count("row 4 (id '1'): the label '9'") == 2


def shown_to(tmp_path, rows, **columns):
    path = tmp_path / "t.json"
    path.write_text(json.dumps(rows))
    return read(path, **columns)


def test_a_number_that_is_a_candidate_is_that_candidate(tmp_path):
    """As MVBench and MLVU count: the answer is a text, and a place of another candidate too."""
    rows = [{"candidates": [str((n + k) % 6) for k in range(4)], "answer": str((n + n % 4) % 6)} for n in range(40)]
    table = shown_to(tmp_path, rows)
    assert [row["label"] for row in table.rows] == [n % 4 for n in range(40)]
    (said,) = (guess for guess in table.guesses if guess.startswith("labels of answer"))
    assert "texts of candidates (they fit 40 of 40 rows; places" in said and "another key: --label-is decides" in said
    by_place = shown_to(tmp_path, [{**row, "answer": str(n % 4)} for n, row in enumerate(rows)], label_is="place0")
    assert [row["label"] for row in by_place.rows] == [n % 4 for n in range(40)]


def test_a_column_of_places_stays_one_where_a_few_candidates_are_numbers(tmp_path):
    rows = [{"a0": f"red {n}", "a1": f"blue {n}", "a2": f"green {n}", "answer": str(n % 3)} for n in range(30)]
    rows[4] |= {"a0": "2", "a1": "1", "a2": "0", "answer": "2"}
    table = shown_to(tmp_path, rows)
    assert [row["label"] for row in table.rows] == [*(n % 3 for n in range(4)), 2, *(n % 3 for n in range(5, 30))]
    assert any("texts of candidates fit 1 and would give 1 another key" in guess for guess in table.guesses)
    numbers = [{"candidates": ["3", "0", "2", "1"], "label": 3}]  # a number of JSON is a place
    assert shown_to(tmp_path, numbers).rows[0]["label"] == 3


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("numbers", [(3, 0, 2, 1), (12, 7, 2, 9)])
def test_numbers_among_numbers_are_candidates_where_places_are_contradicted(tmp_path, form, numbers):
    """Every label is a candidate. Where each is a place as well, a text is a text and a number a place, and told so."""
    rows = [
        {"a0": a, "a1": b, "a2": c, "a3": d, "answer": numbers[n % 4]} for n in range(40) for a, b, c, d in [numbers]
    ]
    frame, path = pandas.DataFrame(rows), tmp_path / f"t.{form}"
    {"csv": partial(frame.to_csv, index=False), "parquet": frame.to_parquet,
     "jsonl": partial(frame.to_json, orient="records", lines=True)}[form](path)  # fmt: skip
    table = read(path)
    (said,) = (guess for guess in table.guesses if guess.startswith("labels of answer"))
    as_places = max(numbers) < 4 and form != "csv"
    assert [row["label"] for row in table.rows] == [numbers[n % 4] if as_places else n % 4 for n in range(40)]
    assert said.startswith(f"labels of answer: {'places' if as_places else 'texts'}") and "--label-is decides" in said
    assert (f"another key, since its labels are {'texts' if form == 'csv' else 'numbers'}:" in said) is (
        max(numbers) < 4
    )
    chosen = read(path, label_is="text")
    assert [row["label"] for row in chosen.rows] == [n % 4 for n in range(40)]


@pytest.mark.parametrize(
    ("columns", "base"),
    [(["options"], 1), ([f"option_{n}" for n in range(1, 5)], 1), ([f"option {n}" for n in range(4)], 0)],
)
def test_labels_of_which_neither_end_stands_there(tmp_path, columns, base):
    """Of forty rows 0 is never the label: they count from 1, and the last place is never the key."""
    texts = ["a cat", "a dog", "a cow", "none of them"]
    rows = [
        ({"options": texts} if columns == ["options"] else dict(zip(columns, texts, strict=True)))
        | {"answer": 1 + n % 3 if base else n % 4}
        for n in range(40)
    ]
    table = shown_to(tmp_path, rows)
    assert [row["label"] for row in table.rows] == [n % (3 if base else 4) for n in range(40)]
    assert any("--label-is place0" in guess for guess in table.guesses) is bool(base)
    if base:
        assert shown_to(tmp_path, rows, label_is="place0").rows[0]["label"] == 1


TWELVE = [f"text {n}" for n in range(12)]


@pytest.mark.parametrize(
    ("row", "texts", "label"),
    [
        ({**dict(zip("ABCDEFGHIJ", TWELVE, strict=False)), "answer": "J"}, TWELVE[:10], 9),
        ({**dict(zip("ABCX", TWELVE, strict=False)), "answer": "C"}, TWELVE[:3], 2),
        ({"options": {str(n): text for n, text in enumerate(TWELVE)}, "answer": 11}, TWELVE, 11),
        ({"options": {str(n): text for n, text in enumerate(TWELVE, 1)}, "answer": 11}, TWELVE, 10),
        ({"choices": [{"choice_id": n, "choice": text} for n, text in enumerate(TWELVE)], "answer": 7}, TWELVE, 7),
        ({"choices": [{"choice": "x", "answer": "wrong"}, {"choice": "y", "answer": "correct"}]}, ["x", "y"], 1),
        ({"choices": {"text": ["x", "y"], "label": ["A", "B"]}, "answerKey": "B"}, ["x", "y"], 1),
        ({"options": ["A. x", "B. y", "(C) z"], "answer": "B"}, ["x", "y", "z"], 1),
        ({"options": ["A. x", "B. y"], "answer": "B. y"}, ["x", "y"], 1),
        ({"options": '["x", "y"]', "answer": "y "}, ["x", "y"], 1),
        ({"a0": "x", "a1": "y ", "answer": "y"}, ["x", "y "], 1),
        ({"a0": "[1, 2]", "a1": "[2, 1]", "answer": "[2, 1]"}, ["[1, 2]", "[2, 1]"], 1),
        ({"options": "['x y' 'a \"z\"'\n 'b']", "right_answer": "C"}, ["x y", 'a "z"', "b"], 2),
        ({"options": ["x", "y", None, None], "answer": "B"}, ["x", "y"], 1),
        ({"q": "which", "choice_a": "x", "choice_b": "y", "correct_option": "choice_b"}, ["x", "y"], 1),
        ({"answer_choice_0": "x", "answer_choice_1": "y", "answer_id": 1, "answer": "since he runs"}, ["x", "y"], 1),
    ],
)
def test_forms_of_candidates_that_data_sets_have(tmp_path, row, texts, label):
    (read_row,) = shown_to(tmp_path, [row]).rows
    assert (read_row["candidates"], read_row["label"]) == (texts, label)


def test_a_list_written_as_text_beside_a_caption_is_one_of_candidates(tmp_path):
    (row,) = shown_to(tmp_path, [{"caption": "a cat", "foils": "['a dog', 'a cow']"}]).rows
    assert sorted(row["candidates"]) == ["a cat", "a cow", "a dog"] and row["candidates"][row["label"]] == "a cat"


def test_labels_of_all_splits_are_read_in_one_way(tmp_path):
    rows = [{"options": ["x", "y", "z"], "answer": 1 + n % 2, "split": "train"} for n in range(4)]
    rows += [{"options": ["x", "y", "z"], "answer": 3, "split": "test"}] * 2
    path = tmp_path / "t.json"
    path.write_text(json.dumps(rows))
    assert [row["label"] for row in read(path).splits["train"]] == [0, 1, 0, 1]
    assert [row["label"] for row in FileSet.of(path).rows("t", "train")] == [0, 1, 0, 1]


def test_times_of_a_table_are_kept_whatever_they_are_called_or_written_as(tmp_path):
    row = {"video": "v.mp4", "A": "x", "B": "y", "answer": "A"}
    table = shown_to(tmp_path, [row | {"start_time": "1.5", "end_time": "00:01:02"}, row | {"start_time": 3}])
    assert [(r["start"], r["end"]) for r in table.rows] == [(1.5, 62.0), (3.0, None)]
    spans = shown_to(tmp_path, [row | {"ts": "76.01-84.2"}, row | {"ts": [1, 2.5]}])
    assert [(r["start"], r["end"]) for r in spans.rows] == [(76.01, 84.2), (1.0, 2.5)]
    faulty = shown_to(tmp_path, [row, row | {"start": 5, "end": 4}, row | {"start": "soon"}])
    assert len(faulty.rows) == 1 and len(faulty.left_out) == 2


def test_rows_that_are_no_items_are_left_out_with_their_rows(tmp_path):
    good = {"id": "a", "A": "x", "B": "y", "answer": "A"}
    rows = [good, good | {"id": "b", "answer": "E"}, good, good | {"id": "c", "B": " "}, good | {"id": "d"}]
    table = shown_to(tmp_path, rows)
    assert [row["id"] for row in table.rows] == ["a", "d"]
    assert {reason: places[0].partition(" (")[0] for reason, places in table.left_out.items()} == {
        "a label outside the candidates": "row 1", "a repeated id": "row 2", "an empty candidate": "row 3",
    }  # fmt: skip
    assert not table.has_videos


@pytest.mark.parametrize("absent", [None, "", float("nan")])
def test_candidates_that_are_absent_are_no_candidates(absent):
    """Tables made with pandas have NaN where a row has fewer candidates than others."""
    columns = [{"A": "a dog", "B": "a cat", "C": "a cow", "answer": "B"},
               {"A": "a dog", "B": "a cat", "C": absent, "answer": "A"}]  # fmt: skip
    assert [row["candidates"] for row in plain_table(columns, "t").rows] == [
        ["a dog", "a cat", "a cow"],
        ["a dog", "a cat"],
    ]
    lists = [
        {"options": ["a dog", "a cat", "a cow"], "answer": 1},
        {"options": ["a dog", "a cat", absent], "answer": 0},
    ]
    assert [len(row["candidates"]) for row in plain_table(lists, "t").rows] == [3, 2]
    middle = [{"options": ["a dog", absent, "a cow"], "answer": 0}]
    with pytest.raises(VideoContrastError, match="an empty candidate"):
        plain_table(middle, "t")


def test_the_documented_table_of_bad_input_says_what_is_said(tmp_path):
    page = (Path(__file__).parents[2] / "docs/xray.md").read_text(encoding="utf-8")
    table = page.partition("| file | holds")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(table) >= 12
    for number, line in enumerate(table):
        kind, holds, says = (cell.strip() for cell in line.strip("|").split(" | "))
        suffix, _, encoding = kind.partition(", ")
        path = tmp_path / f"t{number}{suffix.strip('`')}"
        content = holds.strip("`").replace("↵", "\n") if holds.startswith("`") else ""
        path.write_bytes(content.encode(encoding or "utf-8"))
        try:
            [source] = open_sources(str(path))
            said = [*source.guesses, *chain(*source.left_out.values())]
            said += [text for row in source.splits["test"] for text in row["candidates"]]
        except VideoContrastError as error:
            said = [str(error)]
        for phrase in says.split("`")[1::2]:
            assert phrase in "\n".join(said), (line, said)
