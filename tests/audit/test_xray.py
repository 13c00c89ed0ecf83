"""The X-ray: what is planted in a set is found, and a clean set is not accused."""

import json

import numpy as np
import pytest
from fake_hub import FakeHub, Repo, point_at
from tiny_models import gpt2

from video_contrast import build
from video_contrast.audit.blind_models import blind_scores, wins
from video_contrast.audit.exchangeability import exchangeability
from video_contrast.audit.item_checks import near_duplicates
from video_contrast.audit.model_answers import ModelAnswers
from video_contrast.audit.nearest_contrast import mark_nearest
from video_contrast.audit.xray import certificate, certificate_text, xray
from video_contrast.cli import main
from video_contrast.language_model import LanguageModel
from video_contrast.rows import multiple_choice_row
from video_contrast.storage import SetFolder

WORDS = [
    f"{a}{b}" for a in ("ba", "do", "ki", "lu", "me", "ra", "si", "tu") for b in ("na", "po", "ri", "ta", "vo", "we")
]


def row(n, candidates, label=0, video=None, **more):
    kinds = ["true" if m == label else "distractor" for m in range(len(candidates))]
    video = video or f"v{n}"
    return multiple_choice_row(
        id=f"i{n}", video_id=video, video_path=f"{video}.mp4", candidates=candidates, label=label, kinds=kinds, **more
    )


def random_rows(n, size=4, seed=0, position=None, per_video=1):
    """Items of random words: nothing tells the true candidate."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(size)]
        label = int(rng.integers(size)) if position is None else position(rng)
        rows.append(row(number, texts, label, video=f"v{number // per_video}"))
    return rows


def test_a_set_without_a_cue_is_not_called_solvable():
    record = xray({"test": random_rows(400)})
    best = record["blind"]["best"]
    assert record["blind"]["solvable"] is False and best["low"] <= 0.25 <= best["high"]
    assert record["position"]["p_value"] > 0.01
    counted = [record["copies"][key]["count"] for key in ("copies", "key_differs", "true_elsewhere", "shared_captions")]
    assert counted == [0, 0, 0, 0] and not record["leaks"] and record["suspects"] is None


def test_a_favoured_place_is_found():
    rows = random_rows(400, position=lambda rng: int(rng.choice(4, p=[0.1, 0.6, 0.2, 0.1])))
    record = xray({"test": rows})
    assert record["blind"]["best"]["key"] == "common_position" and record["blind"]["solvable"]
    assert record["blind"]["best"]["accuracy"] == pytest.approx(0.6, abs=0.06)
    assert record["position"]["p_value"] < 1e-6 and record["position"]["most_common"] == pytest.approx(0.6, abs=0.06)


def test_a_true_candidate_in_the_middle_of_the_others_is_found_by_the_form_alone():
    """Each negative changes two words of the true one: it is the one that shares most words with all others."""
    rng = np.random.default_rng(1)
    rows = []
    for n in range(300):
        true = list(rng.choice(WORDS, 8, replace=False))
        texts = [" ".join(true)]
        for m in range(3):
            other = list(true)
            other[2 * m : 2 * m + 2] = rng.choice([w for w in WORDS if w not in true], 2, replace=False)
            texts.append(" ".join(other))
        order = rng.permutation(4)
        rows.append(row(n, [texts[m] for m in order], int(np.argmin(order))))
    record = xray({"test": rows})
    models = {model["key"]: model["accuracy"] for model in record["blind"]["models"]}
    assert record["blind"]["best"]["key"] == "text_features" and models["text_features"] > 0.97
    assert models["blind"] < 0.4 and models["language_model"] < 0.5  # they read one text at a time


def test_copies_keys_leaks_and_texts_are_counted():
    rows = random_rows(30)
    first = rows[0]
    turned = first["candidates"][::-1]
    copy = row(
        100, [text.upper() + "." for text in turned], turned.index(first["candidates"][first["label"]]), video="v0"
    )
    differs = row(101, first["candidates"], (first["label"] + 1) % 4, video="v0")
    other = row(102, [first["candidates"][first["label"]], "nobody is here", "one more text", "a last text"], video="w")
    equal = row(103, ["A man runs.", "a man runs", "x y", "z w"], 2)
    long = row(104, ["ha " * 80, "short text", "x y z", "z w q"], 1)
    near = row(105, ["a b c d e f g h i j k", "b a c d e f g h i j k l", "x y z z", "z w q q"], 2)
    splits = {
        "test": [*rows, copy, differs, other, equal, long, near],
        "train": [row(200, ["new text", "old text"], video="v3")],
    }
    record = xray(splits)
    copies = record["copies"]
    assert (copies["copies"]["count"], copies["key_differs"]["count"]) == (2, 1)
    assert "i101" in copies["key_differs"]["examples"][0]
    assert copies["true_elsewhere"]["count"] == 3  # the two true captions of the clip v0, as negatives of each other
    assert copies["shared_captions"]["count"] == 1 and "i102" in copies["shared_captions"]["examples"][0]
    texts = record["texts"]
    assert [texts[key]["count"] for key in ("equal_candidates", "near_candidates", "long_candidates")] == [1, 1, 1]
    assert texts["long_candidates"]["most"] == 82
    assert record["leaks"]["videos"] == {"count": 1, "examples": ["'v3': test, train"]}
    assert certificate(record)["key_differs"] == 1


def test_words_and_form_that_give_answers_away_are_named_with_their_counts():
    """'never' stands in half of the false candidates and in no true one."""
    rng = np.random.default_rng(7)
    rows = []
    for n in range(200):
        texts = [" ".join(rng.choice(WORDS, 5)) for _ in range(2)]
        texts[1] += " never" if n % 2 else ""
        order = [0, 1] if n % 4 < 2 else [1, 0]
        rows.append(row(n, [texts[m] for m in order], order.index(0)) | {"meta": json.dumps({"task": f"task {n % 2}"})})
    record = xray({"test": rows})
    never = next(tell for tell in record["tells"] if tell["what"] == "'never'")
    assert (never["items"], never["true"], never["expected"]) == (100, 0, 50) and never["score"] == -10
    assert len(record["tells"]) <= 10 and not any(t["what"] == "'never never'" for t in record["tells"])
    tasks = {task["task"]: task["accuracy"] for task in record["tasks"]}
    assert tasks["task 1"] > 0.9 > tasks["task 0"] and record["tasks"][0]["task"] == "task 1"
    assert len(record["blind_wins"]) == 10 and all(won["next"].endswith(" never") for won in record["blind_wins"])
    assert record["sample"]["candidates"] == rows[0]["candidates"] and record["sample"]["label"] == rows[0]["label"]


def test_a_large_set_weakens_no_blind_model():
    """Words that three of 4,800 items hold tell their true candidates; they were dropped from sets of this size."""
    rng = np.random.default_rng(8)
    items = []
    for n in range(4800):
        texts = [" ".join(rng.choice(WORDS, 4)) + f" {mark}{n // 3}" for mark in ("good", "bad")]
        items.append(texts)
    scores = blind_scores(items, [f"v{n}" for n in range(4800)], "blind")
    assert wins(scores).mean() > 0.75


def test_screen_page_and_certificate_state_one_number_of_videos(tmp_path, capsys):
    """Five items a video: what is needed counts them as alike."""
    path = tmp_path / "t.jsonl"
    rows = [r | {"video": f"v{n // 5}"} for n, r in enumerate(random_rows(100))]
    path.write_text("\n".join(json.dumps({k: r[k] for k in ("candidates", "label", "video")}) for r in rows))
    assert main(["xray", str(path), "--output", str(tmp_path / "x")]) == 0
    screen = capsys.readouterr().out
    (record,) = json.loads((tmp_path / "x" / "xray.json").read_text()).values()
    needed = f"{record['power']['clusters_needed']:,}"
    assert record["power"]["clusters_needed"] > record["power"]["clusters_needed_at_best"]
    assert f"it takes {needed} source videos" in screen and "next: add source videos" in screen
    assert f"| {needed}: too few |" in (tmp_path / "x" / "t.certificate.md").read_text()
    page = (tmp_path / "x" / "index.html").read_text()
    assert needed in page and "One item as it was read" in page and "VITATECS, Direction" in page
    assert "item 0 as it was read: v0.mp4" in screen and "(key)" in screen and "counted from 0" in screen


def test_rows_that_are_no_items_are_a_finding_and_a_table_without_videos_says_so(tmp_path, capsys):
    path = tmp_path / "t.jsonl"
    lines = [{"candidates": r["candidates"], "label": r["label"]} for r in random_rows(30)]
    path.write_text("\n".join(json.dumps(line) for line in [*lines, {"candidates": ["x", "y"], "label": 9}]))
    assert main(["xray", str(path), "--output", str(tmp_path / "x")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "left out: 1 row with a label outside the candidates, first row 31 (id '30'): the label 9" in said
    assert "each row counts as a video of its own" in said and "next: mend or take out 1 row" in said
    assert main(["xray", str(path), "--strict", "--output", str(tmp_path / "y")]) == 1 and not (tmp_path / "y").exists()


def test_near_duplicates_are_those_of_a_full_comparison():
    rng = np.random.default_rng(2)
    texts = []
    for _ in range(60):
        words = list(rng.choice(WORDS, 12, replace=False))
        texts += [" ".join(words), " ".join(words[:-1]), " ".join([*words[1:], "again"])]
    bags = [frozenset(text.split()) for text in texts]
    expected = [
        (a, b) for a in range(len(bags)) for b in range(a + 1, len(bags))
        if len(bags[a] & bags[b]) >= 0.9 * len(bags[a] | bags[b])
    ]  # fmt: skip
    assert near_duplicates(texts) == expected and len(expected) >= 60


def answers(rows, rate, seed, shared=()):
    """A model that is right at a rate, and everywhere wrong in the same way on the items of `shared`."""
    rng = np.random.default_rng(seed)
    choices = {}
    for item in rows:
        wrong = [n for n in range(len(item["candidates"])) if n != item["label"]]
        right = rng.random() < rate
        choices[item["id"]] = item["label"] if right else int(rng.choice(wrong))
        if item["id"] in shared:
            choices[item["id"]] = wrong[0]
    hits = {item["id"]: float(choices[item["id"]] == item["label"]) for item in rows}
    return ModelAnswers(f"model {seed}", hits, choices)


def test_wrong_keys_are_suspected_where_models_agree():
    rows = random_rows(300)
    planted = {f"i{n}" for n in range(0, 300, 30)}
    record = xray({"test": rows}, answers=[answers(rows, 0.8, seed, planted) for seed in (1, 2, 3)])
    suspects = record["suspects"]
    assert planted <= {item["id"] for item in suspects["items"]}
    assert suspects["count"] <= len(planted) + 3 and suspects["expected"] < 1.5
    assert record["power"]["from"].startswith("model") and record["power"]["clusters_needed"] > 300


def test_what_a_blind_model_explains_of_a_models_accuracy():
    """A model that only reads the texts has its lead from them, and is at or below chance on the rest."""
    rows = random_rows(600, position=lambda rng: int(rng.choice(4, p=[0.1, 0.6, 0.2, 0.1])))
    picks = {item["id"]: 1 for item in rows}
    blind = ModelAnswers("reader", {item["id"]: float(item["label"] == 1) for item in rows}, picks)
    seeing = answers(rows, 0.9, 5)
    record = xray({"test": rows}, answers=[blind, seeing])
    reader, seer = record["explained"]
    assert reader["explained"] == pytest.approx(1, abs=0.01) and reader["on_rest"]["accuracy"] == 0
    assert seer["explained"] == pytest.approx(0.35 / 0.65, abs=0.1)
    assert seer["on_rest"]["accuracy"] == pytest.approx(0.9, abs=0.06) and seer["n_rest"] == reader["n_rest"]


class Remembers:
    """A language model that has read texts: lines that follow each other as they did there are likely."""

    name = "remembers"

    def __init__(self, text):
        self.known = set(zip(text.split("\n")[:-1], text.split("\n")[1:], strict=True))

    def perplexity(self, texts):
        return [
            100 - sum(pair in self.known for pair in zip(t.split("\n")[:-1], t.split("\n")[1:], strict=True))
            for t in texts
        ]


def test_a_model_that_has_read_the_file_prefers_its_order():
    rows = random_rows(600, size=3)
    known = "\n".join(item["candidates"][item["label"]] for item in rows)
    order = exchangeability(rows, Remembers(known))
    assert order["items"]["p_value"] < 1e-6 and order["candidates"]["p_value"] > 0.05
    fresh = exchangeability(rows, Remembers("nothing"))
    assert fresh["items"]["p_value"] == 1.0
    assert exchangeability(rows[:20], Remembers(known))["items"]["p_value"] is None


def test_the_certificate_is_a_block_for_a_card():
    record = xray({"test": random_rows(60, seed=100)})
    text = certificate_text(record)
    assert text.startswith("## X-ray\n") and "| without the video | not shown to be solvable blind |" in text
    assert json.loads(json.dumps(certificate(record))) == certificate(record)


def test_the_command_writes_page_json_certificate_and_a_refined_set(tmp_path, capsys):
    path = tmp_path / "mine.jsonl"
    rng = np.random.default_rng(3)
    lines = []
    for n in range(300):
        texts = [" ".join(rng.choice(WORDS[:12], 5)) for _ in range(2)]
        if n % 2:
            texts[1] = texts[1] + " never"  # half of the negatives hold a word that no true candidate has
        order = [0, 1] if n % 4 < 2 else [1, 0]
        lines.append({"video": f"v{n}.mp4", "options": [texts[m] for m in order], "answer": "AB"[order.index(0)]})
    path.write_text("\n".join(map(json.dumps, lines)))
    output = tmp_path / "x"
    assert main(["xray", str(path), "--refine", "--output", str(output), "--points", "10"]) == 0
    printed = capsys.readouterr().out
    assert "guessed: candidates: options" in printed and "mine is solvable blind" in printed
    record = json.loads((output / "xray.json").read_text())["mine"]
    assert record["blind"]["best"]["accuracy"] > 0.7 and record["power"]["points"] == 10
    page = (output / "index.html").read_text()
    assert (
        "X-ray of mine" in page
        and "http" not in page.split("</style>")[1].replace("http-equiv", "").split("<script")[0]
    )
    assert "## X-ray" in (output / "mine.certificate.md").read_text()
    assert main(["check", str(output / "mine_refined")]) == 0
    assert (
        main(["xray", str(output / "mine_refined"), "--config", "refined", "--output", str(tmp_path / "y"), "--json"])
        == 0
    )
    refined = json.loads((tmp_path / "y" / "xray.json").read_text())
    (record,) = refined.values()
    assert record["items"] < 300 and record["blind"]["models"][0]["accuracy"] < 0.65


@pytest.fixture(scope="module")
def antonyms(tmp_path_factory):
    return build("shapes", ["antonym_mc"], output=tmp_path_factory.mktemp("sets") / "shapes", seed=0, items=60)


def test_several_sets_stand_side_by_side_and_scores_join(antonyms, tmp_path, capsys):
    sets = antonyms
    table = tmp_path / "t.jsonl"
    table.write_text(
        "\n".join(json.dumps({"candidates": r["candidates"], "label": r["label"]}) for r in random_rows(40))
    )
    run = tmp_path / "run"
    assert main(["score", "--model", "constant", "--dataset", str(table), "--output", str(run), "--quiet"]) == 0
    assert main(["xray", str(table), "--scores", str(run), "--output", str(tmp_path / "x")]) == 0
    alone = capsys.readouterr().out
    assert "constant: " in alone and "none: " in alone
    assert main(["xray", str(sets), str(table), "--output", str(tmp_path / "y")]) == 0
    printed = capsys.readouterr().out
    assert "| | shapes antonym_mc | t |" in printed.replace("shapes |", "shapes antonym_mc |")
    assert "none:" not in printed  # the table below has the zeros
    assert main(["xray", str(sets), "--scores", str(run), "--output", str(tmp_path / "z")]) == 1
    assert "holds no item of" in capsys.readouterr().err
    assert main(["xray", str(run)]) == 2 and "is a run" in capsys.readouterr().err
    assert main(["xray", "nowhere"]) == 2 and "no such file, folder or data set" in capsys.readouterr().err


def test_the_xray_of_the_shapes_sets_finds_chance(antonyms, tmp_path):
    """A clip and its reversal have the same texts: nothing is there to win."""
    assert main(["xray", str(antonyms), "--output", str(tmp_path / "x"), "--quiet"]) == 0
    (record,) = json.loads((tmp_path / "x" / "xray.json").read_text()).values()
    best = record["blind"]["best"]
    assert record["blind"]["solvable"] is False and best["low"] <= record["blind"]["chance"] <= best["high"]


@pytest.mark.shared_data
def test_the_xray_of_the_released_verb_set_finds_what_the_notes_say(shared_data, tmp_path):
    """METHODS: a grouped classifier wins 67.8 % of the pairs."""
    source = shared_data / "park_contrast_sets" / "msrvtt_lm_contrast_set.tsv"
    if not source.is_file():
        pytest.skip(f"{source} is not there")
    assert main(["xray", str(source), "--output", str(tmp_path / "x"), "--quiet"]) == 0
    record = json.loads((tmp_path / "x" / "xray.json").read_text())["msrvtt_lm_contrast_set"]
    models = {model["key"]: model for model in record["blind"]["models"]}
    assert abs(models["blind"]["accuracy"] - 0.678) < 0.015 and record["blind"]["best"]["key"] == "blind"
    assert record["blind"]["solvable"] and record["items"] == 2554 and record["chance"] == 0.2


def test_the_contrast_of_a_set_without_kinds_is_the_nearest_candidate():
    rng = np.random.default_rng(4)
    rows = []
    for n in range(40):
        texts = [" ".join(rng.choice(WORDS, 6)) for _ in range(4)]
        texts.append(texts[0].rsplit(" ", 1)[0] + " else")
        order = rng.permutation(5)
        rows.append(row(n, [texts[m] for m in order], int(np.argmin(order))))
    marked, n = mark_nearest(rows)
    assert n == 40
    assert all(r["candidates"][r["kinds"].index("contrast")].endswith(" else") for r in marked)
    assert mark_nearest(random_rows(40))[1] == 0


def question_pairs(n):
    """Pairs with two questions, each of which names its answer."""
    rng, rows = np.random.default_rng(6), []
    for at in range(n):
        texts = [str(word) for word in rng.choice(WORDS, 2, replace=False)]
        for label in range(2):
            made = row(2 * at + label, texts, label, video=f"v{at}")
            rows.append(made | {"group": f"g{at}", "question": f"does it {texts[label]}"})
    return rows


def test_pairs_of_one_text_cannot_be_won_blind_and_pairs_with_telling_questions_can():
    rng = np.random.default_rng(5)
    same = []
    for at in range(60):
        texts = [" ".join(rng.choice(WORDS, 5)) for _ in range(2)]
        same += [row(2 * at + k, texts, k, video=f"v{at}") | {"group": f"g{at}"} for k in range(2)]
    facts = xray({"test": same})["pairs"]
    assert (facts["groups"], facts["same_texts"], facts["chance"]) == (60, 60, 0.25)
    assert facts["accuracy"] <= 0.25 and facts["solvable"] is False
    told = xray({"test": question_pairs(60)})
    assert told["pairs"]["accuracy"] > 0.9 and told["pairs"]["solvable"] and told["blind"]["solvable"]
    assert xray({"test": random_rows(40)})["pairs"] is None


def test_a_folder_of_pairs_is_audited_and_xrayed(tmp_path, capsys):
    sets = build("shapes", ["reversal_pairs"], output=tmp_path / "pairs", items=20)
    assert main(["audit", str(sets)]) == 0
    facts = SetFolder.open(sets).record["configs"]["reversal_pairs"]["facts"]["audit"]
    assert facts["pairs"]["groups"] == 10 and facts["pairs"]["solvable"] is False
    assert main(["xray", str(sets), "--output", str(tmp_path / "x")]) == 0
    assert "all clips of a group right 25.0 %" in capsys.readouterr().out
    (record,) = json.loads((tmp_path / "x" / "xray.json").read_text()).values()
    assert record["groups"] == 10 and record["copies"]["copies"]["count"] == 0


def test_a_data_set_of_the_hub_is_xrayed_by_its_id(tmp_path, monkeypatch):
    table = "\n".join(json.dumps({"candidates": r["candidates"], "label": r["label"]}) for r in random_rows(30))
    card = "---\nconfigs:\n- config_name: default\n  data_files:\n  - {split: test, path: data/test.jsonl}\n---\n"
    files = {"data/test.jsonl": table.encode(), "README.md": card.encode()}
    with FakeHub() as hub:
        point_at(hub.url, monkeypatch, tmp_path / "cache")
        hub.repos["dataset", "me/benchmark"] = Repo("dataset", branches={"main": [("1" * 40, files)]})
        assert main(["xray", "me/benchmark", "--output", str(tmp_path / "x"), "--quiet"]) == 0
    (record,) = json.loads((tmp_path / "x" / "xray.json").read_text()).values()
    assert record["items"] == 30 and record["source"]["read"] == "me/benchmark"


def test_a_tiny_causal_language_model_is_asked_about_the_order(tmp_path):
    """GPT-2's own class, untrained: it knows no order."""
    order = exchangeability(random_rows(60), LanguageModel(str(gpt2(tmp_path / "gpt2"))))
    assert order["candidates"]["n"] == 60 and 0.001 < order["candidates"]["p_value"] < 0.999
