"""Votes that train the judge further: what a person refuses becomes less probable, and little else changes."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import video_contrast
from video_contrast.builders.assembly.review import read_votes
from video_contrast.cli import main
from video_contrast.perturbations.contrast.generate import load_counts, propose
from video_contrast.perturbations.contrast.judge import load_judge
from video_contrast.perturbations.contrast.judge_votes import trained_judges
from video_contrast.perturbations.contrast.proposal import Proposal
from video_contrast.storage import open_set

WHO = ("a man", "a young woman", "two girls", "a boy in a red shirt", "an old man")
WHAT = (
    "dancing in a kitchen", "running on the beach", "sitting on a sofa", "eating a sandwich", "swimming in a pool",
    "playing the guitar", "walking in the park", "riding a horse", "washing a car", "climbing a tree",
)  # fmt: skip
CAPTIONS = [f"{who} {'are' if who.startswith('two') else 'is'} {what}" for who in WHO for what in WHAT]
SHEET = "original\tedited\tnatural 1\tsurely false 1\tnatural 2\tsurely false 2\n"


def proposals(judge=None, kind="verb") -> list[Proposal]:
    clips = [(str(n), [text]) for n, text in enumerate(CAPTIONS)]
    listed = propose(clips, load_counts(), target=kind, quality=0.0, judge=judge).proposals.values()
    return [proposal for of_clip in listed for proposal in of_clip]


def put_in(proposal: Proposal) -> str:
    return proposal.other.split(" ")[0]


def sheet_of(listed: list[Proposal], refused: str, path: Path, kind: str = "verb") -> Path:
    """Votes on every fourth caption: all good but edits that put in one word."""
    rows = []
    for proposal in listed:
        if CAPTIONS.index(proposal.caption) % 4 == 0:
            answer = "0" if put_in(proposal) == refused else "1"
            rows.append(f"{proposal.caption}\t{proposal.text}\t{answer}\t1\t{answer}\t\n")
    path.write_text(SHEET + "".join(rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["verb", "object"])
def test_a_word_that_votes_refuse_becomes_improbable_wherever_it_is_put_in(kind, tmp_path: Path) -> None:
    before = proposals(kind=kind)
    refused = Counter(put_in(proposal) for proposal in before).most_common(1)[0][0]
    votes = read_votes(sheet_of(before, refused, tmp_path / "votes.tsv", kind))
    judge = trained_judges(votes)[kind]
    assert judge == trained_judges(votes)[kind]
    assert 0.9 * len(votes) <= judge.votes <= len(votes) and 0 < judge.good_votes < judge.votes
    after = {(proposal.clip, proposal.text): proposal.probability for proposal in proposals(judge, kind)}
    change: dict[bool, list[float]] = {True: [], False: []}
    for proposal in before:
        if CAPTIONS.index(proposal.caption) % 4:
            difference = after[proposal.clip, proposal.text] - proposal.probability
            change[put_in(proposal) == refused].append(difference)
    assert np.mean(change[True]) < np.mean(change[False]) - 0.1 and np.mean(change[False]) > -0.02
    assert np.max(change[True]) < np.quantile(change[False], 0.9)


def test_ticks_that_say_no_lower_without_saying_what_is_wrong(tmp_path: Path) -> None:
    listed = [proposal for proposal in proposals() if put_in(proposal) == "sleep"]
    path = tmp_path / "review.tsv"
    rows = [f"verb_mc\t{p.clip}\t{p.caption}\t{p.text}\tno\n" for p in listed[:6]]
    path.write_text("config\tclip\tcaption\tcontrast\tvote\n" + "".join(rows), encoding="utf-8")
    judge = trained_judges(read_votes(path))["verb"]
    assert (judge.votes, judge.good_votes) == (6, 0)
    assert all(judge.probability(p.features) < p.probability - 0.1 for p in listed)
    strict, usual = judge.weights["(intercept)"], load_judge("verb").weights["(intercept)"]
    assert strict < usual


def test_a_build_takes_votes_and_its_card_says_how_many(tmp_path: Path) -> None:
    table = tmp_path / "captions.csv"
    lines = [f"clips/{n}.mp4,{text}" for n, text in enumerate(CAPTIONS)]
    table.write_text("\n".join(["video,caption", *lines]) + "\n", encoding="utf-8")
    before = proposals()
    refused = Counter(put_in(proposal) for proposal in before).most_common(1)[0][0]
    votes = sheet_of(before, refused, tmp_path / "votes.tsv")
    given = ["build", "captions", "--config", "verb_mc", "--captions", str(table), "--judge", str(votes)]
    assert main([*given, "--output", str(tmp_path / "set")]) == 0
    record = open_set(tmp_path / "set").record["configs"]["verb_mc"]["facts"]["word_edits"]
    assert record["votes_of_judge"] > record["good_votes_of_judge"] > 0
    assert f"{record['votes_of_judge']}" in (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    plain = video_contrast.build("captions", ["verb_mc"], output=tmp_path / "plain", captions=str(table))
    assert "votes_of_judge" not in open_set(plain).record["configs"]["verb_mc"]["facts"]["word_edits"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("caption\tcontrast\na man runs\ta man sits\n", "no column 'vote'; the table has caption, contrast"),
        ("caption\tvote\na man runs\tyes\n", "the table has caption, vote. It needs a column contrast"),
        ("caption\tcontrast\tvote\na man runs\ta man sits\tperhaps\n", "line 2: vote must be yes or no (1 or 0)"),
        ("caption\tcontrast\tvote\na man runs\tA man runs.\tno\n", "line 2: the contrast equals the caption"),
        ("caption\tcontrast\tvote\na man runs\t\tno\n", "line 2: the column 'contrast' must hold one text"),
        ("caption\tcontrast\tvote\na man runs\ta red car\tno\n", "no row has a vote on a contrast of one verb or one"),
        ("caption\tcontrast\tvote\na man runs\ta man sits\t\n", "no row has a vote on a contrast of one verb or one"),
        ("caption\tcontrast\tvote\n", "no row has a vote"),
        (SHEET + "a man runs\ta man sits\t2\t1\t1\t1\n", "line 2: natural 1 must be yes or no (1 or 0), not '2'"),
        (SHEET.replace("\tsurely false 2", "") + "a man runs\ta man sits\t1\t1\t1\n", "no column 'surely false 2'"),
    ],
)  # fmt: skip
def test_bad_votes_are_one_clear_error(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, votes = tmp_path / "captions.csv", tmp_path / "votes.tsv"
    table.write_text("video,caption\na.mp4,a man runs\n", encoding="utf-8")
    votes.write_text(text, encoding="utf-8")
    given = ["build", "captions", "--config", "verb_mc", "--captions", str(table), "--judge", str(votes)]
    assert main([*given, "--output", str(tmp_path / "set")]) in (1, 2)
    error = capsys.readouterr().err
    assert message in error and error.count("error:") == 1
    assert not (tmp_path / "set").exists()
