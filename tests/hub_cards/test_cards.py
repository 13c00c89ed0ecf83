"""Cards: what a reader and the Hub learn of a set, and that what is not known is said."""

import json
from pathlib import Path
from typing import Any

import fabricate
import pytest
import yaml

import video_contrast
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.hub_cards import croissant, dataset_card, space_card
from video_contrast.hub_cards.dataset import canary
from video_contrast.hub_cards.markdown import literal
from video_contrast.storage import SetFolder

AUDIT = {
    "split": "test",
    "chance": 0.5,
    "blind": {"accuracy": 0.678, "standard_error": 0.018, "low": 0.641, "high": 0.713},
    "shorter_wins": {"accuracy": 0.5, "standard_error": None, "low": None, "high": None},
}
FACTS: dict[str, Any] = {
    "sources": ["MSRVTT_JSFUSION_test.csv"],
    "citations": ["Xu et al.: MSR-VTT. CVPR 2016.", "@article{x, title={y}}"],
    "warnings": ["1,990 ids are in both splits"],
    "configs": {
        "random_mc": {"audit": {}},
        "verb_mc": {
            "negatives": "one verb contrast and 3 captions of other videos",
            "caption": "eligible",
            "word_edits": {"generator": "t5-base", "constraints": {"sentence": {"below": 0.93, "model": "all-MiniLM"}}},
            "splits": {"test": {"items": 12, "counts": {"edited": 12, "no_verb": 3}}},
            "audit": AUDIT,
        },
    },
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.make_set(tmp_path_factory.mktemp("sets") / "made", 12, captions=fabricate.HOSTILE, facts=FACTS)


@pytest.fixture(scope="module")
def card(made: Path) -> str:
    return (made / "README.md").read_text(encoding="utf-8")


def section(card: str, title: str) -> str:
    return card.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_the_hub_takes_its_yaml(card: str) -> None:
    from huggingface_hub import DatasetCard

    data = DatasetCard(card).data
    assert data.license == "cc0-1.0"
    assert {config["config_name"] for config in data.configs} == {"random_mc", "verb_mc", "retrieval"}
    assert data.size_categories == ["n<1K"]


def test_plain_load_dataset_never_answers_from_another_build(tmp_path: Path) -> None:
    """Two builds in one place whose tables have the same size: the library's cache goes by the card alone."""
    import datasets

    for true in ("a man sits", "a man runs"):
        rows = tmp_path / "pairs.csv"
        rows.write_text(f"clip,yes,no\nv1.mp4,{true},a man eats\n")
        columns = {"captions": str(rows), "video_column": "clip", "true": "yes", "false": "no"}
        video_contrast.build("pairs", output=tmp_path / true / "set", **columns)
        loaded = datasets.load_dataset(str(tmp_path / true / "set"), split="test")
        assert true in loaded[0]["candidates"]


def test_the_card_of_a_set_of_ones_own_has_title_licence_and_language(tmp_path: Path) -> None:
    import video_contrast

    lines = [f"v{n}.mp4,ein Mensch singt Lied {n}" for n in range(8)]
    (tmp_path / "c.csv").write_text("video,caption\n" + "\n".join(lines))
    for licence, name in (("cc-by-4.0", "cc-by-4.0"), ("ask the museum", "other")):
        root = video_contrast.build(
            "captions", ["random_mc"], output=tmp_path / name, captions=str(tmp_path / "c.csv"), title="Lieder",
            licence=licence, language="de",
        )  # fmt: skip
        text = (root / "README.md").read_text(encoding="utf-8")
        head = yaml.safe_load(text.split("---")[1])
        assert (head["pretty_name"], head["license"], head["language"]) == ("Lieder", name, ["de"])
        assert text.count("# Lieder") == 1 and f"| licence | {licence} |" in text


def test_the_set_registers_its_tasks_under_the_names_of_results(made: Path, tmp_path: Path) -> None:
    from video_contrast.hub_cards.results import write_results

    tasks = yaml.safe_load((made / "eval.yaml").read_text(encoding="utf-8"))["tasks"]
    assert {(task["config"], task["split"]) for task in tasks} == {
        (config, "test") for config in ("random_mc", "verb_mc", "retrieval")
    }
    run = fabricate.make_run(tmp_path / "run", made, ["random_mc", "verb_mc", "retrieval"])
    results = yaml.safe_load(write_results(run)[0].read_text())
    assert {task["id"] for task in tasks} == {entry["dataset"]["task_id"] for entry in results}
    index = yaml.safe_load((run / "model-index.yaml").read_text())["model-index"]
    metrics = [metric for result in index[0]["results"] for metric in result["metrics"]]
    assert not [metric for metric in metrics if any(sign.isdigit() for sign in metric["name"] + metric["type"])]
    assert all(metric["args"]["items"] and "chance" in metric["args"] for metric in metrics)
    assert write_results(run, f"me/{'é' * 240}")[0].is_file()  # no name of a set is too long for a file


def test_it_says_how_negatives_were_made_and_why_captions_fell_out(card: str) -> None:
    verbs = section(card, "How every negative was made").split("### verb_mc")[1]
    for fact in ("one verb contrast and 3 captions", "generator: t5-base", "below: 0.93", "all-MiniLM", "no verb: 3"):
        assert fact in verbs


def test_a_visitor_learns_how_to_load_score_and_read_it(made: Path, card: str) -> None:
    assert 'load_dataset("THIS_REPOSITORY_OR_FOLDER", "random_mc", split="test")' in card
    assert "--dataset THIS_REPOSITORY_OR_FOLDER --video-root" in card
    for column in ("candidates", "label", "kinds", "replaced", "captions"):
        assert f"`{column}`" in section(card, "Configs")
    record = SetFolder(made).record
    for entry in record["configs"].values():  # a set to train on first, with another name for what is scored
        entry["splits"] = {"train": entry["splits"]["test"], "validation": entry["splits"]["test"]}
    other = dataset_card(record, SetFolder(made))
    assert 'split="validation")' in other and "--split validation --video-root" in other


def test_the_audit_is_shown_and_its_absence_is_said(card: str) -> None:
    audit = section(card, "Blind audit")
    assert "| `verb_mc` | 50.0 | 67.8 [64.1, 71.3] | – | – | – | – | 50.0 | – |" in audit
    assert "| `random_mc` | **not audited** |" in audit
    assert "Not every config of this set has a blind audit" in audit


def test_limits_sources_seed_and_citations_are_there(card: str, made: Path) -> None:
    assert "1,990 ids are in both splits" in section(card, "Known limits")
    assert "MSRVTT\\_JSFUSION\\_test.csv" in section(card, "Sources")
    citations = section(card, "Citation")
    assert "Xu et al." in citations and "@article{x" in citations and "@software{video_contrast" in citations
    assert canary(SetFolder(made).record, SetFolder(made)) in card


def test_captions_with_markup_stay_text(card: str) -> None:
    assert "<script>" not in card and "</script>" not in card
    assert "&lt;script&gt;" in card
    for line in section(card, "Examples").splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") == 4


def test_equal_builds_have_equal_cards_and_canaries_and_another_seed_has_not(made: Path) -> None:
    record = SetFolder(made).record
    assert dataset_card(record, SetFolder(made)) == dataset_card(json.loads(json.dumps(record)), SetFolder(made))
    other = {**record, "facts": {**record["facts"], "seed": 1}}
    assert canary(other, SetFolder(made)) != canary(record, SetFolder(made))


def test_croissant_describes_every_file_and_column(made: Path) -> None:
    import hashlib

    record = SetFolder(made).record
    found = croissant(record, SetFolder(made))
    assert json.loads((made / "croissant.json").read_text(encoding="utf-8")) == found
    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    for file in found["distribution"]:
        assert file["sha256"] == hashlib.sha256((made / file["contentUrl"]).read_bytes()).hexdigest()
    ids = {file["@id"] for file in found["distribution"]}
    for records in found["recordSet"]:
        import pyarrow.parquet as pq

        names = pq.read_schema(made / f"{records['name']}-00000-of-00001.parquet").names
        assert [field["name"] for field in records["field"]] == names
        for field in records["field"]:
            for leaf in field.get("subField", [field]):
                assert leaf["source"]["fileObject"]["@id"] in ids
                assert leaf["dataType"].startswith("sc:")


def test_mlcroissant_itself_validates_it_and_reads_the_rows(made: Path) -> None:
    library = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    import pyarrow.parquet as pq

    described = library.Dataset(jsonld=made / "croissant.json")
    assert not described.metadata.ctx.issues.errors
    rows = pq.read_table(made / "verb_mc" / "test-00000-of-00001.parquet").to_pylist()
    read = list(described.records("verb_mc/test"))
    assert len(read) == len(rows)
    for found, row in zip(read, rows, strict=True):
        assert found["verb_mc/test/id"].decode() == row["id"]
        assert [text.decode() for text in found["verb_mc/test/candidates"]] == row["candidates"]
        assert found["verb_mc/test/label"] == row["label"]


def test_the_card_explains_every_score_of_an_edit() -> None:
    from video_contrast.hub_cards.dataset import EDIT_SCORES
    from video_contrast.perturbations.contrast.generate import load_counts, propose

    proposed = propose([("a", ["a man rides a horse"])], load_counts(), quality=0.0)
    scores = {name for listed in proposed.proposals.values() for item in listed for name in item.edit().scores}
    assert scores | {"falsity"} == EDIT_SCORES.keys()


def test_the_card_names_the_scores_that_its_edits_have(tmp_path: Path) -> None:
    row = fabricate.choice_rows(1)[0]
    edit = next(edit for edit in row["edits"] if edit)
    edit["scores"] = '{"falsity": 0.3, "of_ones_own": 1.0}'
    card = (write_set(BuiltSet("mine", {"verb_mc": {"test": [row]}}), tmp_path / "set") / "README.md").read_text()
    assert "- `falsity`: that it" in card and "`probability`" not in card and "- `of_ones_own`" in card


def test_a_space_card_has_what_the_hub_needs() -> None:
    head = yaml.safe_load(space_card("video_contrast_mc").split("---")[1])
    assert head["sdk"] == "gradio" and head["app_file"] == "app.py" and "evaluate" in head["tags"]


def test_markdown_is_escaped() -> None:
    assert literal("`rm` [x](y) _z_ #1") == "\\`rm\\` \\[x\\](y) \\_z\\_ \\#1"
