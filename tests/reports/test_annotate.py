"""What the human pages keep: who gets what, which answers count, what they say."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import json
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import fabricate
import pytest
from annotations import CAPTIONS, made, rows  # noqa: F401  fixtures

from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.reports.annotate import Desk, Vote, Votes, judged, problem_with
from video_contrast.reports.annotate.results import export_set, record_in_card
from video_contrast.reports.annotate.tasks import UNCLEAR
from video_contrast.storage import open_set


def test_nobody_sees_an_item_twice_and_each_gets_enough_answers(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    desk = Desk(rows, Votes(tmp_path / "v.jsonl", "judge"), per_item=2)
    seen: dict[str, list[str]] = {"ann": [], "bob": [], "cy": []}
    for _ in range(10):
        for name in seen:
            task = desk.next(name)
            if task is not None:
                seen[name].append(task.row["id"])
                assert desk.answer(name, task.row["id"], task.shown[0], 1.0) == ""
    assert all(len(items) == len(set(items)) for items in seen.values())
    assert sorted(item for items in seen.values() for item in items) == sorted([row["id"] for row in rows] * 2)


def test_two_people_at_once_get_different_items(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    desk = Desk(rows, Votes(tmp_path / "v.jsonl", "judge"), per_item=1)
    first, second = desk.next("ann"), desk.next("bob")
    assert first is not None and second is not None and first.row["id"] != second.row["id"]
    again = desk.next("ann")
    assert again is not None and again.row["id"] == first.row["id"]  # a reload shows the same item


def test_the_same_answer_twice_is_refused_and_a_returned_one_is_not(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    desk = Desk(rows, Votes(tmp_path / "v.jsonl", "judge"), per_item=1)
    task = desk.next("ann")
    assert task is not None
    item = task.row["id"]
    desk.answer("ann", item, UNCLEAR, 1.0)
    with pytest.raises(VideoContrastError, match="already answered"):
        desk.answer("ann", item, task.shown[0], 1.0)
    desk.send_back(item, "ann", "look again")
    back = desk.next("ann")
    assert back is not None and (back.row["id"], back.note, back.former) == (item, "look again", UNCLEAR)
    desk.answer("ann", item, task.shown[0], 2.0)
    assert desk.votes.standing()[item][0].answer == task.shown[0]


def test_options_are_shuffled_anew_for_each_person_and_item(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    desk = Desk(rows, Votes(tmp_path / "v.jsonl", "judge"), per_item=99)
    orders = set()
    for name in "abcdefgh":
        task = desk.next(name)
        assert task is not None
        assert sorted(task.options) == sorted(task.row["candidates"])
        assert [task.row["candidates"][n] for n in task.shown] == list(task.options)
        orders.add(task.shown)
    assert len(orders) > 3


def test_a_torn_last_line_loses_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    Votes(path, "judge").add(Vote("judge", "a", "ann", 1))
    with open(path, "ab") as handle:
        handle.write(b'{"annotator": "ann", "answer": 2, "it')  # the server was killed while it wrote
    votes = Votes(path, "judge")
    votes.add(Vote("judge", "b", "ann", 3))
    assert {(v.item, v.answer) for v in Votes(path, "judge").latest()} == {("a", 1), ("b", 3)}


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text('{"this": "is no answer"}\n')
    with pytest.raises(VideoContrastError, match="line 1"):
        Votes(tmp_path / "v.jsonl", "judge")


def test_many_writers_lose_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"

    def write(name: str) -> None:
        votes = Votes(path, "judge")  # as if each were a server of its own
        for n in range(20):
            votes.add(Vote("judge", f"item{n}", name, n))

    threads = [threading.Thread(target=write, args=(f"p{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Votes(path, "judge").latest()) == 80
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_a_killed_server_loses_no_answer(tmp_path: Path) -> None:
    path = tmp_path / "v.jsonl"
    code = f"""
        from video_contrast.reports.annotate.tasks import Vote, Votes
        votes = Votes({str(path)!r}, "judge")
        for n in range(10**6):
            votes.add(Vote("judge", f"item{{n}}", "ann", n))
            print(n, flush=True)
    """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    shown = [next(process.stdout) for _ in range(25)]
    process.kill()
    shown += process.stdout.read().splitlines()
    process.wait()
    kept = {vote.item for vote in Votes(path, "judge").latest()}
    assert {f"item{int(line)}" for line in shown if line.strip().isdigit()} <= kept
    assert Votes(path, "judge").add(Vote("judge", "after", "ann", 1)).item == "after"


def test_two_people_on_one_item_at_once_are_both_kept_and_one_person_twice_is_not(
    rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    item = rows[0]["id"]
    for names, kept in ((("ann", "bob"), 2), (("cy", "cy"), 1)):
        path = tmp_path / f"{kept}.jsonl"
        desks = [Desk(rows, Votes(path, "judge"), per_item=2) for _ in names]  # two servers on one file
        ready = threading.Barrier(2)
        refused: list[str] = []

        def send(desk: Desk, name: str, ready: threading.Barrier = ready, refused: list[str] = refused) -> None:
            ready.wait()
            try:
                desk.answer(name, item, UNCLEAR, 1.0)
            except VideoContrastError as error:
                refused.append(str(error))

        threads = [threading.Thread(target=send, args=pair) for pair in zip(desks, names, strict=True)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(Votes(path, "judge").standing()[item]) == kept
        assert len(path.read_text().splitlines()) == kept
        assert len(refused) == 2 - kept


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        ("a boy sits down on a chair", "unchanged"),
        ("A boy  sits down on a chair", "unchanged"),
        ("", "empty"),
        ("a girl stands on a chair", "only the marked words"),
        ("a boy is sitting down on a chair", "means the same"),
        ("a boy sat down on a chair", "means the same"),
        ("a boy on a chair", "gone"),
        ("a boy stands up on a chair", ""),
        ("a boy sleeps on a chair", ""),
    ],
)
def test_the_rules_of_writing(sentence: str, problem: str) -> None:
    row = fabricate.choice_rows(2, ("random",), CAPTIONS)[1]
    true = row["candidates"][row["label"]]
    start = true.index("sits down")
    row["edits"] = [{"old": "sits down", "new": "x", "start": start, "end": start + 1}] + [None] * 4
    found = problem_with(sentence, row)
    assert problem in found if problem else found == ""


def test_synonyms_are_refused(rows: list[dict[str, Any]]) -> None:
    row = {**rows[3], "edits": [None] * 5}
    row["candidates"] = ["a man buys a door" if n == row["label"] else text for n, text in enumerate(row["candidates"])]
    assert "means the same" in problem_with("a man purchases a door", row)


def test_figures_of_judges_by_hand(rows: list[dict[str, Any]]) -> None:
    kinds = [["true", "verb_lm", "random"]] * 4
    four = [{**row, "label": 0, "kinds": kinds[n]} for n, row in enumerate(rows)]
    answers = {0: (0, 0, 0), 1: (0, 0, 1), 2: (1, 1, 0), 3: (2, 2, 2)}  # right, right, contrast, random
    votes = {
        four[n]["id"]: [Vote("judge", four[n]["id"], who, a, seconds=4) for who, a in zip("xyz", given, strict=True)]
        for n, given in answers.items()
    }
    found = judged(four, votes)
    assert found["accuracy"] == 0.5
    assert found["individual_accuracy"] == 6 / 12
    assert found["false_negative_rate"] == 0.25  # a random option that people chose is an error, no false negative
    assert found["ceiling"] == 0.875
    # Krippendorff, nominal, by hand: disagreement observed 4/12, expected 90/132
    assert found["krippendorff_alpha"] == pytest.approx(1 - (4 / 12) / (90 / 132))


def test_written_answers_come_out_as_a_set(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import datasets

    path = tmp_path / "w.jsonl"
    desk = Desk(open_set(made).choice_rows("random_mc", "test"), Votes(path, "write"), per_item=1)
    while (task := desk.next("ann")) is not None:
        start, end = task.phrase
        assert desk.answer("ann", task.row["id"], f"{task.caption[:start]}paints{task.caption[end:]}", 9.0) == ""
    given = ["annotate", "result", str(made), "--votes", str(path), "--config", "random_mc", "--task", "write"]
    assert main([*given, "--output", str(tmp_path / "set")]) == 0
    assert "n_items: 4" in capsys.readouterr().out.replace("n items", "n_items")
    assert main([*given, "--record"]) == 2  # what people wrote is no figure of judges
    assert "leave it out with --task write" in capsys.readouterr().err
    found = datasets.load_dataset(str(tmp_path / "set"), "verb_human_mc", split="test")
    assert len(found) == 4
    for row in found:
        place = row["kinds"].index("verb_human")
        edit = row["edits"][place]
        assert row["candidates"][place][edit["start"] : edit["end"]] == "paints"
        assert row["replaced"] not in row["candidates"]
        assert (tmp_path / "set" / row["video_path"]).is_file()
    assert "people" in (tmp_path / "set" / "README.md").read_text()


def test_judged_items_come_out_as_a_set_and_as_the_human_line(made: Path, tmp_path: Path) -> None:
    import shutil

    root = tmp_path / "copy"
    shutil.copytree(made, root)
    rows = open_set(root).choice_rows("random_mc", "test")
    desk = Desk(rows, Votes(tmp_path / "v.jsonl", "judge"), per_item=1)
    for number in range(4):
        task = desk.next("ann")
        assert task is not None
        right = task.row["label"]
        wrong = next(n for n in task.shown if n != right)
        desk.answer("ann", task.row["id"], wrong if number == 0 else right, 3.0)
    export_set(root, tmp_path / "v.jsonl", tmp_path / "valid", config="random_mc", task="judge")
    assert len(open_set(tmp_path / "valid").choice_rows("random_mc", "test")) == 3
    record_in_card(root, "random_mc", judged(rows, desk.votes.standing()))
    assert "1 person judged 4 items: single answers right in 75.0 %" in (root / "README.md").read_text()
    assert "on which one judge chose the true caption" in (tmp_path / "valid" / "README.md").read_text()
    from video_contrast.reports.human_and_published import human
    from video_contrast.reports.runs import SetKey

    assert human(SetKey(str(root), "random_mc", "test", "")) == 75.0


def test_no_answers_and_no_such_config_are_said(made: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown config of .*nothing"):
        open_set(made).choice_rows("nothing", "test")
    with pytest.raises(UsageError, match="not a multiple-choice"):
        open_set(made).choice_rows("retrieval", "test")
    with pytest.raises(VideoContrastError, match="no item has an answer"):
        judged(open_set(made).choice_rows("random_mc", "test"), {})
