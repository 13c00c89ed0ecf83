"""Contrasts that a person ticks: the table that is read, what a build takes of it, and the page that it comes from."""

import csv
import json
import re
from pathlib import Path

import pytest

import video_contrast
from video_contrast.builders.assembly.review import PAGE, TICKS, read_ticks
from video_contrast.cli import main
from video_contrast.storage import open_set

CAPTIONS = {
    "dance": "a young man is dancing in a kitchen",
    "cake": "a woman is baking a chocolate cake",
    "guitar": "a girl plays the guitar on a couch",
    "yoga": "two women are doing yoga on the beach",
    "cat": "a dog chases a <b>cat</b> through the garden",
    "rain": "two men walk in the rain",
}
HEAD = "config\tclip\tcaption\tcontrast\tvote\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "captions.csv"
    lines = [f"clips/{name}.mp4,{text}" for name, text in CAPTIONS.items()]
    path.write_text("\n".join(["video,caption", *lines]) + "\n", encoding="utf-8")
    return path


def cards_of(page: Path) -> list[dict[str, object]]:
    text = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    assert text is not None and "<" not in text[1]
    cards: list[dict[str, object]] = json.loads(text[1])["cards"]
    return cards


def test_a_page_shows_every_clip_with_its_candidates_best_first(table: Path, tmp_path: Path) -> None:
    out = video_contrast.build(
        "captions", ["verb_mc", "place_mc"], output=tmp_path / "set", captions=str(table), review=True
    )
    cards = cards_of(out / PAGE)
    assert {card["clip"] for card in cards} == {f"clips/{name}" for name in CAPTIONS}
    for card in cards:
        candidates = card["candidates"]
        assert isinstance(candidates, list) and len(candidates) <= 6
        probabilities = [p for _, _, p in candidates if p is not None]
        assert probabilities == sorted(probabilities, reverse=True)
        assert card["video"] == f"./{card['clip']}.mp4"
    assert any(card["config"] == "place_mc" for card in cards)


def test_with_a_page_a_set_holds_the_same_and_counts_the_same(table: Path, tmp_path: Path) -> None:
    facts = []
    for review in (False, True):
        options = {"captions": str(table), "quality": "0.9", "review": review}
        out = video_contrast.build("captions", ["verb_mc"], output=tmp_path / str(review), **options)
        facts.append(open_set(out).record["configs"]["verb_mc"]["facts"]["splits"])
        facts.append(list(open_set(out).rows("verb_mc", "test")))
    assert facts[:2] == facts[2:]


def test_a_build_takes_the_ticks_beside_the_set_and_nothing_else(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "set"
    out.mkdir()
    rows = [
        ("verb_mc", "clips/cake", CAPTIONS["cake"], "a woman is throwing a chocolate cake", "yes"),
        ("verb_mc", "clips/cake", CAPTIONS["cake"], "a woman is buying a chocolate cake", "yes"),
        ("verb_mc", "clips/dance", CAPTIONS["dance"], "a young man is sleeping in a kitchen", "no"),
        ("verb_mc", "clips/yoga.mp4", CAPTIONS["yoga"], "two women are fighting on the beach", ""),
    ]
    (out / TICKS).write_text(HEAD + "".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    video_contrast.build("captions", ["verb_mc"], output=out, captions=str(table))
    record = open_set(out).record["configs"]["verb_mc"]
    assert record["facts"]["splits"]["test"]["counts"]["captions_tried"] == {"edited": 2, "not_ticked": 4}
    built = {row["video_id"]: row for row in open_set(out).choice_rows("verb_mc", "test")}
    assert built.keys() == {"clips/cake", "clips/yoga"}
    assert rows[0][3] in built["clips/cake"]["candidates"] and rows[3][3] in built["clips/yoga"]["candidates"]
    assert rows[1][3] not in built["clips/cake"]["candidates"]
    assert "a person has ticked each contrast" in (out / "README.md").read_text(encoding="utf-8")


def test_a_table_by_hand_needs_no_config_where_one_is_built(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ticks = tmp_path / "mine.csv"
    with ticks.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(
            [("clip", "caption", "contrast"), ("clips/rain", CAPTIONS["rain"], "two men run in the rain")]
        )
    common = ["build", "captions", "--captions", str(table), "--ticks", str(ticks)]
    assert main([*common, "--config", "verb_mc", "--output", str(tmp_path / "one")]) == 0
    [row] = open_set(tmp_path / "one").choice_rows("verb_mc", "test")
    assert "two men run in the rain" in row["candidates"]
    assert main([*common, "--config", "verb_mc,object_mc", "--output", str(tmp_path / "two")]) == 2
    assert "mine.csv, line 2: needs a column config" in capsys.readouterr().err
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("verb_mc\tclips/rain\ttwo men walk in the rain\t\tyes", "line 2: the column 'contrast' must hold one text"),
        ("verbs\tclips/rain\ttwo men walk in the rain\ttwo men run\tyes", "line 2: no contrasts of 'verbs'"),
        ("verb_mc\tclips/rain\ttwo men walk in the rain\ttwo men run\tmaybe", "line 2: the vote must be yes or no"),
        ("verb_mc\tclips/rain\ttwo men walk in the rain\tTwo men walk in the rain.\tyes", "equals the caption"),
        ("verb_mc\tclips/snow\ttwo men walk in the rain\ttwo men run\tyes", "line 2: the table of captions has no"),
        ("verb_mc\tclips/rain\ttwo men walk in rain\ttwo men run\tyes", "line 2: the clip 'clips/rain' has no caption"),
        ("", "no rows"),
        (
            "verb_mc\tclips/rain\ttwo men walk in the rain\ttwo men run\tyes\n"
            "verb_mc\tclips/rain\ttwo men walk in the rain\tTwo men run.\tno",
            "line 3: the vote is no, that of review.tsv, line 2 yes; keep one",
        ),
    ],
)  # fmt: skip
def test_a_bad_row_is_one_clear_error(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], row: str, message: str
) -> None:
    ticks = tmp_path / "review.tsv"
    ticks.write_text(HEAD + row + "\n" * bool(row), encoding="utf-8")
    out = tmp_path / "set"
    given = ["build", "captions", "--config", "verb_mc", "--captions", str(table), "--output", str(out)]
    assert main([*given, "--ticks", str(ticks)]) == 1
    error = capsys.readouterr().err
    assert message in error and error.count("error:") == 1
    assert not out.exists()


def test_ticks_keep_their_order_and_votes(tmp_path: Path) -> None:
    path = tmp_path / TICKS
    path.write_text(
        HEAD + "verb_mc\tv\ta  man runs\ta man sits\tno\nverb_mc\tv\ta man runs\ta man lies\t\n", encoding="utf-8"
    )
    assert [(t.caption, t.contrast, t.vote) for t in read_ticks(path, ["verb_mc"])] == [
        ("a man runs", "a man sits", "no"),
        ("a man runs", "a man lies", "yes"),
    ]
