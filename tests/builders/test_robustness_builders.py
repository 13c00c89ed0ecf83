"""Robustness sets: the conditions that they hold, their cards, the counts of the paper."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

from collections import Counter
from pathlib import Path

import datasets
import numpy as np
import pytest
from own_captions import write_msrvtt
from robustness_sets import CAPTIONS, clean, rows_of, videos  # noqa: F401  fixtures

import video_contrast
from video_contrast.builders import build
from video_contrast.builders.robustness.perturbed import (
    TEXTS,
    TEXTS_WITHOUT_BIAS,
    PerturbationOptions,
    perturbed_set,
    youcook2_p,
)
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json
from video_contrast.perturbations.text import perturb_captions
from video_contrast.perturbations.video import NAMES


def test_a_perturbed_set_holds_the_stated_conditions(clean: Path, tmp_path: Path) -> None:
    root = build("perturbed", ["clean", "keyboard", "visual", "pairs"], output=tmp_path / "p", dataset=clean)
    visual = rows_of(root, "visual")
    recipes = Counter((r["video_perturbation"]["name"], r["video_perturbation"]["severity"]) for r in visual)
    assert set(recipes) == {(name, severity) for name in NAMES for severity in range(1, 6)}
    assert set(recipes.values()) == {3} and len({row["id"] for row in visual}) == 270
    pairs = rows_of(root, "pairs")
    made = {(r["video_perturbation"]["name"], r["text_perturbation"]["name"]) for r in pairs}
    left_out = read_json(root / "set.json")["configs"]["pairs"]["facts"].get("pairs left out", {})
    assert len(made) == 6 * (11 - len(left_out)) and all(r["video_perturbation"]["severity"] == 3 for r in pairs)
    assert [row["video_perturbation"] for row in rows_of(root, "clean")] == [None] * 3
    loaded = datasets.load_dataset(str(root), "visual", split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded[0]["video_perturbation"]["order"] == "perturb_then_sample"


def test_stored_captions_are_those_of_the_perturbation(clean: Path, tmp_path: Path) -> None:
    root = build("perturbed", ["keyboard"], output=tmp_path / "p", dataset=clean, seed=5)
    rows = rows_of(root, "keyboard")
    expected = perturb_captions(CAPTIONS, "keyboard", ids=[row["id"] for row in rows], seed=5)
    assert [row["captions"] for row in rows] == [[text] for text in expected]
    assert rows[0]["text_perturbation"] == {"name": "keyboard", "profile": "paper", "seed": 5}
    checks = read_json(root / "set.json")["configs"]["keyboard"]["facts"]["checks"]
    assert checks["captions left unchanged"] == "0.0 %" and 0 < checks["rouge_l"] < 1


def test_all_options_are_perturbed_and_equal_ones_are_counted(tmp_path: Path) -> None:
    clean = build("shapes", ["verb_mc"], output=tmp_path / "s", items=60)
    before = {row["id"]: row for row in rows_of(clean, "verb_mc")}
    root = build("perturbed", ["drop_first", "only_nouns"], output=tmp_path / "p", dataset=clean)
    rows = rows_of(root, "drop_first")
    assert all(option.startswith("[UNK] ") for row in rows for option in row["candidates"])
    assert all(row["label"] == before[row["id"]]["label"] for row in rows)
    nouns = read_json(root / "set.json")["configs"]["only_nouns"]
    left_out = nouns["facts"]["checks"]["items left out because two options became equal"]
    assert nouns["splits"]["test"]["num_examples"] + left_out == len(before) and left_out > 0


def test_the_rows_of_a_group_share_their_condition_and_their_perturbed_candidates(tmp_path: Path) -> None:
    clean = build("shapes", ["reversal_pairs"], output=tmp_path / "s", items=4)
    root = build("perturbed", ["keyboard", "visual", "pairs"], output=tmp_path / "p", dataset=clean)
    for config in ("keyboard", "visual", "pairs"):
        groups: dict[str, list[dict]] = {}
        for row in rows_of(root, config):
            groups.setdefault(row["group"], []).append(row)
        for first, second in groups.values():
            assert first["video_perturbation"] == second["video_perturbation"]
            assert first["candidates"] == second["candidates"] and {first["label"], second["label"]} == {0, 1}


def test_a_config_without_an_item_left_is_an_error(tmp_path: Path) -> None:
    clean = build("shapes", ["gender_mc"], output=tmp_path / "s", items=20)
    with pytest.raises(VideoContrastError, match="no item has different options left under gender_neutral"):
        build("perturbed", ["gender_neutral"], output=tmp_path / "p", dataset=clean)


def test_the_card_shows_damage_and_what_is_equal(clean: Path, videos: Path, tmp_path: Path) -> None:
    root = build("perturbed", ["visual"], output=tmp_path / "p", dataset=clean, video_root=videos)
    card = (root / "README.md").read_text()
    assert "measured on 3 clips" in card and "PSNR in dB" in card
    assert "severities 2, 3, 4, 5 are equal" in card and "frames moved by" in card
    bare = build("perturbed", ["visual"], output=tmp_path / "b", dataset=clean, video_root=tmp_path)
    assert "temporal perturbations only" in (bare / "README.md").read_text()
    few = build(
        "perturbed", ["visual"], output=tmp_path / "f", dataset=clean, video_root=tmp_path, order="sample_then_perturb"
    )
    checks = read_json(few / "set.json")["configs"]["visual"]["facts"]["checks"]
    assert checks["box_jumble"].endswith("100 / 100 / 100 / 100 %")


def test_youcook2_p_counts_are_those_of_the_paper(shared_data: Path) -> None:
    built = youcook2_p(["clean", "shuffle_order", "visual"], folder=shared_data / "youcook2")
    assert len(built.tables["clean"]["validation"]) == 3350
    assert len(built.tables["shuffle_order"]["validation"]) == 3350
    assert len(built.tables["visual"]["validation"]) == 90 * 3350
    first = built.tables["visual"]["validation"][0]
    assert first["video_perturbation"]["scope"] == "video" and first["end"] > first["start"]
    assert len({row["video_id"] for row in built.tables["clean"]["validation"]}) == 436
    assert len(TEXTS) == 35 and len(TEXTS_WITHOUT_BIAS) == 31
    with pytest.raises(UsageError, match="gender_swap"):
        build("youcook2_p", ["gender_swap"], output="unused", folder=shared_data / "youcook2")


def test_msrvtt_p_is_the_1k_a_test_under_the_paper_conditions(tmp_path: Path) -> None:
    (tmp_path / "msrvtt").mkdir()
    folder = write_msrvtt(tmp_path / "msrvtt")
    root = build("msrvtt_p", ["clean", "gender_male", "shuffle_order"], output=tmp_path / "set", folder=folder)
    clean = rows_of(root, "clean")
    assert len(clean) == 40 and all(len(row["captions"]) == 1 for row in clean)
    changed = rows_of(root, "gender_male")
    share = np.mean([a["captions"] != b["captions"] for a, b in zip(clean, changed, strict=True)])
    facts = read_json(root / "set.json")["configs"]["gender_male"]["facts"]["checks"]
    assert facts["captions left unchanged"] == f"{100 * (1 - share):.1f} %"
    assert next(iter((root / "clean").iterdir())).name.startswith("test_1k_a-")


def test_what_cannot_run_is_an_error_when_asked_for_by_name(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> list[str]:
        raise VideoContrastError("needs the checkpoint x: run hf download x")

    monkeypatch.setattr("video_contrast.builders.robustness.perturbed.perturb_captions", missing)
    with pytest.raises(VideoContrastError, match="hf download x"):
        build("perturbed", ["mlm_suggestion"], output=tmp_path, dataset=clean)
    with pytest.raises(UsageError, match=r"holds no set\.json"):
        build("perturbed", ["clean"], output=tmp_path, dataset=tmp_path)
    with pytest.raises(UsageError, match="needs --video-root"):
        perturbed_set("x", ["clean"], {}, PerturbationOptions(files=tmp_path), {})


def test_the_card_holds_the_papers_shift_measures_where_they_are_asked_for(tmp_path: Path, nltk_data: Path) -> None:
    import nltk
    import tiny_models

    model = tiny_models.gpt2(tmp_path / "lm")
    source = video_contrast.build("shapes", ["retrieval"], output=tmp_path / "set", items=10, gallery=10)
    before = list(nltk.data.path)
    nltk.data.path.insert(0, str(nltk_data))
    try:
        built = video_contrast.build(
            "perturbed", ["keyboard"], output=tmp_path / "p", dataset=source, meteor=True, language_model=str(model)
        )
    finally:
        nltk.data.path[:] = before
    card = (built / "README.md").read_text(encoding="utf-8")
    for measure in ("bleu", "rouge 1", "meteor", "perplexity before", "perplexity after"):
        assert measure in card, measure


def test_checks_say_what_made_the_texts_and_warn_where_most_stayed() -> None:
    from video_contrast.builders.robustness.perturbed import PerturbationOptions, mostly_unchanged, perturbed_rows

    rows = [{"id": "a", "captions": ["a red car", "a blue house"]}]
    _, checks = perturbed_rows(rows, "tense", PerturbationOptions())
    assert checks["made by"] == "rules"
    assert checks["parser"].startswith("captions-")
    assert checks["captions left unchanged"] == "100.0 %" and mostly_unchanged(checks)
    for models in (None, "active_to_passive=rules"):
        _, checks = perturbed_rows(rows, "active_to_passive", PerturbationOptions(models=models))
        assert checks["made by"] == "rules" and "parser" in checks
    _, checks = perturbed_rows(rows, "keyboard", PerturbationOptions())
    assert "parser" not in checks and not mostly_unchanged(checks)


def test_one_word_names_the_folder_of_every_release():
    from video_contrast.builders.registry import all_builders
    from video_contrast.options import options_of

    options = {name: options_of(builder.function) for name, builder in all_builders().items()}
    assert not [name for name, declared in options.items() if "data_dir" in declared]
    for name in ("msrvtt", "youcook2", "msrvtt_p", "youcook2_p"):
        assert "folder" in options[name]
