"""The paper's analyses on sets and scores whose answers are known."""

import json
from collections import Counter

import numpy as np
import pytest

from video_contrast.builders import build
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.reports import paper_analyses as analyses
from video_contrast.reports.behaviour import verb_counts
from video_contrast.rows import edit_record, multiple_choice_row
from video_contrast.storage import RunFolder, open_set

NAMES = ["Ann", "Ann Lee", "Bea"]


def item(number, true, contrast, old, new, antonym=False, kind="verb_lexical", label=0):
    candidates, kinds = [true, contrast], ["true", kind]
    edits = [None, edit_record(old, new, contrast.index(new), generator="test", antonym=antonym)]
    if label:
        candidates, kinds, edits = candidates[::-1], kinds[::-1], edits[::-1]
    return multiple_choice_row(
        id=f"i{number}", video_id=f"v{number}", video_path="v.mp4", candidates=candidates, kinds=kinds, edits=edits,
        label=label,
    )  # fmt: skip


def test_rare_ids_are_those_whose_substitute_is_named_more_often_in_training():
    training = ["Ann Lee walks", "Ann's dog", "Bea meets Bea", "Anna and Beatrice", "bea"]
    assert analyses.count_names(NAMES, training) == Counter({"Bea": 2, "Ann Lee": 1, "Ann": 1})
    rows = [item(n, f"{a} walks", f"{b} walks", a, b, kind="person_id") for n, (a, b) in enumerate(
        [("Ann", "Bea"), ("Ann Lee", "Bea"), ("Bea", "Ann"), ("Ann", "Ann Lee")])]  # fmt: skip
    found = analyses.rare_ids(rows, {"i0": 0.0, "i1": 1.0, "i2": 1.0, "i3": 1.0}, training)
    assert (found["overall"], found["rare"], found["gap"], found["n_rare"]) == (0.75, 0.5, 0.25, 2)


def test_proximity_takes_antonyms_apart_and_the_ends_of_the_rest():
    rows = [item(n, f"a man sits {n}", f"a man {'stands' if n < 4 else 'runs'} {n}", "sits", "x"[:0] or
                 ("stands" if n < 4 else "runs"), antonym=n < 4, label=n % 2) for n in range(24)]  # fmt: skip
    hits = {row["id"]: 0.0 if n < 14 else 1.0 for n, row in enumerate(rows)}

    def encode(texts):  # the true captions on one axis; contrasts turn away from it with their number
        angles = [0.0 if "sits" in text else int(text.split()[-1]) / 20 for text in texts]
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32) * 7

    found = analyses.proximity(rows, hits, {"angle": encode})
    assert found["n"] == 24 and found["overall"] == pytest.approx(10 / 24)
    assert found["angle"]["antonym"] == 0.0 and found["angle"]["n_antonym"] == 4 and found["angle"]["n_high"] == 3
    assert found["angle"]["high"] == 0.0 and found["angle"]["low"] == 1.0


def test_verb_distributions_have_known_distances():
    same = analyses.compare_verbs({"run": 2, "sit": 2}, {"run": 1, "sit": 1})
    assert same["total_variation"] == same["jensen_shannon"] == 0.0 and same["entropy"] == [1.0, 1.0]
    apart = analyses.compare_verbs({"run": 3}, {"sit": 1})
    assert apart["total_variation"] == apart["jensen_shannon"] == 1.0
    assert apart["more_in_first"] == ["run"] and apart["more_in_second"] == ["sit"]
    with pytest.raises(UsageError, match="no verb contrasts"):
        analyses.compare_verbs({}, {"sit": 1})


def test_verbs_of_a_set_are_counted_by_lemma_and_drawn(tmp_path):
    rows = [item(n, f"a man is sitting {n}", f"a man is {verb} {n}", "sitting", verb) for n, verb in enumerate(
        ["running", "running", "singing"])]  # fmt: skip
    rows.append(item(3, "a man is sitting 3", "a woman is sitting 3", "man", "woman", kind="gender"))  # no verb
    counts = verb_counts(rows)
    assert counts == Counter({"run": 2, "sing": 1}) and verb_counts(rows, "old") == Counter({"sit": 3})
    path = analyses.plot_verbs(counts, {"run": 1}, ("ours", "theirs"), tmp_path / "verbs.png")
    first = path.read_bytes()
    assert first.startswith(b"\x89PNG") and analyses.plot_verbs(counts, {"run": 1}, ("ours", "theirs"), path)
    assert path.read_bytes() == first


def test_judges_are_right_by_majority_and_an_unclear_vote_is_none():
    rows = [item(n, f"a man sits {n}", f"a man runs {n}", "sits", "runs") for n in range(3)]
    votes = [("i0", "a", 0), ("i0", "b", 0), ("i0", "c", 1), ("i1", "a", 1), ("i1", "b", 1), ("i1", "c", "not clear"),
             ("i2", "a", 1), ("i2", "b", 1), ("i2", "c", 0), ("i2", "b", 0)]  # fmt: skip
    table = [(f"line {n}", {"item": i, "annotator": who, "answer": said}) for n, (i, who, said) in enumerate(votes)]
    found = analyses.judges(rows, table)
    assert found["accuracy"] == pytest.approx(2 / 3) and found["individual_accuracy"] == pytest.approx(4 / 9)
    assert (found["n_items"], found["n_votes"], found["n_ties"]) == (3, 9, 0) and 0 < found["pairwise"] < 1
    with pytest.raises(VideoContrastError, match="line 0: the set has no item 'x'"):
        analyses.judges(rows, [("line 0", {"item": "x", "answer": 0})])
    with pytest.raises(VideoContrastError, match="line 0: item 'i0' has no candidate 7"):
        analyses.judges(rows, [("line 0", {"item": "i0", "answer": 7})])


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A set with characters and verbs, and a run that is right on every other item."""
    root = tmp_path_factory.mktemp("analyses")
    actions = ["walks", "sits", "eats", "sings", "dances", "sleeps", "reads"]
    lines = [f"v{n}.mp4,m,{['Ann', 'Bea', 'Cleo'][n % 3]} {actions[n % 7]} in place {n}"
             for n in range(30)]  # fmt: skip
    (root / "c.csv").write_text("video,movie,caption\n" + "\n".join(lines))
    (root / "cast.csv").write_text("movie,name,gender\nm,Ann,f\nm,Bea,f\nm,Cleo,f\n")
    build("captions", ["retrieval", "person_id_mc", "verb_mc"], output=root / "set", captions=str(root / "c.csv"),
          quality="0", cast=root / "cast.csv", movie_column="movie")  # fmt: skip
    scores = []
    for config in ("person_id_mc", "verb_mc"):
        for n, row in enumerate(open_set(root / "set").rows(config, "test")):
            values = [float(place == row["label"]) * (1 if n % 2 else -1) for place in range(5)]
            scores.append({"config": config, "condition": "clean", "id": row["id"], "video_id": row["video_id"],
                           "cluster": row["cluster"], "label": row["label"], "kinds": row["kinds"], "scores": values,
                           "replaced_score": None, "parts": None, "frames": []})  # fmt: skip
    run = RunFolder(root / "run")
    run.write_scores(scores)
    run.write_metrics({"configs": {}})
    run.finish({"version": "0.1.0"})
    return root


def test_the_commands_print_json(world, capsys, tmp_path):
    folder, run = str(world / "set"), str(world / "run")
    training = tmp_path / "train.csv"
    training.write_text("caption\nAnn\nBea\nBea\nCleo\nCleo\nCleo\n")
    assert main(["analyse", "rarity", folder, "--run", run, "--training", str(training)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["overall"] == 0.5 and found["n"] == 30 and 10 < found["n_rare"] < 20
    votes = tmp_path / "votes.jsonl"
    rows = open_set(folder).rows("verb_mc", "test")
    votes.write_text("\n".join(json.dumps({"item": r["id"], "annotator": "a", "answer": r["label"]}) for r in rows))
    assert main(["analyse", "judges", folder, "--votes", str(votes)]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0
    command = ["analyse", "verbs", folder, folder, "--other-config", "verb_mc"]
    assert main([*command, "--plot", str(tmp_path / "v.png")]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["total_variation"] == 0 and (tmp_path / "v.png").exists()


def test_proximity_takes_a_dual_encoder(world, capsys, tmp_path):
    import tiny_models

    model = str(tiny_models.clip(tmp_path / "clip"))
    command = ["analyse", "proximity", str(world / "set"), "--run", str(world / "run"), "--encoder", model]
    assert main([*command, "--device", "cpu"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["n"] == len(open_set(world / "set").rows("verb_mc", "test")) >= 10
    assert set(found[model]) == {"antonym", "high", "low", "n_antonym", "n_high"}


def test_what_does_not_belong_together_is_said(world, capsys):
    folder, run = str(world / "set"), str(world / "run")
    assert main(["analyse", "rarity", folder, "--run", folder, "--config", "verb_mc"]) == 2  # no train split either
    said = capsys.readouterr().err
    assert "has no split 'train' of retrieval" in said and "or give --training" in said
    with pytest.raises(UsageError, match=r"no scores of gender_mc \(clean\); it has person_id_mc"):
        analyses.read_hits(run, "gender_mc")
    with pytest.raises(UsageError, match="holds no finished run"):
        analyses.read_hits(folder, "gender_mc")
    with pytest.raises(UsageError, match="do set, config and run belong together"):
        analyses.rare_ids(open_set(folder).rows("verb_mc", "test"), {"other": 1.0}, [])
