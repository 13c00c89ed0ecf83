"""The page on which pairs of captions are read blind, and what its votes say."""

import json
import re
from pathlib import Path
from typing import Any

import fabricate
import pytest

from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.reports.annotate.blind_reading import (
    KEY,
    PAGE,
    PairSource,
    merge,
    read_key,
    read_votes,
    results,
    write_reading,
)

CAPTIONS = ("a man </script><b>runs</b>", *(f"a man holds {n} balls" for n in range(9)))
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.make_set(tmp_path_factory.mktemp("sets") / "made", 10, captions=CAPTIONS)


@pytest.fixture(scope="module")
def reading(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("reading") / "first"
    sources = [f"verbs={folder}/verb_mc:8", f"more={folder}/verb_mc"]
    assert main(["annotate", "reading", *sources, "--again", "2", "--output", str(out)]) == 0
    return out


def _page(reading: Path) -> dict[str, Any]:
    text = (reading / PAGE).read_text(encoding="utf-8")
    match = re.search(r"^const data = (.*);$", text, re.MULTILINE)
    assert match is not None
    return json.loads(match[1])


def _save(reading: Path, path: Path, votes: dict[int, str], again: dict[int, str] | None = None) -> Path:
    """A file as the page saves it: place -> two letters."""
    pairs = [pair for pair, *_ in _page(reading)["pairs"]]
    lines = [
        f"{pairs[n]}\t{look}\t{v[0]}\t{v[1]}" for look, part in ((1, votes), (2, again or {})) for n, v in part.items()
    ]
    path.write_text("\n".join(["# Votes of x", "pair\tlook\twording\ttruth", *lines]) + "\n", encoding="utf-8")
    return path


def test_the_page_is_one_file_that_knows_no_source_and_runs_no_caption(reading: Path, folder: Path) -> None:
    text = (reading / PAGE).read_text(encoding="utf-8")
    assert "verbs" not in text and "more=" not in text and str(folder) not in text and "://" not in text
    assert text.count("</script>") == 1 and "<b>runs" not in text
    key = [json.loads(line) for line in (reading / KEY).read_text(encoding="utf-8").splitlines()]
    assert [[line["pair"], line["original"], line["edited"]] for line in key] == _page(reading)["pairs"]
    assert len(key) == 10 and [line["source"] for line in key].count("verbs+more") == 8  # equal pairs once


def test_the_same_command_writes_the_same_bytes_and_never_over_another_reading(reading: Path, folder: Path) -> None:
    sources = [PairSource("verbs", folder, "verb_mc", 8), PairSource("more", folder, "verb_mc")]
    before = [(reading / name).read_bytes() for name in (PAGE, KEY)]
    write_reading(sources, reading, again=2)
    assert [(reading / name).read_bytes() for name in (PAGE, KEY)] == before
    with pytest.raises(UsageError, match="another reading"):
        write_reading(sources[1:], reading, seed=1)


@pytest.mark.parametrize(
    ("text", "said"),
    [("verb_mc", "FOLDER/CONFIG"), ("{}/verb_mc:0", "FOLDER/CONFIG"), ("{}/verb_mc:99", "the set has 10"),
     ("{}/random_mc", "no item has an edited caption"), ("a+b={}/verb_mc", "must not hold")],
)  # fmt: skip
def test_a_source_that_cannot_be_read_is_named(folder: Path, tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        write_reading([PairSource.of(text.format(folder))], tmp_path / "reading")


def test_as_many_different_pairs_are_drawn_as_are_asked_for(tmp_path: Path) -> None:
    folder = fabricate.make_set(tmp_path / "made", 10, captions=("a man runs", "a man walks") * 5)
    assert write_reading([PairSource("verbs", folder, "verb_mc", 2)], tmp_path / "reading")[0] == 2
    with pytest.raises(UsageError, match="3 pairs are asked for, the set has 2"):
        write_reading([PairSource("verbs", folder, "verb_mc", 3)], tmp_path / "more")


def test_two_readers_become_one_table_without_captions(reading: Path, tmp_path: Path, capsys: Any) -> None:
    ann = _save(reading, tmp_path / "ann.tsv", {n: "gf" for n in range(10)}, {0: "gf", 1: "gm"})
    bob = _save(reading, tmp_path / "bob.tsv", {n: "gf" if n < 5 else "om" for n in range(9)})
    command = ["annotate", "reading-result", str(ann), str(bob), "--reading", str(reading)]
    assert main([*command, "--output", str(tmp_path / "votes.tsv"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    more = result["sources"]["more"]
    assert more["1"]["pairs"] == 10 and more["2"]["pairs"] == 9
    assert more["1"]["natural and surely false"]["share"] == 1 and more["2"]["odd"]["share"] == pytest.approx(4 / 9)
    assert more["all"]["natural"]["share"] == pytest.approx(15 / 19)
    assert more["2"]["natural"]["low"] < 5 / 9 < more["2"]["natural"]["high"]
    assert result["agreement"]["wording"]["1, 2"] == {"equal": pytest.approx(5 / 9), "kappa": 0, "pairs": 9}
    assert result["again"] == {"1": {"wording": 1.0, "truth": 0.5, "pairs": 2}}
    text = (tmp_path / "votes.tsv").read_text(encoding="utf-8")
    assert "man" not in text and text.splitlines()[1].split("\t")[:4] == ["set", "number", "source", "clip"]
    assert results(read_votes(tmp_path / "votes.tsv"))["sources"] == result["sources"]
    assert main([*command, "--markdown"]) == 0
    printed = capsys.readouterr().out
    assert "| more | all | 10 | 79 |" in printed and "reader 1 read 2 pairs again" in printed


@pytest.mark.parametrize(
    ("lines", "said"),
    [("", "holds no vote"), ("pair\tlook\twording\ttruth\nnobody\t1\tg\tf", "not in this reading"),
     ("pair\tlook\twording\ttruth\n{}\t1\tx\tf", "wording is 'x'"), ("pair\tlook\twording\ttruth\n{}\t1\tg", "3 cells"),
     ("a\tb\nc\td", "columns pair")],
)  # fmt: skip
def test_a_broken_file_of_votes_is_refused_with_its_line(reading: Path, tmp_path: Path, lines: str, said: str) -> None:
    path = tmp_path / "votes.tsv"
    path.write_text(lines.format(next(iter(read_key(reading)))), encoding="utf-8")
    with pytest.raises(VideoContrastError, match=re.escape(said)):
        merge(reading, [path])


@pytest.mark.browser
def test_a_reader_votes_by_keys_closes_the_page_goes_on_and_saves(reading: Path, tmp_path: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.set_default_timeout(60_000)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))

    def begin() -> None:
        page.goto((reading / PAGE).as_uri())
        page.fill("#name", "Ann")
        page.keyboard.press("Enter")

    begin()
    for key in "gfomg":
        page.keyboard.press(key)
    assert page.inner_text("#status").startswith("3 of 12, 2 voted")
    for key in ("ArrowLeft", "ArrowRight"):  # one of two votes stays where the reader looks back
        page.keyboard.press(key)
    assert page.locator("input[type=radio]:checked").count() == 1
    begin()
    assert page.inner_text("#status").startswith("3 of 12, 2 voted")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("b")  # changes the second vote and goes on
    for _ in range(10):
        page.keyboard.press("g")
        page.keyboard.press("t")
    assert page.evaluate("document.documentElement.scrollWidth") == 390 and not errors
    with page.expect_download() as download:
        page.click("#save-end")
    download.value.save_as(tmp_path / "ann.tsv")
    rows, again = merge(reading, [tmp_path / "ann.tsv"])
    assert [row["wording_1"] + row["truth_1"] for row in rows[:3]] == ["gf", "bm", "gt"]
    assert again["1"]["pairs"] == 2 and again["1"]["wording"] == 0.5
