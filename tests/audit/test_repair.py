"""Repair: what is won blind gets other distractors, all else stays, and the errata say exactly what has changed."""

import csv
import io
import json
import shutil

import datasets
import numpy as np
import pytest
from own_captions import CAPTIONS

from video_contrast.audit.distractor_choice import DistractorPlace, NewDistractor, choose
from video_contrast.audit.new_distractors import DistractorEdits
from video_contrast.audit.repair import repair
from video_contrast.audit.xray import xray
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import multiple_choice_row
from video_contrast.storage.errata import Errata, Erratum, corrected, read_errata, write_errata


def biased():
    """Captions with one distractor each, which ends in the same word in all of them: everything is won blind."""
    rows = []
    for n, text in enumerate(text for clip in CAPTIONS for text in clip):
        texts = [text, f"{text.rpartition(' ')[0]} nothing"]
        label = n % 2
        rows.append(
            multiple_choice_row(
                id=f"i{n}", video_id=f"v{n}", video_path=f"v{n}.mp4", candidates=texts[::-1] if label else texts,
                label=label, kinds=["contrast", "true"] if label else ["true", "contrast"],
            )
        )  # fmt: skip
    return rows


def questions(n=240, seed=0):
    """Questions whose true answers are of other words than the false ones."""
    rng = np.random.default_rng(seed)
    places = [f"{what} {number}" for what in ("hill", "gate", "lamp", "boat", "roof") for number in range(10)]
    true = [f"{verb} the {place}" for verb in ("watch", "paint", "clean", "reach") for place in places]
    false = [f"break a {place}" for place in places]
    rows = []
    for at in range(n):
        label = int(rng.integers(3))
        others = [str(text) for text in rng.choice(false, 2, replace=False)]
        texts = [*others[:label], true[at % len(true)], *others[label:]]
        rows.append(
            multiple_choice_row(
                id=f"q{at}", video_id=f"v{at}", video_path=f"v{at}.mp4", candidates=texts, label=label,
                kinds=["true" if m == label else "distractor" for m in range(3)],
                question=f"why did the {'boy' if at % 2 else 'cat'} stop",
            )
        )  # fmt: skip
    return rows


def accuracy(rows, key="blind"):
    return next(m["accuracy"] for m in xray({"test": rows})["blind"]["models"] if m["key"] == key)


def test_captions_that_are_won_blind_get_new_distractors_and_keep_clip_and_key():
    rows = biased()
    assert accuracy(rows) > 0.95
    result = repair(rows)
    assert 0.35 < accuracy(result.rows) < 0.65 and len(result.rows) >= 0.6 * len(rows)
    before = {row["id"]: row for row in rows}
    for row in result.rows:
        old = before[row["id"]]
        assert row["label"] == old["label"] and row["candidates"][row["label"]] == old["candidates"][old["label"]]
        assert (row["video_path"], row["cluster"]) == (old["video_path"], old["cluster"])
    assert {change.reason for change in result.changes} == {"won blind"}
    assert result.counts["kept"] + result.counts.get("left out: won blind", 0) == len(rows)


def test_questions_whose_answers_are_numbers_are_read():
    rows = questions()
    for at, row in enumerate(rows):
        texts = [f"{at % 9 + 10 * n}" for n in range(1, len(row["candidates"]) + 1)]
        texts[0], texts[row["label"]] = texts[row["label"]], "2"
        rows[at] = row | {"candidates": texts, "question": "how many?"}
    assert repair(rows).counts["won blind"] > 100


def test_questions_take_answers_that_are_true_elsewhere():
    rows = questions()
    result = repair(rows)
    answers = {row["candidates"][row["label"]] for row in rows}
    assert accuracy(rows) > 0.95 and accuracy(result.rows) < 0.5
    assert result.rows and all(set(row["candidates"]) <= answers for row in result.rows)
    assert {change.kind for change in result.changes if change.new} == {"answer"}


class Ignores:
    """A model that proposes the same few verbs of every span."""

    name = "ignores"

    def propose(self, spans):
        return [["washing", "pushing", "painting", "watching"] for _ in spans]


def test_a_model_may_propose_the_verbs_and_kinds_may_be_named():
    result = repair(biased(), DistractorEdits(["verb"], 0.1, Ignores()))
    made = [row["edits"][1 - row["label"]] for row in result.rows if "verb_model" in row["kinds"]]
    assert made and {edit["new"] for edit in made} <= {"washing", "pushing", "painting", "watching"}
    assert {change.kind for change in result.changes if change.new} == {"verb_model"}
    with pytest.raises(UsageError, match="did you mean 'verb'"):
        repair(biased(), DistractorEdits(["vrb"]))


def test_a_set_that_is_not_won_blind_stays_as_it_is():
    rows = questions()
    rng = np.random.default_rng(5)
    for row in rows:
        label = int(rng.integers(3))
        row["label"], row["kinds"] = label, ["true" if n == label else "distractor" for n in range(3)]
    result = repair(rows)
    assert result.rows == rows and not result.changes


def test_pairs_of_words_that_no_true_candidate_has_tell_and_are_not_put_in_oftener():
    def text(*numbers):
        return " ".join(f"w{n % 100}" for n in numbers)

    places = [  # each true candidate stands twice
        DistractorPlace(n, f"i{n}", text(n, n + 1, n + 2), "", 2, tuple(
            NewDistractor(text(*(n + step for step in steps)), 1.0, kind)
            for kind, steps in (("known", (5, 6, 7)), ("new", (9, 4, 7)))
        ))
        for n in range(200)
    ]  # fmt: skip
    drawn = [option.kind for option in choose(places) if option]
    assert len(drawn) > 190 and drawn.count("new") < 20


def test_the_same_rows_give_the_same_repair_and_another_seed_another_one():
    rows = questions()
    assert repair(rows) == repair(rows) and repair(rows, seed=1) != repair(rows)


def test_copies_are_left_out_and_distractors_that_repeat_are_replaced():
    rows = questions()
    rows[1] |= {"candidates": list(rows[0]["candidates"]), "label": rows[0]["label"]}
    rows[1] |= {"video_path": rows[0]["video_path"], "question": rows[0]["question"], "kinds": rows[0]["kinds"]}
    false = next(n for n in range(3) if n != rows[2]["label"])
    rows[2]["candidates"][false] = rows[2]["candidates"][rows[2]["label"]].upper()
    changes = [change for change in repair(rows).changes if change.row in (1, 2)]
    assert changes[0].reason == "repeats" and changes[0].new is None
    assert any(change.reason == "same as true" and change.place == false for change in changes)


def test_items_with_two_keys_are_left_out_both():
    rows = questions()
    rows[1] |= {name: rows[0][name] for name in ("candidates", "video_path", "question")}
    rows[1]["label"] = (rows[0]["label"] + 1) % 3
    reasons = {change.row: change.reason for change in repair(rows).changes if change.new is None}
    assert reasons[0] == reasons[1] == "key wrong"


def test_pairs_few_items_and_other_languages_are_refused():
    rows = questions()
    for n, row in enumerate(rows):
        row |= {"question": "", "candidates": [f"一个男人在跑步{n}", f"一个女人睡觉{n}", f"一只狗{n}"]}
    with pytest.raises(VideoContrastError, match="do not look English"):
        repair(rows)
    with pytest.raises(UsageError, match="too few"):
        repair(questions(12))
    rows = questions()
    rows[0]["group"] = "g"
    with pytest.raises(UsageError, match="pairs cannot be repaired"):
        repair(rows)


def table_of(rows):
    return [{"clip": row["video_id"], "question": row["question"], "options": row["candidates"], "answer": row["label"]}
            for row in rows]  # fmt: skip


def csv_of(rows, delimiter=","):
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter, lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writerow(["clip", "question", "answer", "a0", "a1", "a2"])
    writer.writerows([row["video_id"], row["question"] + ', "yes"', row["label"], *row["candidates"]] for row in rows)
    return sink.getvalue()


FILES = {
    "quoted.csv": csv_of,
    "tabs.tsv": lambda rows: csv_of(rows, "\t"),
    "lines.jsonl": lambda rows: "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in table_of(rows)),
    "list.json": lambda rows: json.dumps(table_of(rows), indent=2),
    "object.json": lambda rows: json.dumps({"version": 1, "data": table_of(rows)}),
    "videos.json": lambda rows: json.dumps({"data": [{"clip": row["clip"], "qa": [row]} for row in table_of(rows)]}),
    "lines.json": lambda rows: "".join(json.dumps(row) + "\n" for row in table_of(rows)),
    "keys.json": lambda rows: json.dumps({row["clip"]: {"n": 0, "qa": [row]} for row in table_of(rows)}, indent=1),
    "lettered.json": lambda rows: json.dumps(
        [row | {"options": [f"{c}. {t}" for c, t in zip("ABC", row["options"], strict=True)]} for row in table_of(rows)]
    ),
    "text.csv": lambda rows: "clip,question,options,answer\n" + "".join(
        f'{row["clip"]},{row["question"]},"{row["options"]}",{row["answer"]}\n' for row in table_of(rows)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_errata_applied_to_the_authors_file_give_the_repaired_set_byte_for_byte(name, tmp_path):
    file = tmp_path / name
    file.write_bytes(FILES[name](questions()).encode())
    assert main(["repair", str(file), "--output", str(tmp_path / "set"), "-q"]) == 0
    out = tmp_path / f"again{file.suffix}"
    assert main(["repair", str(file), "--apply", str(tmp_path / "set/errata.json"), "--output", str(out), "-q"]) == 0
    assert out.read_bytes() == (tmp_path / "set/authors" / name).read_bytes() != file.read_bytes()
    rows = datasets.load_dataset(str(tmp_path / "set"), "repaired", split="test")
    from video_contrast.reports.xray_input import open_sources

    [source] = open_sources(str(out))
    read = source.splits["test"]
    assert [row["candidates"] for row in read] == rows["candidates"][:]
    assert [row["label"] for row in read] == rows["label"][:]
    if file.suffix == ".csv":  # what is not corrected keeps its bytes
        old, new = file.read_bytes().splitlines(keepends=True), out.read_bytes().splitlines(keepends=True)
        corrections = json.loads((tmp_path / "set/errata.json").read_text())["errata"]
        assert set(new) - set(old) and len(set(old) - set(new)) == len({e["row"] for e in corrections})


def test_a_repaired_set_is_built_twice_alike_and_says_that_nobody_read_it(tmp_path):
    file = tmp_path / "set.csv"
    file.write_text(csv_of(questions()))
    for name in ("a", "b"):
        assert main(["repair", str(file), "--output", str(tmp_path / name), "-q"]) == 0
    one, two = ({p.relative_to(tmp_path / n): p.read_bytes() for p in (tmp_path / n).rglob("*") if p.is_file()}
                for n in "ab")  # fmt: skip
    assert one == two and len(one) > 6
    card = (tmp_path / "a/README.md").read_text()
    assert "not read" in card
    key = [json.loads(line) for line in (tmp_path / "a/reading/pairs.jsonl").read_text().splitlines()]
    assert {pair["source"] for pair in key} <= {"old", "new", "old+new"}
    votes = tmp_path / "votes.tsv"
    votes.write_text("pair\tlook\twording\ttruth\n" + "".join(f"{pair['pair']}\t1\tg\tf\n" for pair in key))
    again = shutil.copy(votes, tmp_path / "again.tsv")
    assert main(["repair", str(file), "--output", str(tmp_path / "a"), "--votes", f"{votes},{again}", "-q"]) == 0
    assert "100 % natural and surely false" in (tmp_path / "a/README.md").read_text()


def test_numbers_of_the_authors_file_stay_numbers(tmp_path):
    file = tmp_path / "set.json"
    file.write_text(json.dumps([{"options": [3, 5, 2.5], "answer": 0}]))
    errata = Errata("set.json", "", ("options",), tuple(
        Erratum(0, "0", "won blind", old, new, "answer") for old, new in (("5", "7"), ("2.5", "many"))
    ))  # fmt: skip
    assert json.loads(corrected(errata, file)) == [{"options": [3, 7, "many"], "answer": 0}]


def test_votes_that_are_none_leave_no_output(tmp_path, capsys):
    file, votes = tmp_path / "set.csv", tmp_path / "votes.tsv"
    file.write_text(csv_of(questions()))
    votes.write_text("x\ty\n1\t2\n")
    assert main(["repair", str(file), "--output", str(tmp_path / "out"), "--votes", str(votes), "-q"]) == 1
    assert "votes.tsv" in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_errata_of_another_file_are_refused(tmp_path):
    file, out = tmp_path / "set.csv", tmp_path / "out.csv"
    file.write_text(csv_of(questions()))
    errata = Errata("set.csv", "", ("a0", "a1", "a2"), (Erratum(2, "0", "won blind", "not there", "new", "answer"),))
    write_errata(errata, tmp_path / "errata.json")
    assert read_errata(tmp_path / "errata.json") == errata
    with pytest.raises(VideoContrastError, match=r"row 2 \(id '0'\) holds 'not there' 0 times"):
        corrected(errata, file)
    with pytest.raises(VideoContrastError, match="has no row 999"):
        corrected(Errata("set.csv", "", ("a0",), (Erratum(999, "x", "repeats"),)), file)
    with pytest.raises(VideoContrastError, match="is not the file"):
        corrected(Errata("set.csv", "00", ("a0",), ()), file)
    with pytest.raises(UsageError, match="can be corrected"):
        corrected(errata, tmp_path / "set.xlsx")
    for change in ({"encoding": 5}, {"encoding": "utf-99"}, {"delimiter": 5}):
        (tmp_path / "none.json").write_text(json.dumps(json.loads((tmp_path / "errata.json").read_text()) | change))
        with pytest.raises(VideoContrastError, match="holds no errata of"):
            read_errata(tmp_path / "none.json")
    (tmp_path / "none.json").write_text("[]")
    assert main(["repair", str(file), "--apply", str(tmp_path / "none.json"), "--output", str(out), "-q"]) == 1
    assert not out.exists()
